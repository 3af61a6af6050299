package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"deepoj/host/blob"
	"deepoj/host/judging"
	"deepoj/host/plugin"
	"deepoj/plugins"
	"deepoj/sandbox"
)

// buildPlugin is `deepoj plugin build`.
func buildPlugin(ctx context.Context, e *env) int {
	f := bareFlags(e, "plugin build", "FILE.c|FILE.cpp|FILE.go... -o FILE.wasm")
	out := f.String("o", "", "file to write (required)")
	include := f.String("include", "", "folder of headers, such as the one of testlib.h")
	manifest := f.String("manifest", "", "JSON file with the manifest to embed")
	args, status, ok := parseMixed(f, e.args)
	if !ok {
		return status
	}
	if len(args) == 0 || *out == "" {
		f.Usage()
		return 2
	}
	if err := build(ctx, e, args, *include, *manifest, *out); err != nil {
		return e.fail(err)
	}
	return 0
}

// build compiles files to a module, embeds the manifest and writes the module.
func build(ctx context.Context, e *env, names []string, include, manifest, out string) error {
	files, err := sourcesOf(names, include)
	if err != nil {
		return err
	}
	var embed []byte
	if manifest != "" {
		if embed, err = os.ReadFile(filepath.Clean(manifest)); err != nil {
			return err
		}
	}
	wasm, how, err := compilePlugin(ctx, e, files)
	if err != nil {
		return err
	}
	if embed != nil {
		if wasm, err = plugin.Embed(wasm, embed); err != nil {
			return fmt.Errorf("embed %s: %w", manifest, err)
		}
	}
	if err := os.WriteFile(filepath.Clean(out), wasm, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "built %s: sha256:%x, %d bytes, %s\n", out, sha256.Sum256(wasm), len(wasm), how)
	return nil
}

// headers are the endings of the files that a folder of headers is read for.
var headers = []string{".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"}

// sourcesOf reads the sources and the headers.
func sourcesOf(names []string, include string) ([]sandbox.File, error) {
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

// buildCache returns the folder in which what was built is found again: below
// CACHE_DIR if that is set, else of this account. Without one, "", everything is
// compiled each time.
func buildCache(e *env) string {
	dir := e.variable("CACHE_DIR")
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

// compilePlugin compiles in the sandbox, or, where there is none for an ordinary
// user, directly. It says how. The same sources and tools are compiled once.
func compilePlugin(ctx context.Context, e *env, files []sandbox.File) (wasm []byte, how string, err error) {
	dir, err := os.MkdirTemp("", "deepoj-plugin-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cache := buildCache(e)
	agent, stop, err := startAgent(ctx)
	defer stop()
	if err != nil {
		if os.Geteuid() == 0 {
			return nil, "", fmt.Errorf("no sandbox to compile in: %w; see `deepoj doctor`", err)
		}
		fmt.Fprintf(e.stderr, "deepoj: compiled without a sandbox, with your rights, since there is none: %v\n", err)
		return compileDirectly(ctx, e, dir, cache, files)
	}
	j, done, err := openCompiler(dir, cache, agent)
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
		fmt.Fprintln(e.stderr, c.Output) // warnings
	}
	if j.PluginsCompiled() == 0 {
		return wasm, "compiled before with " + c.Tool, nil
	}
	return wasm, "in the sandbox with " + c.Tool, nil
}

// openCompiler returns a Judge that compiles plugins, with its files in a folder and
// what it built in the cache; "" is the folder. The function ends it.
func openCompiler(dir, cache string, agent *sandbox.Agent) (j *judging.Judge, done func() error, err error) {
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
	b := &bench{plugins: rt, agent: agent}
	cfg, err := b.judging()
	if err != nil && !errors.Is(err, plugins.ErrNotBuilt) {
		return nil, nil, err
	}
	if len(cfg.Adapters) == 0 {
		cfg.Adapters = map[string][]byte{"": nil} // compiling a plugin asks no adapter
	}
	cfg.Blobs, cfg.CacheDir, cfg.CacheBytes = blobs, firstOf(cache, filepath.Join(dir, "judging")), maxBuildCache
	j, err = judging.New(cfg)
	return j, rt.Close, err
}
