package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/host/verify"
)

// bar shows on a terminal how far long work is. A nil bar shows nothing.
type bar struct {
	out   io.Writer
	what  string
	text  func(done, total int64) string // of how much how much is done; total 0 = nobody knows
	total int64                          // 0 = nobody knows
	every time.Duration

	mu    sync.Mutex
	done  int64
	drawn time.Time
}

// newBar returns a bar below what is printed to out, or nil if nobody watches.
func newBar(out io.Writer, what string, total int64, text func(done, total int64) string) *bar {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &bar{out: out, what: what, text: text, total: total, every: 100 * time.Millisecond}
}

// barWidth is the length of a whole bar, in characters.
const barWidth = 30

// line is the bar as it stands.
func (b *bar) line() string {
	if b.total <= 0 {
		return b.what + ": " + b.text(b.done, 0)
	}
	share := float64(min(b.done, b.total)) / float64(b.total)
	full := int(share * barWidth)
	return fmt.Sprintf("%s [%s%s] %3.0f %%, %s", b.what, strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), 100*share, b.text(b.done, b.total))
}

// add counts what was done, and draws the bar now and then.
func (b *bar) add(n int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += n
	if now := time.Now(); now.Sub(b.drawn) >= b.every {
		b.drawn = now
		fmt.Fprint(b.out, "\r\x1b[K"+b.line()) // to the begin of the line, which is erased
	}
}

// set makes the bar show other work, and draws it.
func (b *bar) set(what string, done, total int64, text func(done, total int64) string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.what, b.done, b.total, b.text = what, done, total, text
	b.drawn = time.Now()
	line := []rune(b.line())
	fmt.Fprint(b.out, "\r\x1b[K"+string(line[:min(len(line), barColumns)]))
}

// barColumns is how long a line is at most, so that it is one line on every terminal.
const barColumns = 79

// clear takes the bar away, before something else is printed.
func (b *bar) clear() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drawn = time.Time{}
	fmt.Fprint(b.out, "\r\x1b[K")
}

// Write implements [io.Writer] for what goes by, of which only the length counts.
func (b *bar) Write(p []byte) (int, error) {
	b.add(int64(len(p)))
	return len(p), nil
}

// submissionsText counts submissions.
func submissionsText(done, total int64) string {
	if total == 0 {
		return fmt.Sprint("submissions so far: ", done)
	}
	return fmt.Sprintf("%d of %d submissions", done, total)
}

// versionsText counts versions.
func versionsText(done, total int64) string {
	if total == 0 {
		return fmt.Sprint("versions so far: ", done)
	}
	return fmt.Sprintf("%d of %d versions", done, total)
}

// megabytesText counts bytes.
func megabytesText(done, total int64) string {
	return fmt.Sprintf("%.1f of %.1f MB", float64(done)/1e6, float64(total)/1e6)
}

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
