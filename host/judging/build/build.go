package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// The limits of compiling, where the adapter asks for nothing, and of what it leaves.
const (
	CompileCPU       = 20 * time.Second
	compileMemory    = 1 << 30
	compileProcesses = 64
	MaxArtifacts     = 256 << 20
)

// Build plans and compiles a submission, or takes it from the cache.
func (b *Builder) Build(ctx context.Context, tc *Toolchain, pkg *problem.Package, sources []judge.Source, x Extra) (_ *Program, err error) {
	ctx, span := telemetry.Start(ctx, "compile")
	span.Text("language", tc.ID)
	defer func() { span.End(err) }()
	p := &Program{Toolchain: tc, Compile: judge.Compile{Tool: tc.Shown()}, extra: x}
	size := 0
	for _, s := range sources {
		size += len(s.Text)
	}
	if limit := pkg.Limits.CodeKiB << 10; int64(size) > limit {
		p.Refuse(fmt.Sprintf("the source has %d bytes, more than the %d that this problem allows", size, limit))
		return p, nil
	}
	sources, err = b.withIncludes(ctx, pkg, tc.ID, sources)
	if err != nil {
		return nil, err
	}
	factor := b.Factor(tc.ID)
	warm, err := b.warmth(ctx, tc)
	if err != nil {
		return nil, err
	}
	q := abi.PlanRequest{
		Options: tc.withDialect(warm.options, x.Dialect),
		Limits:  abi.RunLimits{CPUMillis: int64(float64(pkg.Limits.CPU.Milliseconds()) * factor), MemoryMiB: pkg.Limits.MemoryMiB},
		Host:    abi.Host{Tools: tc.versions},
		Entry:   x.Entry,
	}
	for _, s := range sources {
		q.Sources = append(q.Sources, abi.Source{Name: s.Name, Text: s.Text})
	}
	planning, plan := telemetry.Start(ctx, "plan")
	plan.Text("plugin", tc.Module.Manifest.Name)
	p.Plan, err = b.plan(planning, tc, q)
	plan.End(err)
	if fault, ok := errors.AsType[*plugin.Error](err); ok {
		return p, b.unreadable(ctx, p, fault)
	}
	if err != nil {
		return nil, err
	}
	if e := p.Plan.Error; e != nil {
		p.Refuse(runner.Clean(e.Message))
		if e.Source >= 0 && e.Source < len(sources) {
			p.Compile.Diagnostics = []judge.Diagnostic{{File: runner.Clean(sources[e.Source].Name), Line: e.Line, Severity: "error", Message: runner.Clean(e.Message)}}
		}
		return p, nil
	}
	addOptions(&p.Plan, x.Options)
	if err := b.compile(ctx, p, pkg, q.Sources, warm.files); err != nil {
		return nil, err
	}
	return p, runCmd(p, pkg, factor)
}

// plan asks the adapter of a language for its plan, unless that was asked before. An adapter says the same each time.
func (b *Builder) plan(ctx context.Context, tc *Toolchain, q abi.PlanRequest) (plan abi.Plan, err error) {
	k, err := key(struct {
		Plan    string
		Request abi.PlanRequest
	}{tc.Module.Digest, q})
	if err != nil {
		return plan, err
	}
	if known, ok := b.plans.get(k); ok {
		err = json.Unmarshal(known, &plan)
		return plan, err
	}
	if b.cfg.KeepPlans {
		if _, ok := b.cache.get(k, &plan); ok {
			return plan, nil
		}
	}
	if plan, err = b.cfg.Plugins.Plan(ctx, tc.Module, q); err != nil {
		return plan, err
	}
	if b.cfg.KeepPlans {
		if err := b.cache.put(k, plan, nil); err != nil {
			b.cfg.Log.WarnContext(ctx, "a plan is not kept", slog.Any("err", err))
		}
	}
	known, err := json.Marshal(plan)
	if err == nil {
		b.plans.put(k, known, int64(len(known)))
	}
	return plan, err
}

// Factor is what multiplies the time limits of programs in a language.
func (b *Builder) Factor(language string) float64 {
	if factor := b.cfg.Factors[language]; factor != 0 {
		return factor
	}
	return 1
}

// addOptions gives the compiler further arguments, before the first file that it compiles. What is interpreted has no
// compiler that could take them.
func addOptions(plan *abi.Plan, options []string) {
	if len(options) == 0 || !compiles(plan) {
		return
	}
	for i := range plan.Compile {
		step := &plan.Compile[i]
		at := slices.IndexFunc(step.Args, func(arg string) bool {
			return slices.ContainsFunc(plan.Files, func(f abi.File) bool { return f.Path == arg })
		})
		if at >= 0 {
			step.Args = slices.Insert(slices.Clone(step.Args), at, options...)
		}
	}
}

// maxInclude bounds a file that is compiled with every submission, in bytes.
const maxInclude = 1 << 20

// withIncludes returns the sources with the files that the package adds. One of
// these takes the place of a source with the same name.
func (b *Builder) withIncludes(ctx context.Context, pkg *problem.Package, language string, sources []judge.Source) ([]judge.Source, error) {
	for _, f := range pkg.Included(language) {
		text, err := b.Content(ctx, pkg, f.File, maxInclude)
		if err != nil {
			return nil, err
		}
		sources = slices.DeleteFunc(slices.Clone(sources), func(s judge.Source) bool { return s.Name == f.Name })
		sources = append(sources, judge.Source{Name: f.Name, Text: string(text)})
	}
	return sources, nil
}

// compiled is what the cache keeps of a program beside its files.
type compiled struct{ Compile judge.Compile }

// compile runs the compile steps in a box, unless the cache has their result.
func (b *Builder) compile(ctx context.Context, p *Program, pkg *problem.Package, sources []abi.Source, warm []sandbox.File) error {
	var lines []string
	for _, s := range p.Plan.Compile {
		lines = append(lines, line(s))
	}
	p.Compile.Command = strings.Join(lines, "\n")
	files, err := p.sourceFiles(sources)
	if err != nil {
		return b.unreadable(ctx, p, err)
	}
	p.placed = files
	if why := Unplaceable(Beside(p.extra.Files, files)); why != "" {
		p.Refuse(why)
		return nil
	}
	if len(p.Plan.Compile) == 0 {
		p.Compile.OK, p.Files, p.made = true, files, &made{files: files}
		return nil
	}
	k, err := key(struct {
		Adapter   string
		Tools     map[string]abi.ToolVersion
		Files     []sandbox.File
		Steps     []abi.Step
		Artifacts []string
	}{p.Toolchain.Module.Digest, p.Toolchain.versions, Beside(p.extra.Files, files), p.Plan.Compile, p.Plan.Artifacts})
	if err != nil {
		return err
	}
	unlock, err := b.locks.lock(ctx, k)
	if err != nil {
		return err
	}
	defer unlock()
	var known compiled
	if m, ok := b.cache.take(k, &known); ok {
		p.Compile, p.Files, p.made = known.Compile, m.files, m
		b.builds.WithLabelValues("cached").Inc()
		return nil
	}
	if err := b.compileInBox(ctx, p, pkg, sources, append(slices.Clone(warm), Beside(p.extra.Files, files)...)); err != nil {
		return err
	}
	if !p.Compile.OK {
		b.builds.WithLabelValues("refused").Inc()
		return nil
	}
	b.builds.WithLabelValues("compiled").Inc()
	if err := b.cache.store(k, compiled{p.Compile}, p.made); err != nil {
		b.cfg.Log.WarnContext(ctx, "compiled program is not cached", slog.Any("err", err))
	}
	return nil
}

func (b *Builder) compileInBox(ctx context.Context, p *Program, pkg *problem.Package, sources []abi.Source, files []sandbox.File) (err error) {
	box, err := b.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if put, err := blame.Fits(sandbox.Result{}, box.Put(ctx, files...)); err != nil || put.Unfit {
		p.Refuse(put.Error)
		return err
	}
	streams, err := b.Streams()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, streams.Close()) }()
	var failed *sandbox.Result
	for _, step := range p.Plan.Compile {
		c := command(step)
		c.ExtraTools = p.Toolchain.tools()
		c.Limits = compileLimits(step.Limits)
		c.Limits.CPU = min(c.Limits.CPU, pkg.Limits.CompileCPU)
		c.Limits.MemoryBytes = min(c.Limits.MemoryBytes, pkg.Limits.CompileMemoryMiB<<20)
		c.Stdout, c.Stderr = streams.Out, streams.Err
		c.StdoutLimit, c.StderrLimit = runner.KeptCompile, runner.KeptCompile
		ran, err := blame.Fits(b.RunCompiler(ctx, box.Run, c, streams))
		if err != nil {
			return p.Toolchain.Explain(err)
		}
		if ran.Unfit {
			p.Refuse(ran.Error)
			return nil
		}
		if ran.Verdict == sandbox.SE {
			return fmt.Errorf("compile: the sandbox failed: %s", ran.Error)
		}
		b.CountCut(c, ran)
		p.Compile.Usage = p.Compile.Usage.After(runner.Usage(ran))
		if ran.Verdict != sandbox.OK {
			failed = &ran
			break
		}
	}
	out, errs, err := streams.Read()
	if err != nil {
		return err
	}
	p.Compile.Output = runner.Cut(strings.TrimSpace(errs+"\n"+out), runner.KeptCompile)
	if p.Compile.Diagnostics, err = b.diagnose(ctx, p, sources, out, errs); err != nil {
		return err
	}
	if failed != nil {
		p.Message = CompileFailure(*failed)
		if failed.Verdict != sandbox.RE || p.Compile.Output == "" {
			p.Compile.Output = strings.TrimSpace(p.Message + "\n" + p.Compile.Output)
		}
		return nil
	}
	var packed *sandbox.Packed
	p.Files, packed, err = box.CollectPacked(ctx, p.Plan.Artifacts, MaxArtifacts)
	if left, err := blame.Fits(sandbox.Result{}, err); err != nil || left.Unfit {
		p.Refuse("what the compiler left is no program: " + left.Error)
		return err
	}
	if len(p.Files) == 0 {
		p.Refuse("the compiler left no program")
		return nil
	}
	if len(p.Files) > maxArtifactFiles {
		p.Refuse(fmt.Sprintf("the compiler left %d files, more than %d", len(p.Files), maxArtifactFiles))
		return nil
	}
	if why := Unplaceable(p.Files); why != "" {
		p.Refuse("what the compiler left is no program: " + why)
		return nil
	}
	if why := unstartable(p.Plan.Run, p.Files); why != "" {
		p.Refuse(strings.TrimSpace(why + "\n" + p.Compile.Output))
		p.Message = why
		return nil
	}
	p.Compile.OK, p.made = true, &made{files: p.Files, packed: packed}
	return nil
}

// CompileFailure says in words why a compiler failed.
func CompileFailure(ran sandbox.Result) string {
	switch ran.Verdict {
	case sandbox.TLE:
		return fmt.Sprintf("compiling took too long: stopped after %s", max(ran.CPU, ran.Wall).Round(100*time.Millisecond))
	case sandbox.MLE:
		return fmt.Sprintf("compiling took too much memory: stopped at %d MiB", ran.MemoryBytes>>20)
	case sandbox.OLE:
		return "compiling wrote too much"
	case sandbox.OK, sandbox.RE, sandbox.SE:
	}
	if ran.Signal != 0 {
		return fmt.Sprintf("the compiler was ended by signal %d", ran.Signal)
	}
	return "the program does not compile"
}

// compileLimits are what the adapter asks for.
func compileLimits(l abi.StepLimits) sandbox.Limits {
	limits := sandbox.Limits{
		CPU: CompileCPU, MemoryBytes: compileMemory, Processes: compileProcesses, FileBytes: l.FileMiB << 20, Cores: 1,
	}
	if l.CPUMillis > 0 {
		limits.CPU = time.Duration(l.CPUMillis) * time.Millisecond
	}
	if l.MemoryMiB > 0 {
		limits.MemoryBytes = l.MemoryMiB << 20
	}
	if l.Processes > 0 {
		limits.Processes = l.Processes
	}
	return limits
}

// Content returns a whole file of a package.
func (b *Builder) Content(ctx context.Context, pkg *problem.Package, f problem.File, limit int64) ([]byte, error) {
	if f.Size > limit {
		return nil, blame.Packagef("%s has %d bytes, at most %d are read", f.Path, f.Size, limit)
	}
	r, err := pkg.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	whole, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return whole, nil
}
