package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/host/platform"
	"deepoj/host/plugin"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Toolchain is a language that can be judged here.
type Toolchain struct {
	ID       string
	Module   *plugin.Module
	language abi.Language
	versions map[string]abi.ToolVersion
}

// probe is what is known of a tool, as long as its file stays the same.
type probe struct {
	asked   question
	version string
}

// question is all that the version of a tool depends on. It is the key under which the answer outlives the process: a
// compiler may take seconds to say its version. The file counts as another when its inode changed, because package
// managers set the times of what they install (npm the same for every version).
type question struct {
	Tool, Path string
	Inode      uint64
	Changed    time.Time
	Size       int64
	Args       string // with NUL between them
	Pattern    string
}

// questionFor returns the question for a tool found at path.
func questionFor(tool abi.Tool, path string) (question, error) {
	q := question{Tool: tool.Name, Path: path, Args: strings.Join(tool.Version, "\x00"), Pattern: tool.Pattern}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrPermission) {
		return q, nil // without inode: the answer holds for this process only
	}
	if err != nil {
		return q, fmt.Errorf("look at %s: %w", path, err)
	}
	q.Size = info.Size()
	q.Changed = platform.Changed(info)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		q.Inode = st.Ino
	}
	return q, nil
}

// Toolchain returns a language with the versions of its tools, or an [*blame.UnavailableError].
func (b *Builder) Toolchain(ctx context.Context, id string) (*Toolchain, error) {
	a, ok := b.adapter(id)
	if !ok {
		return nil, &blame.UnavailableError{What: "the language " + id, Reason: "it has no adapter", Remedy: "install one"}
	}
	m, err := b.cfg.Plugins.LoadDigest(ctx, a.digest, a.read, nil)
	if err != nil {
		return nil, fmt.Errorf("adapter of %s: %w", id, err)
	}
	if m.Manifest.Language == nil {
		return nil, fmt.Errorf("adapter of %s: its manifest describes no language", id)
	}
	if tc := b.unchanged(id, m); tc != nil {
		return tc, nil
	}
	tc := &Toolchain{ID: id, Module: m, language: *m.Manifest.Language, versions: map[string]abi.ToolVersion{}}
	asked, err := b.probe(ctx, tc)
	if err != nil {
		if missing, ok := errors.AsType[*blame.UnavailableError](err); ok {
			missing.What = "the language " + id
			return tc, missing
		}
		return tc, fmt.Errorf("tools of %s: %w", id, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found[id] = foundToolchain{tc, asked, time.Now()}
	return tc, nil
}

// foundToolchain is a tool chain as it was found.
type foundToolchain struct {
	*Toolchain
	asked []question
	at    time.Time
}

// lookAgain is for how long tools are taken to be where they were found. Whether they are the same is looked at always.
const lookAgain = time.Second

// unchanged returns the tool chain of a language if it was found a moment ago, and its tools have not changed.
func (b *Builder) unchanged(id string, m *plugin.Module) *Toolchain {
	b.mu.Lock()
	f, ok := b.found[id]
	b.mu.Unlock()
	if !ok || f.Module.Digest != m.Digest || time.Since(f.at) > lookAgain {
		return nil
	}
	for i, tool := range f.language.Tools {
		if q, err := questionFor(tool, f.asked[i].Path); err != nil || q != f.asked[i] {
			return nil
		}
	}
	return f.Toolchain
}

// probe finds all tools before it asks any for its version: a compiler may be a
// script that another tool of the language runs.
func (b *Builder) probe(ctx context.Context, tc *Toolchain) (asked []question, err error) {
	for _, tool := range tc.language.Tools {
		q, err := b.question(ctx, tool)
		if err != nil {
			return nil, err
		}
		asked = append(asked, q)
	}
	for i, tool := range tc.language.Tools {
		version, err := b.answer(ctx, tool, asked[i], tc.tools()...)
		if err != nil {
			return nil, err
		}
		tc.versions[tool.Name] = abi.ToolVersion{Version: version}
	}
	return asked, nil
}

// probeLimits bound a tool that prints its version.
var probeLimits = sandbox.Limits{CPU: 10 * time.Second, Wall: 30 * time.Second, MemoryBytes: 1 << 30}

// Find returns where a tool is, or an [*blame.UnavailableError].
func (b *Builder) Find(ctx context.Context, tool abi.Tool) (sandbox.Tool, error) {
	where, err := b.cfg.Sandbox.Tool(ctx, tool.Name)
	if errors.Is(err, sandbox.ErrNoTool) {
		return where, &blame.UnavailableError{What: tool.Name, Reason: tool.Name + " is not installed", Remedy: remedy(tool)}
	}
	return where, err
}

// remedy says how to get a tool.
func remedy(tool abi.Tool) string {
	if tool.Package == "" {
		return "see `deepoj doctor`"
	}
	return "apt-get install " + tool.Package
}

// version asks a tool for its version, in the sandbox, unless that was done, by this process or an earlier one, and the
// tool has not changed.
func (b *Builder) version(ctx context.Context, tool abi.Tool) (string, error) {
	asked, err := b.question(ctx, tool)
	if err != nil {
		return "", err
	}
	return b.answer(ctx, tool, asked)
}

// question finds a tool.
func (b *Builder) question(ctx context.Context, tool abi.Tool) (question, error) {
	where, err := b.Find(ctx, tool)
	if err != nil {
		return question{}, err
	}
	return questionFor(tool, where.Path)
}

// answer is version of a tool that was found, with others at hand.
func (b *Builder) answer(ctx context.Context, tool abi.Tool, asked question, others ...string) (string, error) {
	unlock, err := b.locks.lock(ctx, "tool "+tool.Name)
	if err != nil {
		return "", err
	}
	defer unlock()
	b.mu.Lock()
	before, known := b.probes[tool.Name]
	b.mu.Unlock()
	if known && before.asked == asked {
		return before.version, nil
	}
	kept, err := key(struct{ Version question }{asked})
	if err != nil {
		return "", err
	}
	answer := probe{asked: asked}
	if _, ok := b.told.get(kept, &answer.version); !ok || asked.Inode == 0 {
		if answer.version, err = b.learn(ctx, tool, asked.Path, others); err != nil {
			return "", err
		}
		if err := b.told.put(kept, answer.version, nil); err != nil {
			b.cfg.Log.WarnContext(ctx, "the version of a tool is not kept", slog.String("tool", tool.Name), slog.Any("err", err))
		}
	}
	b.mu.Lock()
	b.probes[tool.Name] = answer
	b.mu.Unlock()
	return answer.version, nil
}

// learn runs a tool and finds its version in what it prints.
func (b *Builder) learn(ctx context.Context, tool abi.Tool, path string, others []string) (string, error) {
	said, err := b.ask(ctx, tool, others)
	if err != nil {
		return "", err
	}
	pattern, err := regexp.Compile(tool.Pattern)
	if err != nil {
		return "", fmt.Errorf("version pattern of %s: %w", tool.Name, err)
	}
	m := pattern.FindStringSubmatch(said)
	if len(m) < 2 || m[1] == "" {
		return "", &blame.UnavailableError{
			What: tool.Name, Remedy: remedy(tool),
			Reason: fmt.Sprintf("%s does not say its version: %q", path, runner.Cut(strings.TrimSpace(said), 200)),
		}
	}
	return m[1], nil
}

// ask runs a tool with the arguments that make it print its version, and returns what it prints.
func (b *Builder) ask(ctx context.Context, tool abi.Tool, others []string) (said string, err error) {
	box, err := b.cfg.Sandbox.Box(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	streams, err := b.Streams()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, streams.Close()) }()
	ran, err := box.Run(ctx, sandbox.Cmd{
		Tool: tool.Name, Args: tool.Version, ExtraTools: others, Stdout: streams.Out, Stderr: streams.Err, Limits: probeLimits,
	})
	if err != nil {
		return "", err
	}
	if ran.Verdict == sandbox.SE {
		return "", fmt.Errorf("probe %s: %s", tool.Name, ran.Error)
	}
	out, errs, err := streams.Read()
	return out + "\n" + errs, err
}

// Shown is the tool chain for people, such as "g++ 12.2.0".
func (tc *Toolchain) Shown() string {
	if len(tc.language.Tools) == 0 {
		return ""
	}
	name := tc.language.Tools[0].Name
	return name + " " + tc.versions[name].Version
}

// tools returns the names of the tools.
func (tc *Toolchain) tools() []string {
	var names []string
	for _, t := range tc.language.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Explain makes of a tool that vanished an [*blame.UnavailableError].
func (tc *Toolchain) Explain(err error) error {
	if errors.Is(err, sandbox.ErrNoTool) && tc != nil {
		return &blame.UnavailableError{What: "the language " + tc.ID, Reason: err.Error(), Remedy: "see `deepoj doctor`"}
	}
	return err
}

// Languages returns every language that has an adapter, ordered by id, with the version of its tool chain, or with the
// reason why it is unavailable and what would mend it. Tools are run only when they are new or have changed. Adapters
// that were uploaded and activated since are taken up here.
func (b *Builder) Languages(ctx context.Context) []judge.Language {
	ids := b.lookAtAdapters(ctx)
	all := make([]judge.Language, len(ids))
	var g errgroup.Group
	g.SetLimit(max(1, b.cfg.Cores)) // a new adapter costs seconds of compiling
	for i, id := range ids {
		g.Go(func() error {
			all[i] = b.describe(ctx, id)
			return nil
		})
	}
	_ = g.Wait() // none fails: what is wrong is in the descriptions
	return all
}

func (b *Builder) describe(ctx context.Context, id string) judge.Language {
	l := judge.Language{ID: id, Name: id}
	tc, err := b.Toolchain(ctx, id)
	if tc != nil {
		l.Name, l.Extensions, l.Editor, l.Adapter = tc.language.Name, tc.language.Extensions, tc.language.Editor, tc.Module.Digest
	}
	if missing, ok := errors.AsType[*blame.UnavailableError](err); ok {
		l.Unavailable = missing.Reason + ": " + missing.Remedy
		return l
	}
	if err == nil {
		l.Version = tc.versions[tc.language.Tools[0].Name].Version
		var c commands
		c, err = b.commandLines(ctx, tc)
		l.Command, l.CompileCommand, l.RunCommand = cmp.Or(c.Compile, c.Run), c.Compile, c.Run
	}
	if err != nil {
		l.Unavailable = runner.Clean(err.Error())
		return l
	}
	l.Available = true
	return l
}

// commands are the steps of a language for people; without Compile nothing is compiled.
type commands struct{ Compile, Run string }

// commandLines returns how the adapter's own example is compiled and run, as shown to people. Loading all adapters to
// ask them takes seconds at a start, and they say the same as long as the tools are the same.
func (b *Builder) commandLines(ctx context.Context, tc *Toolchain) (told commands, err error) {
	kept, err := key(struct {
		Commands string
		Tools    map[string]abi.ToolVersion
	}{tc.Module.Digest, tc.versions})
	if err != nil {
		return told, err
	}
	if _, ok := b.told.get(kept, &told); ok {
		return told, nil
	}
	if told, err = b.planExample(ctx, tc); err != nil {
		return told, err
	}
	if err := b.told.put(kept, told, nil); err != nil {
		b.cfg.Log.WarnContext(ctx, "the commands of a language are not kept", slog.String("language", tc.ID), slog.Any("err", err))
	}
	return told, nil
}

// planExample plans the adapter's own example and returns its steps for people.
func (b *Builder) planExample(ctx context.Context, tc *Toolchain) (told commands, err error) {
	const cpu, memory = 1000, 256
	plan, err := b.cfg.Plugins.Plan(ctx, tc.Module, abi.PlanRequest{
		Sources: tc.language.Hello, Limits: abi.RunLimits{CPUMillis: cpu, MemoryMiB: memory}, Host: abi.Host{Tools: tc.versions},
	})
	if err != nil {
		return told, err
	}
	if plan.Error != nil {
		return told, fmt.Errorf("the adapter refuses its own example: %s", plan.Error.Message)
	}
	told.Run = line(plan.Run)
	if compiles(&plan) {
		var steps []string
		for _, step := range plan.Compile {
			steps = append(steps, line(step))
		}
		told.Compile = strings.Join(steps, " && ")
	}
	return told, nil
}

// compiles reports whether a plan makes something of the sources. What only looks at them, as for interpreters, does not.
func compiles(plan *abi.Plan) bool {
	return len(plan.Compile) > 0 && slices.ContainsFunc(plan.Artifacts, func(artifact string) bool {
		return !slices.ContainsFunc(plan.Files, func(f abi.File) bool { return f.Path == artifact })
	})
}

// line is a command for people.
func line(s abi.Step) string {
	return strings.Join(append([]string{s.Tool + s.Program}, s.Args...), " ")
}
