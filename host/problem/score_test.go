package problem_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"deepoj/host/problem"
)

// The modes agree with their obvious definitions, and adding 0 never raises min
// or changes sum.
func TestScoreModes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(-1000, 1000), 1, 20).Draw(t, "scores")
		total, low, high := 0.0, math.Inf(1), math.Inf(-1)
		for _, s := range scores {
			total, low, high = total+s, math.Min(low, s), math.Max(high, s)
		}
		for mode, want := range map[problem.ScoreMode]float64{
			problem.Sum: total, problem.Avg: total / float64(len(scores)), problem.Min: low, problem.Max: high,
		} {
			if got := mode.Of(scores); got != want {
				t.Errorf("%s of %v is %g, want %g", mode, scores, got, want)
			}
		}
	})
	for _, mode := range []problem.ScoreMode{problem.Sum, problem.Avg, problem.Min, problem.Max} {
		if got := mode.Of(nil); got != 0 {
			t.Errorf("%s of nothing is %g", mode, got)
		}
	}
}
