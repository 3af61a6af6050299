package solve

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// barView is a figure with its limit; Limit "" means that there is none.
type barView struct {
	Text, Limit string
	Percent     int
	Over        bool
}

// bar shows a used amount against a limit of the same unit.
func bar(text, limit string, used, of int64) barView {
	b := barView{Text: text}
	if of > 0 {
		b.Limit = limit
		b.Percent = int(math.Round(100 * min(1, float64(used)/float64(of))))
		b.Over = used >= of
	}
	return b
}

type usageView struct {
	Time, Memory barView
	Wall         string
}

// showUsage shows what a run used. Memory is held against all that was there, and
// the limit says how much of it was the runtime's.
func showUsage(u judge.Usage, p *judge.Problem, v site.Viewer) *usageView {
	limit, charged := v.Locale.Bytes(p.MemoryMiB<<20), p.MemoryMiB<<10
	if own := u.ChargedKiB - charged; u.ChargedKiB > 0 && own > 0 && charged > 0 {
		limit, charged = v.Say("%s (%s and %s of the runtime)", locale.Bytes(u.ChargedKiB<<10), limit, locale.Bytes(own<<10)), u.ChargedKiB
	}
	most := time.Duration(p.CPUMillis) * time.Millisecond
	return &usageView{
		Time:   bar(v.Locale.Took(u.CPU()), v.Locale.Took(most), int64(u.CPU()), int64(most)),
		Memory: bar(v.Locale.Used(u.MemoryKiB), limit, u.MemoryKiB, charged),
		Wall:   v.Locale.Took(u.Wall()),
	}
}

// groupView is a test group with its tests, or a line of the score's arithmetic.
type groupView struct {
	Name, Title string
	Verdict     judge.Verdict
	Score, Max  *float64
	Formula     string
	Tests       []testView
}

// testView is one test as a cell and as a row.
type testView struct {
	Index   int
	Label   string
	Title   string // all of it in one line
	Verdict judge.Verdict
	Score   *float64
	Remark  string
	usageView
}

// failureView is a sample test that did not pass.
type failureView struct {
	Title            string
	Verdict          judge.Verdict
	Message          string
	Differ           string // where the first difference is
	Input, Want, Got site.Listing
}

// showTests fills groups, rows and failed samples. Total may be more than there are tests yet.
func (view *SubmissionView) showTests(tests []judge.TestResult, total int, groups []judge.GroupResult, p *judge.Problem, v site.Viewer) {
	view.Total = max(total, len(tests))
	for _, t := range tests {
		tv := showTest(t, p, v)
		at := slices.IndexFunc(view.Groups, func(g groupView) bool { return g.Name == t.Group })
		if at < 0 {
			at = len(view.Groups)
			view.Groups = append(view.Groups, newGroup(t.Group, groups, v))
		}
		view.Groups[at].Tests = append(view.Groups[at].Tests, tv)
		if t.Verdict == "" {
			continue
		}
		view.Judged++
		view.Rows = append(view.Rows, tv)
		if t.Sample && t.Verdict != judge.AC && t.Verdict != judge.PA && t.Verdict != judge.JE {
			view.Failures = append(view.Failures, showFailure(t, p, len(view.Failures), v))
		}
	}
	if missing := view.Total - len(tests); missing > 0 {
		rest := groupView{Title: v.Say("To come")}
		for i := range missing {
			rest.Tests = append(rest.Tests, testView{Index: len(tests) + i + 1, Title: v.Say("not run yet")})
		}
		view.Groups = append(view.Groups, rest)
	}
	view.Times = testsPicture(view.Rows, v)
	if len(view.Groups) == 1 && view.Groups[0].Name == "" {
		view.Groups[0].Title = "" // no need to name the only group
	}
}

func newGroup(name string, groups []judge.GroupResult, v site.Viewer) groupView {
	g := groupView{Name: name, Title: groupTitle(name, v)}
	for _, r := range groups {
		if r.Name == name {
			if g.Verdict = r.Verdict; r.MaxScore == nil || *r.MaxScore > 0 { // samples are for nothing
				g.Score, g.Max = r.Score, r.MaxScore
			}
		}
	}
	return g
}

// groupTitle names a group for people: "secret/group1" is "Group 1".
func groupTitle(name string, v site.Viewer) string {
	switch name {
	case "":
		return v.Say("All")
	case "sample":
		return v.Say("Samples")
	case "secret":
		return v.Say("Secret")
	}
	short := name[strings.LastIndexByte(name, '/')+1:]
	if digits := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(short), "group"), "-_ 0"); digits != "" {
		if _, err := strconv.Atoi(digits); err == nil {
			return v.Say("Group %s", digits)
		}
	}
	return short
}

func showTest(t judge.TestResult, p *judge.Problem, v site.Viewer) testView {
	tv := testView{Index: t.Index, Label: v.Say("Test %d", t.Index), Verdict: t.Verdict, Score: t.Score, usageView: *showUsage(t.Usage, p, v)}
	if t.Sample {
		tv.Label = v.Say("Test %d, sample", t.Index)
	}
	if v.Staff() && t.Name != "" {
		tv.Label = v.Locale.Beside(tv.Label, t.Name)
	}
	tv.Remark = remark(t, v)
	tv.Title = v.Say("%s: not run", tv.Label)
	if t.Verdict != "" {
		tv.Title = v.Say("%s: %s, %s, %s", tv.Label, site.VerdictName(t.Verdict), tv.Time.Text, tv.Memory.Text)
	}
	return tv
}

// remark is what else there is to say of a test.
func remark(t judge.TestResult, v site.Viewer) string {
	var parts []string
	if t.ExitSignal > 0 {
		parts = append(parts, v.Say("killed by signal %d (%s)", t.ExitSignal, syscall.Signal(t.ExitSignal).String()))
	} else if t.ExitCode != 0 && t.Verdict == judge.RE {
		parts = append(parts, v.Say("exit code %d", t.ExitCode))
	}
	if t.Message != "" {
		parts = append(parts, t.Message)
	}
	if t.Rerun != nil {
		parts = append(parts, v.Say("run again alone; before, it took %s of CPU time and %s on the clock", v.Locale.Took(t.Rerun.CPU()), v.Locale.Took(t.Rerun.Wall())))
	}
	if t.Reused {
		parts = append(parts, v.Say("same run as before"))
	}
	if v.Staff() && t.JudgeNote != "" {
		parts = append(parts, v.Say("for staff: %s", t.JudgeNote))
	}
	return v.Locale.Clauses(parts)
}

func showFailure(t judge.TestResult, p *judge.Problem, n int, v site.Viewer) failureView {
	id := strconv.Itoa(n + 1)
	f := failureView{
		Title: v.Say("Test %d", t.Index), Verdict: t.Verdict, Message: t.Message,
		Input: site.Listing{Title: v.Say("Input"), ID: "fail-in-" + id}, Want: site.Listing{Title: v.Say("A right answer"), ID: "fail-want-" + id},
		Got: site.Listing{Title: v.Say("Your output"), ID: "fail-got-" + id, Text: t.Output},
	}
	for i, s := range p.Samples {
		if s.Name == t.Name || s.Name == strings.TrimPrefix(t.Name, "sample/") || t.Name == "" && i == t.Index-1 {
			f.Input.Text, f.Want.Text = s.Input, s.Output
			f.Differ = differ(&f.Want, &f.Got, v)
		}
	}
	return f
}

// sourceView is a source with line numbers and the compiler's marks.
type sourceView struct {
	Name   string
	N      int    // of the files, from 1 on
	ID     string // of its lines on the page
	Lines  []lineView
	marked bool
}

type lineView struct {
	N     int
	ID    string
	Text  string
	Marks []judge.Diagnostic
}

// showSources splits sources into lines and puts the compiler's diagnostics where they belong.
func showSources(sources []judge.Source, compile *judge.Compile) []sourceView {
	var out []sourceView
	for i, source := range sources {
		view := sourceView{Name: source.Name, N: i + 1, ID: fmt.Sprintf("code-%d", i+1)}
		for n, text := range strings.Split(strings.TrimSuffix(source.Text, "\n"), "\n") {
			line := lineView{N: n + 1, ID: fmt.Sprintf("L%d", n+1), Text: strings.TrimSuffix(text, "\r")}
			if i > 0 {
				line.ID = fmt.Sprintf("S%dL%d", i+1, n+1)
			}
			view.Lines = append(view.Lines, line)
		}
		if compile != nil {
			view.mark(compile.Diagnostics, len(sources) == 1)
		}
		out = append(out, view)
	}
	return out
}

func (view *sourceView) mark(diagnostics []judge.Diagnostic, only bool) {
	for _, d := range diagnostics {
		if d.Line < 1 || d.Line > len(view.Lines) || !only && d.File != view.Name {
			continue
		}
		line := &view.Lines[d.Line-1]
		line.Marks = append(line.Marks, d)
		view.marked = true
	}
}
