package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

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

// compilePlugin compiles in the sandbox, or, where there is none for an ordinary
// user, directly. It says how.
func compilePlugin(ctx context.Context, e *env, files []sandbox.File) (wasm []byte, how string, err error) {
	dir, err := os.MkdirTemp("", "deepoj-plugin-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	agent, stop, err := startAgent(ctx)
	defer stop()
	if err != nil {
		if os.Geteuid() == 0 {
			return nil, "", fmt.Errorf("no sandbox to compile in: %w; see `deepoj doctor`", err)
		}
		fmt.Fprintf(e.stderr, "deepoj: compiled without a sandbox, with your rights, since there is none: %v\n", err)
		return compileDirectly(ctx, e, dir, files)
	}
	rt, err := plugin.New(plugin.Config{CacheDir: filepath.Join(dir, "plugins")})
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	blobs, err := blob.OpenDir(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, "", err
	}
	b := &bench{plugins: rt, agent: agent}
	cfg, err := b.judging()
	if err != nil && !errors.Is(err, plugins.ErrNotBuilt) {
		return nil, "", err
	}
	if len(cfg.Adapters) == 0 {
		cfg.Adapters = map[string][]byte{"": nil} // compiling a plugin asks no adapter
	}
	cfg.Blobs, cfg.CacheDir = blobs, filepath.Join(dir, "judging")
	j, err := judging.New(cfg)
	if err != nil {
		return nil, "", err
	}
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
	return wasm, "in the sandbox with " + c.Tool, nil
}

// compileDirectly compiles in a folder of this machine.
func compileDirectly(ctx context.Context, e *env, dir string, files []sandbox.File) ([]byte, string, error) {
	p, err := judging.PlanPlugin(plugins.SDK(), files)
	if err != nil {
		return nil, "", err
	}
	for _, f := range p.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, f.Data, 0o600)); err != nil {
			return nil, "", err
		}
	}
	cmd := exec.CommandContext(ctx, p.Tool, p.Args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	for _, kv := range p.Env {
		if !strings.Contains(kv, "=/tmp/") { // caches of a box; a user has his own
			cmd.Env = append(cmd.Env, kv)
		}
	}
	said, err := cmd.CombinedOutput()
	said = bytes.TrimSpace(said)
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, "", fmt.Errorf("%s is not installed: on Debian, apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32 libc++-14-dev-wasm32 libc++abi-14-dev-wasm32, or golang-go", p.Tool)
	case errors.As(err, &exit):
		return nil, "", fmt.Errorf("it does not compile:\n%s", said)
	case err != nil:
		return nil, "", err
	}
	if len(said) > 0 {
		fmt.Fprintf(e.stderr, "%s\n", said) // warnings
	}
	wasm, err := os.ReadFile(filepath.Join(dir, p.Module))
	return wasm, "with " + p.Tool, err
}
