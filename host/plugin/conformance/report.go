package conformance

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"deepoj/host/judge"
)

// schema is the version of [Report] as JSON.
const schema = 1

// Report is what became of a proof, which can be written in several ways.
type Report struct{ judge.Conformance }

type (
	// Stage is a stage of a report.
	Stage = judge.ConformanceStage

	// Finding is a finding of a report.
	Finding = judge.ConformanceFinding
)

// The outcomes of a stage, and what a finding means for the plugin.
const (
	Passed  = judge.StagePassed
	Warned  = judge.StageWarned
	Failed  = judge.StageFailed
	NotRun  = judge.StageNotRun
	Failure = judge.SeverityError
	Warning = judge.SeverityWarning
)

// Event is a step of a proof; exactly one field is set.
type Event struct {
	Stage   *Stage   `json:"stage,omitempty"` // that ended
	Finding *Finding `json:"finding,omitempty"`
}

// count returns how many findings have a severity.
func count(fs []Finding, s judge.Severity) int {
	n := 0
	for _, f := range fs {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Line returns the event as text for people.
func (e Event) Line() string {
	if f := e.Finding; f != nil {
		return fmt.Sprintf("  %s %s: %s\n      remedy: %s\n", f.Severity, f.Rule, f.Offender, f.Remedy)
	}
	outcome := strings.ReplaceAll(string(e.Stage.Outcome), "_", " ")
	if e.Stage.Reason != "" {
		return fmt.Sprintf("%-14s %s: %s\n", e.Stage.Name, outcome, e.Stage.Reason)
	}
	return fmt.Sprintf("%-14s %s\n", e.Stage.Name, outcome)
}

// Summary returns what follows the lines of the events.
func (r Report) Summary() string {
	var b strings.Builder
	if c := r.Cost; c != nil {
		fmt.Fprintf(&b, "a call costs %d us of CPU time (99th percentile %d us) and %d KiB", c.MicrosP50, c.MicrosP99, c.MemoryKiB)
		if c.Fuel > 0 {
			fmt.Fprintf(&b, ", %d units of fuel", c.Fuel)
		}
		if c.FuelPerMB > 0 {
			fmt.Fprintf(&b, "; a megabyte %.1f ms and %.1f million units", c.MillisPerMB, c.FuelPerMB/1e6)
		}
		b.WriteString("\n")
	}
	name := "the module"
	if r.Plugin.Name != "" {
		name = fmt.Sprintf("%s %s (%s, %s)", r.Plugin.Name, r.Plugin.Version, r.Plugin.Kind, r.Plugin.Protocol)
	}
	verb := "conforms"
	if !r.Conforms {
		verb = "does not conform"
	}
	fmt.Fprintf(&b, "%s, %s, %d bytes: %s, %d errors, %d warnings\n", name, r.Plugin.Digest, r.Plugin.Size, verb,
		count(r.Findings, Failure), count(r.Findings, Warning))
	return b.String()
}

// WriteText writes the whole report for people.
func (r Report) WriteText(w io.Writer) error {
	for _, st := range r.Stages {
		for _, f := range r.Findings {
			if f.Stage == st.Name {
				if _, err := io.WriteString(w, Event{Finding: &f}.Line()); err != nil {
					return err
				}
			}
		}
		if _, err := io.WriteString(w, Event{Stage: &st}.Line()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, r.Summary())
	return err
}

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// maxOffender is how much of an offender is told, in bytes.
const maxOffender = 600

// printable makes text of a plugin fit to be told on one line.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	if len(s) > maxOffender {
		s = strings.ToValidUTF8(s[:maxOffender], "") + "..."
	}
	return s
}

// Leaks reports whether what the plugin says holds pieces of answers; nil if that was not looked at.
func (r Report) Leaks() *bool {
	for _, s := range r.Stages {
		if s.Name == stageMessages && s.Outcome != NotRun {
			leaks := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Stage == stageMessages })
			return &leaks
		}
	}
	return nil
}

// The elements of JUnit's XML, as build servers read it.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class    string         `xml:"classname,attr"`
		Name     string         `xml:"name,attr"`
		Time     string         `xml:"time,attr"`
		Failures []junitFailure `xml:"failure"`
		Skipped  *junitSkipped  `xml:"skipped"`
		Out      string         `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// WriteJUnit writes the report as JUnit's XML: a test case for each stage, in
// which an error is a failure, and warnings are on standard output.
func (r Report) WriteJUnit(w io.Writer) error {
	name := r.Plugin.Name
	name = cmp.Or(name, r.Plugin.Digest)
	suite := junitSuite{Name: name, Tests: len(r.Stages)}
	var all float64
	for _, st := range r.Stages {
		c := junitCase{Class: "conformance", Name: st.Name, Time: fmt.Sprintf("%.3f", st.Seconds)}
		all += st.Seconds
		var warnings strings.Builder
		for _, f := range r.Findings {
			switch {
			case f.Stage != st.Name:
			case f.Severity == Failure:
				c.Failures = append(c.Failures, junitFailure{f.Rule + ": " + f.Offender, f.Rule, "remedy: " + f.Remedy})
			default:
				warnings.WriteString(Event{Finding: &f}.Line())
			}
		}
		c.Out = warnings.String()
		switch st.Outcome {
		case Failed:
			suite.Failures++
		case NotRun:
			suite.Skipped++
			c.Skipped = &junitSkipped{"not run: " + st.Reason}
		case Passed, Warned:
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = fmt.Sprintf("%.3f", all)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}
