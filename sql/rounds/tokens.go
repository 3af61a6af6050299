package rounds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Tokened is what a participant handed in, where tokens are spent on submissions.
type Tokened struct {
	JobID   int64
	Problem string
	At      time.Time
	Verdict judge.Verdict // "" = there is none that is told yet
	Score   *float64
	Token   *time.Time // when one was spent on it
}

// Tokened returns what a participant has handed in to a round, the newest first.
func (s *Store) Tokened(ctx context.Context, round, participant int64) ([]Tokened, error) {
	return s.tokened(ctx, s.db.Main, round, participant)
}

func (s *Store) tokened(ctx context.Context, on dbsqlc.DBTX, round, participant int64) ([]Tokened, error) {
	found, err := s.q.TokenList(ctx, on, dbsqlc.TokenListParams{RoundID: round, Participant: participant})
	if err != nil {
		return nil, fmt.Errorf("list tokens of participant %d: %w", participant, err)
	}
	out := make([]Tokened, len(found))
	for i, v := range found {
		out[i] = Tokened{v.JobID, v.Problem, v.CreatedAt, judge.Verdict(v.Verdict), v.Score, v.TokenAt}
	}
	return out, nil
}

// SpendToken has a participant spend a token on a submission to a round, if may finds that the settings allow it, from what the participant
// has handed in. Twice is once. ErrNotFound where the participant has not handed it in.
func (s *Store) SpendToken(ctx context.Context, code string, participant, job int64, by string, may func(*judge.Round, Tokened, []Tokened) error) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		held, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		v, err := s.q.RoundGet(ctx, tx, code)
		if err != nil {
			return err
		}
		all := []judge.Round{round(v)}
		if err := s.remove(ctx, tx, all); err != nil {
			return err
		}
		r := all[0]
		list, err := s.tokened(ctx, tx, r.ID, participant)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(v Tokened) bool { return v.JobID == job })
		switch {
		case at < 0:
			return pg.ErrNotFound
		case list[at].Token != nil:
			return nil
		}
		if err := may(&r, list[at], list); err != nil {
			return err
		}
		n, err := s.q.TokenAdd(ctx, tx, dbsqlc.TokenAddParams{By: by, At: &r.Now, JobID: job, RoundID: r.ID, Participant: participant})
		if err == nil && n == 0 {
			err = pg.ErrNotFound
		}
		if err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: held.SpaceID, round: &r.ID, kind: "submissions", object: code, act: "round_token", subject: "round:" + code, detail: map[string]any{"job_id": job}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("spend a token on submission %d of round %s", job, code), err)
	}
	return nil
}
