// Package doctor says what this machine lacks to run Deep-OJ, and how to mend it.
//
// It looks and never changes anything. An [Exam] looks at one part; those that need a service are given a way to ask
// it, so that the package speaks to no database and starts no sandbox of its own.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Check is what was found about one thing.
type Check struct {
	Name     string `json:"name"`             // such as "cgroups" or "language cpp"
	OK       bool   `json:"ok"`               // whether it works; false keeps jobs from being judged
	Degraded bool   `json:"degraded"`         // it works less well than it should
	Detail   string `json:"detail"`           // what was found
	Remedy   string `json:"remedy,omitempty"` // what to do about it; empty when nothing needs doing
}

// An Exam looks at one part of the machine.
type Exam func(ctx context.Context) []Check

// Report is what all exams found.
type Report struct {
	Checks []Check `json:"checks"`
}

// examTime is how long one exam may take.
const examTime = 15 * time.Second

// Examine runs the exams at the same time and returns their checks in the order of the exams.
func Examine(ctx context.Context, exams ...Exam) Report {
	found := make([][]Check, len(exams))
	var wg sync.WaitGroup
	for i, exam := range exams {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, examTime)
			defer cancel()
			found[i] = exam(ctx)
		})
	}
	wg.Wait()
	return Report{Checks: slices.Concat(found...)}
}

// Healthy reports whether jobs can be judged, perhaps less well than they should.
func (r Report) Healthy() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.OK })
}

// WriteJSON writes the report as one JSON object with a field "healthy".
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	checks := r.Checks
	if checks == nil {
		checks = []Check{}
	}
	return e.Encode(struct {
		Healthy bool    `json:"healthy"`
		Checks  []Check `json:"checks"`
	}{r.Healthy(), checks})
}

// WriteText writes the report for people: a line for each check, with the remedy below it, and a summary.
func (r Report) WriteText(w io.Writer) error {
	return r.write(w, "degraded", [3]string{
		"%d of %d checks failed: nothing is judged here until they are mended.",
		"This machine can judge; %d of %d checks are weaker than they should be.", "This machine is well: %d checks.",
	})
}

// WriteProtection writes what protects this machine as WriteText does.
func (r Report) WriteProtection(w io.Writer) error {
	return r.write(w, "weak    ", [3]string{
		"%d of %d layers of protection are missing.", "%d of %d layers of protection are weaker than they could be.", "Nothing is weak: %d layers of protection.",
	})
}

// write writes a line for each check, with the word for what is degraded, and the
// summary for some that failed, some that are degraded, or neither.
func (r Report) write(w io.Writer, degraded string, summary [3]string) error {
	width, bad, weak := 0, 0, 0
	for _, c := range r.Checks {
		width = max(width, len(c.Name))
	}
	var b strings.Builder
	for _, c := range r.Checks {
		mark := "ok      "
		switch {
		case !c.OK:
			mark = "MISSING "
			bad++
		case c.Degraded:
			mark = degraded
			weak++
		}
		fmt.Fprintf(&b, "%s  %-*s  %s\n", mark, width, c.Name, c.Detail)
		if c.Remedy != "" {
			fmt.Fprintf(&b, "          %-*s  mend: %s\n", width, "", c.Remedy)
		}
	}
	switch {
	case bad > 0:
		fmt.Fprintf(&b, "\n"+summary[0]+"\n", bad, len(r.Checks))
	case weak > 0:
		fmt.Fprintf(&b, "\n"+summary[1]+"\n", weak, len(r.Checks))
	default:
		fmt.Fprintf(&b, "\n"+summary[2]+"\n", len(r.Checks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
