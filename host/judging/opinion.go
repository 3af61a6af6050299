package judging

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/grading"
	"deepoj/host/judging/jury"
	"deepoj/host/judging/runner"
	"deepoj/host/plugin"
	"deepoj/host/problem"
	"deepoj/host/telemetry"
)

// opinion asks a checker and puts what it says into r, whose verdict is AC. A
// checker that fails is a [*blame.PackageError].
func (j *Judge) opinion(ctx context.Context, r *runResult, c jury.Checker, input, output, answer *os.File, args []string, scoring bool) (err error) {
	ctx, span := telemetry.Start(ctx, "checker")
	span.Text("plugin", c.Name())
	defer func() { span.End(err) }()
	o, settled, err := j.Ask(ctx, c, plugin.Check{Input: input, Output: output, Answer: answer, Args: args, Feedback: r.feedback})
	if err != nil || settled {
		return err
	}
	return r.take(c, o, scoring)
}

// errNextPass is what a checker of several passes does wrong.
var errNextPass = errors.New("the checker writes nextpass.in and does not accept: only an accepted pass has a next one")

// take puts an opinion into r.
func (r *runResult) take(c jury.Checker, o plugin.Opinion, scoring bool) error {
	switch o.Outcome {
	case plugin.Accepted:
	case plugin.Wrong, plugin.Presentation: // the legacy format knows no presentation error
		r.Verdict = judge.WA
	case plugin.Partial:
		if o.Score == nil {
			r.pointsInfo(scoring)
		} else if !scoring {
			return blame.Packagef("the checker %s gives points, but the problem has no scores", c.Name())
		}
	default:
		return blame.Packagef("the checker %s gives the unknown outcome %q", c.Name(), o.Outcome)
	}
	if r.feedback != nil {
		if r.feedback, r.next = o.Feedback, o.NextPass; r.next != nil && r.Verdict != judge.AC {
			return blame.Package(errNextPass)
		}
	}
	if scoring && o.Score != nil && (c.Points || o.Outcome == plugin.Partial) {
		r.Score = o.Score
	}
	if scoring && c.Points {
		r.Multiplier = o.Multiplier
	}
	r.scoreIgnored = r.scoreIgnored || scoring && o.Score != nil && r.Score == nil && c.Speaker() == judge.ByTeam // of icpc/1
	if o.Message != "" {
		r.message, r.by = runner.Cut(runner.Clean(o.Message), runner.KeptWords), c.Speaker()
	}
	if o.JudgeMessage != "" && o.JudgeMessage != o.Message {
		r.note = runner.Cut(runner.Clean(o.JudgeMessage), runner.KeptWords)
	}
	if r.scoreIgnored && !strings.Contains(r.note, ScoreIgnored) {
		r.note = strings.TrimSpace(r.note + "\n" + ScoreIgnored)
	}
	return nil
}

// ScoreIgnored is noted on a test whose checker gives a score that does not count.
const ScoreIgnored = "the checker writes score.txt, which has no effect: problem.yaml does not say \"validation: custom score\""

// noScorer is for judges who wonder why accepted outputs get no points.
const noScorer = "the checker gives points_info, which is text for a scorer and no number: the test is worth 0 points"

// pointsInfo takes note of text that the checker gives in the place of points. There
// is no scorer that would make points of it.
func (r *runResult) pointsInfo(scoring bool) {
	if scoring {
		r.Score, r.note = new(float64), noScorer
	}
}

// What checkers say together about an output.
const (
	SaysAccepted = "accepted"
	SaysRejected = "rejected"
	SaysPartial  = "partial" // accepted with points that the checker gives
	SaysFailed   = "failed"  // a checker says that the judges are at fault, or fails itself
)

// Opinion asks the checkers of a package about the output of one of its own tests,
// and returns what they say, with the reason.
func (j *Judge) Opinion(ctx context.Context, pkg *problem.Package, t problem.CheckerTest) (says, why string, err error) {
	all, err := j.Checkers(ctx, pkg)
	if fault, ok := errors.AsType[*blame.PackageError](err); ok {
		return SaysFailed, fault.Error(), nil
	}
	if err != nil {
		return "", "", err
	}
	var files [3]*os.File
	for i, f := range []problem.File{t.Input, t.Output, t.Answer} {
		if files[i], err = j.File(ctx, f); err != nil {
			return "", "", err
		}
		defer func() { err = errors.Join(err, files[i].Close()) }()
	}
	says = SaysAccepted
	for _, c := range all {
		r := runResult{Worth: grading.Worth{Verdict: judge.AC}}
		err := j.opinion(ctx, &r, c, files[0], files[1], files[2], slices.Concat(c.Flags, t.Flags), true)
		if fault, ok := errors.AsType[*blame.PackageError](err); ok {
			return SaysFailed, fault.Error(), nil
		}
		switch {
		case err != nil:
			return "", "", err
		case r.Verdict != judge.AC:
			return SaysRejected, r.message, nil
		case r.Score != nil && !c.Points:
			says = SaysPartial
		}
	}
	return says, "", nil
}
