package web

import (
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deepoj/host/judge"
)

// FuzzRows has texts that people chose in every cell of the long lists: whatever
// they are, a row has the elements and attributes that it has with plain words, and
// shows the texts as they are.
func FuzzRows(f *testing.F) {
	f.Add(`<script>alert(1)</script>`)
	f.Add(`" onmouseover="alert(1)`)
	f.Add(`'><img src=x onerror=alert(1)>`)
	f.Add(`a&lt;b && c</td><td>`)
	f.Add("]]> <!-- \x01 ü 🙂")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, notXML) {
			return // no database gives these
		}
		for name, row := range rowsWith(text) {
			shape, shown := read(t, row)
			plain, _ := read(t, rowsWith("word")[name])
			if !slices.Equal(shape, plain) {
				t.Errorf("%s: %q makes the row\n%s", name, text, row)
			}
			if !strings.Contains(shown, text) {
				t.Errorf("%s does not show %q but %q", name, text, shown)
			}
		}
	})
}

// notXML reports what XML, with which rows are read here, cannot hold, or reads as
// something else.
func notXML(r rune) bool {
	return r < ' ' || r == 0x7f || r == utf8.RuneError || r >= 0xd800 && r < 0xe000 || r&0xfffe == 0xfffe
}

// rowsWith returns rows of every list with a text wherever people choose it.
func rowsWith(text string) map[string]template.HTML {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sub := judge.Submission{
		Job: judge.Job{
			JobID: 7, Author: text, Status: judge.Finished, Created: at,
			Result: &judge.Result{Verdict: judge.Verdict(text), Score: new(5.0), MaxScore: new(10.0), Usage: judge.Usage{CPUMillis: 5, MemoryKiB: 5}},
		},
		Problem: text, Title: text, Language: text,
	}
	row := queueRow{Place: text, ETA: text, QueueRow: judge.QueueRow{
		JobID: 7, Kind: judge.KindSubmission, Author: text, Problem: text, Title: text, Language: text, Lane: judge.LaneNormal, Priority: 3,
		State: "R", Rank: at, Since: at, Delayed: true, AttemptID: 2, InSet: true, Worker: text, LastError: text,
	}}
	return map[string]template.HTML{
		"a submission": submissionCells(&sub, false), "a submission for staff": submissionCells(&sub, true),
		"an own job": row.ownCells(), "a job for staff": row.staffCells(),
	}
}

// read returns the elements of a row with the names of their attributes, and its text.
func read(t *testing.T, row template.HTML) (shape []string, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(row)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shape, text
		}
		if err != nil {
			t.Fatalf("the row is broken, %v:\n%s", err, row)
		}
		switch token := token.(type) {
		case xml.StartElement:
			shape = append(shape, token.Name.Local)
			for _, a := range token.Attr {
				shape = append(shape, token.Name.Local+"/"+a.Name.Local)
			}
		case xml.CharData:
			text += string(token)
		case xml.Comment, xml.Directive, xml.ProcInst:
			shape = append(shape, "what no row has")
		}
	}
}

func TestARowSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	sub := judge.Submission{
		Job:     judge.Job{JobID: 7, Author: "ann", Status: judge.Pending, Created: time.Now()},
		Problem: "boxes", Title: "Boxes", Language: "cpp",
	}
	_, waiting := read(t, submissionCells(&sub, false))
	if waiting != "7 pendingBoxescppjust now" {
		t.Errorf("one that waits is %q", waiting)
	}
	sub.Status, sub.Result = judge.Finished, &judge.Result{Verdict: judge.AC, Score: new(2.5), Usage: judge.Usage{CPUMillis: 1200, MemoryKiB: 2048}}
	if row := string(submissionCells(&sub, true)); strings.Contains(row, "state") {
		t.Errorf("one that is judged has a state: %s", row)
	}
	_, judged := read(t, submissionCells(&sub, true))
	if judged != "7AC 2.5Boxescppann1.2 s2 MiBjust now" {
		t.Errorf("one that is judged is %q", judged)
	}
	for state, want := range map[string]bool{"R": true, "S": true, "D": false, "L": false} {
		row := string(queueRow{QueueRow: judge.QueueRow{JobID: 7, Kind: judge.KindSubmission, State: state}}.staffCells())
		if strings.Contains(row, "checkbox") != want {
			t.Errorf("whether a job in state %s can be chosen: %s", state, row)
		}
	}
}
