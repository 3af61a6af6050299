package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
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
// this process takes with 2,000 of them less what it takes without, as a share of what is aimed at. The viewers are in a process
// of their own, as elsewhere they are on machines of their own, and have no account, as most who look at a board.
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
		looking, say, hear := h.viewers(b)
		fmt.Fprintln(say, "count")
		together := verdicts()
		time.Sleep(time.Second)
		must(say.Close())
		var told int64
		_, err := fmt.Fscan(hear, &told)
		must(err)
		must(looking.Wait())
		per := float64((together - alone).Microseconds()) / viewers / benchTime
		b.ReportMetric(per, "µs/viewer-second")
		b.ReportMetric(per/cpuAim, "of_the_aim")
		b.ReportMetric(float64(told)/viewers/benchTime, "events/viewer-second")
	}
}

// viewersCommand has this program be viewers of a board.
const viewersCommand = "board-viewers"

// viewers starts the viewers in a process of their own, and returns when all of them look at the board. It counts events from the
// line "count" on, and writes how many there were when its input ends.
func (h *benchServer) viewers(b *testing.B) (*exec.Cmd, io.WriteCloser, io.Reader) {
	b.Helper()
	c := exec.CommandContext(b.Context(), os.Args[0], viewersCommand, h.server.Addr(), fmt.Sprintf("GET /api/v1/rounds/final/board/stream HTTP/1.1\r\nHost: %s\r\n\r\n", h.server.Addr()))
	c.Stderr = os.Stderr
	say, err := c.StdinPipe()
	sqltest.Must(b, err)
	hear, err := c.StdoutPipe()
	sqltest.Must(b, err)
	sqltest.Must(b, c.Start())
	var ready string
	if _, err := fmt.Fscanln(hear, &ready); err != nil || ready != "ready" {
		b.Fatalf("the viewers say %q: %v", ready, err)
	}
	return c, say, hear
}

// beViewers is the life of such a process.
func beViewers(addr, request string) error {
	var told, there atomic.Int64
	for range viewers {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_, err = io.WriteString(conn, request)
		}
		if err != nil {
			return err
		}
		go func() {
			for in := bufio.NewReaderSize(conn, 8<<10); ; {
				text, err := in.ReadSlice('\n')
				switch {
				case err != nil && err != bufio.ErrBufferFull: //nolint:errorlint // as it is documented
					fmt.Fprintln(os.Stderr, "a viewer is gone:", err)
					return
				case bytes.HasPrefix(text, []byte("HTTP/1.1 200")):
					there.Add(1)
				case bytes.HasPrefix(text, []byte("HTTP/")):
					fmt.Fprintf(os.Stderr, "a viewer is refused: %s\n", text)
				case bytes.HasPrefix(text, []byte("event")):
					told.Add(1)
				}
			}
		}()
	}
	for there.Load() < viewers {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("ready")
	var line string
	_, _ = fmt.Scanln(&line)
	told.Store(0)
	_, _ = fmt.Scanln(&line) // ends with whoever started it
	fmt.Println(told.Load())
	return nil
}

// cpuOf is what this process has taken of CPU.
func cpuOf(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	sqltest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
