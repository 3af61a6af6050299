package recorder_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

// counted counts how often a log is asked for.
type counted struct {
	*rounds.Store
	asked atomic.Int64
}

func (c *counted) Log(ctx context.Context, round, after int64, limit int) ([]rounds.Logged, error) {
	c.asked.Add(1)
	return c.Store.Log(ctx, round, after, limit)
}

// fold is what a viewer's standings are by a fold of the whole log.
func fold(t testing.TB, log []rounds.Logged, v contest.Viewer) contest.Board {
	t.Helper()
	cfg, err := contest.ParseConfig(contest.ICPC, nil)
	sqltest.Must(t, err)
	s, err := contest.Fold(cfg, v, func(yield func(contest.Record) bool) {
		for _, l := range log {
			entries, err := contest.Read(contest.Kind(l.Kind), l.Object.Object, l.Data)
			sqltest.Must(t, err)
			for _, e := range entries {
				if !yield(contest.Record{Seq: l.Seq, At: l.At, Audience: contest.Audience(l.Audience), Only: l.Only, Entry: e}) {
					return
				}
			}
		}
	})
	sqltest.Must(t, err)
	return s.Board(contest.Query{})
}

func TestStandingsAreTheFoldOfTheLogAtEveryStep(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	store := &counted{Store: g.s.Rounds}
	k := standings.New(standings.Config{Stale: time.Nanosecond}, store)
	step := func() {
		t.Helper()
		g.record()
		log := g.log()
		for view, v := range map[standings.View]contest.Viewer{
			standings.Public: public, standings.Teams: {Audience: contest.Teams}, standings.Staff: {Audience: contest.Jury | contest.Staff},
		} {
			err := k.Look(t.Context(), g.round.ID, view, func(s *standings.Standings) {
				if got, want := s.State.Board(contest.Query{}), fold(t, log, v); !reflect.DeepEqual(got, want) {
					t.Errorf("%s is shown\n%+v, want\n%+v", view, got, want)
				}
				if view != standings.Staff && strings.HasPrefix(s.Token, "s") {
					t.Errorf("the token of %s is %s", view, s.Token)
				}
			})
			sqltest.Must(t, err)
		}
	}
	step()
	g.walk(rand.New(rand.NewPCG(5, 6)), 30, step)
	g.act("freeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.FreezeNow(r, now) })
	time.Sleep(2 * time.Millisecond)
	g.walk(rand.New(rand.NewPCG(7, 8)), 30, step)
	g.act("unfreeze", func(r judge.Round, now time.Time) (judge.Round, error) { return contest.Unfreeze(r, now) })
	step()
}

func TestNothingIsAskedForAsLongAsNothingHappens(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.record()
	store := &counted{Store: g.s.Rounds}
	k := standings.New(standings.Config{Stale: time.Hour, Rounds: 1}, store)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx, func(int64) {}) }()
	look := func() (token string) {
		t.Helper()
		sqltest.Must(t, k.Look(t.Context(), g.round.ID, standings.Public, func(s *standings.Standings) { token = s.Token }))
		return token
	}
	until := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); look() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the token is %s, want %s", look(), want)
			}
		}
	}
	until("p7")
	time.Sleep(100 * time.Millisecond) // until it has begun to listen, which says that anything may have happened
	look()
	before := store.asked.Load()
	for range 1000 {
		look()
	}
	if n := store.asked.Load() - before; n != 0 {
		t.Errorf("1000 looks asked for the log %d times", n)
	}
	g.submit(0, "aplusb")
	g.record()
	until("p8")
	// Of two rounds one is kept.
	sqltest.Must(t, k.Look(t.Context(), g.round.ID+1, standings.Public, func(s *standings.Standings) {
		if s.Token != "p0" || s.State.Board(contest.Query{}).Total != 0 {
			t.Errorf("a round without a log has %s", s.Token)
		}
	}))
	before = store.asked.Load()
	if look() != "p8" || store.asked.Load() == before {
		t.Error("both rounds were kept")
	}
	cancel()
	sqltest.Must(t, <-done)
}
