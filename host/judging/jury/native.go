package jury

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/build"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Checkers and interactors in languages that do not become plugins run as programs in a box of their own. What a plugin
// finds at the top of its world is in a folder beside them.
const (
	InputFile      = "deepoj/input"
	outputFile     = "deepoj/output"
	AnswerFile     = "deepoj/answer"
	feedbackFolder = "deepoj/feedback/"
	toutFile       = feedbackFolder + "tout" // what an interactor of testlib/1 writes for the checker
	filesFolder    = "deepoj/submission/"
)

// folderOfBox is where the files of a box are.
const folderOfBox = "/box/"

// Native is a checker, interactor or validator of submitted files that runs as a program.
type Native struct {
	program  *Program
	Protocol abi.Protocol
	digest   string
	talks    bool // it is an interactor

	// apart says that its own files are not in its working directory, but those of
	// the submission, which is then shown. The legacy format does not say.
	apart bool
	shown []sandbox.File
}

// native makes a checker or interactor of a program of the package.
func (j *Jury) native(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (*Checker, error) {
	n, err := j.nativeOf(ctx, pkg, *c.Program, abi.Protocol(c.Protocol))
	if err != nil {
		return nil, err
	}
	n.talks = kind == abi.Interactor
	return &Checker{Native: n, Flags: c.Flags, Points: c.Points}, nil
}

func (j *Jury) nativeOf(ctx context.Context, pkg *problem.Package, from problem.Program, protocol abi.Protocol) (*Native, error) {
	p, err := j.Program(ctx, pkg, from)
	if err != nil {
		return nil, err
	}
	k, err := p.Built.Digest()
	if err != nil {
		return nil, err
	}
	apart := pkg.Format == problem.Format202307 || pkg.Format == problem.Format202509
	return &Native{program: p, Protocol: protocol, digest: "native:" + k, apart: apart}, nil
}

// World is what a native finds: its own files, those that it is asked about, and the feedback folder.
func (n *Native) World(feedback map[string][]byte, asked map[string]*os.File) (files []sandbox.File, size int64, err error) {
	files = slices.Clone(n.program.Built.Files)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		b, err := io.ReadAll(io.NewSectionReader(asked[name], 0, maxInputFile+1))
		if err != nil {
			return nil, 0, fmt.Errorf("read what a checker is asked about: %w", err)
		}
		if len(b) > maxInputFile {
			return nil, 0, blame.Packagef("%s has more than %d MiB, too much for a checker that is no plugin", name, maxInputFile>>20)
		}
		files, size = append(files, sandbox.File{Path: name, Data: b}), size+int64(len(b))
	}
	files = append(files, sandbox.File{Path: feedbackFolder + ".here"})
	for _, name := range slices.Sorted(maps.Keys(feedback)) {
		files = append(files, sandbox.File{Path: feedbackFolder + name, Data: feedback[name]})
	}
	for _, f := range n.shown {
		files, size = append(files, sandbox.File{Path: filesFolder + f.Path, Mode: f.Mode, Data: f.Data}), size+int64(len(f.Data))
	}
	return files, size, nil
}

// Names are the files that a checker or interactor is told of.
func (n *Native) Names() []string {
	switch {
	case n.Protocol == abi.Testlib1 && n.talks:
		return []string{folderOfBox + InputFile, folderOfBox + toutFile, folderOfBox + AnswerFile}
	case n.Protocol == abi.Testlib1:
		return []string{folderOfBox + InputFile, folderOfBox + outputFile, folderOfBox + AnswerFile}
	}
	return []string{folderOfBox + InputFile, folderOfBox + AnswerFile, folderOfBox + feedbackFolder}
}

// Command is the command of a native with arguments, whose world has a size in bytes.
func (n *Native) Command(ctx context.Context, args []string, size int64) (c sandbox.Cmd, err error) {
	c = n.program.Built.Cmd
	c.Args = slices.Concat(c.Args, args)
	if n.apart {
		if c, err = n.elsewhere(ctx, c); err != nil {
			return c, err
		}
	}
	c.Limits.Wall = runner.Patience*c.Limits.CPU + runner.Lenience
	c.Limits.MemoryBytes += size
	c.Limits.FileBytes = max(c.Limits.FileBytes, 1<<20)
	c.StderrLimit = runner.KeptStderr
	return c, nil
}

// elsewhere returns a command that runs a native in the folder of the submission. A
// shell goes there, and what names the native's own files names them from the top.
func (n *Native) elsewhere(ctx context.Context, c sandbox.Cmd) (sandbox.Cmd, error) {
	program := c.Program
	if c.Tool != "" {
		tool, err := n.program.j.cfg.Sandbox.Tool(ctx, c.Tool)
		if err != nil {
			return c, n.program.Built.Toolchain.Explain(err)
		}
		program, c.ExtraTools = tool.Path, append(slices.Clone(c.ExtraTools), c.Tool)
	} else if !path.IsAbs(program) {
		program = folderOfBox + path.Clean(program)
	}
	own := slices.Clone(n.program.Built.Cmd.Args)
	for i, arg := range own {
		if slices.ContainsFunc(n.program.Built.Files, func(f sandbox.File) bool { return f.Path == arg || strings.HasPrefix(f.Path, arg+"/") }) {
			own[i] = folderOfBox + arg
		}
	}
	into := folderOfBox + filesFolder
	if len(n.shown) == 0 {
		into = "/tmp"
	}
	c.Tool, c.Program = "", shell
	c.Args = slices.Concat([]string{"-c", `cd "$1" && shift && exec "$@"`, "sh", into, program}, own, c.Args[len(own):])
	return c, nil
}

// Open opens a box with files.
func (n *Native) Open(ctx context.Context, files []sandbox.File, size int64) (*sandbox.Box, error) {
	const room = 64 << 20
	box, err := n.program.j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, TmpBytes: 2*size + room + n.program.pkg.Limits.OutputMiB<<20})
	if err != nil {
		return nil, err
	}
	if err := box.Put(ctx, files...); err != nil {
		return nil, errors.Join(blame.Theirs(n.program.Name, sandbox.Result{}, err), box.Close())
	}
	return box, nil
}

// check asks a native about an output.
func (n *Native) check(ctx context.Context, q plugin.Check) (o plugin.Opinion, err error) {
	asked := map[string]*os.File{InputFile: q.Input, AnswerFile: q.Answer}
	stdin := q.Output
	if n.Protocol == abi.Testlib1 {
		asked[outputFile], stdin = q.Output, nil
	}
	return n.ask(ctx, asked, stdin, slices.Concat(n.Names(), q.Args), q.Feedback)
}

// ask runs a native on files and returns what it says. Feedback is what it left the
// last time; nil if it will not be asked again.
func (n *Native) ask(ctx context.Context, asked map[string]*os.File, stdin *os.File, args []string, feedback map[string][]byte) (o plugin.Opinion, err error) {
	files, size, err := n.World(feedback, asked)
	if err != nil {
		return o, err
	}
	c, err := n.Command(ctx, args, size)
	if err != nil {
		return o, err
	}
	c.Stdin = stdin
	j := n.program.j
	stderr, err := j.Scratch()
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, stderr.Close()) }()
	c.Stderr = stderr
	box, err := n.Open(ctx, files, size)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	ran, err := j.RunIn(ctx, box, c)
	if err := blame.Theirs(n.program.Name, ran, err); err != nil {
		return o, n.program.Built.Toolchain.Explain(err)
	}
	return n.Opinion(ctx, box, ran, stderr, feedback != nil)
}

// Opinion returns what a native said that has ended.
func (n *Native) Opinion(ctx context.Context, box *sandbox.Box, ran sandbox.Result, stderr *os.File, kept bool) (o plugin.Opinion, err error) {
	said, err := runner.Head(stderr, runner.KeptWords)
	if err != nil {
		return o, err
	}
	if err := n.program.Failure(ran, said); err != nil {
		return o, err
	}
	left := map[string][]byte{}
	if n.Protocol == abi.ICPC1 {
		found, err := box.Collect(ctx, []string{feedbackFolder + "**"}, n.program.pkg.Limits.OutputMiB<<20)
		if err := blame.Theirs(n.program.Name, ran, err); err != nil {
			return o, err
		}
		for _, f := range found {
			if name := strings.TrimPrefix(f.Path, feedbackFolder); name != ".here" {
				left[name] = f.Data
			}
		}
	}
	o, err = plugin.OpinionOf(n.Protocol, ran.ExitCode, []byte(said), left, kept)
	if err != nil {
		why := fmt.Errorf("%s: %w", n.program.Name, err)
		if said != "" {
			why = fmt.Errorf("%w: it said: %s", why, said)
		}
		return o, blame.Package(why)
	}
	return o, nil
}

// Rejects reports whether a native that ended so rejects.
func (n *Native) Rejects(ran sandbox.Result) bool {
	if ran.Signal != 0 {
		return false
	}
	o, err := plugin.OpinionOf(n.Protocol, ran.ExitCode, nil, nil, false)
	return err == nil && Rejects(o)
}

// Rejects reports whether an opinion is that the program is wrong.
func Rejects(o plugin.Opinion) bool {
	return o.Outcome == plugin.Wrong || o.Outcome == plugin.Presentation
}

// Tout returns what an interactor wrote for the checker, nil if it wrote nothing.
func (n *Native) Tout(ctx context.Context, box *sandbox.Box) ([]byte, error) {
	found, err := box.Collect(ctx, []string{toutFile}, n.program.pkg.Limits.OutputMiB<<20)
	if err != nil || len(found) == 0 {
		return nil, blame.Theirs(n.program.Name, sandbox.Result{}, err)
	}
	return found[0].Data, nil
}

// Name is what people call the checker, and version the digest of what it does.
func (c Checker) Name() string {
	if c.Native != nil {
		return c.Native.program.Name
	}
	return c.Module.Manifest.Name
}

func (c Checker) version() string {
	if c.Native != nil {
		return c.Native.digest
	}
	return c.Module.Digest
}

// StaticValidator returns what looks at the submitted files, nil if no group of the package asks for it.
func (j *Jury) StaticValidator(ctx context.Context, pkg *problem.Package) (*Native, error) {
	if pkg.Static == nil || len(pkg.Cases()) == len(pkg.Tests()) {
		return nil, nil
	}
	n, err := j.nativeOf(ctx, pkg, *pkg.Static, abi.ICPC1)
	if err != nil {
		return nil, fmt.Errorf("static validator: %w", err)
	}
	return n, nil
}

// Show gives a native the submission, if it is to find it in its working directory.
func (n *Native) Show(submission *build.Program) {
	if n != nil && n.apart {
		n.shown = submission.HandedIn()
	}
}

// Review asks a static validator about a submission.
func (n *Native) Review(ctx context.Context, submission *build.Program, flags []string) (plugin.Opinion, error) {
	args := slices.Concat([]string{languageCode(submission.Toolchain.ID), submission.EntryPoint(), folderOfBox + feedbackFolder}, flags)
	return n.ask(ctx, nil, nil, args, nil)
}

// languageCode is what the package format calls a language.
func languageCode(id string) string {
	if id == "python" {
		return "python3"
	}
	return id
}
