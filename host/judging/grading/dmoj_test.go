package grading

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
)

// entry is a test or a batch of DMOJ: what it is worth, what its tests give if they
// are run, and which batches it needs.
type entry struct {
	points int
	tests  []given
	batch  bool
	needs  []int
}

// given is what a test gives: passed, and how many points a checker gives for it; -1
// is all.
type given struct {
	passed bool
	part   int
}

// byDMOJ returns the score and which tests are run, by the rules of DMOJ's judge: a
// test that fails ends its batch, one that is worth nothing ends everything; a batch
// whose batches are not passed is not run, and one has the least of what its tests
// have.
func byDMOJ(all []entry) (score int, run []bool) {
	passed := map[int]bool{}
	over, batch := false, 0
	for _, e := range all {
		stop := over
		if e.batch {
			batch++
			for _, n := range e.needs {
				stop = stop || !passed[n]
			}
		}
		least := e.points
		for _, g := range e.tests {
			if run = append(run, !stop); stop {
				least = 0
				continue
			}
			got := 0
			switch {
			case !g.passed && e.points == 0:
				over, stop = true, true
			case !g.passed:
				stop = e.batch
			case g.part >= 0:
				got = g.part
			default:
				got = e.points
			}
			least = min(least, got)
		}
		score += least
		passed[batch] = passed[batch] || e.batch && !stop
	}
	return score, run
}

// asInit writes the entries as an init.yml.
func asInit(all []entry) string {
	var b strings.Builder
	b.WriteString("test_cases:\n")
	n := 0
	file := func() string {
		n++
		return fmt.Sprintf("{in: %d.in, out: 1.out}", n)
	}
	for _, e := range all {
		if !e.batch {
			fmt.Fprintf(&b, "- {points: %d, %s\n", e.points, strings.TrimPrefix(file(), "{"))
			continue
		}
		fmt.Fprintf(&b, "- points: %d\n  dependencies: [%s]\n  batched:\n", e.points, strings.Trim(fmt.Sprint(e.needs), "[]"))
		for range e.tests {
			fmt.Fprintf(&b, "  - %s\n", file())
		}
	}
	return strings.ReplaceAll(b.String(), "[1 ", "[1, ")
}

// Problems of DMOJ give the points that DMOJ's judge gives, and run the same tests.
func TestProblemsOfDMOJAreScoredAsItsJudgeDoes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	parts, stopped, needed := 0, 0, 0
	for range 2000 {
		var all []entry
		batches, tests := 0, 0
		for range 1 + rng.IntN(6) {
			e := entry{points: rng.IntN(3) * rng.IntN(2) * 5, batch: rng.IntN(2) == 0}
			count := 1
			if e.batch {
				count = 1 + rng.IntN(3)
				if batches > 0 && e.points > 0 && rng.IntN(2) == 0 {
					e.needs = []int{1 + rng.IntN(batches)}
				}
				batches++
			}
			for range count {
				g := given{passed: rng.IntN(4) > 0, part: -1}
				if e.points > 0 && rng.IntN(4) == 0 {
					g.part = rng.IntN(e.points)
				}
				e.tests = append(e.tests, g)
				tests++
			}
			all = append(all, e)
		}
		fsys := fstest.MapFS{"init.yml": {Data: []byte(asInit(all))}, "1.out": {Data: []byte("1\n")}}
		for n := range tests {
			fsys[fmt.Sprintf("%d.in", n+1)] = &fstest.MapFile{Data: []byte("1\n")}
		}
		pkg, _, err := importing.Read(fsys)
		if err != nil {
			t.Fatalf("%v\n%s", err, asInit(all))
		}
		want, run := byDMOJ(all)
		if !pkg.Scoring { // nothing is worth anything
			continue
		}
		var flat []given
		for _, e := range all {
			flat = append(flat, e.tests...)
		}
		judged := make([]bool, tests)
		rule := rules(pkg.Root)
		g := &Grader{Scoring: true, Skip: func(*problem.Test) {}, Test: func(tt *problem.Test) (Mark, error) {
			var n int
			if _, err := fmt.Sscanf(tt.Input.Path, "%d.in", &n); err != nil {
				return Mark{}, err
			}
			judged[n-1] = true
			r := Worth{Verdict: judge.WA}
			if flat[n-1].passed {
				r.Verdict = judge.AC
			}
			if part := flat[n-1].part; part >= 0 && flat[n-1].passed {
				r.Score = new(float64(part))
				parts++
			}
			grading := rule[tt]
			grading.AcceptScore = *tt.Points
			score, err := r.In(grading)
			return Mark{Verdict: r.Verdict, Score: score}, err
		}}
		m, err := g.Group(pkg.Root)
		if err != nil || m.Score != float64(want) || !slices.Equal(judged, run) {
			t.Fatalf("score %g and tests %v, %v; want %d and %v\n%+v\n%s", m.Score, judged, err, want, run, all, asInit(all))
		}
		if slices.Contains(run, false) {
			stopped++
		}
		if slices.ContainsFunc(all, func(e entry) bool { return len(e.needs) > 0 }) {
			needed++
		}
	}
	if parts < 100 || stopped < 100 || needed < 100 {
		t.Errorf("the generator was unlucky: %d parts, %d stopped, %d with needs", parts, stopped, needed)
	}
}

// rules are those of the groups of tests.
func rules(g *problem.Group) map[*problem.Test]problem.Grading {
	all := map[*problem.Test]problem.Grading{}
	for _, it := range g.Items {
		if it.Test != nil {
			all[it.Test] = g.Grading
		} else {
			maps.Copy(all, rules(it.Group))
		}
	}
	return all
}
