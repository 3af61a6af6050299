package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"deepoj/host/plugin/internal/wire"
)

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

// newEngine returns a wazero runtime over the compiled code in a cache. Its files
// appear there complete or not at all.
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

// makeCodeFolder makes the folder of the compiler's version, which opening a cache
// wants to be there.
func makeCodeFolder(cache string) error {
	if _, err := wazero.NewCompilationCacheWithDir(filepath.Join(cache, wire.CodeDir)); err != nil {
		return fmt.Errorf("open compiled code: %w", err)
	}
	return nil
}
