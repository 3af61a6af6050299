package verify

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/blame"
)

// report sums the rows up.
func (p *proof) report() judge.Proof {
	r := judge.Proof{
		Slug: p.pkg.Slug, Version: string(p.pkg.Version), LimitMillis: p.pkg.Limits.CPU.Milliseconds(), LimitFrom: p.pkg.Limits.CPUFrom, Rows: p.rows,
	}
	solved := slices.ContainsFunc(r.Rows, func(row judge.ProofRow) bool {
		return mustBeAccepted(row) && row.Verdict.InPackage() == judge.AC && row.Problem == ""
	})
	for i := range r.Rows {
		row := &r.Rows[i]
		if mustBeAccepted(*row) && row.Verdict == judge.AC {
			r.SlowestMillis = max(r.SlowestMillis, p.plain(row.Usage, row.Language))
		}
		if !solved {
			row.Problem, row.Skipped = row.Problem+row.Skipped, "" // one of them is empty
		}
	}
	if r.SlowestMillis > 0 {
		r.SuggestedMillis = limitFor(p.pkg.Limits, r.SlowestMillis).Milliseconds()
	}
	return r
}

// mustBeAccepted reports whether a submission is to show that the problem can be solved.
func mustBeAccepted(row judge.ProofRow) bool {
	return slices.Equal(row.Allowed, []judge.Verdict{judge.AC})
}

// plain is the CPU time as if the language had no factor, in milliseconds, rounded up.
func (p *proof) plain(u judge.Usage, language string) int64 {
	return int64(math.Ceil(float64(u.CPU()) / float64(time.Millisecond) / p.cfg.Judge.Factor(language)))
}

// Write prints the matrix of submissions and groups for people.
func Write(w io.Writer, r judge.Proof) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tsubmission\tlanguage\tmay get\tgot\tscore\tgroups\ttime\tMiB\tslack\t")
	for _, row := range r.Rows {
		state := "ok"
		if row.Problem != "" {
			state = "!!"
		} else if row.Warning != "" {
			state = "??"
		}
		if row.Skipped != "" {
			state = "--"
		}
		slack := ""
		if row.Slack > 0 {
			slack = fmt.Sprintf("%.1f", row.Slack)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\t\n", state, row.Path, row.Language, join(row.Allowed), row.Verdict,
			points(row.Score), groups(row.Groups), judge.TimeText(row.Usage.CPU()), float64(row.Usage.MemoryKiB)/1024, slack)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	for _, row := range r.Rows {
		if row.Problem != "" {
			fmt.Fprintf(w, "%s: %s\n", row.Path, row.Problem)
		}
		if row.Skipped != "" {
			fmt.Fprintf(w, "%s: not judged: %s\n", row.Path, row.Skipped)
		}
	}
	for _, row := range r.Rows {
		if row.Warning != "" {
			fmt.Fprintf(w, "%s: warning: %s\n", row.Path, row.Warning)
		}
	}
	for _, f := range r.Faults {
		fmt.Fprintln(w, f)
	}
	for _, f := range r.Warnings {
		fmt.Fprintln(w, "warning: "+f)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, n)
	}
	if r.Checked > 0 {
		fmt.Fprintf(w, "validators and checkers were asked %d times\n", r.Checked)
	}
	_, err := fmt.Fprintf(w, "time limit %d ms (%s), slowest accepted %d ms, the package's multiplier suggests %d ms\n",
		r.LimitMillis, r.LimitFrom, r.SlowestMillis, r.SuggestedMillis)
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}

// groups shows the verdicts of the groups in their order, without the whole.
func groups(gs []judge.GroupResult) string {
	var all []string
	for _, g := range gs {
		if g.Name == "" {
			continue
		}
		v := string(g.Verdict)
		v = cmp.Or(v, "-")
		all = append(all, v)
	}
	return strings.Join(all, " ")
}

func join(vs []judge.Verdict) string {
	if len(vs) == 0 {
		return "anything"
	}
	var all []string
	for _, v := range vs {
		all = append(all, string(v))
	}
	return strings.Join(all, " or ")
}

func points(score *float64) string {
	if score == nil {
		return ""
	}
	return fmt.Sprintf("%g", *score)
}

// fault is what is wrong with a package, in an error of [Finish].
type fault struct{ why string }

func (e *fault) Error() string { return e.why }

func faultf(format string, args ...any) error { return &fault{fmt.Sprintf(format, args...)} }

// AtFault reports whether an error of [Finish], [Make] or [Infer] says what is wrong with the package, or that this
// machine lacks a language of it. Other errors are failures of the platform.
func AtFault(err error) bool {
	_, own := errors.AsType[*fault](err)
	missing, lacks := errors.AsType[*blame.UnavailableError](err)
	return own || lacks && !missing.Agent || blame.AtFault(err)
}

// ignore takes note of what checkers say in a result and has no effect.
func (p *proof) ignore(r judge.Result) {
	if !slices.ContainsFunc(r.Tests, func(t judge.TestResult) bool { return strings.Contains(t.JudgeNote, judging.ScoreIgnored) }) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.ignored, judging.ScoreIgnored) {
		p.ignored = append(p.ignored, judging.ScoreIgnored)
	}
}
