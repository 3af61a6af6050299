package icpc

import (
	"path"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// testdataYAML says how a folder of tests is graded in the legacy format.
const testdataYAML = "testdata.yaml"

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
	if r.Package.Scoring {
		s.accept, s.reject = r.old.accept, r.old.reject
	}
	if r.Package.Format == problem.FormatLegacy && r.dialect() == scoringDOMjudge {
		r.readDOMjudge()
		return
	}
	r.Package.Root = r.group(source.DataDir, "", s)
	r.besideTests()
}

// besideTests looks at what is in data and is no test, and refuses that there is none.
func (r *reader) besideTests() {
	names, folder := r.Children(source.DataDir)
	for _, name := range names {
		switch {
		case name == testdataYAML:
		case folder[name] && (name == problem.SampleGroup || name == problem.SecretGroup):
		case folder[name] && r.Package.Format != problem.FormatLegacy && (name == invalidInput || name == invalidOutput || name == validOutput):
		case folder[name]:
			r.Warn(path.Join(source.DataDir, name), "", "is not judged: tests are in sample and secret")
		default:
			r.Warn(path.Join(source.DataDir, name), "", "is not part of a test")
		}
	}
	if g := r.Package.Root.Group(problem.SecretGroup); (g == nil || len(g.Tests()) == 0) && !r.hasInputs() {
		r.refuseUntested()
	}
}

// refuseUntested says that there are no secret tests, and what makes them.
func (r *reader) refuseUntested() {
	remedy := "put pairs of files there, such as 1.in and 1.ans"
	if r.Has("generators/generators.yaml") {
		remedy = "generators/generators.yaml is of BAPCtools: have it make the tests (bt generate), and take the package that then holds them"
	}
	r.Refuse(path.Join(source.DataDir, problem.SecretGroup), "", "holds no test: %s", remedy)
}

// hasInputs reports whether there are secret inputs, of which something else is said if they are no tests.
func (r *reader) hasInputs() bool {
	return slices.ContainsFunc(r.Below(path.Join(source.DataDir, problem.SecretGroup)), func(f string) bool { return path.Ext(f) == ".in" && !filesFolder.MatchString(f) })
}

// group reads a folder of tests. name is its path below data.
func (r *reader) group(dir, name string, s settings) *problem.Group {
	g := &problem.Group{Name: name}
	s = r.settings(g, path.Join(dir, testdataYAML), s)
	r.items(g, dir, name, s, func(full, child string) *problem.Group { return r.group(full, child, s) })
	return g
}

// items reads the tests of a folder, and its groups by group.
func (r *reader) items(g *problem.Group, dir, name string, s settings, group func(full, child string) *problem.Group) {
	names, folder := r.Children(dir)
	for _, child := range names {
		full := path.Join(dir, child)
		stem, ext := strings.TrimSuffix(child, path.Ext(child)), path.Ext(child)
		switch {
		case folder[child]:
			if name != "" || child == problem.SampleGroup || child == problem.SecretGroup {
				g.Items = append(g.Items, problem.Item{Group: group(full, path.Join(name, child))})
			}
		case name == "" || child == testdataYAML:
		case ext == ".in" && r.Lacks(path.Join(dir, stem+".ans")):
			r.Refuse(full, "", "has no answer: %s.ans is missing", stem)
		case ext == ".in":
			g.Items = append(g.Items, problem.Item{Test: &problem.Test{
				Name:   path.Join(name, stem),
				Sample: name == problem.SampleGroup || strings.HasPrefix(name, problem.SampleGroup+"/"),
				Input:  r.File(full),
				Answer: r.File(path.Join(dir, stem+".ans")),
				Flags:  s.output, InputFlags: s.input,
			}})
		case ext == ".ans":
			if r.Lacks(path.Join(dir, stem+".in")) && !r.shownAlone(path.Join(dir, stem)) {
				r.Refuse(full, "", "has no input: %s.in is missing", stem)
			}
		case !slices.Contains(besides, ext):
			r.Warn(full, "", "is not part of a test")
		}
	}
	if name != "" && name != problem.SecretGroup && len(g.Cases()) == 0 && (name != problem.SampleGroup || !slices.ContainsFunc(names, func(n string) bool { return path.Ext(n) == ".interaction" })) {
		r.empty(g, dir)
	}
	// In the order of the base names, groups among tests.
	slices.SortStableFunc(g.Items, func(a, b problem.Item) int { return strings.Compare(path.Base(a.Name()), path.Base(b.Name())) })
}

// empty refuses a group without tests that is worth points, which nobody could get
// or everybody would, and warns of another.
func (r *reader) empty(g *problem.Group, dir string) {
	if high := g.Grading.High; high != nil && *high > 0 {
		r.Refuse(path.Join(dir, testdataYAML), "range", "gives up to %s points, and the group holds no test: put tests into it, or give no points", source.Short(*high))
		return
	}
	r.Warn(dir, "", "holds no test")
}

// settings reads a testdata.yaml over what was inherited and sets the grading of g.
func (r *reader) settings(g *problem.Group, file string, s settings) settings {
	k := r.YAML(file)
	s.onReject = k.Choice("on_reject", s.onReject, "break", "continue", "first_error", "worst_error", "grade")
	s.grading = k.Choice("grading", s.grading, "default", "custom")
	if s.grading == "custom" && r.Package.Grader == nil {
		k.Refuse("grading", "asks for a custom grader, but %s holds none: put one program there", gradersDir)
	}
	if flags, ok := k.Words("grader_flags"); ok {
		s.flags = flags
	}
	if flags, ok := k.Words("output_validator_flags"); ok {
		s.output = flags
	}
	if flags, ok := k.Words("input_validator_flags"); ok {
		s.input = flags
	}
	accept := k.Number("accept_score", s.accept, -source.MaxScore, source.MaxScore)
	reject := k.Number("reject_score", s.reject, -source.MaxScore, source.MaxScore)
	low, high := k.Scores("range")
	if r.Package.Scoring {
		s.accept, s.reject = accept, reject
	} else {
		low, high = nil, nil
	}
	k.WarnUnknown()
	g.Grading = problem.Grading{
		Break: s.onReject == "break" || s.onReject == "first_error", Verdict: problem.WorstError, Score: problem.Sum,
		AcceptScore: s.accept, RejectScore: s.reject, Low: low, High: high,
	}
	if g.Name == "" && low == nil && high == nil && r.Package.Scoring {
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
	all := r.Programs(gradersDir, r.Warn)
	switch {
	case len(all) > 1:
		r.Refuse(gradersDir, "", "holds %d programs: one of them can be the grader", len(all))
	case len(all) == 1:
		r.Package.Grader = &all[0]
	}
}

// graderFlag applies one flag of the default grader. It ignores what it does not know, as that grader does.
func (r *reader) graderFlag(gr *problem.Grading, group, file, flag string) {
	switch flag {
	case "worst_error", "no_errors":
		gr.Verdict = problem.WorstError
	case "first_error":
		gr.Verdict = problem.FirstError
	case "always_accept":
		gr.Verdict = problem.AlwaysAccept
	case "sum":
		gr.Score = problem.Sum
	case "avg":
		gr.Score = problem.Avg
	case "min":
		gr.Score = problem.Min
	case "max":
		gr.Score = problem.Max
	case "ignore_sample":
		gr.IgnoreSample = group == "" // is inherited as text, but has a meaning only at the top
	case "accept_if_any_accepted":
		gr.AcceptAny = true
	default:
		if r.Has(file) {
			r.Warn(file, "grader_flags", "holds %q, which the default grader does not know", flag)
		}
	}
}
