package contest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"
	"time"

	"deepoj/host/judge"
)

// crowd is a contest of so many teams and 13 problems, in which each team handed in twenty times.
func crowd(b *testing.B, teams int) (Config, []Record) {
	b.Helper()
	cfg := config(b, ICPC, "")
	rng := rand.New(rand.NewPCG(1, 2))
	log := []Record{{Audience: Everybody, Entry: Round{Start: start, Duration: 5 * time.Hour, Freeze: new(4 * time.Hour)}}}
	say := func(e Entry) { log = append(log, Record{Audience: Everybody, Entry: e}) }
	for i := range 13 {
		say(Problem{ID: fmt.Sprint(i), Ordinal: i})
	}
	for i := range teams {
		say(Participant{ID: int64(i + 1), Name: fmt.Sprint("Team ", i), Ranked: true})
	}
	for i := range 20 * teams {
		s := Submission{ID: int64(i + 1), Participant: rng.Int64N(int64(teams)) + 1, Problem: fmt.Sprint(rng.IntN(13)), Time: start.Add(time.Duration(i) * 5 * time.Hour / time.Duration(20*teams))}
		say(s)
		say(Judgement{Submission: s.ID, Generation: 1, Current: true, Verdict: []judge.Verdict{judge.AC, judge.WA, judge.TLE}[rng.IntN(3)]})
	}
	return cfg, log
}

// BenchmarkJudgementAsTheyCome prints what a judgement costs, rank included, as a contest comes in, in its second half: a hundred
// others are handed in between a submission and its judgement. [BenchmarkJudgement] is of what was handed in at any time, as after
// a rejudging.
func BenchmarkJudgementAsTheyCome(b *testing.B) {
	const queue = 100
	medians := map[int]float64{}
	for _, teams := range []int{150, 10_000} {
		b.Run(fmt.Sprint(teams, " teams"), func(b *testing.B) {
			cfg, log := crowd(b, teams)
			var s *State
			var at int
			var waiting []Entry
			begin := func() {
				b.StopTimer()
				defer b.StartTimer()
				at, waiting = len(log)/2, nil
				var err error
				if s, err = Fold(cfg, Viewer{Audience: Staff}, slices.Values(log[:at])); err != nil {
					b.Fatal(err)
				}
				runtime.GC()
			}
			apply := func(e Entry) time.Duration {
				begun := time.Now()
				if _, err := s.Apply(e); err != nil {
					b.Fatal(err)
				}
				return time.Since(begun)
			}
			begin()
			took := []float64{}
			for b.Loop() {
				for len(waiting) <= queue {
					if at == len(log) {
						begin()
					}
					e := log[at].Entry
					if _, judged := e.(Judgement); judged {
						waiting = append(waiting, e)
					} else {
						apply(e)
					}
					at++
				}
				took = append(took, float64(apply(waiting[0]).Nanoseconds())/1000)
				waiting = waiting[1:]
			}
			sort.Float64s(took)
			medians[teams] = took[len(took)/2]
			b.ReportMetric(medians[teams], "µs/judgement(p50)")
			b.ReportMetric(took[len(took)*99/100], "µs/judgement(p99)")
			if medians[150] > 0 && teams != 150 {
				b.ReportMetric(medians[teams]/medians[150], "of-150-teams")
			}
		})
	}
}

// BenchmarkJudgement prints what a judgement costs, rank included, and how much more it is among 10,000 teams than
// among 150.
func BenchmarkJudgement(b *testing.B) {
	medians := map[int]float64{}
	for _, teams := range []int{150, 10_000} {
		b.Run(fmt.Sprint(teams, " teams"), func(b *testing.B) {
			cfg, log := crowd(b, teams)
			s, err := Fold(cfg, Viewer{Audience: Staff}, slices.Values(log))
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			verdicts := []judge.Verdict{judge.AC, judge.WA}
			took := []float64{}
			for b.Loop() {
				j := Judgement{Submission: rng.Int64N(int64(20*teams)) + 1, Generation: 1, Current: true, Verdict: verdicts[rng.IntN(2)]}
				begin := time.Now()
				if _, err := s.Apply(j); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64(time.Since(begin).Nanoseconds())/1000)
			}
			sort.Float64s(took)
			medians[teams] = took[len(took)/2]
			b.ReportMetric(medians[teams], "µs/judgement(p50)")
			b.ReportMetric(took[len(took)*99/100], "µs/judgement(p99)")
			if medians[150] > 0 && teams != 150 {
				b.ReportMetric(medians[teams]/medians[150], "of-150-teams")
			}
		})
	}
}

// BenchmarkRefold prints how long it takes to compute everything anew from a log of 400,000 entries and more.
func BenchmarkRefold(b *testing.B) {
	cfg, log := crowd(b, 10_000)
	for b.Loop() {
		if _, err := Fold(cfg, Viewer{Audience: Staff}, slices.Values(log)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(log)), "entries")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(log)), "ns/entry")
}

// BenchmarkDigest measures the digest of a board, once a minute in each process that shows it.
func BenchmarkDigest(b *testing.B) {
	cfg, log := crowd(b, 10_000)
	s, err := Fold(cfg, staff, slices.Values(log))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.Digest(called)
	}
}
