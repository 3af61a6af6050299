package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// checker is a checker that is ready to be asked.
type checker struct {
	module *plugin.Module
	flags  []string
	points bool
}

// packageError is a failure of the package, of its checker above all: a judging
// error, never the contestant's and not ours.
type packageError struct{ err error }

func (e *packageError) Error() string { return e.err.Error() }

func (e *packageError) Unwrap() error { return e.err }

// maxModule is the largest checker module, in bytes.
const maxModule = 16 << 20

// checkers loads the checkers of a package. A checker that cannot be used is a
// [*packageError].
func (j *Judge) checkers(ctx context.Context, pkg *problem.Package) ([]checker, error) {
	var all []checker
	for _, c := range pkg.Checkers {
		wasm, err := j.checkerModule(ctx, pkg, c)
		if err != nil {
			return nil, err
		}
		m, err := j.cfg.Plugins.Load(ctx, wasm, manifest(pkg, c))
		if _, refused := errors.AsType[*plugin.Refusal](err); refused {
			return nil, &packageError{fmt.Errorf("checker: %w", err)}
		}
		if err != nil {
			return nil, err
		}
		if m.Manifest.Kind != abi.Checker {
			return nil, &packageError{fmt.Errorf("checker: the module %s is a %s", m.Manifest.Name, m.Manifest.Kind)}
		}
		all = append(all, checker{module: m, flags: c.Flags, points: c.Points})
	}
	return all, nil
}

// manifest is that of a module that brings none.
func manifest(pkg *problem.Package, c problem.Checker) *abi.Manifest {
	name := "problem.checker"
	if pkg.Slug != "" {
		name = pkg.Slug + ".checker"
	}
	return &abi.Manifest{
		Judge: abi.Version, Kind: abi.Checker, Name: name, Version: "1", Protocol: abi.Protocol(c.Protocol),
		Limits: abi.Limits{
			MemoryMiB: int(pkg.Limits.CheckMemoryMiB),
			FuelM:     int(pkg.Limits.CheckCPU / time.Millisecond), // a CPU does about 10^9 units a second
			OutputKiB: int(pkg.Limits.CheckOutputMiB << 10),
		},
	}
}

// checkerModule returns the module of a checker.
func (j *Judge) checkerModule(ctx context.Context, pkg *problem.Package, c problem.Checker) ([]byte, error) {
	switch {
	case c.Standard != "":
		wasm, err := j.cfg.Checker(c.Standard)
		if err != nil {
			return nil, &packageError{err}
		}
		return wasm, nil
	case c.Wasm != nil:
		return j.content(ctx, pkg, *c.Wasm, maxModule)
	default:
		return j.compileChecker(ctx, pkg, c)
	}
}

// content returns a whole file of a package.
func (j *Judge) content(ctx context.Context, pkg *problem.Package, f problem.File, limit int64) ([]byte, error) {
	if f.Size > limit {
		return nil, &packageError{fmt.Errorf("%s has %d bytes, at most %d are read", f.Path, f.Size, limit)}
	}
	r, err := pkg.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return b, nil
}

// clang compiles the checkers of packages.
var clang = abi.Tool{
	Name: "clang", Version: []string{"--version"}, Pattern: `clang version (\S+)`,
	Package: "clang lld wasi-libc libclang-rt-14-dev-wasm32",
}

// clangFlags put the stack first, so that its overflow traps.
var clangFlags = []string{"--target=wasm32-wasi", "-std=gnu17", "-O2", "-Wl,--strip-all", "-Wl,--stack-first", "-Wl,-z,stack-size=8388608"}

const (
	maxCheckerSource = 1 << 20 // bytes of one source of a checker
	checkerProgram   = "checker.wasm"
)

var clangLimits = sandbox.Limits{CPU: 30 * time.Second, MemoryBytes: 1 << 30, Processes: 16, Cores: 1}

// compileChecker compiles a package's checker to WASI in the sandbox, once.
func (j *Judge) compileChecker(ctx context.Context, pkg *problem.Package, c problem.Checker) ([]byte, error) {
	version, err := j.version(ctx, clang)
	if missing, ok := errors.AsType[*UnavailableError](err); ok {
		missing.What = "a compiler for the problem's checker"
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	var files []sandbox.File
	args := append([]string{}, clangFlags...)
	args = append(args, "-o", checkerProgram)
	for _, f := range c.Sources {
		b, err := j.content(ctx, pkg, f, maxCheckerSource)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Path: f.Path, Data: b})
		if path.Ext(f.Path) == ".c" {
			args = append(args, f.Path)
		}
	}
	k, err := key(struct {
		Clang string
		Args  []string
		Files []sandbox.File
	}{version, args, files})
	if err != nil {
		return nil, err
	}
	unlock, err := j.flights.lock(ctx, k)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var known struct{}
	if built, ok := j.cache.get(k, &known); ok && len(built) == 1 {
		return built[0].Data, nil
	}
	built, err := j.clang(ctx, files, args)
	if err != nil {
		return nil, err
	}
	if err := j.cache.put(k, known, built); err != nil {
		return nil, err
	}
	return built[0].Data, nil
}

// clang runs the compiler in a box and returns the module.
func (j *Judge) clang(ctx context.Context, files []sandbox.File, args []string) (built []sandbox.File, err error) {
	box, err := j.cfg.Agent.OpenBox(ctx, sandbox.BoxOptions{Writable: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := box.Put(ctx, files...); err != nil {
		return nil, err
	}
	streams, err := j.streams()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, streams.close()) }()
	ran, err := box.Run(ctx, sandbox.Cmd{
		Tool: clang.Name, Args: args, Stdout: streams.out, Stderr: streams.err,
		StdoutLimit: keptCompile, StderrLimit: keptCompile, Limits: clangLimits,
	})
	if err != nil {
		return nil, err
	}
	out, errs, err := streams.read()
	if err != nil {
		return nil, err
	}
	switch ran.Verdict {
	case sandbox.OK:
	case sandbox.SE:
		return nil, fmt.Errorf("compile a checker: the sandbox failed: %s", ran.Error)
	case sandbox.TLE, sandbox.MLE, sandbox.OLE, sandbox.RE:
		return nil, &packageError{fmt.Errorf("the checker does not compile (%s):\n%s", ran.Verdict, cut(strings.TrimSpace(errs+"\n"+out), keptWords))}
	}
	built, err = box.Collect(ctx, []string{checkerProgram}, maxModule)
	if err == nil && len(built) != 1 {
		err = &packageError{errors.New("the checker's compiler left no module")}
	}
	return built, err
}

// opinion asks a checker and puts what it says into r, whose verdict is AC. A
// checker that fails is a [*packageError].
func (j *Judge) opinion(ctx context.Context, r *runResult, c checker, input, output, answer *os.File, args []string, scoring bool) error {
	o, err := j.cfg.Plugins.Check(ctx, c.module, plugin.Check{Input: input, Output: output, Answer: answer, Args: args})
	if fault, ok := errors.AsType[*plugin.Error](err); ok {
		if fault.Message != "" {
			return &packageError{fmt.Errorf("%w: it said: %s", fault, cut(fault.Message, keptWords))}
		}
		return &packageError{fault}
	}
	if err != nil {
		return err
	}
	switch o.Outcome {
	case plugin.Accepted:
	case plugin.Wrong, plugin.Presentation: // the legacy format knows no presentation error
		r.verdict = judge.WA
	case plugin.Partial:
		if !scoring {
			return &packageError{fmt.Errorf("the checker %s gives points, but the problem has no scores", c.module.Manifest.Name)}
		}
	default:
		return &packageError{fmt.Errorf("the checker %s gives the unknown outcome %q", c.module.Manifest.Name, o.Outcome)}
	}
	if scoring && o.Score != nil && (c.points || o.Outcome == plugin.Partial) {
		r.score = o.Score
	}
	if o.Message != "" {
		r.message = cut(clean(o.Message), keptWords)
	}
	if o.JudgeMessage != "" && o.JudgeMessage != o.Message {
		r.note = cut(clean(o.JudgeMessage), keptWords)
	}
	return nil
}

// digests names the checkers of a result.
func digests(cs []checker) string {
	var all []string
	for _, c := range cs {
		all = append(all, c.module.Digest)
	}
	return strings.Join(all, " ")
}
