package judging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/build"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// keptOwn bounds what is kept of the outputs of a run, in bytes.
const keptOwn = 4 << 20

// Where a run has no problem: the limits of compiling, and of the source.
const (
	ownCodeKiB          = 1 << 10
	ownCompileMemoryMiB = 2 << 10
)

// Run executes a job of kind run: it compiles a program, runs it on the inputs that came with it, and tells what it
// wrote in the result's report. The verdict is that of the first test that is not AC. An error is a failure of the
// platform, as with [Judge.Judge].
func (j *Judge) Run(ctx context.Context, job judge.Claim, progress func(judge.Progress)) (judge.Result, error) {
	var p judge.RunPayload
	err := json.Unmarshal(job.Payload, &p)
	if err == nil && (p.SchemaVersion != judge.PayloadVersion || p.ContentType != judge.RunType) {
		err = fmt.Errorf("schema_version %d and content_type %q are unknown", p.SchemaVersion, p.ContentType)
	}
	if err != nil {
		return judge.Result{}, fmt.Errorf("payload of a run: %w", err)
	}
	defer j.crowd.enter()()
	r, err := j.runOwn(ctx, p, blob.Digest(job.ProblemVersion), progress)
	if err != nil {
		return judge.Result{}, fmt.Errorf("run a program in %s: %w", orScripts(p.Language), err)
	}
	r.Worker = job.Owner
	return r, nil
}

func orScripts(language string) string {
	if language == "" {
		return "scripts"
	}
	return language
}

func (j *Judge) runOwn(ctx context.Context, p judge.RunPayload, version blob.Digest, progress func(judge.Progress)) (r judge.Result, err error) {
	pkg, err := j.ownPackage(ctx, p, version)
	if err != nil {
		return r, err
	}
	r.ProblemVersion = string(pkg.Version)
	prog, err := j.ownProgram(ctx, pkg, p)
	if err != nil {
		return j.blame(ctx, r, pkg, jury.GuestFault(err))
	}
	e := &evaluation{j: j, pkg: pkg, prog: prog, progress: progress, total: len(p.Tests)}
	var samples []*problem.Test
	if p.Samples {
		for _, t := range pkg.Tests() {
			if t.Sample {
				samples = append(samples, t)
			}
		}
		e.total = len(samples)
	}
	r.Adapter, r.Tool, r.Compile = prog.Toolchain.Module.Digest, prog.Toolchain.Shown(), &prog.Compile
	progress(judge.Progress{Kind: judge.EventCompiled, Compile: r.Compile, Total: e.total})
	if !prog.Compile.OK {
		r.Verdict, r.Message = judge.CE, prog.Message
		return r, nil
	}
	o := &ownRun{e: e, p: p, result: &r, kept: keptOwn / max(1, e.total)}
	if p.Samples {
		err = o.samples(ctx, samples)
	} else {
		err = o.tests(ctx)
	}
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	o.conclude()
	r.Report, err = json.Marshal(o.report)
	return r, err
}

// ownPackage returns the package of a run's problem, or one without tests, with the limits of the run.
func (j *Judge) ownPackage(ctx context.Context, p judge.RunPayload, version blob.Digest) (*problem.Package, error) {
	l := p.Limits
	pkg := &problem.Package{Root: &problem.Group{}, Limits: problem.Limits{
		CodeKiB: ownCodeKiB, CompileCPU: 3 * build.CompileCPU, CompileMemoryMiB: ownCompileMemoryMiB,
	}}
	if p.Problem == "" {
		l = l.Or(judge.DefaultRunLimits)
	} else {
		whole, err := j.load(ctx, version)
		if err != nil {
			return nil, err
		}
		own := *whole
		pkg = &own
	}
	if l.CPUMillis > 0 {
		pkg.Limits.CPU = time.Duration(l.CPUMillis) * time.Millisecond
	}
	if l.MemoryKiB > 0 {
		pkg.Limits.MemoryMiB = (l.MemoryKiB + 1<<10 - 1) >> 10
	}
	if l.OutputKiB > 0 {
		pkg.Limits.OutputMiB = (l.OutputKiB + 1<<10 - 1) >> 10
	}
	pkg.Writable = pkg.Writable || p.Writable
	return pkg, nil
}

// ownProgram builds the program of a run and gives it the limits of the run.
func (j *Judge) ownProgram(ctx context.Context, pkg *problem.Package, p judge.RunPayload) (*build.Program, error) {
	x := build.Extra{Options: p.Options}
	for _, f := range p.Files {
		file := sandbox.File{Path: f.Name, Data: f.Data}
		if f.Exec {
			file.Mode = 0o755
		}
		x.Files = append(x.Files, file)
	}
	var prog *build.Program
	if p.Language == "" {
		var err error
		if prog, err = j.Scripts(ctx, pkg, x); err != nil {
			return nil, err
		}
	} else {
		tc, err := j.Toolchain(ctx, p.Language)
		if err != nil {
			return nil, err
		}
		if prog, err = j.Build(ctx, tc, pkg, p.Sources, x); err != nil {
			return nil, err
		}
	}
	prog.Add(x.Files)
	if why := build.Unplaceable(prog.Files); prog.Compile.OK && why != "" {
		prog.Refuse(why)
	}
	limits := &prog.Cmd.Limits
	if p.Limits.CPUMillis > 0 {
		limits.CPU = pkg.Limits.CPU // without the language's factor: it was named
	}
	limits.Wall = time.Duration(p.Limits.WallMillis) * time.Millisecond
	if p.Limits.OutputKiB > 0 {
		limits.OutputBytes, limits.FileBytes = p.Limits.OutputKiB<<10, p.Limits.OutputKiB<<10
	}
	limits.Processes = max(limits.Processes, p.Limits.Processes)
	return prog, nil
}

// ownRun is a run on its way.
type ownRun struct {
	e      *evaluation
	p      judge.RunPayload
	kept   int // bytes of each output
	result *judge.Result
	report judge.RunReport
}

// tests runs the program on the inputs that came with it.
func (o *ownRun) tests(ctx context.Context) (err error) {
	l, err := o.e.openLane(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	l.merge = o.p.MergeStderr
	for i, t := range o.p.Tests {
		r, err := o.repeat(ctx, l, t)
		if err != nil {
			return err
		}
		var out judge.RunOutput
		if out.Stdout, out.StdoutCut, err = runner.Beginning(l.stdout, o.kept); err != nil {
			return err
		}
		if out.Stderr, out.StderrCut, err = runner.Beginning(l.stderr, min(o.kept, runner.KeptStderr)); err != nil {
			return err
		}
		o.add(judge.TestResult{Name: fmt.Sprint(i + 1)}, r, out)
	}
	return nil
}

// repeat runs the program on a test as often as was asked for, as long as all is well, and averages what it used.
func (o *ownRun) repeat(ctx context.Context, l *lane, t judge.RunTest) (r runResult, err error) {
	input, err := o.e.j.Scratch()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	if _, err := input.Write(t.Input); err != nil {
		return r, fmt.Errorf("write an input: %w", err)
	}
	var cpu, wall time.Duration
	memory, times := int64(0), int64(0)
	for range max(1, o.p.Repeat) {
		if r, err = o.once(ctx, l, t, input); err != nil {
			return r, err
		}
		times++
		cpu, wall, memory = cpu+r.usage.CPU(), wall+r.usage.Wall(), memory+r.usage.MemoryKiB
		if r.Verdict != judge.AC {
			break
		}
	}
	charged := r.usage.ChargedKiB
	r.usage = judge.UsageOf(cpu/time.Duration(times), wall/time.Duration(times), memory/times)
	r.usage.ChargedKiB = charged
	return r, nil
}

func (o *ownRun) once(ctx context.Context, l *lane, t judge.RunTest, input *os.File) (r runResult, err error) {
	with := &problem.Test{Args: o.p.Args}
	ran, err := l.run(ctx, with, input, l.wall(), o.e.j.Join)
	if err != nil {
		return r, err
	}
	if wall, doubtful := l.doubtful(ran); doubtful {
		first := l.used(ran)
		o.e.j.CountRerun()
		if ran, err = l.run(ctx, with, input, wall, o.e.j.Clear); err != nil {
			return r, err
		}
		r.rerun = &first
	}
	r.usage, r.exitCode, r.exitSignal = l.used(ran), ran.ExitCode, ran.Signal
	if err := l.classify(&r, ran); err != nil {
		return r, err
	}
	if r.Verdict == judge.AC && t.Expected != nil {
		got, err := io.ReadAll(io.NewSectionReader(l.stdout, 0, l.e.prog.Cmd.Limits.OutputBytes))
		if err != nil {
			return r, fmt.Errorf("read what a program wrote: %w", err)
		}
		if !sameOutput(got, *t.Expected) {
			r.Verdict, r.message, r.by = judge.WA, "the output is not the expected one", judge.ByJudge
		}
	}
	return r, nil
}

// samples runs the samples of the problem as a submission would.
func (o *ownRun) samples(ctx context.Context, tests []*problem.Test) (err error) {
	e := o.e
	if e.checkers, err = e.j.Checkers(ctx, e.pkg); err != nil {
		return err
	}
	if e.interactor, err = e.j.Interactor(ctx, e.pkg); err != nil {
		return err
	}
	l, err := e.openLane(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	for _, t := range tests {
		r, err := l.judge(ctx, t)
		if err != nil {
			return err
		}
		var out judge.RunOutput
		if e.interactor == nil {
			if out.Stdout, out.StdoutCut, err = runner.Beginning(l.stdout, o.kept); err != nil {
				return err
			}
		}
		if out.Stderr, out.StderrCut, err = runner.Beginning(l.stderr, min(o.kept, runner.KeptStderr)); err != nil {
			return err
		}
		o.add(judge.TestResult{Name: t.Name, Group: "sample"}, r, out)
	}
	return nil
}

// add records and reports a test.
func (o *ownRun) add(t judge.TestResult, r runResult, out judge.RunOutput) {
	t.Index, t.Sample = len(o.result.Tests)+1, true // whoever asked may see all of it
	t.Verdict, t.Usage, t.Rerun, t.ExitCode, t.ExitSignal = r.Verdict, r.usage, r.rerun, r.exitCode, r.exitSignal
	t.Say(r.message, r.by)
	if r.Verdict == judge.JE {
		t.JudgeNote = r.note
	}
	o.result.Tests = append(o.result.Tests, t)
	o.report.Outputs = append(o.report.Outputs, out)
	o.e.progress(judge.Progress{Kind: judge.EventTest, Test: &t, Total: o.e.total})
}

// conclude sums up.
func (o *ownRun) conclude() {
	r := o.result
	r.Verdict = judge.AC
	for _, t := range r.Tests {
		r.Usage = r.Usage.Worst(t.Usage)
		if r.Verdict == judge.AC && t.Verdict != judge.AC {
			r.Verdict, r.Message, r.MessageBy = t.Verdict, t.Message, t.MessageBy
			if t.Verdict == judge.JE {
				*r = failed(*r, t.JudgeNote)
			}
		}
	}
}

// blank is what does not count at the end of a line.
const blank = " \t\v\f\r\x00"

// sameOutput compares outputs apart from white space at the ends of lines and of the whole.
func sameOutput(got, want []byte) bool {
	got, want = bytes.TrimRight(got, blank+"\n"), bytes.TrimRight(want, blank+"\n")
	for {
		g, restG, moreG := bytes.Cut(got, []byte("\n"))
		w, restW, moreW := bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(bytes.TrimRight(g, blank), bytes.TrimRight(w, blank)) || moreG != moreW {
			return false
		}
		if !moreG {
			return true
		}
		got, want = restG, restW
	}
}
