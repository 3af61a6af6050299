package polygon

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// assets reads the programs of the judges and the solutions.
func (p *reader) assets(e *element) {
	p.checker(e.child("checker"))
	p.interactor(e.child("interactor"))
	p.validators(e.child("validators"))
	for _, s := range e.child("solutions").all("solution") {
		p.solution(s)
	}
	p.mainSolution(e)
	e.unknownRefused()
}

// standardCheckers are the checkers of the platform that say the same as those of Polygon.
var standardCheckers = map[string]problem.Checker{
	"wcmp":   {Standard: "tokens"},
	"ncmp":   {Standard: "tokens"},
	"icmp":   {Standard: "tokens"},
	"hcmp":   {Standard: "tokens"},
	"acmp":   {Standard: "floats", Flags: []string{"--absolute=1.5e-6"}},
	"rcmp":   {Standard: "floats", Flags: []string{"--absolute=1.5e-6"}},
	"rncmp":  {Standard: "floats", Flags: []string{"--absolute=1.5e-5"}},
	"dcmp":   {Standard: "floats", Flags: []string{"--eps=1e-6"}},
	"rcmp4":  {Standard: "floats", Flags: []string{"--eps=1e-4"}},
	"rcmp6":  {Standard: "floats", Flags: []string{"--eps=1e-6"}},
	"rcmp9":  {Standard: "floats", Flags: []string{"--eps=1e-9"}},
	"yesno":  {Standard: "yesno"},
	"nyesno": {Standard: "yesno"},
}

// lineCheckers compare lines in ways of their own: they are compiled, and only
// without a source the platform's nearest one stands in.
var lineCheckers = map[string]string{
	"lcmp": "white space in the middle of a line counts",
	"fcmp": "white space at the end of a line does not count",
}

// checker reads who decides on outputs.
func (p *reader) checker(e *element) {
	if !e.there {
		e.refuse("", "is missing: it decides on outputs")
		return
	}
	if kind := e.choice("type", "testlib"); kind != "testlib" {
		return
	}
	e.ignore("binary", "copy")
	name := e.attr("name")
	short, std := strings.CutPrefix(name, "std::")
	short = strings.TrimSuffix(short, path.Ext(short))
	c, known := standardCheckers[short]
	src := e.child("source")
	switch {
	case std && known:
		src.ignore("@path", "@type")
		c.Protocol = "testlib/1"
	case std && lineCheckers[short] != "" && (!p.Has(src.attr("path")) || !p.header("testlib.h")):
		src.ignore("@path", "@type")
		c = problem.Checker{Standard: "lines", Protocol: "testlib/1"}
		e.warn("name", "is %s without its source: the checker lines stands in, for which %s", name, lineCheckers[short])
	case !src.there && std:
		e.refuse("name", "is %q, which this platform does not have: add its source to the package", name)
		return
	default:
		own := p.guest(src, "a checker")
		if own == nil {
			return
		}
		c = *own
	}
	if len(c.Sources) > 0 && p.worthless && givesPoints.MatchString(p.Text(c.Sources[0].Path)) {
		c.Points = true
		p.Package.Scoring = true
		pointsOf(p.Package.Root)
	}
	p.Package.Checkers = []problem.Checker{c}
	p.checkerTests(e.child("testset"))
	e.unknownRefused()
}

// givesPoints is how a checker with testlib gives points.
var givesPoints = regexp.MustCompile(`\bquitp\s*\(|\b_points\b|\b_pc\s*\(`)

// pointsOf lets a checker decide on the points of all tests, which have none.
func pointsOf(g *problem.Group) {
	g.Grading = problem.Grading{Verdict: problem.FirstError, Score: problem.Sum}
	for _, it := range g.Items {
		if it.Group != nil {
			pointsOf(it.Group)
		}
	}
}

// header reports whether the package brings a header.
func (p *reader) header(name string) bool {
	for _, h := range p.headers {
		if path.Base(h.Path) == name {
			return true
		}
	}
	return false
}

// guest returns a checker or interactor made of a source: a plugin if it is compiled
// from C or C++, else a program. It returns nil if it cannot be run here.
func (p *reader) guest(src *element, what string) *problem.Checker {
	if !src.there {
		src.refuse("", "is missing: %s needs one", what)
		return nil
	}
	program, ok := p.judges(src, what)
	switch id := program.Language; {
	case !ok:
		return nil
	case id != "c" && id != "cpp":
		return &problem.Checker{Protocol: "testlib/1", Program: &program}
	}
	if file := program.Files[0].Path; !source.IsSource(file) {
		src.refuse("path", "is %s, which is no source in C or C++ by its name", file)
		return nil
	}
	return &problem.Checker{Protocol: "testlib/1", Sources: program.Files, Dialect: program.Dialect}
}

// judges reads a program of the judges, which must be in a language that is run here.
func (p *reader) judges(src *element, what string) (problem.Program, bool) {
	program, ok := p.program(src)
	if !ok {
		return program, false
	}
	file := program.Files[0].Path
	text := p.Text(file)
	switch id, known := sourceLanguage(src.attr("type")); {
	case !known:
		src.refuse("type", "is %q for %s, and there is no such language here: write %s in C++, C, Java, Kotlin, Python 3 or another language of submissions",
			src.attr("type"), file, what)
		return program, false
	case (id == "c" || id == "cpp") && strings.Contains(text, "testlib.h") && !p.header("testlib.h"):
		src.refuse("path", "is %s, which includes testlib.h: add files/testlib.h to the package", file)
		return program, false
	case strings.Contains(text, "ru.ifmo.testlib"):
		src.refuse("path", "is %s, which needs a library of Java that is not here: write %s in C++ with testlib.h, or with a method main and no library", file, what)
		return program, false
	}
	return program, true
}

// interactor reads who talks with programs.
func (p *reader) interactor(e *element) {
	if !e.there {
		if p.runs == 2 {
			e.refuse("", "is missing: programs are run twice (run-count), and it tells the second run what it may know of the first")
		}
		return
	}
	e.ignore("binary", "@type", "@name")
	p.twice(e.child("runs"))
	if p.Package.InputFile != "" || p.Package.OutputFile != "" {
		e.refuse("", "talks with programs that read or write files: leave input-file and output-file empty")
	}
	p.Package.Interactor = p.guest(e.child("source"), "an interactor")
	e.unknownRefused()
}

// twice reads whether programs are run twice, and in which of the runs the interactor talks with them.
func (p *reader) twice(e *element) {
	var talks []string
	for _, run := range e.all("run") {
		talks = append(talks, strings.TrimSpace(string(run.text)))
	}
	both := slices.Equal(talks, []string{"1", "2"})
	switch {
	case len(talks) > 0 && !both && !slices.Equal(talks, []string{"1"}):
		e.refuse("", "names the runs %s: an interactor talks in the run 1, or in 1 and 2", strings.Join(talks, ", "))
	case both && p.runs == 1:
		e.refuse("", "names two runs of a program, and run-count one: they must agree")
	case both:
		p.Package.Twice = problem.SecondTalks
	case p.runs == 2:
		p.Package.Twice = problem.SecondReads
	}
}

// validators reads who looks at inputs.
func (p *reader) validators(e *element) {
	for _, v := range e.all("validator") {
		v.ignore("binary")
		set, group := v.attr("testset"), v.attr("group")
		if set != "" && set != "tests" || group != "" {
			v.warn("", "is for a part of the tests and not run")
			continue
		}
		program, ok := p.judges(v.child("source"), "a validator")
		if !ok {
			continue
		}
		one := problem.Validator{Program: program, Protocol: "testlib/1"}
		p.assetTests(v.child("testset"), func(t *element, input, _, _ string) {
			valid := t.choice("verdict", "valid", "invalid") == "valid"
			if p.Has(input) {
				one.Tests = append(one.Tests, problem.ValidatorTest{Input: p.testFile(input), Valid: valid})
			} else {
				t.warn("", "is not in the package: %s is missing", input)
			}
			t.ignore("@testset", "@group")
		})
		v.unknown()
		p.Package.Validators = append(p.Package.Validators, one)
	}
	e.unknown()
}

// wants are the verdicts of tests of a checker.
var wants = map[string]string{
	"ok": "accepted", "wrong-answer": "rejected", "presentation-error": "rejected", "crashed": "failed", "points": "partial", "partially-correct": "partial",
}

// checkerTests reads what the checker must say.
func (p *reader) checkerTests(set *element) {
	p.assetTests(set, func(t *element, input, output, answer string) {
		verdict := t.attr("verdict")
		for _, name := range []string{input, output, answer} {
			if !p.Has(name) {
				t.warn("", "is not in the package: %s is missing", name)
				return
			}
		}
		if wants[verdict] == "" {
			t.warn("verdict", "is %q, which is not known: the test is not run", verdict)
			return
		}
		p.Package.CheckerTests = append(p.Package.CheckerTests, problem.CheckerTest{
			Input: p.testFile(input), Output: p.testFile(output), Answer: p.testFile(answer), Wants: wants[verdict],
		})
	})
}

// assetTests reads the tests of a checker or validator.
func (p *reader) assetTests(set *element, each func(t *element, input, output, answer string)) {
	if !set.there {
		return
	}
	set.ignore("test-count", "@name")
	place := func(name, otherwise string) func(int) string {
		if !set.child(name).there {
			return func(n int) string { return fmt.Sprintf(otherwise, n) }
		}
		return p.pattern(set, name)
	}
	all := set.child("tests").all("test")
	if len(all) > source.MaxTests {
		set.child("tests").refuse("", "holds %d tests: this platform can honour %d", len(all), source.MaxTests)
		return
	}
	folder := "files/tests/checker-tests/"
	if strings.Contains(set.path, "validator") {
		folder = "files/tests/validator-tests/"
	}
	input, output, answer := place("input-path-pattern", folder+"%02d"), place("output-path-pattern", folder+"%02d.o"), place("answer-path-pattern", folder+"%02d.a")
	if input == nil || output == nil || answer == nil {
		return
	}
	for i, t := range all {
		t.ignore("@method", "@cmd", "@description")
		each(t, input(i+1), output(i+1), answer(i+1))
		t.unknown()
	}
	set.unknown()
}

// tags are the verdicts that solutions may get.
var tags = map[string][]judge.Verdict{
	"main":                            {judge.AC},
	"accepted":                        {judge.AC},
	"rejected":                        source.Rejections,
	"failed":                          source.Rejections,
	"wrong-answer":                    {judge.WA},
	"presentation-error":              {judge.WA},
	"time-limit-exceeded":             {judge.TLE},
	"time-limit-exceeded-or-accepted": {judge.AC, judge.TLE},
	"time-limit-exceeded-or-memory-limit-exceeded": {judge.TLE, judge.MLE},
	"memory-limit-exceeded":                        {judge.MLE},
}

// doNotRun is the tag of solutions that are not judged.
const doNotRun = "do-not-run"

// solution reads a program that proves the package.
func (p *reader) solution(e *element) {
	e.ignore("binary", "@note")
	tag := e.attr("tag")
	src := e.child("source")
	file, ok := p.named(src)
	kind := src.attr("type")
	src.unknown()
	if e.child("extra-tags").there {
		e.child("extra-tags").warn("", "are not compared with what the solution gets")
	}
	e.unknown()
	switch {
	case !ok:
		return
	case tag == doNotRun:
		e.warn("tag", "is %s: the solution is not judged", tag)
		return
	case tags[tag] == nil:
		e.refuse("tag", "is %q: it must be one of main, accepted, rejected, failed, wrong-answer, presentation-error, time-limit-exceeded, "+
			"time-limit-exceeded-or-accepted, time-limit-exceeded-or-memory-limit-exceeded, memory-limit-exceeded and %s", tag, doNotRun)
		return
	}
	id, known := sourceLanguage(kind)
	if !known {
		id = kind
	}
	p.Package.Submissions = append(p.Package.Submissions, problem.Submission{
		Path: file.Path, Files: []problem.File{file}, Language: id, Dialect: dialect(kind), Allowed: tags[tag], Main: tag == "main",
	})
}

// mainSolution looks for the solution that gives the answers.
func (p *reader) mainSolution(e *element) {
	n := 0
	for _, s := range p.Package.Submissions {
		if s.Main {
			n++
		}
	}
	missing := p.Refusals == 0 && !p.Package.Complete()
	switch {
	case n > 1:
		e.child("solutions").refuse("", "hold %d with the tag main: leave one", n)
	case n == 0 && missing:
		e.child("solutions").refuse("", "hold none with the tag main, which makes the answers that are not in the package")
	case n == 0:
		e.child("solutions").warn("", "hold none with the tag main: nothing proves that the problem can be solved")
	}
}
