package conformance_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"deepoj/host/plugin/conformance"
	"deepoj/plugins/abi"
)

// aReport is of a checker that fails one rule and is warned by another.
func aReport(t *testing.T, o conformance.Options) conformance.Report {
	t.Helper()
	o.Manifest = checker(abi.Testlib1, accepted)
	o.LargeBytes = 1_000_000
	return prove(t, bad("BAD_EXIT")(t), o)
}

func TestEventsAreTheReportAsItArises(t *testing.T) {
	t.Parallel()
	var findings []conformance.Finding
	var stages []conformance.Stage
	var order []string
	r := aReport(t, conformance.Options{Event: func(e conformance.Event) {
		switch {
		case e.Finding != nil && e.Stage == nil:
			findings, order = append(findings, *e.Finding), append(order, "finding of "+e.Finding.Stage)
		case e.Stage != nil && e.Finding == nil:
			stages, order = append(stages, *e.Stage), append(order, "end of "+e.Stage.Name)
		default:
			t.Errorf("an event of %+v", e)
		}
	}})
	if !slices.Equal(findings, r.Findings) || !slices.Equal(stages, r.Stages) || len(findings) < 2 {
		t.Errorf("told %+v and %+v, reported %+v and %+v", findings, stages, r.Findings, r.Stages)
	}
	for _, f := range findings {
		if slices.Index(order, "finding of "+f.Stage) > slices.Index(order, "end of "+f.Stage) {
			t.Errorf("a finding of %s was told after the end of the stage", f.Stage)
		}
	}
}

func TestAReportAsJSONIsWhatTheREADMEDescribes(t *testing.T) {
	t.Parallel()
	r := aReport(t, conformance.Options{})
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   int  `json:"schema"`
		Conforms bool `json:"conforms"`
		Plugin   struct {
			Digest, Name, Kind, Protocol string
			Size                         int64
			From                         string `json:"manifest_from"`
		}
		Stages   []map[string]any
		Findings []map[string]any
		Cost     map[string]float64
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != 1 || got.Conforms || got.Plugin.Name != "test" || got.Plugin.Kind != "checker" || got.Plugin.Protocol != "testlib/1" ||
		!strings.HasPrefix(got.Plugin.Digest, "sha256:") || got.Plugin.Size == 0 || got.Plugin.From != "upload" {
		t.Errorf("got %+v", got)
	}
	if got.Stages[0]["stage"] != "admission" || got.Stages[0]["outcome"] != "passed" {
		t.Errorf("the first stage is %v", got.Stages[0])
	}
	for _, key := range []string{"stage", "rule", "severity", "offender", "remedy"} {
		for _, f := range got.Findings {
			if f[key] == "" || f[key] == nil {
				t.Errorf("a finding without %s: %v", key, f)
			}
		}
	}
	for _, key := range []string{"calls", "cpu_us_p50", "cpu_us_p99", "fuel", "memory_kib", "fuel_per_mb", "cpu_ms_per_mb"} {
		if _, ok := got.Cost[key]; !ok {
			t.Errorf("the cost has no %s: %v", key, got.Cost)
		}
	}
}

func TestAReportAsJUnitHasACaseForEachStage(t *testing.T) {
	t.Parallel()
	r := aReport(t, conformance.Options{})
	var b bytes.Buffer
	if err := r.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		XMLName  xml.Name `xml:"testsuite"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []struct {
			Name     string `xml:"name,attr"`
			Failures []struct {
				Type    string `xml:"type,attr"`
				Message string `xml:"message,attr"`
			} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
			Out     string    `xml:"system-out"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != len(r.Stages) || len(got.Cases) != len(r.Stages) || got.Failures != 1 || got.Skipped != 3 {
		t.Errorf("%d cases, %d failures and %d skipped of %d stages:\n%s", got.Tests, got.Failures, got.Skipped, len(r.Stages), b.String())
	}
	for i, c := range got.Cases {
		st := r.Stages[i]
		if c.Name != st.Name || (c.Skipped != nil) != (st.Outcome == conformance.NotRun) || (len(c.Failures) > 0) != (st.Outcome == conformance.Failed) {
			t.Errorf("the case of %+v is %+v", st, c)
		}
		if st.Name == "hostile" && (c.Failures[0].Type != "hostile-exit" || !strings.Contains(c.Failures[0].Message, "77")) {
			t.Errorf("the failure is %+v", c.Failures)
		}
		if st.Name == "manifest" && !strings.Contains(c.Out, "no-tests") {
			t.Errorf("the warning is not told: %q", c.Out)
		}
	}
}

func TestAReportForPeopleSaysWhatToMend(t *testing.T) {
	t.Parallel()
	said := text(t, aReport(t, conformance.Options{}))
	for _, part := range []string{
		"error hostile-exit: nothing: ", "remedy: end with an exit code", "oracle         not run: it needs a problem package",
		"warning no-tests", "does not conform, 1 errors, 1 warnings", "a call costs",
	} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not said:\n%s", part, said)
		}
	}
}

// What a plugin says may be meant for a terminal.
func TestWhatAPluginSaysIsShownAsText(t *testing.T) {
	t.Parallel()
	r := prove(t, bad()(t), conformance.Options{
		Manifest: checker(abi.Testlib1, abi.Test{Output: "a\x1b[31m\n", Answer: "b", Args: []string{"\a"}, Expect: "presentation"}), LargeBytes: 1_000_000,
	})
	for _, f := range r.Findings {
		if strings.ContainsAny(f.Offender, "\x1b\a\n") {
			t.Errorf("a finding holds control characters: %q", f.Offender)
		}
	}
}
