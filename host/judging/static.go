package judging

import (
	"context"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/jury"
	"deepoj/host/problem"
)

// A static validator looks at the files of a submission, which are in its working
// directory, and says of them what a checker says of an output.

// showFiles gives those natives the submission that are to find it in their working directory.
func (e *evaluation) showFiles() {
	all := []*jury.Native{e.static}
	for _, c := range e.checkers {
		all = append(all, c.Native)
	}
	if e.interactor != nil {
		all = append(all, e.interactor.Native)
	}
	for _, n := range all {
		n.Show(e.prog)
	}
}

// lookAtFiles makes the runs in which nothing is run but the static validator.
func (e *evaluation) lookAtFiles(ctx context.Context) error {
	for _, r := range e.runs {
		if !r.static {
			continue
		}
		result, err := e.validate(ctx, r.test)
		if err != nil {
			return err
		}
		r.started, r.result = true, result
		close(r.done)
	}
	return nil
}

// validate asks the static validator about the submission.
func (e *evaluation) validate(ctx context.Context, t *problem.Test) (r runResult, err error) {
	r.Verdict = judge.AC
	said, err := e.static.Review(ctx, e.prog, t.Flags)
	if err == nil {
		err = r.take(jury.Checker{Native: e.static, Points: e.pkg.Scoring}, said, e.pkg.Scoring)
	}
	if blame.AtFault(err) {
		err = blame.Packagef("static validator: %w", err)
	}
	return r, (&lane{e: e}).blame(ctx, &r, t, err)
}
