// Package verify proves a problem package with the submissions that it brings:
// each is judged like any other and must get what its place in the package
// allows.
//
// A proof says how far the slowest accepted submission is from the time limit, so that a setter sees a limit that is
// too tight or too loose. It changes nothing: who stores or activates a package decides what to make of it.
//
// Its files:
//
//	verify.go   the proof, its configuration and its steps
//	make.go     makes tests and answers that a package says how to make
//	infer.go    time limits that a package leaves to be found out, and solutions that count on 32 bits
//	check.go    validators on inputs, checkers on known outputs
//	expect.go   which expectation a result does not meet
//	measure.go  how far programs are from the time limit
//	report.go   the report: what is wrong with a package, and what checkers said without effect
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/problem"
)

// Config says how a package is proved. Only Judge is required.
type Config struct {
	// Judge judges the submissions. The package must be saved in its store.
	Judge *judging.Judge

	// Only is a pattern, as of path.Match, on paths below submissions, such as
	// "accepted/*". Submissions that do not match are left out. Defaults to all.
	Only string

	// Parallel is how many submissions are judged at once. Defaults to the number of cores.
	Parallel int

	// Stage is told how far each step is, from one goroutine at a time. Defaults to nobody.
	Stage func(Stage)

	// Done is told of each row when it is complete, from one goroutine at a time. Defaults to nobody.
	Done func(judge.ProofRow)
}

// Run judges the submissions of a package, and has its validators and checkers say what they must. The error is a
// failure of the platform; a submission that gets what it should not is in the report.
func Run(ctx context.Context, cfg Config, pkg *problem.Package) (judge.Proof, error) {
	if cfg.Judge == nil {
		return judge.Proof{}, errors.New("verify: Judge is missing")
	}
	cfg.Parallel = cmp.Or(cfg.Parallel, runtime.GOMAXPROCS(0))
	var chosen []problem.Submission
	for _, s := range pkg.Submissions {
		ok, err := matches(cfg.Only, short(s.Path))
		if err != nil {
			return judge.Proof{}, fmt.Errorf("verify: %w", err)
		}
		if ok {
			chosen = append(chosen, s)
		}
	}
	p := &proof{cfg: cfg, pkg: pkg, version: pkg.Version, languages: cfg.Judge.Languages(ctx), rows: make([]judge.ProofRow, len(chosen))}
	if slices.ContainsFunc(chosen, func(s problem.Submission) bool { return len(s.Expect) > 0 }) {
		all, err := pkg.Exhaustive(ctx) // what is expected is about all tests
		if err != nil {
			return judge.Proof{}, fmt.Errorf("verify: %w", err)
		}
		p.version = all.Version
	}
	looked := &inspection{}
	var err error
	if cfg.Only == "" {
		if looked, err = inspect(ctx, cfg, pkg); err != nil {
			return judge.Proof{}, fmt.Errorf("verify %s: %w", pkg.Slug, err)
		}
	}
	if p.broken, err = cfg.Judge.Unusable(ctx, pkg); err != nil {
		return judge.Proof{}, fmt.Errorf("verify %s: %w", pkg.Slug, err)
	}
	if p.broken != "" { // nothing can be judged with it
		looked.faults = append(looked.faults, p.broken)
		for i, s := range chosen {
			p.rows[i] = judge.ProofRow{Path: short(s.Path), Allowed: s.Allowed, Problem: "was not judged: see what is wrong above"}
		}
	} else if err := p.all(ctx, chosen); err != nil {
		return judge.Proof{}, fmt.Errorf("verify %s: %w", pkg.Slug, err)
	}
	r := p.report()
	r.Checked, r.Faults, r.Warnings = looked.checked, looked.faults, p.ignored
	if cfg.Only == "" && inferable(pkg) {
		r.Faults = append(r.Faults, noLimit)
	}
	if r.Notes, err = cfg.Judge.Instead(ctx, pkg); err != nil {
		return judge.Proof{}, fmt.Errorf("verify %s: %w", pkg.Slug, err)
	}
	r.Notes = append(r.Notes, looked.notes...)
	return r, nil
}

// noLimit is the fault of a package that states no time limit and shows none.
const noLimit = "problem.yaml: limits.time_limit: is missing, and no program of submissions/accepted is accepted, which would show it: put one there, or state a limit"

func matches(pattern, name string) (bool, error) {
	if pattern == "" {
		return true, nil
	}
	ok, err := path.Match(pattern, name)
	if err != nil {
		return false, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return ok, nil
}

func short(name string) string { return strings.TrimPrefix(name, "submissions/") }

// proof is a proof under way.
type proof struct {
	cfg       Config
	pkg       *problem.Package
	version   blob.Digest // to judge on: that of pkg, or of pkg without early stops
	languages []judge.Language

	broken string // why nothing can be judged; "" = it can

	mu      sync.Mutex
	rows    []judge.ProofRow
	ignored []string // what checkers say and has no effect
}

// all judges the submissions, several at once.
func (p *proof) all(ctx context.Context, submissions []problem.Submission) error {
	count := p.cfg.begin(StepVerify, len(submissions))
	return inParallel(ctx, p.cfg.Parallel, len(submissions), func(ctx context.Context, i int) error {
		row, err := p.one(ctx, submissions[i])
		if err != nil {
			return fmt.Errorf("%s: %w", short(submissions[i].Path), err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rows[i] = row
		if p.cfg.Done != nil {
			p.cfg.Done(row)
		}
		count.done(row.Path)
		return nil
	})
}

// one judges a submission and compares.
func (p *proof) one(ctx context.Context, s problem.Submission) (judge.ProofRow, error) {
	row := judge.ProofRow{Path: short(s.Path), Allowed: s.Allowed}
	payload, why, err := p.payload(ctx, s)
	if row.Language, row.Skipped = payload.Language, why; err != nil || why != "" {
		return row, err
	}
	r, err := p.cfg.Judge.Judge(ctx, payload, p.version, nil)
	if err != nil {
		return row, err
	}
	row.Verdict, row.Score, row.MaxScore = r.Verdict, r.Score, r.MaxScore
	row.Usage, row.Groups, row.Message = r.Usage, r.Groups, r.Message
	var total time.Duration
	for _, t := range r.Tests {
		if !t.Reused {
			total += t.Usage.CPU()
		}
	}
	row.TotalCPU = total.Milliseconds()
	if cpu := r.Usage.CPU(); r.Verdict == judge.AC && cpu > 0 {
		row.Slack = float64(p.pkg.Limits.CPU) * p.cfg.Judge.Factor(row.Language) / float64(cpu)
	}
	if row.Problem = wrong(s, r); row.Problem == "" && r.Verdict != judge.CE {
		row.Problem = unexpected(s, r)
	}
	if why := notInFull(s, r); row.Problem == "" && p.pkg.Format == problem.FormatLegacy {
		row.Warning = why
	} else if row.Problem == "" {
		row.Problem = why
	}
	row.Problem = narrower(p.pkg, row)
	if why := tooLong(s, payload, p.pkg.Limits.CodeKiB); row.Problem == "" && row.Warning == "" {
		row.Warning = why
	}
	p.ignore(r)
	return row, nil
}

// tooLong says that contestants could not hand in a program that is accepted, or "".
func tooLong(s problem.Submission, payload judge.Payload, limitKiB int64) string {
	size := 0
	for _, source := range payload.Sources {
		size += len(source.Text)
	}
	if int64(size) <= limitKiB<<10 || !slices.Contains(s.Allowed, judge.AC) {
		return ""
	}
	return fmt.Sprintf("has %d bytes, and contestants may hand in %d at most: raise the limit of sources if they need more", size, limitKiB<<10)
}

// payload returns what is judged of a submission, or why it cannot be judged.
func (p *proof) payload(ctx context.Context, s problem.Submission) (payload judge.Payload, why string, err error) {
	var names []string
	for _, f := range s.Files {
		names = append(names, f.Path)
	}
	l, ok := Language(p.languages, names)
	why = "no language has this extension"
	if p.pkg.Answers {
		l, ok = judge.Language{ID: judge.AnswerLanguage, Available: true}, true
	} else if s.Language != "" {
		i := slices.IndexFunc(p.languages, func(l judge.Language) bool { return l.ID == s.Language })
		if ok = i >= 0; ok {
			l = p.languages[i]
		}
		why = fmt.Sprintf("there is no language %q here", s.Language)
	}
	if !ok {
		return payload, why, nil
	}
	payload = judge.Payload{SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: p.pkg.Slug, Language: l.ID, Dialect: s.Dialect, Entry: s.Entry, Own: true}
	if !l.Available {
		return payload, l.Name + " is not available: " + l.Unavailable, nil
	}
	for _, f := range s.Files {
		text, err := p.text(ctx, f)
		if err != nil {
			return payload, "", err
		}
		name, inFolder := strings.CutPrefix(f.Path, s.Path+"/")
		if !inFolder {
			name = path.Base(f.Path)
		}
		payload.Sources = append(payload.Sources, judge.Source{Name: name, Text: text})
	}
	return payload, "", nil
}

// wrong says what is wrong with a result, or "".
func wrong(s problem.Submission, r judge.Result) string {
	switch {
	case r.Verdict == judge.JE:
		return "the judges' side failed: " + r.JudgeNote
	case len(s.Allowed) > 0 && !slices.Contains(s.Allowed, r.Verdict.InPackage()):
		return fmt.Sprintf("got %s, may get %s", r.Verdict, join(s.Allowed))
	case s.Score != nil && (r.Score == nil || math.Abs(*r.Score-*s.Score) > 1e-6*(1+math.Abs(*s.Score))):
		return fmt.Sprintf("scored %s, must score %g", points(r.Score), *s.Score)
	case s.Partial && r.Score != nil && r.MaxScore != nil && *r.Score >= *r.MaxScore:
		return fmt.Sprintf("scored %g, must score less than %g", *r.Score, *r.MaxScore)
	}
	return ""
}

// notInFull says that an accepted submission has not all points, or "". Where answers are only more or less good, no
// program has, and the legacy format has no folder for the best.
func notInFull(s problem.Submission, r judge.Result) string {
	if len(s.Expect) > 0 || s.Partial || s.Score != nil || !slices.Equal(s.Allowed, []judge.Verdict{judge.AC}) ||
		r.Verdict.InPackage() != judge.AC || r.Score == nil || r.MaxScore == nil || *r.Score == *r.MaxScore {
		return ""
	}
	return fmt.Sprintf("scored %g, must score all of %g", *r.Score, *r.MaxScore)
}

// text returns a file of the package.
func (p *proof) text(ctx context.Context, f problem.File) (string, error) {
	r, err := p.pkg.Open(ctx, f)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

// Language finds the language of a program by the extensions of its files. A language's first extension weighs more
// than its others, which may be those of headers.
func Language(languages []judge.Language, names []string) (judge.Language, bool) {
	for _, first := range []bool{true, false} {
		for _, name := range names {
			ext := strings.TrimPrefix(path.Ext(name), ".")
			for _, l := range languages {
				if len(l.Extensions) > 0 && (l.Extensions[0] == ext || !first && slices.Contains(l.Extensions, ext)) {
					return l, true
				}
			}
		}
	}
	return judge.Language{}, false
}

// The steps of [Finish] and [Run], as [Stage] calls them, in their order.
const (
	StepMake    = "make"    // tests that the package's own programs make
	StepMeasure = "measure" // programs whose time gives the time limit
	StepInspect = "inspect" // questions to validators and checkers
	StepVerify  = "verify"  // submissions
)

// Stage says how far a step is.
type Stage struct {
	Step  string `json:"step"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
	What  string `json:"what,omitempty"` // what was done last, such as the name of a test
}

// stages is about how often a step that has many parts tells of them.
const stages = 40

// counter counts the parts of a step and tells of them, though not of each of many.
type counter struct {
	tell func(Stage)

	mu    sync.Mutex
	stage Stage
	told  int
}

// begin tells that a step of so many parts begins.
func (c Config) begin(step string, total int) *counter {
	n := &counter{tell: c.Stage, stage: Stage{Step: step, Total: total}}
	if n.tell != nil && total > 0 {
		n.tell(n.stage)
	}
	return n
}

// more says that the step has more parts than was thought.
func (n *counter) more(parts int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stage.Total += parts
}

// done counts a part, from any goroutine.
func (n *counter) done(what string) {
	if n.tell == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stage.Done++
	n.stage.What = what
	if n.stage.Done < n.stage.Total && (n.stage.Done-n.told)*stages < n.stage.Total {
		return
	}
	n.told = n.stage.Done
	n.tell(n.stage)
}
