// Package worker is the life of the runtime's children. A compile child compiles one
// module. A worker calls guests, one at a time, until the host closes its end.
package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"deepoj/host/plugin/internal/wire"
	"deepoj/host/plugin/walls"
)

// Main is the whole life of a compile child or a worker, see the runtime's Child. It
// returns the exit status.
func Main(args []string) int {
	status, err := child(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return status
}

func child(args []string) (int, error) {
	if len(args) != 2 {
		return wire.ExitBroken, fmt.Errorf("plugin child: %d arguments, want 2; this command is not for people", len(args))
	}
	var limits wire.Limits
	if err := json.Unmarshal([]byte(args[1]), &limits); err != nil {
		return wire.ExitBroken, fmt.Errorf("plugin child: read limits: %w", err)
	}
	cache := limits.Dir
	c := walls.Confinement{Descriptors: hostDescriptor + 1, Reads: limits.Dir, DataBytes: limits.DataBytes, CPU: limits.CPU}
	switch args[0] {
	case wire.CompileCommand:
		cache = filepath.Dir(limits.Dir)
		c.Descriptors, c.Writes = hostDescriptor, filepath.Join(cache, wire.CodeDir)
	case wire.WorkerCommand:
	default:
		return wire.ExitBroken, fmt.Errorf("plugin child: unknown command %q", args[0])
	}
	if err := makeCodeFolder(cache); err != nil { // as long as that may be done
		return wire.ExitBroken, fmt.Errorf("plugin child: %w", err)
	}
	if err := c.Begin(); err != nil {
		return wire.ExitBroken, fmt.Errorf("plugin child: limit itself: %w", err)
	}
	if args[0] == wire.CompileCommand {
		return compileChild(limits.Dir, limits.Again)
	}
	return serve(limits.Dir, limits.GuestBytes)
}
