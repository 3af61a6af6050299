package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
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
)

// native is a checker or interactor that runs as a program.
type native struct {
	program  *Program
	protocol abi.Protocol
	digest   string
}

// native makes a checker or interactor of a program of the package.
func (j *Judge) native(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (*checker, error) {
	p, err := j.Program(ctx, pkg, *c.Program)
	if err != nil {
		return nil, err
	}
	k, err := key(p.prog.files)
	if err != nil {
		return nil, err
	}
	if c.Protocol == string(abi.Testlib1) && kind == abi.Interactor {
		return nil, &packageError{errors.New("an interactor of testlib/1 runs as a plugin only: give a .wasm module, or C or C++ files")}
	}
	return &checker{native: &native{program: p, protocol: abi.Protocol(c.Protocol), digest: "native:" + k}, flags: c.Flags, points: c.Points}, nil
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
	return files, size, nil
}

// cmd is the command of a native whose world has a size in bytes.
func (n *native) cmd(args []string, size int64) sandbox.Cmd {
	c := n.program.prog.cmd
	names := []string{nativeInput, nativeAnswer, nativeFeedback}
	if n.protocol == abi.Testlib1 {
		names = []string{nativeInput, nativeOutput, nativeAnswer}
	}
	c.Args = slices.Concat(c.Args, names, args)
	c.Limits.Wall = patience*c.Limits.CPU + lenience
	c.Limits.MemoryBytes += size
	c.Limits.FileBytes = max(c.Limits.FileBytes, 1<<20)
	c.StderrLimit = keptStderr
	return c
}

// open opens a box with files.
func (n *native) open(ctx context.Context, files []sandbox.File, size int64) (*sandbox.Box, error) {
	const room = 64 << 20
	box, err := n.program.j.cfg.Sandbox.OpenBox(ctx, sandbox.BoxOptions{Writable: true, TmpBytes: 2*size + room + n.program.pkg.Limits.OutputMiB<<20})
	if err != nil {
		return nil, err
	}
	if err := box.Put(ctx, files...); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return box, nil
}

// check asks a native about an output.
func (n *native) check(ctx context.Context, q plugin.Check) (o plugin.Opinion, err error) {
	asked := map[string]*os.File{nativeInput: q.Input, nativeAnswer: q.Answer}
	if n.protocol == abi.Testlib1 {
		asked[nativeOutput] = q.Output
	}
	files, size, err := n.world(q.Feedback, asked)
	if err != nil {
		return o, err
	}
	c := n.cmd(q.Args, size)
	if n.protocol == abi.ICPC1 {
		c.Stdin = q.Output
	}
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
	ran, err := box.Run(ctx, c)
	leave()
	if err != nil {
		return o, n.program.prog.tc.explain(err)
	}
	return n.opinion(ctx, box, ran, stderr, q.Feedback != nil)
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
		if err != nil {
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
// programs of several judgings might each hold what the other needs.
const pairing = 2 * time.Second

// openPair opens a box for the program and one for its interactor, both or none.
func (l *lane) openPair(ctx context.Context, t *problem.Test, c *sandbox.Cmd, input *os.File, other func(context.Context) (*sandbox.Box, error)) (program, talker *sandbox.Box, err error) {
	if slots := l.e.j.cfg.Sandbox.Slots(); slots < 2 {
		return nil, nil, &UnavailableError{
			What: "a pair of boxes", Reason: fmt.Sprintf("an interactor that is no plugin needs a box beside that of the program, and there is %d", slots),
			Remedy: "give the worker more cores",
		}
	}
	for {
		mine := *c
		if program, _, err = l.boxFor(ctx, t, &mine, input); err != nil {
			return nil, nil, err
		}
		waiting, cancel := context.WithTimeout(ctx, pairing)
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

// talkNative is talk with an interactor that runs as a program.
func (l *lane) talkNative(ctx context.Context, t *problem.Test, input, answer *os.File, feedback map[string][]byte, wall time.Duration,
	enter func(context.Context) (func(), error),
) (ran sandbox.Result, said plugin.Judgement, err error) {
	n := l.e.interactor.native
	if err := rewind(l.stderr); err != nil {
		return ran, said, err
	}
	files, size, err := n.world(feedback, map[string]*os.File{nativeInput: input, nativeAnswer: answer})
	if err != nil {
		return ran, said, err
	}
	c := l.e.prog.cmd
	box, other, err := l.openPair(ctx, t, &c, input, func(ctx context.Context) (*sandbox.Box, error) { return n.open(ctx, files, size) })
	if err != nil {
		return ran, said, err
	}
	defer func() { err = errors.Join(err, box.Close(), other.Close()) }()
	leave, err := enter(ctx)
	if err != nil {
		return ran, said, err
	}
	stderr, err := l.e.j.scratch()
	if err != nil {
		leave()
		return ran, said, err
	}
	defer func() { err = errors.Join(err, stderr.Close()) }()
	c.Stderr, c.StderrLimit = l.stderr, keptStderr
	c.Limits.CPU, c.Limits.Wall = ceiling(c.Limits.CPU), wall
	talker := n.cmd(slices.Concat(l.e.interactor.flags, t.Flags), size)
	talker.Stderr, talker.Limits.Wall = stderr, wall+interactorExtra
	pair, err := sandbox.RunPair(ctx, box, c, other, talker)
	leave()
	if err != nil {
		return ran, said, l.e.prog.tc.explain(err)
	}
	l.e.j.metrics.truncated(c, pair.A)
	l.late(&pair.A)
	said.HeardEnd = pair.FirstA
	said.Opinion, err = n.opinion(ctx, other, pair.B, stderr, feedback != nil)
	return pair.A, said, err
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
