package rounds

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Bounds of what staff add to a row, either way.
const (
	MaxMinutes = 100_000
	MaxPoints  = 1_000_000
)

// Adjustment is what staff add to the row of a participant.
type Adjustment struct {
	Participant string  // its code
	Minutes     int64   // of penalty time; may be below 0
	Points      float64 // likewise
	Reason, By  string
	At          time.Time
}

// check refuses what nobody means.
func (a Adjustment) check() error {
	switch {
	case a.Minutes < -MaxMinutes || a.Minutes > MaxMinutes:
		return judge.Wrong("minutes", "range", "The minutes are from %d to %d.", -MaxMinutes, MaxMinutes)
	case math.IsNaN(a.Points) || a.Points < -MaxPoints || a.Points > MaxPoints:
		return judge.Wrong("points", "range", "The points are from %d to %d.", -MaxPoints, MaxPoints)
	}
	return nil
}

// none reports whether nothing is added.
func (a Adjustment) none() bool { return a.Minutes == 0 && a.Points == 0 }

// Adjustments returns those of a round by participant, from the one behind after on.
func (s *Store) Adjustments(ctx context.Context, round int64, after string, limit int) ([]Adjustment, error) {
	found, err := s.q.AdjustmentList(ctx, s.db.Main, dbsqlc.AdjustmentListParams{RoundID: round, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list what was added to rows of round %d: %w", round, err)
	}
	out := make([]Adjustment, len(found))
	for i, v := range found {
		out[i] = Adjustment{v.Code, v.AdjustMinutes, v.AdjustPoints, v.AdjustReason, v.AdjustBy, v.AdjustAt}
	}
	return out, nil
}

// Adjust adds something to the row of a participant, in the place of what was added before; with nothing, nothing is. ErrNotFound
// where the participant takes no part. Once the result stands, it stays.
func (s *Store) Adjust(ctx context.Context, code string, a Adjustment, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		switch {
		case r.FinalizedAt != nil:
			return judge.Wrong("finalized_at", "finalized", "The result of the round stands. Reopen it first.")
		case r.Follows:
			return judge.Wrong("participant", "follows", "the board of this round is the list of scores of its space, to which nothing is added: make a round of its own")
		}
		a.By = by
		if err := s.putAdjustment(ctx, tx, r.ID, a); err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "entries", object: code, act: "round_adjust", subject: "round:" + code,
			detail: map[string]any{"participant": a.Participant, "minutes": a.Minutes, "points": a.Points, "reason": a.Reason}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("add to the row of %s in round %s", a.Participant, code), err)
	}
	return nil
}

func (s *Store) putAdjustment(ctx context.Context, tx pgx.Tx, round int64, a Adjustment) error {
	if err := a.check(); err != nil {
		return err
	}
	if a.none() {
		a.By, a.Reason = "", ""
	}
	n, err := s.q.AdjustmentPut(ctx, tx, dbsqlc.AdjustmentPutParams{
		Minutes: a.Minutes, Points: a.Points, Reason: a.Reason, By: a.By, RoundID: round, Code: a.Participant,
	})
	if err == nil && n == 0 {
		err = pg.ErrNotFound
	}
	return err
}

// adjusted is what is added in a round, by participant.
func (s *Store) adjusted(ctx context.Context, tx pgx.Tx, round int64) (map[int64]Adjustment, error) {
	found, err := s.q.AdjustmentsKept(ctx, tx, round)
	out := map[int64]Adjustment{}
	for _, v := range found {
		out[v.ParticipantID] = Adjustment{Minutes: v.AdjustMinutes, Points: v.AdjustPoints}
	}
	return out, err
}
