// Command deepoj is Deep-OJ: `deepoj up` runs everything on one machine, and
// api, scheduler and worker run one role each.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"deepoj/host/plugin"
	"deepoj/host/reading"
	_ "deepoj/host/shortcut" // which is `deepoj judge`, if there is deepoj-judge
)

// version is set by the linker.
var version = "unknown"

// command is one verb of the command line. Its run returns the exit status.
type command struct {
	name, doc string
	run       func(ctx context.Context, e *env) int
	hidden    bool
}

// env is what a command may touch of the process it runs in.
type env struct {
	args           []string
	stdout, stderr io.Writer
	getenv         func(string) (string, bool)
}

// fail prints why the command ends. What was only cancelled because of that is no
// reason and is left out.
func (e *env) fail(err error) int {
	why := cause(err)
	if why == nil {
		why = errors.New("stopped before it was done")
	}
	fmt.Fprintln(e.stderr, "deepoj:", why)
	return 1
}

// cause returns err without those of its parts that say nothing but that something
// was cancelled; nil if nothing else is left.
func cause(err error) error {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && cause(inner) == nil {
			return nil
		}
	case interface{ Unwrap() []error }:
		parts := slices.DeleteFunc(slices.Clone(e.Unwrap()), func(part error) bool { return cause(part) == nil })
		if len(parts) == 0 {
			return nil
		}
		if all := errors.Join(e.Unwrap()...); all.Error() == err.Error() { // nothing but its parts
			for i := range parts {
				parts[i] = cause(parts[i])
			}
			return errors.Join(parts...)
		}
	default:
		if err == context.Canceled { //nolint:errorlint // a leaf
			return nil
		}
	}
	return err
}

var commands = []command{
	{name: "up", doc: "run everything on this machine", run: up},
	{name: "api", doc: "run the web side only", run: roleCommand("api")},
	{name: "scheduler", doc: "run the dispatcher and the sweepers only", run: roleCommand("scheduler")},
	{name: "worker", doc: "judge submissions only", run: roleCommand("worker")},
	{name: "submit", doc: "hand in a program and wait for its verdict", run: submit},
	{name: "run", doc: "run a program on inputs, which does not count", run: tryOut},
	{name: "cancel", doc: "end jobs of any kind that are not done", run: cancelJobs},
	{name: "problem", doc: "import, verify and try problem packages", run: problems},
	{name: "plugin", doc: "test, run, build and inspect checkers, interactors and adapters", run: pluginCommand},
	{name: "judge", doc: "run one command in the sandbox (Judge protocol v1)", run: judgeOnce},
	{name: "space", doc: "make courses and contests, and say who takes part in which problems", run: spaceCommand},
	{name: "queue", doc: "pause queues and change the order of what waits", run: queueCommand},
	{name: "dlq", doc: "read, replay and discard dead letters", run: dlq},
	{name: "user", doc: "make, disable and reset accounts, and read the audit log", run: userCommand},
	{name: "workers", doc: "list the workers and what they run", run: listWorkers},
	{name: "languages", doc: "list the languages with versions and command lines", run: listLanguages},
	{name: "key", doc: "make and revoke keys of programs", run: keyCommand},
	{name: "webhook", doc: "manage addresses that are told what happens, and read what they were told", run: webhookCommand},
	{name: "rejudge", doc: "judge submissions again, one by one or as a set", run: rejudge},
	{name: "audit", doc: "prove that nothing is lost or doubled", run: audit},
	{name: "doctor", doc: "say what this machine lacks and how to mend it", run: diagnose},
	{name: "bench", doc: "measure what this machine can judge", run: measureMachine},
	{name: "simulate", doc: "predict waits, and how many workers a load needs", run: simulate},
	{name: "support-bundle", doc: "collect what whoever helps will ask for, without secrets", run: supportBundle},
	{name: "blob", doc: "check stored packages and plugins, or copy them elsewhere", run: blobCommand},
	{name: "migrate", doc: "bring the database schema up to date", run: migrate},
	{name: "config", doc: "print every setting with its origin", run: printConfig},
	{name: "version", doc: "print the version", run: printVersion},
	{name: "sandbox", doc: "the sandbox agent (started by the others)", run: sandboxAgent, hidden: true},
}

func main() {
	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
		os.Exit(plugin.Child(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, &env{args: os.Args[1:], stdout: os.Stdout, stderr: os.Stderr, getenv: os.LookupEnv})
	stop()
	os.Exit(status)
}

func run(ctx context.Context, e *env) int {
	if len(e.args) == 0 {
		usage(e.stderr)
		return 2
	}
	name := e.args[0]
	if name == "help" || name == "-h" || name == "--help" {
		usage(e.stdout)
		return 0
	}
	for _, c := range commands {
		if c.name == name {
			e.args = e.args[1:]
			return c.run(ctx, e)
		}
	}
	fmt.Fprintf(e.stderr, "deepoj: unknown command %q\n", name)
	usage(e.stderr)
	return 2
}

func usage(w io.Writer) {
	var b strings.Builder
	b.WriteString("usage: deepoj COMMAND [flags]\n\n")
	for _, c := range commands {
		if !c.hidden {
			fmt.Fprintf(&b, "  deepoj %-14s %s\n", c.name, c.doc)
		}
	}
	b.WriteString("\n`deepoj COMMAND --help` lists a command's flags.\n")
	fmt.Fprint(w, b.String())
}

func printVersion(_ context.Context, e *env) int {
	fmt.Fprintln(e.stdout, "deepoj", version)
	return 0
}
