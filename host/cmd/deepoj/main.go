// Command deepoj is Deep-OJ: `deepoj up` runs everything on one machine, and
// api, scheduler and worker run one role each.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"deepoj/host/command"
	"deepoj/host/plugin"
	"deepoj/host/reading"
	_ "deepoj/host/shortcut" // which is `deepoj judge`, if there is deepoj-judge
)

// version is set by the linker.
var version = "unknown"

func main() {
	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
		os.Exit(plugin.Child(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == reading.Command {
		os.Exit(reading.Child(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := program().Run(ctx, &command.Process{Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv}, os.Args[1:])
	stop()
	os.Exit(status)
}
