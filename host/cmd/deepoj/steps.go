package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/verify"
)

// steps shows on a terminal how far a proof is: a bar for the step that it is at, below
// the rows that it has. If nobody watches there are only the rows.
type steps struct {
	bar *bar
	out io.Writer
}

func newSteps(out io.Writer) *steps { return &steps{newBar(out, "", 0, submissionsText), out} }

// stepTexts are what a step counts.
var stepTexts = map[string]string{
	verify.StepMake: "tests made", verify.StepMeasure: "programs measured", verify.StepInspect: "questions to validators and checkers",
	verify.StepVerify: "submissions judged",
}

// stage draws how far a step is.
func (s *steps) stage(at verify.Stage) {
	if s.bar == nil || at.Total == 0 {
		return
	}
	s.bar.set(at.Step, int64(at.Done), int64(at.Total), func(done, total int64) string {
		text := fmt.Sprintf("%d of %d %s", done, total, stepTexts[at.Step])
		if at.What != "" {
			text += ", last " + at.What
		}
		return text
	})
}

// row prints a row of a proof, above the bar.
func (s *steps) row(row judge.ProofRow) {
	s.bar.clear()
	fmt.Fprintf(s.out, "%s: %s\n", row.Path, strings.TrimSpace(string(row.Verdict)+"  "+row.Problem+row.Skipped+row.Warning))
}

// tell prints what a proof tells, as events have it.
func (s *steps) tell(told json.RawMessage) {
	var d struct {
		verify.Stage
		Row judge.ProofRow
	}
	switch {
	case json.Unmarshal(told, &d) != nil:
	case d.Row.Path != "":
		s.row(d.Row)
	case d.Step != "":
		s.stage(d.Stage)
	}
}

// clear takes the bar away.
func (s *steps) clear() { s.bar.clear() }
