package standings

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"
)

const (
	maxSnapshots = 16          // that wait to be kept; what comes beyond is taken at another time
	manyLines    = 1000        // of a log are counted without a snapshot
	longTime     = time.Minute // goes by without one where the log grows
	patience     = 10 * time.Second
)

// snapshot is what a board was when it was shown.
type snapshot struct {
	round  int64
	view   View
	seq    int64 // the last line of the log that was counted
	digest [sha256.Size]byte
}

// due reports whether it is time for a snapshot.
func (s *kept) due(now time.Time) bool {
	return s.seq > s.taken && (s.seq-s.taken >= manyLines || now.Sub(s.snap) >= longTime || s.views[Staff].Round.Finalized != nil)
}

// snapshot takes one of what everybody and staff are shown, unless too many wait.
func (s *kept) snapshot(to chan<- snapshot, round int64) {
	if len(to) > cap(to)-2 {
		return
	}
	for _, of := range []View{Public, Staff} {
		v := s.views[of]
		one := snapshot{round, of, s.seq, v.State.Digest(func(id int64) string { return v.Participants[id].Code })}
		select {
		case to <- one:
		default: // another round's came in between
			return
		}
	}
	s.taken, s.snap = s.seq, time.Now()
}

// keepSnapshots keeps them until ctx ends.
func (k *Keeper) keepSnapshots(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-k.shown:
			k.keepSnapshot(ctx, s)
		}
	}
}

func (k *Keeper) keepSnapshot(running context.Context, s snapshot) {
	ctx, cancel := context.WithTimeout(running, patience)
	defer cancel()
	log := k.cfg.Logger.With(slog.Int64("round", s.round), slog.String("view", string(s.view)), slog.Int64("seq", s.seq))
	switch other, err := k.log.KeepSnapshot(ctx, s.round, string(s.view), s.seq, s.digest[:]); {
	case err != nil && running.Err() == nil:
		log.WarnContext(ctx, "a snapshot of a board was not kept: another is taken when the log has grown", slog.Any("err", err))
	case other:
		log.ErrorContext(ctx, "the board is another than what was shown before of the same log: `deepoj audit` says which one counts")
	}
}
