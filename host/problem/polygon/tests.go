package polygon

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// maxGroups is how many groups a testset may have.
const maxGroups = 1_000

// testNumber is where the number of a test stands in the pattern of its path.
var testNumber = regexp.MustCompile(`%0?(\d?)d`)

// pattern returns the path of a test for its number.
func (p *reader) pattern(set *element, name string) func(int) string {
	e := set.child(name)
	text := strings.TrimSpace(string(e.text))
	if !e.there || len(testNumber.FindAllString(text, -1)) != 1 || strings.Count(text, "%") != 1 || !strings.Contains(path.Base(text), "%") || !fs.ValidPath(testNumber.ReplaceAllString(text, "1")) {
		e.refuse("", "is %q: it must be a path in the package with one number in its last part, such as tests/%%02d", text)
		return nil
	}
	width, _ := strconv.Atoi(testNumber.FindStringSubmatch(text)[1]) // no digit is no width
	return func(n int) string { return testNumber.ReplaceAllString(text, fmt.Sprintf("%0*d", width, n)) }
}

// tests reads the tests and groups of a testset.
func (p *reader) tests(set *element) {
	set.ignore("output-path-pattern")
	input, answer := p.pattern(set, "input-path-pattern"), p.pattern(set, "answer-path-pattern")
	all := set.child("tests").all("test")
	count := set.child("test-count")
	if n := count; n.there {
		if x := n.value(0, math.MaxInt32); x != nil && int(*x) != len(all) {
			n.refuse("", "is %s, but there are %d tests: make them agree", source.Short(*x), len(all))
		}
	}
	switch {
	case input == nil || answer == nil:
		return
	case len(all) == 0:
		set.child("tests").refuse("", "holds no test")
		return
	case len(all) > source.MaxTests:
		set.child("tests").refuse("", "holds %d tests: this platform can honour %d", len(all), source.MaxTests)
		return
	}
	p.worthless = all[0].attr("points") != ""
	for _, e := range slices.Concat(all, set.child("groups").all("group")) {
		x, err := strconv.ParseFloat(e.attr("points"), 64) // what is no number is refused where it is used
		p.Package.Scoring = p.Package.Scoring || err == nil && x > 0
	}
	p.worthless = p.worthless && !p.Package.Scoring
	groups := p.groups(set.child("groups"))
	root := &problem.Group{Grading: problem.Grading{Break: !p.Package.Scoring, Verdict: problem.FirstError, Score: problem.Sum, AcceptScore: 1}}
	if p.Package.Scoring {
		root.Grading.AcceptScore, root.Grading.Rule = 0, problem.ScorePoints
	}
	p.Package.Root = root
	placed := map[string]bool{}
	for i, e := range all {
		t := p.test(e, set.attr("name"), input(i+1), answer(i+1))
		name := e.attr("group")
		e.unknownRefused()
		if name == "" {
			root.Items = append(root.Items, problem.Item{Test: t})
			continue
		}
		g := groups.named(name)
		if g == nil {
			g = groups.add(e, name)
		}
		if g == nil {
			continue
		}
		t.Name = path.Join(name, t.Name)
		t.InputFlags = append(t.InputFlags, "--group", name)
		g.group.Items = append(g.group.Items, problem.Item{Test: t})
		if !placed[name] {
			placed[name] = true
			root.Items = append(root.Items, problem.Item{Group: g.group})
		}
	}
	groups.finish(p, root)
	set.unknownRefused()
}

// test reads one test, whose files may still have to be made.
func (p *reader) test(e *element, set, input, answer string) *problem.Test {
	e.ignore("@description")
	t := &problem.Test{Name: path.Base(input), Sample: e.attr("sample") == "true", InputFlags: []string{"--testset", set}}
	method := e.choice("method", "manual", "generated")
	cmd := e.attr("cmd")
	if e.attr("from-file") != "" {
		e.refuse("from-file", "takes one of several files that a generator writes, which this platform cannot do: import the full package, which holds the tests")
	}
	if p.Package.Scoring {
		if t.Points = e.number("points", 0, source.MaxScore); t.Points == nil {
			t.Points = new(0.0)
		}
	} else {
		e.number("points", 0, source.MaxScore)
	}
	switch {
	case p.Has(input):
		t.Input = p.testFile(input)
	case method == "manual":
		e.refuse("", "is manual, but %s is not in the package: add it", input)
	default:
		t.Made = p.command(e, cmd)
	}
	if p.Has(answer) {
		t.Answer = p.testFile(answer)
		if t.Input.Path == "" && len(t.Made) > 0 {
			e.refuse("", "has the answer %s and no input: add %s, or remove the answer, which is made anew", answer, input)
		}
	}
	return t
}

// command returns the words of the command that makes a test, the first of which is a generator of the package.
func (p *reader) command(e *element, cmd string) []string {
	words, err := problem.CommandWords(cmd)
	switch {
	case err != nil:
		e.refuse("cmd", "is %q: %v", cmd, err)
		return nil
	case len(words) == 0:
		e.refuse("cmd", "is missing, and the test is not in the package: import the full package, which holds the tests")
		return nil
	}
	words[0] = strings.TrimSuffix(words[0], ".exe")
	for _, g := range p.Package.Generators {
		if g.Name == words[0] {
			return words
		}
	}
	e.refuse("cmd", "begins with %q, which is none of files/executables: add its source, or import the full package, which holds the tests", words[0])
	return nil
}
