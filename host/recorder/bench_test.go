package recorder_test

import (
	"context"
	"sort"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// aim is by when a verdict is to be on the board that everybody sees.
const aim = 100 * time.Millisecond

// BenchmarkVerdictToBoard prints how long after its commit a verdict is on the board that everybody sees, in the process
// that committed it (awake) and in another, which asks (asks), as a share of what is aimed at.
func BenchmarkVerdictToBoard(b *testing.B) {
	for name, awake := range map[string]bool{"awake": true, "asks": false} {
		b.Run(name, func(b *testing.B) {
			g := newStage(b)
			g.record()
			wake := make(chan struct{}, 1)
			r, err := recorder.New(recorder.Config{Wake: wake}, g.s.Rounds)
			sqltest.Must(b, err)
			k := standings.New(standings.Config{}, g.s.Rounds)
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error, 3)
			go func() { done <- r.Run(ctx) }()
			go func() { done <- k.Run(ctx, func(int64) {}) }()
			go func() {
				done <- g.s.Listen(ctx, sql.ChannelEvents, func(string) {
					if awake {
						select {
						case wake <- struct{}{}:
						default:
						}
					}
				})
			}()
			lines := func() (n string) {
				sqltest.Must(b, k.Look(b.Context(), g.round.ID, standings.Public, func(s *standings.Standings) {
					n = s.Token + strings.Repeat(" ", s.State.Board(contest.Query{}).Rows[0].Cells[0].Judged)
				}))
				return n
			}
			until := func(was string) {
				for deadline := time.Now().Add(time.Minute); lines() == was; time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						b.Fatal("it never comes")
					}
				}
			}
			var took []float64
			for b.Loop() {
				was := lines()
				id := g.submit(len(g.jobs)%2, "aplusb")
				until(was)
				was = lines()
				g.judge(id, judge.WA)
				begin := time.Now()
				until(was)
				took = append(took, float64(time.Since(begin).Microseconds())/1000)
			}
			cancel()
			for range 3 {
				sqltest.Must(b, <-done)
			}
			sort.Float64s(took)
			b.ReportMetric(took[len(took)/2], "ms(p50)")
			b.ReportMetric(took[len(took)*99/100], "ms(p99)")
			b.ReportMetric(took[len(took)/2]/float64(aim.Milliseconds()), "of-the-aim(p50)")
		})
	}
}
