package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// measuring is the time limit of programs whose time is to be found out.
const measuring = time.Minute

// longest is the longest time limit that there can be.
const longest = 10 * time.Minute

// Infer finds the time limit of a package that states none, by the rule of its
// format: the least multiple of the resolution, and at least one of it, that is the
// multiplier's times what the slowest program takes that must not be too slow.
//
// In the legacy format these are the programs of submissions/accepted that are accepted for the highest score; if none
// is, those that are accepted for less. If none is accepted at all the package keeps the default, and [Run] says so. In
// the newer formats every program that must be too slow must take longer than the limit with its safety margin, too.
//
// Programs are measured side by side, and those that matter once more alone. Infer returns the package with this limit,
// stored, and pkg itself if it has a limit. The package must be saved, as for [Run].
func Infer(ctx context.Context, cfg Config, pkg *problem.Package) (*problem.Package, error) {
	if !inferable(pkg) {
		return pkg, nil
	}
	if cfg.Judge == nil {
		return nil, errors.New("infer a time limit: Judge is missing")
	}
	cfg.Parallel = cmp.Or(cfg.Parallel, runtime.GOMAXPROCS(0))
	limit, err := infer(ctx, cfg, pkg)
	if errors.Is(err, errNoneAccepted) {
		return pkg, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: limits.time_limit is missing and cannot be inferred: %w", pkg.Slug, err)
	}
	return pkg.WithCPU(ctx, limit, problem.Inferred)
}

// inferable reports whether a package has no time limit, and a format that says how to find it.
func inferable(pkg *problem.Package) bool {
	return pkg.Limits.Resolution != 0 && pkg.Limits.CPUFrom == "default"
}

// limitFor is the time limit that the multiplier of a package gives.
func limitFor(l problem.Limits, slowestMillis int64) time.Duration {
	resolution := l.Resolution
	resolution = cmp.Or(resolution, time.Second)
	const rounding = 1e-9 // 5 × 0.2 s is a second
	steps := math.Ceil(float64(slowestMillis)*l.Multiplier/float64(resolution.Milliseconds()) - rounding)
	return time.Duration(max(1, steps)) * resolution
}

func infer(ctx context.Context, cfg Config, pkg *problem.Package) (time.Duration, error) {
	lower, err := bounding(pkg, "lower")
	if err != nil {
		return 0, err
	}
	upper, err := bounding(pkg, "upper")
	if err != nil {
		return 0, err
	}
	if len(lower) == 0 && pkg.Format == problem.FormatLegacy {
		return 0, errNoneAccepted
	}
	if len(lower) == 0 {
		return 0, faultf("no submission says how long a good one takes: put one into submissions/accepted")
	}
	m := &measurement{cfg: cfg, pkg: pkg, count: cfg.begin(StepMeasure, len(lower)+len(upper))}
	worst, err := m.worst(ctx, lower)
	if err != nil {
		return 0, err
	}
	limit := limitFor(pkg.Limits, worst.millis)
	if limit > longest {
		return 0, faultf("%s takes %s on %s, for which the multiplier %g gives a limit of %s, and the longest is %s: make the test smaller or the program faster",
			short(worst.of.Path), millis(worst.millis), worst.on, pkg.Limits.Multiplier, limit, longest)
	}
	return limit, m.tooSlow(ctx, limit, upper)
}

// worst returns what the slowest of programs takes.
func (m *measurement) worst(ctx context.Context, programs []asked) (timed, error) {
	var full, part []timed // of programs that are accepted for everything, or for less
	good := false          // a program was judged that must be accepted
	err := m.sideBySide(ctx, measuring, programs, func(a asked, payload judge.Payload, r judge.Result) error {
		good = good || slices.Equal(a.of.Allowed, []judge.Verdict{judge.AC})
		into := &full
		if m.pkg.Format == problem.FormatLegacy && r.Verdict != judge.AC {
			into = &part
		}
		for _, t := range r.Tests {
			if t.Verdict == "" || !a.covers(t.Name) {
				continue
			}
			if t.Verdict == judge.TLE {
				return faultf("%s takes more than %s on %s: state a limit, or make the test smaller", short(a.of.Path), measuring, t.Name)
			}
			if into == &full || r.Verdict == judge.PA {
				*into = append(*into, timed{a.of, t.Name, (&proof{cfg: m.cfg}).plain(t.Usage, payload.Language)})
			}
		}
		return nil
	})
	if err != nil {
		return timed{}, err
	}
	if len(full) == 0 {
		full = part
	}
	if !good && len(m.unable) > 0 {
		return timed{}, faultf("no program that shows how long a good one takes can be judged here: %s", strings.Join(m.unable, "; "))
	}
	if len(full) == 0 && m.pkg.Format == problem.FormatLegacy {
		return timed{}, errNoneAccepted
	}
	return slowest(full, func(millis int64) time.Duration { return limitFor(m.pkg.Limits, millis) }, func(t timed) (int64, error) {
		return m.alone(ctx, measuring, t)
	})
}

// tooSlow reports a program that must be too slow, and is not, for a limit with its safety margin.
func (m *measurement) tooSlow(ctx context.Context, limit time.Duration, programs []asked) error {
	margin := time.Duration(float64(limit) * m.pkg.Limits.SafetyMargin).Round(time.Millisecond)
	return m.sideBySide(ctx, margin, programs, func(a asked, _ judge.Payload, r judge.Result) error {
		judged := false
		for _, t := range r.Tests {
			if judged = judged || t.Verdict != "" && a.covers(t.Name); t.Verdict == judge.TLE && a.covers(t.Name) {
				return nil
			}
		}
		if !judged {
			return nil
		}
		return faultf("%s must be too slow, but takes no more than %s: the limit must be %s at least, and a slow program %s",
			short(a.of.Path), margin, limit, margin)
	})
}

// bounding returns the programs that give a bound of the time limit, "lower" or "upper". In the legacy format slow
// programs bound nothing: the proof shows whether they are too slow.
func bounding(pkg *problem.Package, bound string) (all []asked, err error) {
	for _, s := range pkg.Submissions {
		if pkg.Format == problem.FormatLegacy {
			if bound == "lower" && path.Dir(s.Path) == "submissions/accepted" {
				all = append(all, asked{s, []*regexp.Regexp{nil}})
			}
			continue
		}
		about, err := bounds(s, bound)
		if err != nil {
			return nil, err
		}
		if len(about) > 0 {
			all = append(all, asked{s, about})
		}
	}
	return all, nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// narrow is why a solution in C++ that Polygon accepts may be wrong here.
const narrow = "; one reason may be that Polygon compiles sources of the types cpp.g++11, cpp.g++14 and cpp.g++17 for 32 bits, where float and double are calculated with more digits " +
	"and long has fewer, and here all are compiled for 64: if so, let it use long double and long long, or give it another tag in problem.xml"

// narrower explains the problem of a row where the width of numbers may be its cause.
func narrower(pkg *problem.Package, row judge.ProofRow) string {
	if pkg.Format != problem.FormatPolygon || row.Problem == "" || row.Language != "cpp" || row.Verdict != judge.WA {
		return row.Problem
	}
	return row.Problem + narrow
}
