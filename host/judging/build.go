package judging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// The limits of compiling, where the adapter asks for nothing, and of what it
// leaves.
const (
	compileCPU       = 20 * time.Second
	compileMemory    = 1 << 30
	compileProcesses = 64
	maxArtifacts     = 256 << 20
	keptCompile      = 64 << 10 // of what a compiler says
)

// program is a submission that is ready to run, or that did not compile.
type program struct {
	tc         *toolchain
	plan       abi.Plan
	compile    judge.Compile
	message    string         // why it did not compile
	placed     []sandbox.File // the sources, as the plan names them
	files      []sandbox.File // what the program is run from
	extra      extra
	cmd        sandbox.Cmd
	memoryExit *regexp.Regexp
}

// extra is what a program is compiled with besides its sources.
type extra struct {
	dialect string         // of its language, if the adapter knows it
	entry   string         // the source that starts; "" = the adapter chooses
	options []string       // further arguments of the compiler
	files   []sandbox.File // that lie beside the sources
}

// build plans and compiles a submission, or takes it from the cache.
func (j *Judge) build(ctx context.Context, tc *toolchain, pkg *problem.Package, sources []judge.Source, x extra) (_ *program, err error) {
	ctx, span := telemetry.Start(ctx, "compile")
	span.Text("language", tc.id)
	defer func() { span.End(err) }()
	p := &program{tc: tc, compile: judge.Compile{Tool: tc.shown()}, extra: x}
	size := 0
	for _, s := range sources {
		size += len(s.Text)
	}
	if limit := pkg.Limits.CodeKiB << 10; int64(size) > limit {
		p.refuse(fmt.Sprintf("the source has %d bytes, more than the %d that this problem allows", size, limit))
		return p, nil
	}
	sources, err = j.withIncludes(ctx, pkg, tc.id, sources)
	if err != nil {
		return nil, err
	}
	factor := j.Factor(tc.id)
	warm, err := j.warmth(ctx, tc)
	if err != nil {
		return nil, err
	}
	q := abi.PlanRequest{
		Options: tc.withDialect(warm.options, x.dialect),
		Limits:  abi.RunLimits{CPUMillis: int64(float64(pkg.Limits.CPU.Milliseconds()) * factor), MemoryMiB: pkg.Limits.MemoryMiB},
		Host:    abi.Host{Tools: tc.versions},
		Entry:   x.entry,
	}
	for _, s := range sources {
		q.Sources = append(q.Sources, abi.Source{Name: s.Name, Text: s.Text})
	}
	planning, plan := telemetry.Start(ctx, "plan")
	plan.Text("plugin", tc.module.Manifest.Name)
	p.plan, err = j.plan(planning, tc, q)
	plan.End(err)
	if fault, ok := errors.AsType[*plugin.Error](err); ok {
		return p, j.unreadable(ctx, p, fault)
	}
	if err != nil {
		return nil, err
	}
	if e := p.plan.Error; e != nil {
		p.refuse(clean(e.Message))
		if e.Source >= 0 && e.Source < len(sources) {
			p.compile.Diagnostics = []judge.Diagnostic{{File: clean(sources[e.Source].Name), Line: e.Line, Severity: "error", Message: clean(e.Message)}}
		}
		return p, nil
	}
	addOptions(&p.plan, x.options)
	if err := j.compile(ctx, p, pkg, q.Sources, warm.files); err != nil {
		return nil, err
	}
	return p, runCmd(p, pkg, factor)
}

// plan asks the adapter of a language for its plan, unless that was asked before and
// answers are kept. An adapter says the same each time.
func (j *Judge) plan(ctx context.Context, tc *toolchain, q abi.PlanRequest) (plan abi.Plan, err error) {
	if !j.cfg.KeepPlans {
		return j.cfg.Plugins.Plan(ctx, tc.module, q)
	}
	k, err := key(struct {
		Plan    string
		Request abi.PlanRequest
	}{tc.module.Digest, q})
	if err != nil {
		return plan, err
	}
	if _, ok := j.cache.get(k, &plan); ok {
		return plan, nil
	}
	if plan, err = j.cfg.Plugins.Plan(ctx, tc.module, q); err != nil {
		return plan, err
	}
	if err := j.cache.put(k, plan, nil); err != nil {
		j.cfg.Log.WarnContext(ctx, "a plan is not kept", slog.Any("err", err))
	}
	return plan, nil
}

// Factor is what multiplies the time limits of programs in a language.
func (j *Judge) Factor(language string) float64 {
	if factor := j.cfg.Factors[language]; factor != 0 {
		return factor
	}
	return 1
}

// addOptions gives the compiler further arguments, before the first file that it
// compiles.
func addOptions(plan *abi.Plan, options []string) {
	if len(options) == 0 {
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
func (j *Judge) withIncludes(ctx context.Context, pkg *problem.Package, language string, sources []judge.Source) ([]judge.Source, error) {
	for _, f := range pkg.Included(language) {
		b, err := j.content(ctx, pkg, f.File, maxInclude)
		if err != nil {
			return nil, err
		}
		sources = slices.DeleteFunc(slices.Clone(sources), func(s judge.Source) bool { return s.Name == f.Name })
		sources = append(sources, judge.Source{Name: f.Name, Text: string(b)})
	}
	return sources, nil
}

// refuse makes p a compile error.
func (p *program) refuse(why string) {
	why = clean(why)
	p.compile.OK, p.compile.Output, p.message = false, why, why
}

// compiled is what the cache keeps of a program beside its files.
type compiled struct{ Compile judge.Compile }

// compile runs the compile steps in a box, unless the cache has their result.
func (j *Judge) compile(ctx context.Context, p *program, pkg *problem.Package, sources []abi.Source, warm []sandbox.File) error {
	var lines []string
	for _, s := range p.plan.Compile {
		lines = append(lines, line(s))
	}
	p.compile.Command = strings.Join(lines, "\n")
	files, err := p.sourceFiles(sources)
	if err != nil {
		return j.unreadable(ctx, p, err)
	}
	p.placed = files
	if why := unplaceable(beside(p.extra.files, files)); why != "" {
		p.refuse(why)
		return nil
	}
	if len(p.plan.Compile) == 0 {
		p.compile.OK, p.files = true, files
		return nil
	}
	k, err := key(struct {
		Adapter   string
		Tools     map[string]abi.ToolVersion
		Files     []sandbox.File
		Steps     []abi.Step
		Artifacts []string
	}{p.tc.module.Digest, p.tc.versions, beside(p.extra.files, files), p.plan.Compile, p.plan.Artifacts})
	if err != nil {
		return err
	}
	unlock, err := j.locks.lock(ctx, k)
	if err != nil {
		return err
	}
	defer unlock()
	var known compiled
	if files, ok := j.cache.get(k, &known); ok {
		p.compile, p.files = known.Compile, files
		j.metrics.builds.WithLabelValues("cached").Inc()
		return nil
	}
	if err := j.compileInBox(ctx, p, pkg, sources, append(slices.Clone(warm), beside(p.extra.files, files)...)); err != nil {
		return err
	}
	if !p.compile.OK {
		j.metrics.builds.WithLabelValues("refused").Inc()
		return nil
	}
	j.metrics.builds.WithLabelValues("compiled").Inc()
	if err := j.cache.put(k, compiled{p.compile}, p.files); err != nil {
		j.cfg.Log.WarnContext(ctx, "compiled program is not cached", slog.Any("err", err))
	}
	return nil
}

func (j *Judge) compileInBox(ctx context.Context, p *program, pkg *problem.Package, sources []abi.Source, files []sandbox.File) (err error) {
	box, err := j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, Locks: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if put, err := fits(sandbox.Result{}, box.Put(ctx, files...)); err != nil || put.Unfit {
		p.refuse(put.Error)
		return err
	}
	streams, err := j.streams()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, streams.close()) }()
	var failed *sandbox.Result
	for _, step := range p.plan.Compile {
		c := command(step)
		c.ExtraTools = p.tc.tools()
		c.Limits = compileLimits(step.Limits)
		c.Limits.CPU = min(c.Limits.CPU, pkg.Limits.CompileCPU)
		c.Limits.MemoryBytes = min(c.Limits.MemoryBytes, pkg.Limits.CompileMemoryMiB<<20)
		c.Stdout, c.Stderr = streams.out, streams.err
		c.StdoutLimit, c.StderrLimit = keptCompile, keptCompile
		ran, err := fits(j.runCompiler(ctx, box.Run, c, streams))
		if err != nil {
			return p.tc.explain(err)
		}
		if ran.Unfit {
			p.refuse(ran.Error)
			return nil
		}
		if ran.Verdict == sandbox.SE {
			return fmt.Errorf("compile: the sandbox failed: %s", ran.Error)
		}
		j.metrics.truncated(c, ran)
		u := usage(ran)
		p.compile.Usage.CPUMillis += u.CPUMillis
		p.compile.Usage.WallMillis += u.WallMillis
		p.compile.Usage.MemoryKiB = max(p.compile.Usage.MemoryKiB, u.MemoryKiB)
		if ran.Verdict != sandbox.OK {
			failed = &ran
			break
		}
	}
	out, errs, err := streams.read()
	if err != nil {
		return err
	}
	p.compile.Output = cut(strings.TrimSpace(errs+"\n"+out), keptCompile)
	if p.compile.Diagnostics, err = j.diagnose(ctx, p, sources, out, errs); err != nil {
		return err
	}
	if failed != nil {
		p.message = compileFailure(*failed)
		if failed.Verdict != sandbox.RE || p.compile.Output == "" {
			p.compile.Output = strings.TrimSpace(p.message + "\n" + p.compile.Output)
		}
		return nil
	}
	p.files, err = box.Collect(ctx, p.plan.Artifacts, maxArtifacts)
	if left, err := fits(sandbox.Result{}, err); err != nil || left.Unfit {
		p.refuse("what the compiler left is no program: " + left.Error)
		return err
	}
	if len(p.files) == 0 {
		p.refuse("the compiler left no program")
		return nil
	}
	if len(p.files) > maxArtifactFiles {
		p.refuse(fmt.Sprintf("the compiler left %d files, more than %d", len(p.files), maxArtifactFiles))
		return nil
	}
	if why := unplaceable(p.files); why != "" {
		p.refuse("what the compiler left is no program: " + why)
		return nil
	}
	if why := unstartable(p.plan.Run, p.files); why != "" {
		p.refuse(strings.TrimSpace(why + "\n" + p.compile.Output))
		p.message = why
		return nil
	}
	p.compile.OK = true
	return nil
}

// beside returns files and those that lie beside them. None of these takes the
// place of one of files.
func beside(others, files []sandbox.File) []sandbox.File {
	others = slices.DeleteFunc(slices.Clone(others), func(o sandbox.File) bool {
		return slices.ContainsFunc(files, func(f sandbox.File) bool { return f.Path == o.Path })
	})
	return append(others, files...)
}

// compileFailure says in words why a compiler failed.
func compileFailure(ran sandbox.Result) string {
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
		CPU: compileCPU, MemoryBytes: compileMemory, Processes: compileProcesses, FileBytes: l.FileMiB << 20, Cores: 1,
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

// sourceFiles are the files that the plan writes before compiling.
func (p *program) sourceFiles(sources []abi.Source) ([]sandbox.File, error) {
	var files []sandbox.File
	for _, f := range p.plan.Files {
		text := f.Text
		if f.Source != nil {
			if *f.Source < 0 || *f.Source >= len(sources) {
				return nil, fmt.Errorf("the adapter of %s plans with source %d of %d", p.tc.id, *f.Source, len(sources))
			}
			text = sources[*f.Source].Text
		}
		if !path.IsAbs(f.Path) && path.Clean(f.Path) == f.Path && f.Path != ".." && !strings.HasPrefix(f.Path, "../") {
			files = append(files, sandbox.File{Path: f.Path, Data: []byte(text)})
			continue
		}
		return nil, fmt.Errorf("the adapter of %s plans the file %q, which leaves the folder", p.tc.id, f.Path)
	}
	return files, nil
}

// command makes a sandbox command of a step, without limits.
func command(s abi.Step) sandbox.Cmd {
	c := sandbox.Cmd{Tool: s.Tool, Program: s.Program, Args: s.Args}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		c.Env = append(c.Env, name+"="+s.Env[name])
	}
	return c
}
