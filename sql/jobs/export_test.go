package jobs

import (
	"context"

	"deepoj/host/judge"
)

// FinalizeTogether finalizes attempts in one go, and returns the answer to each.
func (q *Queue) FinalizeTogether(ctx context.Context, v judge.Verdict, attempts ...judge.Attempt) (errs []error) {
	var fs []final
	for _, a := range attempts {
		fs = append(fs, final{a, &judge.Result{Verdict: v}, nil})
	}
	for _, a := range q.finalizeTogether(ctx, fs) {
		errs = append(errs, a.Err)
	}
	return errs
}
