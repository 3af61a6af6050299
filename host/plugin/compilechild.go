package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// Files of a module's folder in the cache.
const (
	moduleFile = "module.wasm" // rewritten
	aboutFile  = "about.json"
	codeDir    = "code" // the compiler's own cache
)

// compileChild compiles the module in dir into dir's code folder. An invalid
// module is reported on stdout.
func compileChild(dir string) (int, error) {
	wasm, err := os.ReadFile(filepath.Join(dir, moduleFile))
	if err != nil {
		return exitBroken, fmt.Errorf("compile: %w", err)
	}
	ctx := context.Background()
	rt, err := newEngine(ctx, dir)
	if err != nil {
		return exitBroken, fmt.Errorf("compile: %w", err)
	}
	if _, err := rt.CompileModule(ctx, wasm); err != nil {
		fmt.Print(err)
		return exitInvalid, nil
	}
	if err := rt.Close(ctx); err != nil {
		return exitBroken, fmt.Errorf("compile: %w", err)
	}
	return exitDone, nil
}

// newEngine returns a wazero runtime over the compiled code in a module's
// folder. One folder and one runtime for each module: folders appear in the
// cache complete or not at all, and closing the runtime frees everything.
//
// Nothing stops a guest from outside: WithCloseOnContextDone would cost several
// times the run time. Guests stop by themselves when they run out of fuel.
func newEngine(ctx context.Context, dir string) (wazero.Runtime, error) {
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, codeDir))
	if err != nil {
		return nil, fmt.Errorf("open compiled code: %w", err)
	}
	cfg := wazero.NewRuntimeConfigCompiler().WithCompilationCache(cache).WithDebugInfoEnabled(false)
	return wazero.NewRuntimeWithConfig(ctx, cfg), nil
}
