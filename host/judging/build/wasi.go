package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Plugins are compiled to WASI by the compilers of this machine, in the sandbox like every program.

var (
	clang = abi.Tool{
		Name: "clang", Version: []string{"--version"}, Pattern: `clang version (\S+)`,
		Package: "clang lld wasi-libc libclang-rt-14-dev-wasm32",
	}
	clangxx = abi.Tool{
		Name: "clang++", Version: []string{"--version"}, Pattern: `clang version (\S+)`,
		Package: "clang lld wasi-libc libclang-rt-14-dev-wasm32 libc++-14-dev-wasm32 libc++abi-14-dev-wasm32",
	}
	golang = abi.Tool{Name: "go", Version: []string{"version"}, Pattern: `go(\d+\.\d+(?:\.\d+)?)`, Package: "golang-go"}
)

// What plugins are made of, and what they may be.
const (
	builtModule     = "plugin.wasm"
	sdkFolder       = "deepoj-sdk"
	MaxModule       = 16 << 20 // bytes of a module
	MaxPluginSource = 4 << 20  // bytes of all sources
)

// recipe is how sources of one language become a module.
type recipe struct {
	tool   abi.Tool
	args   []string
	env    []string
	sdk    bool
	words  *regexp.Regexp // what the compiler's messages look like
	limits sandbox.Limits
}

var goFormat = regexp.MustCompile(`^(?P<file>[^:\s][^:]*\.go):(?P<line>\d+)(?::(?P<col>\d+))?: (?P<message>.*)$`)

// cFlags put the stack first, so that its overflow traps.
var cFlags = []string{"--target=wasm32-wasi", "-Wl,--strip-all", "-Wl,--stack-first"}

// plan returns the recipe of files, or a [*SourceError].
func plan(files []sandbox.File) (recipe, error) {
	by := map[string][]string{}
	size := 0
	for _, f := range files {
		size += len(f.Data)
		switch path.Ext(f.Path) {
		case ".c":
			by["C"] = append(by["C"], f.Path)
		case ".cc", ".cpp", ".cxx":
			by["C++"] = append(by["C++"], f.Path)
		case ".go":
			by["Go"] = append(by["Go"], f.Path)
		}
	}
	switch {
	case size > MaxPluginSource:
		return recipe{}, &SourceError{fmt.Sprintf("the sources have %d bytes, more than %d", size, MaxPluginSource)}
	case len(by["Go"]) > 0 && len(by) == 1:
		return recipe{
			tool: golang, args: append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", builtModule}, by["Go"]...),
			env: []string{
				"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOCACHE=/tmp/go-build", "GOENV=off", "GOFLAGS=", "GOPATH=/tmp/go",
				"GOPROXY=off", "GOTOOLCHAIN=local", "GO111MODULE=off",
			},
			words:  goFormat,
			limits: sandbox.Limits{CPU: 3 * time.Minute, MemoryBytes: 3 << 30, Processes: 256, FileBytes: 256 << 20},
		}, nil
	case len(by["C++"]) > 0 && len(by["Go"]) == 0:
		args := slices.Concat(cFlags, []string{
			"-std=c++17", "-O1", "-DPC_BASE_EXIT_CODE=50", "-D_WASI_EMULATED_SIGNAL", "-I", sdkFolder + "/include", "-I", sdkFolder, "-I", ".", "-Wl,-z,stack-size=67108864",
		})
		args = slices.Concat(args, headerFolders(files), []string{"-o", builtModule}, by["C++"], []string{sdkFolder + "/exceptions.cpp", "-lwasi-emulated-signal"})
		if len(by["C"]) > 0 {
			return recipe{}, &SourceError{"some sources are C and some C++: give those of one language"}
		}
		return recipe{tool: clangxx, args: args, sdk: true, words: gccFormat, limits: sandbox.Limits{CPU: time.Minute, MemoryBytes: 1 << 30, Processes: 16}}, nil
	case len(by["C"]) > 0 && len(by) == 1:
		args := slices.Concat(cFlags, []string{"-std=gnu17", "-O2", "-I", ".", "-Wl,-z,stack-size=8388608", "-o", builtModule}, by["C"])
		return recipe{tool: clang, args: args, words: gccFormat, limits: sandbox.Limits{CPU: 30 * time.Second, MemoryBytes: 1 << 30, Processes: 16}}, nil
	case len(by) == 0:
		return recipe{}, &SourceError{"there is no .c, .cpp or .go file to compile"}
	}
	return recipe{}, &SourceError{"the sources are of several languages: give those of one"}
}

// SourceError says why sources are none of a plugin that can be compiled here.
type SourceError struct{ Reason string }

func (e *SourceError) Error() string { return e.Reason }

// CompilePlugin compiles the sources of a plugin (C, C++ or Go, all of one language, with their headers) to a WASI
// module, once: the same sources and compiler give the module from the cache. When the sources are at fault, the module
// is nil, and c says why. An [*blame.UnavailableError] says that this machine has no compiler for them.
func (b *Builder) CompilePlugin(ctx context.Context, files []sandbox.File) (wasm []byte, c judge.Compile, err error) {
	r, err := plan(files)
	if bad, ok := errors.AsType[*SourceError](err); ok {
		return nil, judge.Compile{Output: bad.Reason}, nil
	}
	version, err := b.version(ctx, r.tool)
	if missing, ok := errors.AsType[*blame.UnavailableError](err); ok {
		missing.What = "a compiler for plugins"
	}
	if err != nil {
		return nil, c, err
	}
	c.Tool, c.Command = r.tool.Name+" "+version, strings.Join(append([]string{r.tool.Name}, r.args...), " ")
	all := slices.Clone(files)
	if r.sdk {
		if all, err = withSDK(b.cfg.SDK, all); err != nil {
			return nil, c, err
		}
	}
	k, err := key(struct {
		Version   string
		Args, Env []string
		Files     []sandbox.File
	}{version, r.args, r.env, all})
	if err != nil {
		return nil, c, err
	}
	unlock, err := b.locks.lock(ctx, k)
	if err != nil {
		return nil, c, err
	}
	defer unlock()
	var known compiled
	switch built, ok := b.cache.get(k, &known); {
	case ok && len(built) == 1:
		return built[0].Data, known.Compile, nil
	case ok && known.Compile.Output != "":
		return nil, known.Compile, nil
	}
	built, err := b.compileToWASI(ctx, r, all, &c)
	if err == nil && built == nil {
		err = b.lacks(ctx, r, files, c.Output)
	}
	if err == nil && built == nil && len(c.Diagnostics) > 0 { // it will never compile
		err = b.cache.put(k, compiled{c}, nil)
	}
	if err != nil || built == nil {
		return nil, c, err
	}
	return built[0].Data, c, b.cache.put(k, compiled{c}, built)
}

// PluginsCompiled returns how often a compiler ran for [judging.Judge.CompilePlugin], which is
// not where the module was in the cache.
func (b *Builder) PluginsCompiled() int64 { return b.plugins.Load() }

// withSDK adds what C++ plugins are compiled with.
func withSDK(sdk fs.FS, files []sandbox.File) ([]sandbox.File, error) {
	files = wrapTestlib(files)
	err := fs.WalkDir(sdk, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(sdk, name)
		files = append(files, sandbox.File{Path: path.Join(sdkFolder, name), Data: b})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the plugin SDK: %w", err)
	}
	return files, nil
}

// compileToWASI runs the compiler in a box. It returns nothing when the sources are at fault.
func (b *Builder) compileToWASI(ctx context.Context, r recipe, files []sandbox.File, c *judge.Compile) (built []sandbox.File, err error) {
	box, err := b.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if put, err := blame.Fits(sandbox.Result{}, box.Put(ctx, files...)); err != nil || put.Unfit {
		c.Output = runner.Clean(put.Error)
		return nil, err
	}
	streams, err := b.Streams()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, streams.Close()) }()
	b.plugins.Add(1)
	limits := r.limits
	limits.Cores = b.cfg.Sandbox.Cores()
	ran, err := b.RunCompiler(ctx, box.Run, sandbox.Cmd{
		Tool: r.tool.Name, Args: r.args, Env: r.env, Stdout: streams.Out, Stderr: streams.Err,
		StdoutLimit: runner.KeptCompile, StderrLimit: runner.KeptCompile, Limits: limits,
	}, streams)
	if err != nil {
		return nil, err
	}
	out, errs, err := streams.Read()
	if err != nil {
		return nil, err
	}
	c.Usage, c.Output = runner.Usage(ran), runner.Clean(runner.Cut(advise(strings.TrimSpace(errs+"\n"+out)), runner.KeptCompile))
	for _, d := range parse(r.words, errs+"\n"+out) {
		d.File, d.Message = strings.TrimPrefix(path.Clean(d.File), "/box/"), runner.Cut(runner.Clean(d.Message), runner.KeptWords)
		if len(c.Diagnostics) < maxDiagnostics {
			c.Diagnostics = append(c.Diagnostics, d)
		}
	}
	switch ran.Verdict {
	case sandbox.OK:
	case sandbox.SE:
		return nil, fmt.Errorf("compile a plugin: the sandbox failed: %s", ran.Error)
	case sandbox.TLE, sandbox.MLE, sandbox.OLE, sandbox.RE:
		if ran.Verdict != sandbox.RE || c.Output == "" {
			c.Output = strings.TrimSpace(CompileFailure(ran) + "\n" + c.Output)
		}
		return nil, nil
	}
	built, err = box.Collect(ctx, []string{builtModule}, MaxModule)
	if left, err := blame.Fits(sandbox.Result{}, err); err != nil || left.Unfit {
		c.Output = strings.TrimSpace(runner.Clean(left.Error) + "\n" + c.Output)
		return nil, err
	}
	if len(built) != 1 {
		c.Output = strings.TrimSpace("the compiler left no module\n" + c.Output)
		return nil, nil
	}
	c.OK = true
	return built, nil
}

// PluginCommand is how [judging.Judge.CompilePlugin] compiles sources, for machines
// without a sandbox. It runs in a folder that holds Files.
type PluginCommand struct {
	Tool     string
	Packages string // of Debian, which the tool is in
	Args     []string
	Env      []string       // additions to the environment, as KEY=value
	Files    []sandbox.File // the sources, with what they are compiled with
	Module   string         // the path of what is built
}

// PlanPlugin returns how sources are compiled. Sdk is that of [Config]. The error
// is a [*SourceError] if the sources are at fault.
func PlanPlugin(sdk fs.FS, files []sandbox.File) (PluginCommand, error) {
	r, err := plan(files)
	if err != nil {
		return PluginCommand{}, err
	}
	c := PluginCommand{Tool: r.tool.Name, Packages: r.tool.Package, Args: r.args, Env: r.env, Files: slices.Clone(files), Module: builtModule}
	if r.sdk {
		c.Files, err = withSDK(sdk, c.Files)
	}
	return c, err
}
