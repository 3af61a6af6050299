package web

import (
	"bufio"
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// What a board with viewers is measured with.
const (
	viewers    = 2000
	benchTeams = 2500
	benchTime  = 10 // seconds, with a verdict in each
	cpuAim     = 20 // microseconds of CPU for a viewer in a second
)

// BenchmarkBoardViewers prints how much CPU a viewer of a board of 2,500 teams costs in a second in which one verdict comes: what
// this process takes with 2,000 of them less what it takes without, as a share of what is aimed at. What the viewers, which are in
// this process, take to read is in it.
func BenchmarkBoardViewers(b *testing.B) {
	h := newBenchServer(b)
	must := func(err error) { b.Helper(); sqltest.Must(b, err) }
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	must(h.store.CreateSpace(ctx, judge.Space{Slug: "s", Title: "S", Listed: true}, "ann"))
	begun := time.Now().Add(-time.Hour)
	must(h.store.Rounds.Create(ctx, judge.Round{Space: "s", Code: "final", Title: "Final", Kind: judge.RoundContest, Format: "icpc", Start: &begun, Duration: new(5 * time.Hour)}, "ann"))
	var problems []judge.RoundProblem
	for i := range 13 {
		slug := "aplusb"
		if i > 0 {
			slug = fmt.Sprint("p", i)
			must(h.store.SaveProblem(ctx, judge.Problem{Slug: slug, Title: slug, Version: "sha256:01", CPUMillis: 1000}, "ann"))
		}
		problems = append(problems, judge.RoundProblem{Problem: slug, Label: string(rune('A' + i))})
	}
	_, err := h.store.Rounds.ChangeProblems(ctx, "final", "ann", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) { return problems, nil })
	must(err)
	var teams []judge.Participant
	var codes []string
	for i := range benchTeams {
		codes = append(codes, fmt.Sprint("t", i))
		teams = append(teams, judge.Participant{Code: codes[i], Name: fmt.Sprint("Team ", i), Ranked: true})
	}
	must(h.store.Rounds.PutParticipants(ctx, "s", teams, "ann"))
	must(h.store.Rounds.Enter(ctx, "final", codes, "ann"))
	r, err := recorder.New(recorder.Config{}, h.store.Rounds)
	must(err)
	go func() { _ = r.Run(ctx) }()
	round, err := h.store.Rounds.Round(ctx, "final")
	must(err)
	serial := 0
	verdicts := func() time.Duration {
		was := cpuOf(b)
		for range benchTime {
			second := time.NewTimer(time.Second)
			serial++
			p, err := h.store.Rounds.Participant(ctx, "s", codes[serial*37%benchTeams])
			must(err)
			id := sqltest.Submit(b, h.store, sqltest.Sub("", func(n *sql.NewJob) {
				n.Round, n.Participant, n.Problem, n.Author, n.IdempotencyKey = round.ID, p.ID, "aplusb", "ann", fmt.Sprint(serial)
			}))
			sqltest.Finalize(b, h.store, sqltest.Claim(b, h.store, id, "w", serial).Attempt, judge.AC)
			<-second.C
		}
		return cpuOf(b) - was
	}
	for b.Loop() {
		alone := verdicts()
		var told, there atomic.Int64
		lines := make([]*line, viewers)
		for i := range lines {
			lines[i] = h.dial(b)
			_, err := lines[i].Write(h.request("GET", "/api/v1/rounds/final/board/stream", ""))
			must(err)
			go func(in *bufio.Reader) {
				for {
					text, err := in.ReadSlice('\n')
					if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // as it is documented
						return
					}
					if len(text) > 12 && string(text[:5]) == "HTTP/" {
						if string(text[9:12]) != "200" {
							b.Errorf("a viewer is refused: %s", text)
						}
						there.Add(1)
					}
					if len(text) > 5 && string(text[:5]) == "event" {
						told.Add(1)
					}
				}
			}(lines[i].r)
		}
		for there.Load() < viewers {
			time.Sleep(100 * time.Millisecond)
		}
		told.Store(0)
		together := verdicts()
		time.Sleep(time.Second)
		for _, l := range lines {
			must(l.Close())
		}
		per := float64((together - alone).Microseconds()) / viewers / benchTime
		b.ReportMetric(per, "µs/viewer-second")
		b.ReportMetric(per/cpuAim, "of_the_aim")
		b.ReportMetric(float64(told.Load())/viewers/benchTime, "events/viewer-second")
	}
}

// cpuOf is what this process has taken of CPU.
func cpuOf(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	sqltest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
