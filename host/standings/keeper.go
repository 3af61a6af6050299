// Package standings keeps the standings of rounds, for everybody, for teams and for staff, as their logs go on.
//
// Nothing is asked of the database while a log stays as it is.
//
// Its files:
//
//	keeper.go    what is kept, and for how long
//	snapshot.go  what the database is told of what was shown
//	view.go      the standings of one round for one kind of viewers
package standings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"deepoj/host/contest"
	"deepoj/sql/rounds"
)

// Log is where logs are read, and snapshots kept; a [*rounds.Store] does it.
type Log interface {
	Log(ctx context.Context, round, after int64, limit int) ([]rounds.Logged, error)
	Follow(ctx context.Context, fn func(round int64)) error
	KeepSnapshot(ctx context.Context, round int64, view string, seq int64, digest []byte) (other bool, err error)
}

// View is for whom standings are.
type View string

// The views.
const (
	Public View = "public" // everybody
	Teams  View = "teams"  // every participant, without what is for one alone
	Staff  View = "staff"  // whoever runs the round
)

// viewers are who looks, by view.
var viewers = map[View]contest.Viewer{
	Public: {Audience: contest.Public}, Teams: {Audience: contest.Teams}, Staff: {Audience: contest.Jury | contest.Staff},
}

// Config bounds what a [Keeper] keeps.
type Config struct {
	// Rounds is how many rounds are kept. Defaults to 32; the one that nobody has looked at for longest goes first.
	Rounds int

	// Stale is how long a round is not asked about while nothing is heard. Defaults to a second.
	Stale time.Duration

	// Logger is told of standings that are others than those of another process, or of a version before. Defaults to slog's.
	Logger *slog.Logger
}

// Keeper keeps standings. It is safe for concurrent use.
type Keeper struct {
	cfg Config
	log Log

	past  chan struct{} // a place in it is the right to compute standings of the past
	shown chan snapshot // to be kept

	mu    sync.Mutex
	kept  map[int64]*kept
	clock int64 // counts looks
}

// kept are the standings of a round.
type kept struct {
	used int64 // the count of the last look

	mu     sync.Mutex
	seq    int64     // the last line that was read
	taken  int64     // that of the last snapshot
	snap   time.Time // when that was taken
	asked  time.Time
	views  map[View]*view
	heard  bool // the log may have grown
	heards sync.Mutex
}

// New returns a keeper that keeps nothing yet.
func New(cfg Config, log Log) *Keeper {
	if cfg.Rounds == 0 {
		cfg.Rounds = 32
	}
	if cfg.Stale == 0 {
		cfg.Stale = time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Keeper{cfg: cfg, log: log, kept: map[int64]*kept{}, past: make(chan struct{}, 2), shown: make(chan snapshot, maxSnapshots)}
}

// Run hears which logs have grown until ctx ends, then returns nil, and calls then with the id of each round, or with 0 where it
// may be any. Without it, standings are up to [Config.Stale] old, and no snapshots are kept.
func (k *Keeper) Run(ctx context.Context, then func(round int64)) error {
	ctx, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { k.keepSnapshots(ctx) })
	defer keeping.Wait()
	defer cancel()
	return k.log.Follow(ctx, func(round int64) {
		defer then(round)
		k.mu.Lock()
		defer k.mu.Unlock()
		for id, s := range k.kept {
			if round == 0 || id == round {
				s.heards.Lock()
				s.heard = true
				s.heards.Unlock()
			}
		}
	})
}

// pageLines is how many lines of a log are read at once.
const pageLines = 20_000

// Look calls fn with the standings of a round as they are now. What it gets is good until fn returns, and fn must be quick:
// others wait.
func (k *Keeper) Look(ctx context.Context, round int64, of View, fn func(*Standings)) error {
	s := k.of(round)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(ctx, k, round); err != nil {
		return err
	}
	if s.due(time.Now()) {
		s.snapshot(k.shown, round)
	}
	fn(&s.views[of].Standings)
	return nil
}

// ErrNoStart is returned where a contest time is asked for of a round without a start.
var ErrNoStart = errors.New("the round has no start, and so no time")

// At calls fn with the standings of a round as they were shown when its contest time was first d. Few are computed at once.
func (k *Keeper) At(ctx context.Context, round int64, of View, d time.Duration, fn func(*Standings)) error {
	select {
	case k.past <- struct{}{}:
		defer func() { <-k.past }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var moment time.Time
	if err := k.Look(ctx, round, of, func(s *Standings) { moment = s.Round.Clock().When(d) }); err != nil {
		return err
	}
	if moment.IsZero() {
		return ErrNoStart
	}
	v := newView(of, viewers[of])
	for seq := int64(0); ; {
		lines, err := k.log.Log(ctx, round, seq, pageLines)
		if err != nil {
			return fmt.Errorf("standings of round %d at %v: %w", round, d, err)
		}
		until := slices.IndexFunc(lines, func(l rounds.Logged) bool { return l.At.After(moment) })
		if until < 0 {
			until = len(lines)
		}
		if err := v.take(lines[:until]); err != nil {
			return fmt.Errorf("standings of round %d at %v: %w", round, d, err)
		}
		if until < pageLines {
			fn(&v.Standings)
			return nil
		}
		seq = lines[until-1].Seq
	}
}

// of returns what is kept of a round, which may be nothing yet.
func (k *Keeper) of(round int64) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.kept[round]
	if s == nil {
		for len(k.kept) >= k.cfg.Rounds {
			var oldest int64
			for id, other := range k.kept {
				if oldest == 0 || other.used < k.kept[oldest].used {
					oldest = id
				}
			}
			delete(k.kept, oldest)
		}
		s = &kept{}
		s.reset()
		k.kept[round] = s
	}
	k.clock++
	s.used = k.clock
	return s
}

// reset forgets everything.
func (s *kept) reset() {
	s.seq, s.asked, s.views, s.taken, s.snap = 0, time.Time{}, map[View]*view{}, 0, time.Time{}
	for name, v := range viewers {
		s.views[name] = newView(name, v)
	}
}

// stale reports whether the log has to be asked for more.
func (s *kept) stale(after time.Duration) bool {
	s.heards.Lock()
	defer s.heards.Unlock()
	heard := s.heard
	s.heard = false
	return heard || time.Since(s.asked) >= after
}

// read takes in what the log got since.
func (s *kept) read(ctx context.Context, k *Keeper, round int64) error {
	if !s.stale(k.cfg.Stale) {
		return nil
	}
	now := time.Now()
	for {
		lines, err := k.log.Log(ctx, round, s.seq, pageLines)
		if err == nil {
			err = s.take(lines)
		}
		if err != nil {
			s.reset() // it may be half taken in
			return fmt.Errorf("standings of round %d: %w", round, err)
		}
		if len(lines) < pageLines {
			s.asked = now
			return nil
		}
	}
}

// take takes in lines of the log.
func (s *kept) take(lines []rounds.Logged) error {
	for _, l := range lines {
		if l.Seq != s.seq+1 {
			return fmt.Errorf("line %d of the log is followed by %d", s.seq, l.Seq)
		}
		s.seq = l.Seq
	}
	for _, v := range s.views {
		if err := v.take(lines); err != nil {
			return err
		}
	}
	return nil
}
