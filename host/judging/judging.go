// Package judging judges one submission on this machine. It knows no database
// and no queue.
//
// A language adapter says how the program is compiled and run, the sandbox does
// it, and a checker decides on each output. What the contestant's program does
// is a verdict; what a checker or package does wrong is the verdict JE; what
// the platform does wrong is an error, and the caller tries again.
//
// Each distinct test is run once for a submission, however many groups count
// it, and tests run on several cores at once. Neither changes a verdict or a
// score: the rules of the groups are applied in the order of the tests, and what
// was run ahead of a decision is forgotten.
//
// Its files:
//
//	judging.go      the judge and its configuration
//	submitted.go    what may be handed in, and what it is unpacked to
//	toolchain.go    languages that can be judged here
//	adapters.go     adapters that were uploaded
//	build.go        compiles a submission
//	diagnostics.go  what compilers say, as places in sources
//	starved.go      compilers that waited for a CPU
//	warm.go         caches that make slow compilers quick
//	cache.go        files that were expensive to make
//	keylocks.go     one goroutine at a time for one key
//	evaluate.go     judges a program on the tests of a package
//	grade.go        results of tests become those of groups
//	score.go        what a checker may not say about a score
//	custom.go       groups that a program of the package grades
//	run.go          runs a program on a test, and what came of it
//	alone.go        runs in doubt are made again while nothing else runs
//	workdir.go      programs that read and write files of their folder
//	order.go        who ended a conversation first
//	converse.go     runs a program while an interactor talks with it
//	talk.go         the two streams between them
//	passes.go       problems of several passes
//	answer.go       runs a solution to make answers
//	checker.go      asks a checker
//	instead.go      checkers in place of the package's own
//	native.go       checkers and interactors that run as programs
//	testlib.go      checkers in C++ with testlib's header
//	compilers.go    compilers of plugins, and what they lack
//	wasi.go         compiles plugins
//	static.go       static validators
//	program.go      other programs of the package: generators, validators, graders
//	script.go       programs of the package that are scripts
//	draw.go         draws pictures of statements
//	files.go        files of a package, by content
//	streams.go      what a tool writes
//	sandbox.go      what judging asks of the sandbox
//	fallback.go     one-shot runs while the agent is away
//	own.go          jobs of kind run
//	draft.go        jobs of kind draft
//	blame.go        whose fault an error is
//	unfit.go        submissions whose files make judging impossible
//	trace.go        spans of runs
//	metrics.go      figures
package judging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
)

// Config says what judging works with.
type Config struct {
	Sandbox Sandbox         // runs programs; required
	Plugins *plugin.Runtime // runs checkers and adapters; required
	Blobs   blob.Store      // holds the packages; required

	// Adapters are the modules of the language adapters by language id.
	// Required.
	Adapters map[string][]byte

	// Checker returns the module of a standard checker by name. Required.
	Checker func(name string) ([]byte, error)

	// Uploaded returns the uploaded plugins of a kind (checker, interactor or
	// toolchain) that are active now; their modules are in Blobs. An active
	// adapter stands in for one of Adapters. Defaults to none.
	Uploaded func(ctx context.Context, kind string) ([]judge.Plugin, error)

	// SDK is what C++ plugins are compiled with: include/ and exceptions.cpp.
	// Required.
	SDK fs.FS

	// CacheDir is a folder of this machine for compiled programs and checkers.
	// What is in it is trusted: nobody else may write there. It may be deleted
	// while nothing runs. Required.
	CacheDir string

	// CacheBytes bounds what is kept in CacheDir. Defaults to 2 GiB.
	CacheBytes int64

	// KeepPlans keeps in CacheDir what adapters say how a program is compiled and run,
	// for whoever judges the same programs again and again.
	KeepPlans bool

	// Cores is how many tests of one submission run at once. Defaults to the
	// sandbox's slots, and no more than its cores.
	Cores int

	// Factors multiply the time limit by language id. Defaults to 1 for each.
	Factors map[string]float64

	// Log defaults to none.
	Log *slog.Logger

	// Registerer takes the metrics; nil keeps them private.
	Registerer prometheus.Registerer
}

// Validate reports every field that is missing or out of range.
func (c Config) Validate() error {
	var errs []error
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"Sandbox", c.Sandbox == nil},
		{"Plugins", c.Plugins == nil},
		{"Blobs", c.Blobs == nil},
		{"Adapters", len(c.Adapters) == 0},
		{"Checker", c.Checker == nil},
		{"SDK", c.SDK == nil},
		{"CacheDir", c.CacheDir == ""},
	} {
		if f.missing {
			errs = append(errs, fmt.Errorf("%s is missing", f.name))
		}
	}
	if c.CacheBytes < 0 {
		errs = append(errs, fmt.Errorf("CacheBytes %d is negative", c.CacheBytes))
	}
	if c.Cores < 0 {
		errs = append(errs, fmt.Errorf("Cores %d is negative", c.Cores))
	}
	for id, f := range c.Factors {
		if f <= 0 {
			errs = append(errs, fmt.Errorf("Factors has %g for %s, which is not positive", f, id))
		}
	}
	return errors.Join(errs...)
}

// Judge judges submissions. It may be used by several goroutines.
type Judge struct {
	cfg     Config
	cache   *cache // of compiled programs and plugins, and of filled compile caches
	told    *cache // what tools and adapters said of themselves
	temp    string // folder for files that have no name
	metrics *metrics
	locks   keyLocks
	crowd   crowd
	pairs   *semaphore.Weighted // whoever waits for two boxes
	plugins atomic.Int64        // how often sources of a plugin were compiled

	mu       sync.Mutex
	packages map[blob.Digest]*problem.Package
	probes   map[string]probe           // by logical tool name
	extra    map[string]uploadedAdapter // by language id
}

// maxTold bounds what is kept of what tools and adapters say, in bytes.
const maxTold = 4 << 20

// maxPackages is how many packages a Judge remembers.
const maxPackages = 64

// New returns a Judge.
func New(cfg Config) (*Judge, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = 2 << 30
	}
	if cfg.Cores == 0 {
		cfg.Cores = min(cfg.Sandbox.Slots(), cfg.Sandbox.Cores())
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Registerer == nil {
		cfg.Registerer = prometheus.NewRegistry()
	}
	j := &Judge{cfg: cfg, packages: map[blob.Digest]*problem.Package{}, probes: map[string]probe{}, locks: newKeyLocks(), crowd: newCrowd(), pairs: semaphore.NewWeighted(1)}
	var err error
	if j.cache, err = openCache(filepath.Join(cfg.CacheDir, "built"), cfg.CacheBytes); err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	if j.told, err = openCache(filepath.Join(cfg.CacheDir, "told"), maxTold); err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	j.temp = filepath.Join(cfg.CacheDir, "temp")
	if err := os.MkdirAll(j.temp, 0o700); err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	if j.metrics, err = newMetrics(cfg.Registerer); err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	return j, nil
}

// Judge judges a submission on a version of its problem and reports each step
// to progress, in order and from one goroutine. An error is a failure of the
// platform: there is no verdict, and the caller tries again. An error with
// method NotHere() bool says that another machine may succeed.
func (j *Judge) Judge(ctx context.Context, p judge.Payload, version blob.Digest, progress func(judge.Progress)) (judge.Result, error) {
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
	var tc *toolchain
	if !pkg.Answers {
		if tc, err = j.toolchain(ctx, p.Language); err != nil {
			return r, err
		}
		r.Adapter, r.Tool = tc.module.Digest, tc.shown()
	}
	checkers, err := j.checkers(ctx, pkg)
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	talker, err := j.interactor(ctx, pkg)
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	r.Checker = digests(checkers)
	if talker != nil {
		r.Checker = digests(append([]checker{*talker}, checkers...))
	}
	static, err := j.staticValidator(ctx, pkg)
	if err != nil {
		return j.blame(ctx, r, pkg, err)
	}
	if pkg.Answers {
		return r, j.judgeAnswers(ctx, pkg, checkers, p, &r, progress)
	}
	prog, err := j.build(ctx, tc, unlimited(pkg, p), p.Sources, extra{dialect: p.Dialect, entry: p.Entry})
	if err != nil {
		return j.blame(ctx, r, pkg, guestFault(err))
	}
	r.Compile = &prog.compile
	total := len(pkg.Cases())
	progress(judge.Progress{Kind: judge.EventCompiled, Compile: r.Compile, Total: total})
	if !prog.compile.OK {
		r.Verdict = judge.CE
		r.Message = prog.message
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
	own.Limits.CodeKiB = max(own.Limits.CodeKiB, maxPluginSrc>>10)
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
