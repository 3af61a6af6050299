package judging

import (
	"context"
	"log/slog"

	"deepoj/host/judge"
	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/host/problem"
)

// blame makes a judging error of r if err is a [*blame.PackageError], which staff are
// told of. Any other error is returned.
func (j *Judge) blame(ctx context.Context, r judge.Result, pkg *problem.Package, err error) (judge.Result, error) {
	if !blame.AtFault(err) {
		return r, err
	}
	j.tellFault(ctx, pkg, "", err)
	return failed(r, err.Error()), nil
}

// tellFault logs and counts that a package is at fault: each time once, whatever
// of it failed. Test names the test that was judged, if there was one.
func (j *Judge) tellFault(ctx context.Context, pkg *problem.Package, test string, err error) {
	about := []any{slog.String("problem", pkg.Slug), slog.String("version", string(pkg.Version)), slog.Any("err", err)}
	if test != "" {
		about = append(about, slog.String("test", test))
	}
	j.cfg.Log.ErrorContext(ctx, "a package is at fault", about...)
	j.metrics.faults.Inc()
}

// failed returns r as a judging error: the package or a plugin is at fault, and staff read why.
func failed(r judge.Result, why string) judge.Result {
	r.Verdict = judge.JE
	r.Message = "The judges' side of this problem failed. This is not your fault; the judges can see why."
	r.JudgeNote = runner.Clean(why)
	return r
}
