package rounds

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Ignored is a submission that staff have not count.
type Ignored struct {
	JobID       int64
	Number      int64 // in the round; 0 = it has none
	Participant string
	Problem     string
	Reason, By  string
	At          time.Time
}

// Ignored returns those of a round by job, from the one behind after on.
func (s *Store) Ignored(ctx context.Context, round, after int64, limit int) ([]Ignored, error) {
	found, err := s.q.MarkList(ctx, s.db.Main, dbsqlc.MarkListParams{RoundID: round, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list what does not count in round %d: %w", round, err)
	}
	out := make([]Ignored, len(found))
	for i, v := range found {
		out[i] = Ignored{v.JobID, v.Number, v.Code, v.Problem, v.Reason, v.By, v.At}
	}
	return out, nil
}

// Ignore has a submission to a round not count, or count again with count; doing so twice changes nothing. ErrNotFound where
// no participant handed it in to the round. Once the result stands, it stays.
func (s *Store) Ignore(ctx context.Context, code string, job int64, count bool, reason, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		if r.FinalizedAt != nil {
			return judge.Wrong("finalized_at", "finalized", "The result of the round stands. Reopen it first.")
		}
		var n int64
		act := "round_ignore"
		if count {
			act = "round_count"
			n, err = s.q.MarkRemove(ctx, tx, dbsqlc.MarkRemoveParams{JobID: job, RoundID: r.ID})
		} else {
			n, err = s.q.MarkAdd(ctx, tx, dbsqlc.MarkAddParams{Reason: reason, By: by, JobID: job, RoundID: r.ID})
		}
		if err == nil && n == 0 {
			err = pg.ErrNotFound
		}
		if err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "submissions", object: code, act: act, subject: "round:" + code,
			detail: map[string]any{"job_id": job, "reason": reason}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("have submission %d count in round %s", job, code), err)
	}
	return nil
}
