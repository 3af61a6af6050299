package judging

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
	"time"

	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// Checkers and interactors in languages that do not become plugins run as programs
// in a box of their own. What a plugin finds at the top of its world is in a folder
// beside them.
const (
	nativeInput    = "deepoj/input"
	nativeOutput   = "deepoj/output"
	nativeAnswer   = "deepoj/answer"
	nativeFeedback = "deepoj/feedback/"
	nativeTout     = nativeFeedback + "tout" // what an interactor of testlib/1 writes for the checker
	nativeFiles    = "deepoj/submission/"
)

// folderOfBox is where the files of a box are.
const folderOfBox = "/box/"

// native is a checker, interactor or validator of submitted files that runs as a
// program.
type native struct {
	program  *Program
	protocol abi.Protocol
	digest   string
	talks    bool // it is an interactor

	// apart says that its own files are not in its working directory, but those of
	// the submission, which is then shown. The legacy format does not say.
	apart bool
	shown []sandbox.File
}

// native makes a checker or interactor of a program of the package.
func (j *Judge) native(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (*checker, error) {
	n, err := j.nativeOf(ctx, pkg, *c.Program, abi.Protocol(c.Protocol))
	if err != nil {
		return nil, err
	}
	n.talks = kind == abi.Interactor
	return &checker{native: n, flags: c.Flags, points: c.Points}, nil
}

func (j *Judge) nativeOf(ctx context.Context, pkg *problem.Package, from problem.Program, protocol abi.Protocol) (*native, error) {
	p, err := j.Program(ctx, pkg, from)
	if err != nil {
		return nil, err
	}
	k, err := key(p.prog.files)
	if err != nil {
		return nil, err
	}
	apart := pkg.Format == problem.Format202307 || pkg.Format == problem.Format202509
	return &native{program: p, protocol: protocol, digest: "native:" + k, apart: apart}, nil
}

// world is what a native finds: its own files, those that it is asked about, and the
// feedback folder.
func (n *native) world(feedback map[string][]byte, asked map[string]*os.File) (files []sandbox.File, size int64, err error) {
	files = slices.Clone(n.program.prog.files)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		b, err := io.ReadAll(io.NewSectionReader(asked[name], 0, maxInputFile+1))
		if err != nil {
			return nil, 0, fmt.Errorf("read what a checker is asked about: %w", err)
		}
		if len(b) > maxInputFile {
			return nil, 0, &packageError{fmt.Errorf("%s has more than %d MiB, too much for a checker that is no plugin", name, maxInputFile>>20)}
		}
		files, size = append(files, sandbox.File{Path: name, Data: b}), size+int64(len(b))
	}
	files = append(files, sandbox.File{Path: nativeFeedback + ".here"})
	for _, name := range slices.Sorted(maps.Keys(feedback)) {
		files = append(files, sandbox.File{Path: nativeFeedback + name, Data: feedback[name]})
	}
	for _, f := range n.shown {
		files, size = append(files, sandbox.File{Path: nativeFiles + f.Path, Mode: f.Mode, Data: f.Data}), size+int64(len(f.Data))
	}
	return files, size, nil
}

// names are the files that a checker or interactor is told of.
func (n *native) names() []string {
	switch {
	case n.protocol == abi.Testlib1 && n.talks:
		return []string{folderOfBox + nativeInput, folderOfBox + nativeTout, folderOfBox + nativeAnswer}
	case n.protocol == abi.Testlib1:
		return []string{folderOfBox + nativeInput, folderOfBox + nativeOutput, folderOfBox + nativeAnswer}
	}
	return []string{folderOfBox + nativeInput, folderOfBox + nativeAnswer, folderOfBox + nativeFeedback}
}

// cmd is the command of a native with arguments, whose world has a size in bytes.
func (n *native) cmd(ctx context.Context, args []string, size int64) (c sandbox.Cmd, err error) {
	c = n.program.prog.cmd
	c.Args = slices.Concat(c.Args, args)
	if n.apart {
		if c, err = n.elsewhere(ctx, c); err != nil {
			return c, err
		}
	}
	c.Limits.Wall = patience*c.Limits.CPU + lenience
	c.Limits.MemoryBytes += size
	c.Limits.FileBytes = max(c.Limits.FileBytes, 1<<20)
	c.StderrLimit = keptStderr
	return c, nil
}

// elsewhere returns a command that runs a native in the folder of the submission. A
// shell goes there, and what names the native's own files names them from the top.
func (n *native) elsewhere(ctx context.Context, c sandbox.Cmd) (sandbox.Cmd, error) {
	program := c.Program
	if c.Tool != "" {
		tool, err := n.program.j.cfg.Sandbox.Tool(ctx, c.Tool)
		if err != nil {
			return c, n.program.prog.tc.explain(err)
		}
		program, c.ExtraTools = tool.Path, append(slices.Clone(c.ExtraTools), c.Tool)
	} else if !path.IsAbs(program) {
		program = folderOfBox + path.Clean(program)
	}
	own := slices.Clone(n.program.prog.cmd.Args)
	for i, arg := range own {
		if slices.ContainsFunc(n.program.prog.files, func(f sandbox.File) bool { return f.Path == arg || strings.HasPrefix(f.Path, arg+"/") }) {
			own[i] = folderOfBox + arg
		}
	}
	into := folderOfBox + nativeFiles
	if len(n.shown) == 0 {
		into = "/tmp"
	}
	c.Tool, c.Program = "", shell
	c.Args = slices.Concat([]string{"-c", `cd "$1" && shift && exec "$@"`, "sh", into, program}, own, c.Args[len(own):])
	return c, nil
}

// open opens a box with files.
func (n *native) open(ctx context.Context, files []sandbox.File, size int64) (*sandbox.Box, error) {
	const room = 64 << 20
	box, err := n.program.j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, TmpBytes: 2*size + room + n.program.pkg.Limits.OutputMiB<<20})
	if err != nil {
		return nil, err
	}
	if err := box.Put(ctx, files...); err != nil {
		return nil, errors.Join(theirs(n.program.name, sandbox.Result{}, err), box.Close())
	}
	return box, nil
}

// check asks a native about an output.
func (n *native) check(ctx context.Context, q plugin.Check) (o plugin.Opinion, err error) {
	asked := map[string]*os.File{nativeInput: q.Input, nativeAnswer: q.Answer}
	stdin := q.Output
	if n.protocol == abi.Testlib1 {
		asked[nativeOutput], stdin = q.Output, nil
	}
	return n.ask(ctx, asked, stdin, slices.Concat(n.names(), q.Args), q.Feedback)
}

// ask runs a native on files and returns what it says. Feedback is what it left the
// last time; nil if it will not be asked again.
func (n *native) ask(ctx context.Context, asked map[string]*os.File, stdin *os.File, args []string, feedback map[string][]byte) (o plugin.Opinion, err error) {
	files, size, err := n.world(feedback, asked)
	if err != nil {
		return o, err
	}
	c, err := n.cmd(ctx, args, size)
	if err != nil {
		return o, err
	}
	c.Stdin = stdin
	j := n.program.j
	stderr, err := j.scratch()
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, stderr.Close()) }()
	c.Stderr = stderr
	box, err := n.open(ctx, files, size)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	leave, err := j.crowd.join(ctx)
	if err != nil {
		return o, err
	}
	ran, err := runTraced(ctx, box.Run, c)
	leave()
	if err := theirs(n.program.name, ran, err); err != nil {
		return o, n.program.prog.tc.explain(err)
	}
	return n.opinion(ctx, box, ran, stderr, feedback != nil)
}

// opinion returns what a native said that has ended.
func (n *native) opinion(ctx context.Context, box *sandbox.Box, ran sandbox.Result, stderr *os.File, kept bool) (o plugin.Opinion, err error) {
	said, err := head(stderr, keptWords)
	if err != nil {
		return o, err
	}
	if err := n.program.failure(ran, said); err != nil {
		return o, err
	}
	left := map[string][]byte{}
	if n.protocol == abi.ICPC1 {
		found, err := box.Collect(ctx, []string{nativeFeedback + "**"}, n.program.pkg.Limits.OutputMiB<<20)
		if err := theirs(n.program.name, ran, err); err != nil {
			return o, err
		}
		for _, f := range found {
			if name := strings.TrimPrefix(f.Path, nativeFeedback); name != ".here" {
				left[name] = f.Data
			}
		}
	}
	o, err = plugin.OpinionOf(n.protocol, ran.ExitCode, []byte(said), left, kept)
	if err != nil {
		why := fmt.Errorf("%s: %w", n.program.name, err)
		if said != "" {
			why = fmt.Errorf("%w: it said: %s", why, said)
		}
		return o, &packageError{why}
	}
	return o, nil
}

// pairing is how long a program holds its box while its interactor waits for one:
// programs that others judge on this machine might each hold what the other needs.
// Each waits a little longer than that, by chance, or they would never meet.
const pairing = time.Second

// openPair opens a box for the program and one for its interactor, both or none. One
// pair at a time is waited for.
func (l *lane) openPair(ctx context.Context, t *problem.Test, c *sandbox.Cmd, input *os.File, other func(context.Context) (*sandbox.Box, error)) (program, talker *sandbox.Box, err error) {
	if slots := l.e.j.cfg.Sandbox.Slots(); slots < 2 {
		return nil, nil, &UnavailableError{
			What: "a pair of boxes", Reason: fmt.Sprintf("an interactor that is no plugin needs a box beside that of the program, and there is %d", slots),
			Remedy: "give the worker more cores",
		}
	}
	if err := l.e.j.pairs.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("wait for a pair of boxes: %w", err)
	}
	defer l.e.j.pairs.Release(1)
	for {
		mine := *c
		if program, _, err = l.boxFor(ctx, t, &mine, input); err != nil {
			return nil, nil, err
		}
		waiting, cancel := context.WithTimeout(ctx, pairing+time.Duration(time.Now().UnixNano())%pairing)
		talker, err = other(waiting)
		hurried := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if err == nil {
			*c = mine
			return program, talker, nil
		}
		if cerr := program.Close(); cerr != nil || !hurried {
			return nil, nil, errors.Join(err, cerr)
		}
	}
}

// rejects reports whether a native that ended so rejects.
func (n *native) rejects(ran sandbox.Result) bool {
	if ran.Signal != 0 {
		return false
	}
	o, err := plugin.OpinionOf(n.protocol, ran.ExitCode, nil, nil, false)
	return err == nil && rejects(o)
}

// rejects reports whether an opinion is that the program is wrong.
func rejects(o plugin.Opinion) bool {
	return o.Outcome == plugin.Wrong || o.Outcome == plugin.Presentation
}

// tout returns what an interactor wrote for the checker, nil if it wrote nothing.
func (n *native) tout(ctx context.Context, box *sandbox.Box) ([]byte, error) {
	found, err := box.Collect(ctx, []string{nativeTout}, n.program.pkg.Limits.OutputMiB<<20)
	if err != nil || len(found) == 0 {
		return nil, theirs(n.program.name, sandbox.Result{}, err)
	}
	return found[0].Data, nil
}

// apart reports whether each run of the program needs a box of its own, which it
// gives back before somebody else needs one to judge it.
func (e *evaluation) apart() bool {
	return usesFiles(e.pkg) || e.interactor != nil && e.interactor.native != nil ||
		slices.ContainsFunc(e.checkers, func(c checker) bool { return c.native != nil })
}

// name is what people call the checker, and version the digest of what it does.
func (c checker) name() string {
	if c.native != nil {
		return c.native.program.name
	}
	return c.module.Manifest.Name
}

func (c checker) version() string {
	if c.native != nil {
		return c.native.digest
	}
	return c.module.Digest
}
