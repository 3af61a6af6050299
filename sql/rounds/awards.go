package rounds

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Awards returns what the jury of a round gives beside what the board gives, by code.
func (s *Store) Awards(ctx context.Context, round int64) ([]judge.RoundAward, error) {
	return s.awards(ctx, s.db.Main, round)
}

func (s *Store) awards(ctx context.Context, db dbsqlc.DBTX, round int64) ([]judge.RoundAward, error) {
	found, err := s.q.AwardList(ctx, db, round)
	if err != nil {
		return nil, fmt.Errorf("list awards of round %d: %w", round, err)
	}
	return mapped(found, func(v dbsqlc.AwardListRow) judge.RoundAward { return judge.RoundAward(v) }), nil
}

// PutAward gives one, in the place of what the jury gave by this code. Who takes no part gets nothing: it is a
// [*judge.FieldError].
func (s *Store) PutAward(ctx context.Context, round string, a judge.RoundAward, by string) error {
	return s.changeAwards(ctx, round, a.Code, "round_award", map[string]any{"citation": a.Citation, "participants": a.Participants}, by, func(tx pgx.Tx, r *judge.Round) error {
		return s.putAward(ctx, tx, r.ID, a, by)
	})
}

func (s *Store) putAward(ctx context.Context, tx pgx.Tx, round int64, a judge.RoundAward, by string) error {
	given, err := s.q.AwardPut(ctx, tx, dbsqlc.AwardPutParams{RoundID: round, Code: a.Code, Citation: a.Citation, Participants: a.Participants, By: by})
	if err == nil && int(given) < len(a.Participants) {
		err = judge.Wrong("participants", "unknown", "Not all of these take part in the round.")
	}
	return err
}

// RemoveAward takes one back; ErrNotFound if the jury gave none by this code.
func (s *Store) RemoveAward(ctx context.Context, round, code, by string) error {
	return s.changeAwards(ctx, round, code, "round_award_remove", nil, by, func(tx pgx.Tx, r *judge.Round) error {
		n, err := s.q.AwardRemove(ctx, tx, dbsqlc.AwardRemoveParams{RoundID: r.ID, Code: code})
		if err == nil && n == 0 {
			err = pg.ErrNotFound
		}
		return err
	})
}

func (s *Store) changeAwards(ctx context.Context, round, code, action string, detail map[string]any, by string, do func(pgx.Tx, *judge.Round) error) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.hold(ctx, tx, round)
		if err != nil {
			return err
		}
		if err := do(tx, r); err != nil {
			return err
		}
		if detail == nil {
			detail = map[string]any{}
		}
		detail["code"] = code
		return s.changed(ctx, tx, change{space: r.SpaceID, round: &r.ID, kind: "award", object: code, act: action, subject: "round:" + round, detail: detail, by: by})
	})
	if err != nil {
		return refusal("change award "+code+" of round "+round, err)
	}
	return nil
}
