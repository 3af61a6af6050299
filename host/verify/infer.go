package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// measuring is the time limit of programs whose time is to be found out.
const measuring = 20 * time.Second

// Infer finds the time limit of a package that has none, by the rule of its
// format: the least multiple of the resolution that is the multiplier's times what
// the slowest program takes that must not be too slow. Every program that must be
// too slow must take longer than the limit with its safety margin. Infer returns
// the package with this limit, stored. It returns pkg itself if it has a limit, or
// a format that leaves the limit to people. The package must be saved, as for [Run].
func Infer(ctx context.Context, cfg Config, pkg *problem.Package) (*problem.Package, error) {
	if !inferable(pkg) {
		return pkg, nil
	}
	if cfg.Judge == nil {
		return nil, errors.New("infer a time limit: Judge is missing")
	}
	limit, err := infer(ctx, cfg, pkg)
	if err != nil {
		return nil, fmt.Errorf("%s: limits.time_limit is missing and cannot be inferred: %w", pkg.Slug, err)
	}
	return pkg.WithCPU(ctx, limit, problem.Inferred)
}

// inferable reports whether a package has no time limit, and a format that says how
// to find it.
func inferable(pkg *problem.Package) bool {
	return pkg.Limits.Resolution != 0 && pkg.Limits.CPUFrom == "default"
}

func infer(ctx context.Context, cfg Config, pkg *problem.Package) (time.Duration, error) {
	slowest, err := times(ctx, cfg, pkg, "lower", measuring, func(s problem.Submission, t judge.TestResult) error {
		if t.Verdict == judge.TLE {
			return faultf("%s takes more than %s on %s", short(s.Path), measuring, t.Name)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(slowest) == 0 {
		return 0, faultf("no submission says how long a good one takes: put one into submissions/accepted")
	}
	worst := int64(1)
	for _, m := range slowest {
		worst = max(worst, m)
	}
	steps := math.Ceil(float64(worst) * pkg.Limits.Multiplier / float64(pkg.Limits.Resolution.Milliseconds()))
	limit := time.Duration(steps) * pkg.Limits.Resolution
	margin := time.Duration(float64(limit) * pkg.Limits.SafetyMargin).Round(time.Millisecond)
	tooSlow := map[string]bool{}
	upper, err := times(ctx, cfg, pkg, "upper", margin, func(s problem.Submission, t judge.TestResult) error {
		tooSlow[s.Path] = tooSlow[s.Path] || t.Verdict == judge.TLE
		return nil
	})
	if err != nil {
		return 0, err
	}
	for name := range upper {
		if !tooSlow[name] {
			return 0, faultf("%s must be too slow, but takes no more than %s: the limit must be %s at least, and a slow program %s",
				short(name), margin, limit, margin)
		}
	}
	return limit, nil
}

// times judges, under a limit, the submissions that give a bound, and returns the
// CPU time in milliseconds that each takes on its slowest test, by path, as if no
// language had a factor. It tells each of the tests that the bound is about.
func times(ctx context.Context, cfg Config, pkg *problem.Package, bound string, limit time.Duration,
	tell func(problem.Submission, judge.TestResult) error,
) (map[string]int64, error) {
	measured, err := pkg.WithCPU(ctx, limit, "a measurement")
	if err == nil {
		measured, err = measured.Exhaustive(ctx)
	}
	if err != nil {
		return nil, err
	}
	p := &proof{cfg: cfg, pkg: measured, version: measured.Version, languages: cfg.Judge.Languages(ctx)}
	all := map[string]int64{}
	for _, s := range pkg.Submissions {
		covered, err := bounds(s, bound)
		if err != nil {
			return nil, err
		}
		if len(covered) == 0 {
			continue
		}
		payload, why, err := p.payload(ctx, s)
		if err == nil && why != "" {
			err = &fault{why}
		}
		var r judge.Result
		if err == nil {
			r, err = cfg.Judge.Judge(ctx, payload, measured.Version, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", short(s.Path), err)
		}
		for _, t := range r.Tests {
			for _, about := range covered {
				if t.Verdict == "" || !covers(about, t.Name) {
					continue
				}
				all[s.Path] = max(all[s.Path], p.plain(t.Usage.CPUMillis, payload.Language))
				if err := tell(s, t); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}
