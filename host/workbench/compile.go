package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// headers are the endings of the files that a folder of headers is read for.
var headers = []string{".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"}

// Sources reads the sources and the headers.
func Sources(names []string, include string) ([]sandbox.File, error) {
	var files []sandbox.File
	add := func(name string, read func() ([]byte, error)) error {
		if slices.ContainsFunc(files, func(f sandbox.File) bool { return f.Path == name }) {
			return fmt.Errorf("two files are called %s: all are compiled in one folder", name)
		}
		b, err := read()
		files = append(files, sandbox.File{Path: name, Data: b})
		return err
	}
	for _, name := range names {
		if err := add(filepath.Base(name), func() ([]byte, error) { return os.ReadFile(filepath.Clean(name)) }); err != nil {
			return nil, err
		}
	}
	if include == "" {
		return files, nil
	}
	folder := os.DirFS(include)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(headers, path.Ext(name)) {
			return err
		}
		return add(name, func() ([]byte, error) { return fs.ReadFile(folder, name) })
	})
	if err != nil {
		return nil, fmt.Errorf("--include %s: %w", include, err)
	}
	return files, nil
}

// buildCache returns the folder in which what was built is found again: below dir, or of
// this account. Without one, "", everything is compiled each time.
func buildCache(dir string) string {
	if dir == "" {
		own, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(own, "deepoj")
	}
	dir, err := trusted(filepath.Join(dir, "build"))
	if err != nil {
		return ""
	}
	return dir
}

// maxBuildCache bounds what is kept of builds, in bytes.
const maxBuildCache = 256 << 20

// Compile compiles in the sandbox, or, where there is none for an ordinary
// user, directly. It says how. The same sources and tools are compiled once.
func Compile(ctx context.Context, cfg Config, files []sandbox.File) (wasm []byte, how string, err error) {
	dir, err := os.MkdirTemp("", "deepoj-plugin-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cache := buildCache(cfg.CacheDir)
	agent, stop, err := StartAgent(ctx, sandbox.Config{}, "--quiet")
	defer stop()
	if err != nil {
		if os.Geteuid() == 0 {
			return nil, "", fmt.Errorf("no sandbox to compile in: %w; see `deepoj doctor`", err)
		}
		fmt.Fprintf(cfg.Told, "deepoj: compiled without a sandbox, with your rights, since there is none: %v\n", err)
		return compileDirectly(ctx, cfg.Told, dir, cache, files)
	}
	j, done, err := newCompiler(dir, cache, agent)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	wasm, c, err := j.CompilePlugin(ctx, files)
	if err != nil {
		return nil, "", err
	}
	if wasm == nil {
		return nil, "", fmt.Errorf("it does not compile:\n%s", c.Output)
	}
	if c.Output != "" {
		fmt.Fprintln(cfg.Told, c.Output) // warnings
	}
	if j.PluginsCompiled() == 0 {
		return wasm, "compiled before with " + c.Tool, nil
	}
	return wasm, "in the sandbox with " + c.Tool, nil
}

// newCompiler returns a Judge that compiles plugins, with its files in a folder and
// what it built in the cache; "" is the folder. The function ends it.
func newCompiler(dir, cache string, agent *sandbox.Client) (j *judging.Judge, done func() error, err error) {
	rt, err := plugin.New(plugin.Config{CacheDir: filepath.Join(dir, "plugins")})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rt.Close())
		}
	}()
	blobs, err := blob.OpenDir(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, nil, err
	}
	b := &Bench{Plugins: rt, Agent: agent}
	cfg, err := b.Judging()
	if err != nil && !errors.Is(err, plugins.ErrNotBuilt) { // compiling a plugin asks no adapter
		return nil, nil, err
	}
	cfg.Blobs, cfg.CacheDir, cfg.CacheBytes = blobs, cmp.Or(cache, filepath.Join(dir, "judging")), maxBuildCache
	j, err = judging.New(cfg)
	return j, rt.Close, err
}

// Compilers says which sources of plugins can be compiled here.
func Compilers(ctx context.Context, agent *sandbox.Client) (found []judge.Language, err error) {
	dir, err := os.MkdirTemp("", "deepoj-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	j, done, err := newCompiler(dir, "", agent)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return j.Compilers(ctx), nil
}
