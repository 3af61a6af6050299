// Package judging judges one submission on this machine. It knows no database and no queue.
//
// A language adapter says how the program is compiled and run, the sandbox does it, and a checker decides on each
// output. What the contestant's program does is a verdict; what a checker or package does wrong is the verdict JE; what
// the platform does wrong is an error, and the caller tries again.
//
// Each distinct test is run once for a submission, however many groups count it, and tests run on several cores at
// once. Neither changes a verdict or a score: the rules of the groups are applied in the order of the tests, and what
// was run ahead of a decision is forgotten.
//
// What it does is spread over rooms, each of which may use those above it:
//
//	blame    whose fault it is that something cannot be judged
//	runner   runs programs in boxes, in turn
//	build    makes programs and plugins ready to run
//	jury     runs what the judges of a problem wrote
//	grading  makes results of groups of those of tests
//	judging  this one: decides on a submission, test by test
//
// Its files:
//
//	judging.go    the judge
//	submitted.go  submissions that are answers and no programs
//	evaluate.go   judges a program on the tests of a package
//	custom.go     groups that a program of the package grades
//	lanes.go      how many tests of a submission are run at once
//	run.go        runs a program on a test, and what came of it
//	alone.go      runs in doubt are made again while nothing else runs
//	opinion.go    what a checker says of an output
//	order.go      who ended a conversation first
//	converse.go   runs a program while an interactor talks with it
//	talk.go       the two streams between them
//	passes.go     problems of several passes
//	answer.go     runs a solution to make answers
//	static.go     static validators
//	draw.go       draws pictures of statements
//	files.go      files of a package, by content
//	fallback.go   one-shot runs while the agent is away
//	own.go        jobs of kind run
//	draft.go      jobs of kind draft
//	blame.go      judging errors, and who is told of them
//	metrics.go    figures
package judging

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging/build"
	"deepoj/host/judging/jury"
	"deepoj/host/problem"
)

// Config says what a Judge works with.
type Config = build.Config

// Modules returns language adapters whose bytes are at hand, by language id, for [Config].
func Modules(wasm map[string][]byte) build.Adapters { return build.Modules(wasm) }

// Judge judges submissions. It may be used by several goroutines.
type Judge struct {
	*jury.Jury

	cfg     Config
	metrics *metrics
	pairs   *semaphore.Weighted // whoever waits for two boxes
	crowd   *crowd

	mu       sync.Mutex
	packages map[blob.Digest]*problem.Package
}

// maxPackages is how many packages a Judge remembers.
const maxPackages = 64

// New returns a Judge.
func New(cfg Config) (*Judge, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	cfg = cfg.Complete()
	builder, err := build.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	return &Judge{Jury: jury.New(cfg, builder), cfg: cfg, metrics: m, pairs: semaphore.NewWeighted(1), crowd: newCrowd(cfg.Cores), packages: map[blob.Digest]*problem.Package{}}, nil
}

// Judge judges a submission on a version of its problem and reports each step to progress, in order and from one
// goroutine. An error is a failure of the platform: there is no verdict, and the caller tries again. An error with
// method NotHere() bool says that another machine may succeed.
func (j *Judge) Judge(ctx context.Context, p judge.Payload, version blob.Digest, progress func(judge.Progress)) (judge.Result, error) {
	defer j.crowd.enter()()
	r, err := j.judge(ctx, p, version, progress)
	if err != nil {
		return judge.Result{}, fmt.Errorf("judge %s in %s: %w", p.Problem, p.Language, err)
	}
	return r, nil
}

func (j *Judge) judge(ctx context.Context, p judge.Payload, version blob.Digest, progress func(judge.Progress)) (judge.Result, error) {
	if progress == nil {
		progress = func(judge.Progress) {}
	}
	r := judge.Result{ProblemVersion: string(version)}
	pkg, err := j.load(ctx, version)
	if err != nil {
		return r, err
	}
	if takes := p.Language == judge.AnswerLanguage; takes != pkg.Answers {
		r.Verdict, r.Message = judge.CE, "this problem takes programs and no answers"
		if !takes {
			r.Message = "this problem takes the answers themselves and no programs: hand them in as the language " + judge.AnswerLanguage
		}
		r.Compile = &judge.Compile{Output: r.Message}
		return r, nil
	}
	var tc *build.Toolchain
	if !pkg.Answers {
		if tc, err = j.Toolchain(ctx, p.Language); err != nil {
			return r, err
		}
		r.Adapter, r.Tool = tc.Module.Digest, tc.Shown()
	}
	checkers, err := j.Checkers(ctx, pkg)
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	talker, err := j.Interactor(ctx, pkg)
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	r.Checker = jury.Versions(checkers)
	if talker != nil {
		r.Checker = jury.Versions(append([]jury.Checker{*talker}, checkers...))
	}
	static, err := j.StaticValidator(ctx, pkg)
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	if pkg.Answers {
		return r, j.judgeAnswers(ctx, pkg, checkers, p, &r, progress)
	}
	prog, err := j.Build(ctx, tc, unlimited(pkg, p), p.Sources, build.Extra{Dialect: p.Dialect, Entry: p.Entry})
	if err != nil {
		return j.blame(ctx, r, pkg, jury.GuestFault(err))
	}
	r.Compile = &prog.Compile
	total := len(pkg.Cases())
	progress(judge.Progress{Kind: judge.EventCompiled, Compile: r.Compile, Total: total})
	if !prog.Compile.OK {
		r.Verdict = judge.CE
		r.Message = prog.Message
		return r, nil
	}
	e := &evaluation{j: j, pkg: pkg, prog: prog, checkers: checkers, interactor: talker, static: static, progress: progress, total: total}
	e.showFiles()
	if err := e.run(ctx, &r); err != nil {
		return r, err
	}
	return r, nil
}

// unlimited returns the package that gives the limits of compiling a program: one of
// the package's own may be as long as any program of the judges.
func unlimited(pkg *problem.Package, p judge.Payload) *problem.Package {
	if !p.Own {
		return pkg
	}
	own := *pkg
	own.Limits.CodeKiB = max(own.Limits.CodeKiB, build.MaxPluginSource>>10)
	return &own
}

// load returns a package, from memory where possible.
func (j *Judge) load(ctx context.Context, version blob.Digest) (*problem.Package, error) {
	j.mu.Lock()
	pkg := j.packages[version]
	j.mu.Unlock()
	if pkg != nil {
		return pkg, nil
	}
	pkg, err := problem.Load(ctx, j.cfg.Blobs, version)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.packages) >= maxPackages {
		clear(j.packages)
	}
	j.packages[version] = pkg
	return pkg, nil
}
