package problem

import (
	"math"
	"path"
	"slices"
	"strings"
)

// The names of the legacy format's test folders.
const (
	dataDir      = "data"
	sampleDir    = "sample"
	secretDir    = "secret"
	testdataYAML = "testdata.yaml"
)

// besides are the endings of files that belong to a test and are not judged.
var besides = []string{".hint", ".desc", ".interaction", ".png", ".jpg", ".jpeg", ".svg", ".md", ".txt", ".statement", ".download"}

// settings are the keys of testdata.yaml, as a folder inherits them.
type settings struct {
	onReject string
	grading  string
	flags    []string // grader_flags
	output   []string // output_validator_flags
	input    []string // input_validator_flags
	accept   float64
	reject   float64
}

// readData reads the groups and tests.
func (r *reader) readData() {
	s := settings{onReject: "break", grading: "default", accept: 1}
	if r.old.onReject != "" {
		s.onReject = r.old.onReject
	}
	if r.p.Scoring {
		s.accept, s.reject = r.old.accept, r.old.reject
	}
	if r.p.Format == FormatLegacy && r.dialect() == scoringDOMjudge {
		r.readDOMjudge()
		return
	}
	r.p.Root = r.group(dataDir, "", s)
	r.besideTests()
}

// besideTests looks at what is in data and is no test, and refuses that there is none.
func (r *reader) besideTests() {
	names, folder := r.children(dataDir)
	for _, name := range names {
		switch {
		case name == testdataYAML:
		case folder[name] && (name == sampleDir || name == secretDir):
		case folder[name] && r.p.Format != FormatLegacy && (name == invalidInput || name == invalidOutput || name == validOutput):
		case folder[name]:
			r.warn(path.Join(dataDir, name), "", "is not judged: tests are in sample and secret")
		default:
			r.warn(path.Join(dataDir, name), "", "is not part of a test")
		}
	}
	if g := r.p.Root.Group(secretDir); (g == nil || len(g.Tests()) == 0) && !r.hasInputs() {
		r.refuse(path.Join(dataDir, secretDir), "", "holds no test")
	}
}

// hasInputs reports whether there are secret inputs, of which something else is said
// if they are no tests.
func (r *reader) hasInputs() bool {
	return slices.ContainsFunc(r.below(path.Join(dataDir, secretDir)), func(f string) bool { return path.Ext(f) == ".in" && !filesFolder.MatchString(f) })
}

// Group returns the child group of g that is called so, or nil.
func (g *Group) Group(name string) *Group {
	for _, it := range g.Items {
		if it.Group != nil && path.Base(it.Group.Name) == name {
			return it.Group
		}
	}
	return nil
}

// group reads a folder of tests. name is its path below data.
func (r *reader) group(dir, name string, s settings) *Group {
	g := &Group{Name: name}
	s = r.settings(g, path.Join(dir, testdataYAML), s)
	r.items(g, dir, name, s, func(full, child string) *Group { return r.group(full, child, s) })
	return g
}

// items reads the tests of a folder, and its groups by group.
func (r *reader) items(g *Group, dir, name string, s settings, group func(full, child string) *Group) {
	names, folder := r.children(dir)
	for _, child := range names {
		full := path.Join(dir, child)
		stem, ext := strings.TrimSuffix(child, path.Ext(child)), path.Ext(child)
		switch {
		case folder[child]:
			if name != "" || child == sampleDir || child == secretDir {
				g.Items = append(g.Items, Item{Group: group(full, path.Join(name, child))})
			}
		case name == "" || child == testdataYAML:
		case ext == ".in" && r.lacks(path.Join(dir, stem+".ans")):
			r.refuse(full, "", "has no answer: %s.ans is missing", stem)
		case ext == ".in":
			g.Items = append(g.Items, Item{Test: &Test{
				Name:   path.Join(name, stem),
				Sample: name == sampleDir || strings.HasPrefix(name, sampleDir+"/"),
				Input:  r.file(full),
				Answer: r.file(path.Join(dir, stem+".ans")),
				Flags:  s.output, InputFlags: s.input,
			}})
		case ext == ".ans":
			if r.lacks(path.Join(dir, stem+".in")) && !r.shownAlone(path.Join(dir, stem)) {
				r.refuse(full, "", "has no input: %s.in is missing", stem)
			}
		case !slices.Contains(besides, ext):
			r.warn(full, "", "is not part of a test")
		}
	}
	if name != "" && name != secretDir && len(g.Cases()) == 0 && (name != sampleDir || !slices.ContainsFunc(names, func(n string) bool { return path.Ext(n) == ".interaction" })) {
		r.empty(g, dir)
	}
	// In the order of the base names, groups among tests.
	slices.SortStableFunc(g.Items, func(a, b Item) int { return strings.Compare(a.base(), b.base()) })
}

// empty refuses a group without tests that is worth points, which nobody could get
// or everybody would, and warns of another.
func (r *reader) empty(g *Group, dir string) {
	if high := g.Grading.High; high != nil && *high > 0 {
		r.refuse(path.Join(dir, testdataYAML), "range", "gives up to %s points, and the group holds no test: put tests into it, or give no points", short(*high))
		return
	}
	r.warn(dir, "", "holds no test")
}

func (it Item) base() string {
	if t := it.Case(); t != nil {
		return path.Base(t.Name)
	}
	return path.Base(it.Group.Name)
}

// settings reads a testdata.yaml over what was inherited and sets the grading of
// g.
func (r *reader) settings(g *Group, file string, s settings) settings {
	k := r.yaml(file)
	s.onReject = k.choice("on_reject", s.onReject, "break", "continue", "first_error", "worst_error", "grade")
	s.grading = k.choice("grading", s.grading, "default", "custom")
	if s.grading == "custom" && r.p.Grader == nil {
		k.refuse("grading", "asks for a custom grader, but %s holds none: put one program there", gradersDir)
	}
	if flags, ok := k.words("grader_flags"); ok {
		s.flags = flags
	}
	if flags, ok := k.words("output_validator_flags"); ok {
		s.output = flags
	}
	if flags, ok := k.words("input_validator_flags"); ok {
		s.input = flags
	}
	accept := k.number("accept_score", s.accept, -maxScore, maxScore)
	reject := k.number("reject_score", s.reject, -maxScore, maxScore)
	low, high := k.scores("range")
	if r.p.Scoring {
		s.accept, s.reject = accept, reject
	} else {
		low, high = nil, nil
	}
	k.unknown()
	g.Grading = Grading{
		Break: s.onReject == "break" || s.onReject == "first_error", Verdict: WorstError, Score: Sum,
		AcceptScore: s.accept, RejectScore: s.reject, Low: low, High: high,
	}
	if g.Name == "" && low == nil && high == nil && r.p.Scoring {
		g.Grading.Low, g.Grading.High = r.old.low, r.old.high
	}
	if s.grading == "custom" {
		g.Grading.Custom, g.Grading.GraderFlags = true, s.flags
		return s
	}
	for _, flag := range s.flags {
		r.graderFlag(&g.Grading, g.Name, file, flag)
	}
	return s
}

// readGrader finds the program that grades groups.
func (r *reader) readGrader() {
	all := r.programs(gradersDir, r.warn)
	switch {
	case len(all) > 1:
		r.refuse(gradersDir, "", "holds %d programs: one of them can be the grader", len(all))
	case len(all) == 1:
		r.p.Grader = &all[0]
	}
}

// graderFlag applies one flag of the default grader. It ignores what it does not
// know, as that grader does.
func (r *reader) graderFlag(gr *Grading, group, file, flag string) {
	switch flag {
	case "worst_error", "no_errors":
		gr.Verdict = WorstError
	case "first_error":
		gr.Verdict = FirstError
	case "always_accept":
		gr.Verdict = AlwaysAccept
	case "sum":
		gr.Score = Sum
	case "avg":
		gr.Score = Avg
	case "min":
		gr.Score = Min
	case "max":
		gr.Score = Max
	case "ignore_sample":
		gr.IgnoreSample = group == "" // is inherited as text, but has a meaning only at the top
	case "accept_if_any_accepted":
		gr.AcceptAny = true
	default:
		if r.has(file) {
			r.warn(file, "grader_flags", "holds %q, which the default grader does not know", flag)
		}
	}
}

// MaxScore returns the highest score a submission can get, or nil when there is
// no such bound.
func (p *Package) MaxScore() *float64 {
	if !p.Scoring || p.Root == nil {
		return nil
	}
	return p.Root.MaxScore(p.points())
}

// points reports whether checkers give the scores of tests.
func (p *Package) points() bool {
	return slices.ContainsFunc(p.Checkers, func(c Checker) bool { return c.Points }) || p.Interactor != nil && p.Interactor.Points
}

// MaxScore returns the highest score of a group: its range's upper bound, or
// what its items can give together. Nil means no bound. With points the checker
// gives the scores of tests, which has no bound.
func (g *Group) MaxScore(points bool) *float64 {
	if g.Grading.High != nil || g.Grading.Custom {
		return g.Grading.High
	}
	if g.Grading.Rule == ScoreGroup && !slices.ContainsFunc(g.Items, func(it Item) bool { return it.Group != nil }) {
		if points {
			return nil
		}
		return &g.Grading.AcceptScore
	}
	var each []float64
	for _, it := range g.Items {
		top := math.Max(g.Grading.AcceptScore, g.Grading.RejectScore)
		switch {
		case it.Case() != nil && it.Case().Points != nil && (it.Static == nil || !points):
			top = *it.Case().Points
		case it.Group != nil:
			if g.Grading.IgnoreSample && it.Group.Name == sampleDir {
				continue
			}
			m := it.Group.MaxScore(points)
			if m == nil {
				return nil
			}
			top = *m
		case points:
			return nil
		}
		each = append(each, top)
	}
	top := g.Grading.Score.Of(each)
	return &top
}

// Of returns the score of a group whose items have these scores; an empty group
// has 0.
func (m ScoreMode) Of(scores []float64) float64 {
	if len(scores) == 0 {
		return 0
	}
	switch m {
	case Min:
		return slices.Min(scores)
	case Max:
		return slices.Max(scores)
	case Sum, Avg, PassFail:
	}
	total := 0.0
	for _, s := range scores {
		total += s
	}
	if m == Avg {
		return total / float64(len(scores))
	}
	return total
}
