// Package conformance proves that a plugin keeps to its contract, and says what to mend where it does not.
//
// The suite is one for everybody who decides about a plugin: `deepoj plugin test`, the page that takes uploads, and the
// tests of the plugins that ship. It asks the plugin through the runtime that judges with it, so what it sees is what
// judging will see.
//
// A stage of the suite looks at one side of a plugin. What it finds is told as it is found ([Options.Event]) and
// collected in the [Report]. A stage that cannot be run, because it needs a problem package, a sandbox or a program to
// talk to, says so; it is never counted as passed.
//
// Its files:
//
//	conformance.go   the suite and its options
//	rules.go         its stages
//	checker.go       manifest and answers of checkers
//	sample.go        questions whose right answer is known, also from a package
//	mutants.go       outputs that are a little wrong
//	hostile.go       outputs that are out of all bounds
//	messages.go      what a checker says of what it rejects
//	conversation.go  interactors and programs that talk with them, and how questions of many sizes cost
//	adapter.go       plans of adapters
//	report.go        the report, and the same as JUnit's XML
package conformance

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/plugins/abi"
)

// Options say how a plugin is proved. The zero Options are good.
type Options struct {
	// Manifest is that of a module that brings none.
	Manifest *abi.Manifest

	// Problem is a package whose answers and submissions a checker must judge
	// rightly, and an interactor its submissions. Nil leaves those stages out.
	Problem *problem.Package

	// Runner runs programs. Nil leaves out what needs a sandbox.
	Runner Runner

	// Event is told of each finding as it arises and of each stage as it ends,
	// in order, from the goroutine of [Run]. Defaults to nobody.
	Event func(Event)

	// LargeBytes is the size of the largest output that a checker is given. Defaults to 100 MB.
	LargeBytes int64

	// Time bounds the processor time of all that the plugin itself is asked; judging the submissions of a package
	// and running programs of a language do not count. A plugin that takes longer does not conform, and how busy
	// the machine is has no part in it. 0 = no bound.
	Time time.Duration

	// TempDir is a folder for files without a name. Defaults to [os.TempDir].
	TempDir string
}

// Runner runs programs as judging does. Package [deepoj/host/intake/trial] has one that uses the sandbox.
type Runner interface {
	// Program compiles and runs a program of a language with its adapter.
	Program(ctx context.Context, adapter []byte, language string, sources []abi.Source) (Ran, error)

	// Submissions judges the submissions of a package that must be accepted and those that must be rejected as
	// wrong, with a checker or an interactor in the place of the package's own. Afterwards it judges others, each
	// of one file, in order.
	Submissions(ctx context.Context, p *problem.Package, wasm []byte, m abi.Manifest, others []abi.Source) ([]Judged, error)
}

// Ran is what became of a program.
type Ran struct {
	Missing     string // why it could not be run here, such as a compiler that is not installed; "" = it was
	Compiled    bool
	Verdict     string // of running it without input: "AC" when it ended well
	Output      string // what it printed, at most 4 KiB
	Words       string // what the compiler or judging said
	Diagnostics []abi.Diagnostic
}

// Judged is what a submission got with the plugin under test.
type Judged struct {
	Path    string // such as "accepted/fast.cpp"; of others, the file's name
	Other   bool   // it is none of the package's
	Right   bool   // it must be accepted; else it must be rejected as wrong
	Missing string // why it could not be judged here; "" = it was
	Verdict string // such as "AC", "WA" or "JE"
	Message string // why
}

// largeBytes is how large an output may well be.
const largeBytes = 100_000_000

// Run proves a plugin. The error is a failure of the platform or of the caller;
// what is wrong with the plugin is in the report.
func Run(ctx context.Context, rt *plugin.Runtime, wasm []byte, o Options) (Report, error) {
	return run(ctx, rt, wasm, o, rt.Check)
}

// asker puts a question to a checker.
type asker func(context.Context, *plugin.Module, plugin.Check) (plugin.Opinion, error)

// run is [Run] with the way to ask.
func run(ctx context.Context, rt *plugin.Runtime, wasm []byte, o Options, ask asker) (Report, error) {
	o.LargeBytes = cmp.Or(o.LargeBytes, largeBytes)
	if o.Event == nil {
		o.Event = func(Event) {}
	}
	s := &suite{Options: o, whole: ctx, rt: rt, wasm: wasm, ask: ask}
	sum := sha256.Sum256(wasm)
	s.report = Report{judge.Conformance{
		Schema: schema, Findings: []Finding{}, Stages: []Stage{},
		Plugin: judge.ProvedPlugin{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(wasm))},
	}}
	if o.Time > 0 {
		s.budget = plugin.NewBudget(o.Time)
	}
	err := s.all()
	if err = errors.Join(err, s.close()); err != nil {
		return Report{}, fmt.Errorf("prove %s: %w", s.report.Plugin.Digest, err)
	}
	return s.report, nil
}

// suite is one proof under way.
type suite struct {
	Options

	ctx     context.Context //nolint:containedctx // a suite lives as long as one call of Run
	whole   context.Context //nolint:containedctx // the same without the bound of Time
	budget  *plugin.Budget  // of Time; nil = no bound
	late    bool            // that is over
	rt      *plugin.Runtime
	wasm    []byte
	module  *plugin.Module // after admission
	report  Report
	stage   string    // that is under way
	samples []*sample // outputs that the checker accepts
	bare    *sample   // see any
	said    []message // of outputs that were rejected

	ask asker
}

// step is a stage of the suite.
type step struct {
	name string
	run  func(*suite) (notRun string, err error)
}

// steps lists the stages after admission by kind, in order.
var steps = map[abi.Kind][]step{
	abi.Checker: {
		{stageManifest, (*suite).manifest},
		{stageTests, (*suite).ownTests},
		{stageOracle, (*suite).oracle},
		{stageSubmissions, (*suite).submissions},
		{stageDeterminism, (*suite).determinism},
		{stageHostile, (*suite).hostile},
		{stageEqual, (*suite).equal},
		{stageMutants, (*suite).mutants},
		{stageMessages, (*suite).messages},
		{stageCost, (*suite).cost},
	},
	abi.Toolchain: {
		{stageManifest, (*suite).manifest},
		{stagePlan, (*suite).plans},
		{stageDeterminism, (*suite).planTwice},
		{stageHostile, (*suite).hostileSources},
		{stageRun, (*suite).programs},
		{stageCost, (*suite).planCost},
	},
	abi.Interactor: {
		{stageManifest, (*suite).manifest},
		{stageHostile, (*suite).monologues},
		{stageConversation, (*suite).conversation},
	},
}

// all admits the module and goes through the stages of its kind.
func (s *suite) all() error {
	if err := s.do(step{stageAdmission, (*suite).admit}); err != nil {
		return err
	}
	if s.module != nil {
		for _, st := range steps[s.module.Manifest.Kind] {
			if err := s.do(st); err != nil {
				return err
			}
			if s.late {
				break
			}
		}
	}
	s.report.Conforms = count(s.report.Findings, Failure) == 0
	return nil
}

// timed goes through a stage in the time that is left for the plugin, unless it is one of running programs.
func (s *suite) timed(st step) (notRun string, err error) {
	s.ctx = s.whole
	if s.budget == nil || slices.Contains([]string{stageSubmissions, stageRun, stageConversation}, st.name) {
		return st.run(s)
	}
	s.ctx = s.budget.Within(s.whole)
	if notRun, err = st.run(s); !errors.Is(err, plugin.ErrBudget) {
		return notRun, err
	}
	s.late = true
	s.find("time", fmt.Sprintf("after %s of processor time it was still busy with this stage; what follows was not tried", s.Time))
	return "", nil
}

// do goes through one stage.
func (s *suite) do(st step) error {
	from, before := time.Now(), len(s.report.Findings)
	s.stage = st.name
	notRun, err := s.timed(st)
	if err != nil {
		return fmt.Errorf("%s: %w", st.name, err)
	}
	found := s.report.Findings[before:]
	done := Stage{Name: st.name, Outcome: Passed, Seconds: time.Since(from).Seconds()}
	switch {
	case count(found, Failure) > 0:
		done.Outcome = Failed
	case notRun != "":
		done.Outcome, done.Reason = NotRun, notRun
	case len(found) > 0:
		done.Outcome = Warned
	}
	s.report.Stages = append(s.report.Stages, done)
	s.Event(Event{Stage: &done})
	return nil
}

// maxFindings is how many findings of one rule are told.
const maxFindings = 20

// find records a finding of a rule.
func (s *suite) find(rule, offender string, remedy ...string) {
	r, ok := ruleNamed(rule)
	if !ok {
		r = Rule{Name: rule, Severity: Failure} // the scan may know rules that this list does not
	}
	told := 0
	for _, f := range s.report.Findings {
		if f.Rule == rule {
			told++
		}
	}
	if told == maxFindings {
		return
	}
	f := Finding{Stage: s.stage, Rule: rule, Severity: r.Severity, Offender: printable(offender), Remedy: r.Remedy}
	if len(remedy) > 0 {
		f.Remedy = remedy[0]
	}
	s.report.Findings = append(s.report.Findings, f)
	s.Event(Event{Finding: &f})
}

// admit has the runtime scan, compile and describe the module.
func (s *suite) admit() (string, error) {
	m, err := s.rt.Load(s.ctx, s.wasm, s.Manifest)
	if refusal, ok := errors.AsType[*plugin.Refusal](err); ok {
		s.find(refusal.Rule, refusal.Offender, refusal.Remedy)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	s.module = m
	p := &s.report.Plugin
	p.Name, p.Version, p.Kind, p.Protocol = m.Manifest.Name, m.Manifest.Version, string(m.Manifest.Kind), string(m.Manifest.Protocol)
	p.Origin, p.Limits = string(m.Origin), judge.PluginLimits(m.Manifest.Limits)
	return "", nil
}

// close closes the files of the samples.
func (s *suite) close() error {
	var errs []error
	for _, c := range append(s.samples, s.bare) {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}
