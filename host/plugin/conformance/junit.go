package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

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
	if name == "" {
		name = r.Plugin.Digest
	}
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
