package judging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// checker is a checker that is ready to be asked.
type checker struct {
	module *plugin.Module // nil if it is native
	native *native
	flags  []string
	points bool
	why    string // it is a program and no plugin, though its sources might be one; "" = it is what it can be
}

// checkers loads the checkers of a package. A checker that cannot be used is a
// [*packageError].
func (j *Judge) checkers(ctx context.Context, pkg *problem.Package) ([]checker, error) {
	var all []checker
	for _, c := range pkg.Checkers {
		one, err := j.guest(ctx, pkg, c, abi.Checker)
		if err != nil {
			return nil, err
		}
		all = append(all, *one)
	}
	return all, nil
}

// interactor loads the interactor of a package, if it has one.
func (j *Judge) interactor(ctx context.Context, pkg *problem.Package) (*checker, error) {
	if pkg.Interactor == nil {
		return nil, nil
	}
	return j.guest(ctx, pkg, *pkg.Interactor, abi.Interactor)
}

// guest loads a checker or interactor.
func (j *Judge) guest(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) (*checker, error) {
	if c.Program != nil {
		return j.native(ctx, pkg, c, kind)
	}
	wasm, err := j.guestModule(ctx, pkg, c, kind)
	if len(c.Sources) > 0 && noPlugin(err) {
		n, nativeErr := j.native(ctx, pkg, c.AsProgram(), kind)
		if nativeErr == nil {
			n.why = err.Error()
		}
		if nativeErr == nil || !AtFault(nativeErr) || !AtFault(err) || errors.Is(err, errCatches) {
			return n, nativeErr
		}
	}
	if err != nil {
		return nil, err
	}
	m, err := j.cfg.Plugins.Load(ctx, wasm, manifest(pkg, c, kind))
	if _, refused := errors.AsType[*plugin.Refusal](err); refused {
		return nil, &packageError{fmt.Errorf("%s: %w", kind, err)}
	}
	if err != nil {
		return nil, err
	}
	if m.Manifest.Kind != kind {
		return nil, &packageError{fmt.Errorf("%s: the module %s is a %s", kind, m.Manifest.Name, m.Manifest.Kind)}
	}
	return &checker{module: m, flags: c.Flags, points: c.Points}, nil
}

// noPlugin reports whether sources cannot be compiled to a plugin, here or anywhere.
func noPlugin(err error) bool {
	_, missing := errors.AsType[*UnavailableError](err)
	return missing || AtFault(err)
}

// catches is how C++ catches exceptions, which plugins cannot.
var catches = regexp.MustCompile(`\bcatch\s*\(`)

// errCatches says why sources are not compiled to a plugin.
var errCatches = &packageError{errors.New("the checker catches exceptions, which a plugin cannot")}

// unnamed is what names of folders of packages may hold and those of modules may not.
var unnamed = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// manifest is that of a module that brings none.
func manifest(pkg *problem.Package, c problem.Checker, kind abi.Kind) *abi.Manifest {
	name := "problem." + string(kind)
	if plain := strings.Trim(unnamed.ReplaceAllString(pkg.Slug, "-"), "-._"); plain != "" {
		name = plain[:min(len(plain), 64)] + "." + string(kind)
	}
	return &abi.Manifest{
		Judge: abi.Version, Kind: kind, Name: name, Version: "1", Protocol: abi.Protocol(c.Protocol),
		Limits: abi.Limits{
			MemoryMiB: int(pkg.Limits.CheckMemoryMiB),
			FuelM:     int(pkg.Limits.CheckCPU / time.Millisecond), // a CPU does about 10^9 units a second
			OutputKiB: int(pkg.Limits.CheckOutputMiB << 10),
		},
	}
}

// guestModule returns the module of a checker or interactor.
func (j *Judge) guestModule(ctx context.Context, pkg *problem.Package, c problem.Checker, kind abi.Kind) ([]byte, error) {
	switch {
	case c.Standard != "":
		wasm, err := j.cfg.Checker(c.Standard)
		if err != nil {
			return nil, &packageError{err}
		}
		return wasm, nil
	case c.Plugin != "":
		digest, err := j.active(ctx, kind, c.Plugin)
		if err != nil {
			return nil, err
		}
		return j.uploaded(ctx, digest)
	case c.Digest != "":
		return j.uploaded(ctx, c.Digest)
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

// maxCheckerSource bounds one source of a checker, in bytes.
const maxCheckerSource = 1 << 20

// compileChecker compiles a package's checker to WASI, once.
func (j *Judge) compileChecker(ctx context.Context, pkg *problem.Package, c problem.Checker) ([]byte, error) {
	var files []sandbox.File
	top := folder(c.Sources)
	for _, f := range c.Sources {
		b, err := j.content(ctx, pkg, f, maxCheckerSource)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Path: strings.TrimPrefix(f.Path, top), Data: b})
		if path.Base(f.Path) != "testlib.h" && catches.Match(b) {
			return nil, errCatches
		}
	}
	wasm, compile, err := j.CompilePlugin(ctx, files)
	if err == nil && wasm == nil {
		err = &packageError{fmt.Errorf("the checker does not compile:\n%s", cut(compile.Output, keptWords))}
	}
	return wasm, err
}

// folder returns the folder that holds all files, "" or with a slash at its end.
func folder(files []problem.File) string {
	top := ""
	for i, f := range files {
		if i == 0 {
			top = f.Path[:strings.LastIndexByte(f.Path, '/')+1]
		}
		for !strings.HasPrefix(f.Path, top) {
			top = top[:strings.LastIndexByte(strings.TrimSuffix(top, "/"), '/')+1]
		}
	}
	return top
}

// uploaded returns the module of an uploaded plugin.
func (j *Judge) uploaded(ctx context.Context, digest string) ([]byte, error) {
	wasm, err := blob.ReadAll(ctx, j.cfg.Blobs, blob.Digest(digest), maxModule)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &packageError{fmt.Errorf("the plugin %s was never uploaded here", digest)}
	}
	return wasm, err
}

// active returns the digest that the name of an uploaded plugin means now.
func (j *Judge) active(ctx context.Context, kind abi.Kind, name string) (string, error) {
	if j.cfg.Uploaded == nil {
		return "", &packageError{fmt.Errorf("no plugin named %s can be looked up here", name)}
	}
	all, err := j.cfg.Uploaded(ctx, string(kind))
	if err != nil {
		return "", fmt.Errorf("look up plugin %s: %w", name, err)
	}
	for _, p := range all {
		if p.Name == name {
			return p.Digest, nil
		}
	}
	return "", &packageError{fmt.Errorf("no version of the plugin %s is active: upload one, and activate it", name)}
}

// opinion asks a checker and puts what it says into r, whose verdict is AC. A
// checker that fails is a [*packageError].
func (j *Judge) opinion(ctx context.Context, r *runResult, c checker, input, output, answer *os.File, args []string, scoring bool) (err error) {
	ctx, span := telemetry.Start(ctx, "checker")
	span.Text("plugin", c.name())
	defer func() { span.End(err) }()
	q := plugin.Check{Input: input, Output: output, Answer: answer, Args: args, Feedback: r.feedback}
	if c.native != nil {
		o, err := c.native.check(ctx, q)
		if err != nil {
			return err
		}
		return r.take(c, o, scoring)
	}
	if !c.points && r.feedback == nil {
		if settled, err := c.module.Settled(q); err != nil || settled {
			return err
		}
	}
	o, err := j.cfg.Plugins.Check(ctx, c.module, q)
	if err != nil {
		return guestFault(err)
	}
	return r.take(c, o, scoring)
}

// errNextPass is what a checker of several passes does wrong.
var errNextPass = errors.New("the checker writes nextpass.in and does not accept: only an accepted pass has a next one")

// guestFault makes a [*packageError] of what a guest did wrong.
func guestFault(err error) error {
	fault, ok := errors.AsType[*plugin.Error](err)
	if !ok {
		return err
	}
	if fault.Message != "" {
		return &packageError{fmt.Errorf("%w: it said: %s", fault, cut(fault.Message, keptWords))}
	}
	return &packageError{fault}
}

// take puts an opinion into r.
func (r *runResult) take(c checker, o plugin.Opinion, scoring bool) error {
	switch o.Outcome {
	case plugin.Accepted:
	case plugin.Wrong, plugin.Presentation: // the legacy format knows no presentation error
		r.verdict = judge.WA
	case plugin.Partial:
		if o.Score == nil {
			r.pointsInfo(scoring)
		} else if !scoring {
			return &packageError{fmt.Errorf("the checker %s gives points, but the problem has no scores", c.name())}
		}
	default:
		return &packageError{fmt.Errorf("the checker %s gives the unknown outcome %q", c.name(), o.Outcome)}
	}
	if r.feedback != nil {
		if r.feedback, r.next = o.Feedback, o.NextPass; r.next != nil && r.verdict != judge.AC {
			return &packageError{errNextPass}
		}
	}
	if scoring && o.Score != nil && (c.points || o.Outcome == plugin.Partial) {
		r.score = o.Score
	}
	if scoring && c.points {
		r.multiplier = o.Multiplier
	}
	r.scoreIgnored = r.scoreIgnored || scoring && o.Score != nil && r.score == nil && c.speaker() == judge.ByTeam // of icpc/1
	if o.Message != "" {
		r.message, r.by = cut(clean(o.Message), keptWords), c.speaker()
	}
	if o.JudgeMessage != "" && o.JudgeMessage != o.Message {
		r.note = cut(clean(o.JudgeMessage), keptWords)
	}
	if r.scoreIgnored && !strings.Contains(r.note, ScoreIgnored) {
		r.note = strings.TrimSpace(r.note + "\n" + ScoreIgnored)
	}
	return nil
}

// ScoreIgnored is noted on a test whose checker gives a score that does not count.
const ScoreIgnored = "the checker writes score.txt, which has no effect: problem.yaml does not say \"validation: custom score\""

// noScorer is for judges who wonder why accepted outputs get no points.
const noScorer = "the checker gives points_info, which is text for a scorer and no number: the test is worth 0 points"

// pointsInfo takes note of text that the checker gives in the place of points. There
// is no scorer that would make points of it.
func (r *runResult) pointsInfo(scoring bool) {
	if scoring {
		r.score, r.note = new(float64), noScorer
	}
}

// speaker says for whom the checker writes: in icpc/1 there is a file for the team,
// and in testlib/1 one message for everybody.
func (c checker) speaker() judge.Speaker {
	protocol := abi.ICPC1
	if c.native != nil {
		protocol = c.native.protocol
	} else if c.module != nil {
		protocol = c.module.Manifest.Protocol
	}
	if protocol == abi.ICPC1 {
		return judge.ByTeam
	}
	return judge.ByChecker
}

// What checkers say together about an output.
const (
	SaysAccepted = "accepted"
	SaysRejected = "rejected"
	SaysPartial  = "partial" // accepted with points that the checker gives
	SaysFailed   = "failed"  // a checker says that the judges are at fault, or fails itself
)

// Opinion asks the checkers of a package about the output of one of its own tests,
// and returns what they say, with the reason.
func (j *Judge) Opinion(ctx context.Context, pkg *problem.Package, t problem.CheckerTest) (says, why string, err error) {
	all, err := j.checkers(ctx, pkg)
	if fault, ok := errors.AsType[*packageError](err); ok {
		return SaysFailed, fault.Error(), nil
	}
	if err != nil {
		return "", "", err
	}
	var files [3]*os.File
	for i, f := range []problem.File{t.Input, t.Output, t.Answer} {
		if files[i], err = j.File(ctx, f); err != nil {
			return "", "", err
		}
		defer func() { err = errors.Join(err, files[i].Close()) }()
	}
	says = SaysAccepted
	for _, c := range all {
		r := runResult{verdict: judge.AC}
		err := j.opinion(ctx, &r, c, files[0], files[1], files[2], slices.Concat(c.flags, t.Flags), true)
		if fault, ok := errors.AsType[*packageError](err); ok {
			return SaysFailed, fault.Error(), nil
		}
		switch {
		case err != nil:
			return "", "", err
		case r.verdict != judge.AC:
			return SaysRejected, r.message, nil
		case r.score != nil && !c.points:
			says = SaysPartial
		}
	}
	return says, "", nil
}
