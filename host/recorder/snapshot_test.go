package recorder_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/restore"
	"deepoj/host/standings"
	"deepoj/sql/sqltest"
)

// said is what a process logs.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) says(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.b.Bytes(), []byte(text))
}

// process shows the board once, as a process that has just started, and calls fn until it is true.
func (g *stage) process(log *said, fn func() bool) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	k := standings.New(standings.Config{Logger: slog.New(slog.NewTextHandler(log, nil))}, g.s.Rounds)
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx, func(int64) {}) }()
	sqltest.Must(g.t, k.Look(ctx, g.round.ID, standings.Public, func(*standings.Standings) {}))
	for ; !fn(); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			g.t.Fatal("nothing of the kind within a minute")
		}
	}
	cancel()
	sqltest.Must(g.t, <-done)
}

func TestWhatWasShownIsKeptAndComparedWithWhatTheLogGives(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.record()
	kept := func() (out []judge.BoardSnapshot) {
		out, err := g.s.Rounds.Snapshots(t.Context(), g.round.ID)
		sqltest.Must(t, err)
		return out
	}
	agree := func() {
		t.Helper()
		var portable restore.Portable
		var lines []restore.Line
		for _, l := range g.log() {
			line, err := portable.Line(l)
			sqltest.Must(t, err)
			lines = append(lines, line)
		}
		for _, s := range kept() {
			audience := map[string]contest.Audience{"public": contest.Public, "staff": contest.Jury | contest.Staff}[s.View]
			if want, err := restore.Digest(lines, audience); err != nil || s.Digest != want || s.Seq != int64(len(lines)) {
				t.Errorf("the snapshot of %s is %+v, the log gives %s, %v", s.View, s, want, err)
			}
		}
	}
	var log said
	g.process(&log, func() bool { return len(kept()) == 2 })
	agree()
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	g.record()
	time.Sleep(2 * time.Millisecond)
	g.walk(rand.New(rand.NewPCG(9, 10)), 40, func() {})
	g.record()
	g.process(&log, func() bool { all := kept(); return all[0].Seq == all[1].Seq && all[0].Seq == int64(len(g.log())) })
	agree()
	if all := kept(); all[0].Digest == all[1].Digest {
		t.Error("staff are shown what everybody is, though the board is frozen")
	}
	// Of a team that everybody stops being told of there is no row, in neither count.
	g.hide(0, true)
	g.record()
	g.process(&log, func() bool { all := kept(); return all[0].Seq == all[1].Seq && all[0].Seq == int64(len(g.log())) })
	agree()
	if log.says("level=ERROR") || log.says("level=WARN") {
		t.Errorf("a process that shows the same complains: %s", log.b.String())
	}
	// A version that counts otherwise, or a process that missed a line.
	g.s.Exec(t, "UPDATE contest_snapshots SET digest = sha256('other') WHERE view = 'staff'")
	g.process(&log, func() bool { return log.says("the board is another than what was shown before") })
	if !log.says("view=staff") || log.says("view=public") {
		t.Errorf("it says %s", log.b.String())
	}
}
