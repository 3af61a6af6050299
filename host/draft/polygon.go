package draft

import (
	"encoding/xml"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

const problemXML = "problem.xml"

// polygon makes the changes to a package of Polygon: those of limits, and programs and
// tests that are added. Others are made to its files.
func (e *editor) polygon(c Changes) {
	rest := c
	rest.Limits, rest.Submissions, rest.Tests = nil, nil, nil
	for _, name := range rest.beyondFiles() {
		e.refuse(name, "not_here", "A package of Polygon says this in problem.xml and in its folders: change them under Files.")
	}
	text := e.text(problemXML)
	before := text
	if c.Limits != nil {
		text = e.polygonLimits(text, *c.Limits)
	}
	for i, t := range c.Tests {
		text = e.polygonTest(text, field("tests", i), t)
	}
	for i, s := range c.Submissions {
		text = e.polygonSolution(text, field("submissions", i), s)
	}
	if text != before {
		e.put("files", problemXML, []byte(text))
		e.deep()
	}
}

var (
	xmlTime   = regexp.MustCompile(`<time-limit>\s*\d+\s*</time-limit>`)
	xmlMemory = regexp.MustCompile(`<memory-limit>\s*\d+\s*</memory-limit>`)
	xmlCount  = regexp.MustCompile(`<test-count>\s*(\d+)\s*</test-count>`)
	xmlInput  = regexp.MustCompile(`<input-path-pattern>\s*([^<\s]+)\s*</input-path-pattern>`)
)

func (e *editor) polygonLimits(text string, l Limits) string {
	if l.OutputMiB != nil || l.CodeKiB != nil {
		e.refuse("limits", "not_here", "Polygon has only limits of time and memory.")
	}
	set := func(name string, value *int64, unit, most int64, of *regexp.Regexp, tag string) {
		switch {
		case value == nil:
		case *value < 1 || *value > most:
			e.refuse("limits."+name, "invalid", "The limit has to be a whole number from 1 to %d.", most)
		case !of.MatchString(text):
			e.refuse("limits."+name, "not_here", "problem.xml has no %s: write it under Files.", tag)
		default:
			text = of.ReplaceAllString(text, fmt.Sprintf("<%s>%d</%s>", tag, *value*unit, tag))
		}
	}
	set("time_ms", l.TimeMillis, 1, 600_000, xmlTime, "time-limit")
	set("memory_mib", l.MemoryMiB, 1<<20, 64<<10, xmlMemory, "memory-limit")
	return text
}

// polygonTest adds a test to the end of the main tests: one with its input, or one
// that a generator makes. Answers the main solution makes.
func (e *editor) polygonTest(text, at string, t Test) string {
	end := strings.Index(text, "</tests>")
	count, input := xmlCount.FindStringSubmatchIndex(text), xmlInput.FindStringSubmatch(text)
	switch {
	case t.Name != "" || t.Remove || t.Answer != nil:
		e.refuse(at, "not_here", "Tests of Polygon are numbered: one without a name, answer and remove is added at the end; change others under Files.")
		return text
	case (t.Command == "") == (t.Input == nil):
		e.refuse(at+".input", "missing", "Send an input, or the command of a generator.")
		return text
	case end < 0 || count == nil || input == nil || count[0] > end:
		e.refuse(at, "not_here", "problem.xml has no tests, test-count and input-path-pattern that can be added to: change it under Files.")
		return text
	}
	n, _ := strconv.Atoi(text[count[2]:count[3]])
	element := `<test method="manual"/>`
	if t.Command != "" {
		words, err := problem.CommandWords(t.Command)
		if err != nil {
			e.refuse(at+".command", "invalid", "Write a generator with its arguments: %s.", err.Error())
			return text
		}
		if len(words) == 0 || !slices.ContainsFunc(e.generators(), func(g string) bool { return g == words[0] }) {
			e.refuse(at+".command", "unknown", "The command begins with a generator of the package: %s.", judge.Names(e.generators()))
			return text
		}
		var command strings.Builder
		_ = xml.EscapeText(&command, []byte(t.Command)) // a builder takes everything
		element = `<test method="generated" cmd="` + command.String() + `"/>`
	} else {
		e.put(at+".input", fmt.Sprintf(input[1], n+1), []byte(*t.Input))
	}
	text = text[:end] + element + "\n" + text[end:]
	return text[:count[0]] + fmt.Sprintf("<test-count>%d</test-count>", n+1) + text[count[1]:]
}

func (e *editor) generators() (names []string) {
	for _, g := range e.pkg.Generators {
		names = append(names, g.Name)
	}
	return names
}

// polygonTags are the tags of solutions by the folders of other formats.
var polygonTags = map[string]string{
	"accepted": "accepted", "wrong_answer": "wrong-answer", "time_limit_exceeded": "time-limit-exceeded", "run_time_error": "failed", "rejected": "rejected",
}

// polygonTypes are the names of languages by the ends of files.
var polygonTypes = map[string]string{
	".cpp": "cpp.g++17", ".cc": "cpp.g++17", ".c": "c.gcc", ".py": "python.3", ".java": "java11", ".rs": "rust", ".go": "go", ".kt": "kotlin",
}

// polygonSolution adds a solution.
func (e *editor) polygonSolution(text, at string, s Submission) string {
	tag, kind := polygonTags[s.Place], polygonTypes[path.Ext(s.Name)]
	end := strings.Index(text, "</solutions>")
	full := "solutions/" + s.Name
	switch {
	case s.Remove || s.To != "" || s.Text == nil || e.has(full):
		e.refuse(at, "not_here", "A solution of Polygon is added here; change others under Files.")
	case tag == "":
		e.refuse(at+".place", "unknown", "Polygon has tags for accepted, wrong_answer, time_limit_exceeded, run_time_error and rejected.")
	case !plain.MatchString(s.Name) || kind == "":
		e.refuse(at+".name", "invalid", "The name is that of a file in C, C++, Python, Java, Rust, Go or Kotlin, such as brute.py.")
	case end < 0:
		e.refuse(at, "not_here", "problem.xml has no solutions: write them under Files.")
	default:
		e.put(at+".name", full, []byte(*s.Text))
		return text[:end] + fmt.Sprintf("<solution tag=%q><source path=%q type=%q/></solution>\n", tag, full, kind) + text[end:]
	}
	return text
}
