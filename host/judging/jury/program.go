package jury

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/build"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
	"deepoj/sandbox"
)

// Program is a program of a package that runs in the sandbox for the judges: a
// generator, a validator of inputs, a grader, or a solution that gives answers.
type Program struct {
	j     *Jury
	Name  string
	From  *problem.Package // holds it
	pkg   *problem.Package // gives the limits, and the files that are read and written
	Built *build.Program
}

// Program compiles a program of the judges. It has the limits of a checker. The error says whose fault it is: an
// [*blame.UnavailableError] if this machine has not its language.
func (j *Jury) Program(ctx context.Context, pkg *problem.Package, p problem.Program) (*Program, error) {
	l := pkg.Limits
	own := &problem.Package{Slug: pkg.Slug, Limits: problem.Limits{
		CPU: l.CheckCPU, MemoryMiB: l.CheckMemoryMiB, OutputMiB: l.CheckOutputMiB, CodeKiB: build.MaxPluginSource >> 10,
		CompileCPU: l.CompileCPU, CompileMemoryMiB: l.CompileMemoryMiB,
	}}
	if p.Language == problem.LanguageShell || p.Language == problem.LanguageScripts {
		return j.script(ctx, pkg, own, p)
	}
	var sources []judge.Source
	var paths []string
	for _, f := range p.Files {
		b, err := j.Content(ctx, pkg, f, maxCheckerSource)
		if err != nil {
			return nil, err
		}
		sources, paths = append(sources, judge.Source{Name: path.Base(f.Path), Text: string(b)}), append(paths, f.Path)
	}
	return j.ready(ctx, pkg, own, p.Name, p.Language, p.Dialect, sources, paths)
}

// Solution compiles a submission of a package, to be run as it would be judged. Paths are
// those of its sources in the package.
func (j *Jury) Solution(ctx context.Context, pkg *problem.Package, p judge.Payload, paths []string) (*Program, error) {
	return j.ready(ctx, pkg, pkg, "it", p.Language, p.Dialect, p.Sources, paths)
}

// ready compiles a program. Paths are those of its sources in the package, if a message shall name them.
func (j *Jury) ready(ctx context.Context, from, pkg *problem.Package, name, language, dialect string, sources []judge.Source, paths []string) (*Program, error) {
	tc, err := j.Toolchain(ctx, language)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	prog, err := j.Build(ctx, tc, pkg, sources, build.Extra{Dialect: dialect})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !prog.Compile.OK {
		return nil, blame.Packagef("%s does not compile:\n%s", name, runner.Cut(inPackage(prog, prog.Compile.Output, paths), runner.KeptWords))
	}
	return &Program{j: j, Name: name, From: from, pkg: pkg, Built: prog}, nil
}

// inPackage returns what a compiler said with the sources called as in the package, whatever the adapter called them.
func inPackage(p *build.Program, said string, paths []string) string {
	for _, f := range p.Plan.Files {
		if f.Source == nil || *f.Source >= len(paths) || f.Path == paths[*f.Source] {
			continue
		}
		placed := regexp.MustCompile(`(?m)(^|[^\w./-])(?:/box/|\./)?` + regexp.QuoteMeta(f.Path) + `([:"])`)
		said = placed.ReplaceAllString(said, "${1}"+strings.ReplaceAll(paths[*f.Source], "$", "$$")+"${2}")
	}
	return said
}

// Said is how a program of the judges ended.
type Said struct {
	Exit   int    // status
	Stderr string // the beginning of what it wrote there, cleaned
}

// Run runs the program once in a box of its own, with files of its package beside it. It reads input, nil is empty, and
// what it writes goes to output, nil is nowhere. A program that uses too much, or is ended by a signal, is an error.
func (p *Program) Run(ctx context.Context, args []string, input, output *os.File, beside ...problem.NamedFile) (said Said, err error) {
	stderr, err := p.j.Scratch()
	if err != nil {
		return said, err
	}
	defer stderr.Close()
	return p.run(ctx, args, input, output, stderr, runner.KeptStderr, beside...)
}

// RunTwofold is Run for a program that writes two things: what goes to its standard
// error is kept whole, in other, and may be as much as its output.
func (p *Program) RunTwofold(ctx context.Context, args []string, output, other *os.File) (Said, error) {
	return p.run(ctx, args, nil, output, other, p.Built.Cmd.Limits.OutputBytes)
}

func (p *Program) run(ctx context.Context, args []string, input, output, stderr *os.File, kept int64, beside ...problem.NamedFile) (said Said, err error) {
	c := p.Built.Cmd
	c.Limits.Wall = runner.Patience*c.Limits.CPU + runner.Lenience
	c.Args = slices.Concat(c.Args, args)
	c.Stdin, c.Stdout, c.Stderr, c.StdoutLimit, c.StderrLimit = input, output, stderr, -1, kept
	files, err := p.j.TestFiles(ctx, p.From, beside)
	if err != nil {
		return said, err
	}
	box, err := p.j.OpenFolder(ctx, p.pkg, append(files, p.Built.Files...), &c, input)
	if err := blame.Theirs(p.Name, sandbox.Result{}, err); err != nil {
		return said, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	ran, err := p.j.RunIn(ctx, box, c)
	if err := blame.Theirs(p.Name, ran, err); err != nil {
		return said, p.Built.Toolchain.Explain(err)
	}
	if said.Stderr, err = runner.Head(stderr, runner.KeptWords); err != nil {
		return said, err
	}
	said.Exit = ran.ExitCode
	if err := p.Failure(ran, said.Stderr); err != nil {
		return said, err
	}
	if output == nil {
		return said, nil
	}
	return said, blame.Theirs(p.Name, ran, Collect(ctx, p.pkg, box, c.Limits.OutputBytes, output))
}

// Failure is an error of a run that neither ended well nor with a status.
func (p *Program) Failure(ran sandbox.Result, stderr string) error {
	why := ""
	switch {
	case ran.Verdict == sandbox.SE && ran.Unfit:
		why = "cannot be run: " + ran.Error
	case ran.Verdict == sandbox.SE:
		return fmt.Errorf("the sandbox failed: %s", ran.Error)
	case ran.Verdict == sandbox.TLE && ran.OverWall:
		why = fmt.Sprintf("did not end in %s on the clock", ran.Wall.Round(100*time.Millisecond))
	case ran.Verdict == sandbox.TLE:
		why = fmt.Sprintf("used more than %s of CPU time", p.Built.Cmd.Limits.CPU)
	case ran.Verdict == sandbox.MLE:
		why = fmt.Sprintf("used more than %d MiB", p.pkg.Limits.MemoryMiB)
	case ran.Verdict == sandbox.OLE:
		why = fmt.Sprintf("wrote more than %d MiB", p.pkg.Limits.OutputMiB)
	case ran.Signal != 0:
		why = fmt.Sprintf("was ended by signal %d (%s)", ran.Signal, syscall.Signal(ran.Signal))
	default:
		return nil
	}
	if stderr != "" {
		why += ": it said: " + stderr
	}
	return blame.Packagef("%s %s", p.Name, why)
}
