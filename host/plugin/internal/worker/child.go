// Package worker is the life of the runtime's children. A compile child compiles one
// module. A worker calls guests, one at a time, until the host closes its end.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"deepoj/host/plugin/internal/wire"
	"deepoj/host/plugin/walls"
)

// Main is the whole life of a compile child or a worker, see the runtime's Child. It returns the exit status.
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

// compileChild compiles the module in dir into the code folder beside it. An invalid
// module is reported on stdout. One that was compiled before is not invalid: then
// some machine code is damaged, and all of it goes, since nobody can tell which.
func compileChild(dir string, again bool) (int, error) {
	wasm, err := os.ReadFile(filepath.Join(dir, wire.ModuleFile))
	if err != nil {
		return wire.ExitBroken, fmt.Errorf("compile: %w", err)
	}
	ctx := context.Background()
	rt, err := newEngine(ctx, filepath.Dir(dir))
	if err != nil {
		return wire.ExitBroken, fmt.Errorf("compile: %w", err)
	}
	_, err = rt.CompileModule(ctx, wasm)
	if err != nil && again {
		if err := forgetCode(filepath.Dir(dir)); err != nil {
			return wire.ExitBroken, fmt.Errorf("compile: %w", err)
		}
		_, err = rt.CompileModule(ctx, wasm)
	}
	if err != nil {
		fmt.Print(err)
		return wire.ExitInvalid, nil
	}
	if err := rt.Close(ctx); err != nil {
		return wire.ExitBroken, fmt.Errorf("compile: %w", err)
	}
	return wire.ExitDone, nil
}

// forgetCode removes the machine code of a cache.
func forgetCode(cacheDir string) error {
	code, err := filepath.Glob(filepath.Join(cacheDir, wire.CodeDir, "*", "*"))
	for _, path := range code {
		if removed := os.Remove(path); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// newEngine returns a wazero runtime over the compiled code in a cache. Its files appear there complete or not at all.
//
// Nothing stops a guest from outside: WithCloseOnContextDone would cost several
// times the run time. Guests stop by themselves when they run out of fuel.
func newEngine(ctx context.Context, cacheDir string) (wazero.Runtime, error) {
	code, err := wazero.NewCompilationCacheWithDir(filepath.Join(cacheDir, wire.CodeDir))
	if err != nil {
		return nil, fmt.Errorf("open compiled code: %w", err)
	}
	cfg := wazero.NewRuntimeConfigCompiler().WithCompilationCache(code).WithDebugInfoEnabled(false)
	return wazero.NewRuntimeWithConfig(ctx, cfg), nil
}

// makeCodeFolder makes the folder of the compiler's version, which opening a cache wants to be there.
func makeCodeFolder(cache string) error {
	if _, err := wazero.NewCompilationCacheWithDir(filepath.Join(cache, wire.CodeDir)); err != nil {
		return fmt.Errorf("open compiled code: %w", err)
	}
	return nil
}
