package plugin

import (
	"deepoj/host/plugin/internal/wire"
	"deepoj/host/plugin/internal/worker"
)

// The hidden commands that a program must hand to [Child].
const (
	CompileCommand = wire.CompileCommand
	WorkerCommand  = wire.WorkerCommand
)

// Child is the whole life of a compile child or a worker: args are those of the
// process without its name, so args[0] is [CompileCommand] or [WorkerCommand].
// It returns the exit status. A main calls it before anything else:
//
//	if len(os.Args) > 1 && (os.Args[1] == plugin.CompileCommand || os.Args[1] == plugin.WorkerCommand) {
//		os.Exit(plugin.Child(os.Args[1:]))
//	}
func Child(args []string) int { return worker.Main(args) }
