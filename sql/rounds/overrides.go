package rounds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Override is a verdict that staff gave in the place of the judge's.
type Override struct {
	JobID           int64
	Number          int64 // in the round; 0 = it has none
	Participant     string
	Problem         string
	Generation      int // of the judging that it is
	Before, Verdict judge.Verdict
	Score           *float64
	Counts          bool // no later judging has taken its place
	Reason, By      string
	At              time.Time
}

// Overrides returns those of a round by job, from those of the one behind after on.
func (s *Store) Overrides(ctx context.Context, round, after int64, limit int) ([]Override, error) {
	found, err := s.q.OverrideList(ctx, s.db.Main, dbsqlc.OverrideListParams{RoundID: round, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list verdicts that were given in round %d: %w", round, err)
	}
	out := make([]Override, len(found))
	for i, v := range found {
		out[i] = Override{
			v.JobID, v.Number, v.Code, v.Problem, int(v.Generation), judge.Verdict(v.Before), judge.Verdict(v.Verdict), v.Score, v.Counts, v.Reason, v.By, v.At,
		}
	}
	return out, nil
}

// ByHand is the worker of results that staff gave.
const ByHand = "staff"

// given is what a contestant reads of such a result.
const given = "The verdict was set by the staff of the contest."

// Override gives a submission to a round a verdict, with a score in formats that have some, as a judging of its own: rejudging it
// gives the judge's again. One that is being judged, or in a rejudge set, is a [*judge.FieldError]; ErrNotFound where no
// participant handed it in to the round. Once the result stands, it stays.
func (s *Store) Override(ctx context.Context, code string, job int64, v judge.Verdict, score *float64, reason, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		if r.FinalizedAt != nil {
			return judge.Wrong("finalized_at", "finalized", "The result of the round stands. Reopen it first.")
		}
		n, err := s.q.OverridePut(ctx, tx, dbsqlc.OverridePutParams{
			JobID: job, RoundID: r.ID, Verdict: string(v), Score: score, Message: given, Worker: ByHand, Reason: reason, By: by,
		})
		if err == nil && n == 0 {
			err = s.whyNot(ctx, tx, r.ID, job)
		}
		if err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "submissions", object: code, act: "round_verdict", subject: "round:" + code,
			detail: map[string]any{"job_id": job, "verdict": v, "score": score, "reason": reason}, by: by,
		})
	})
	if err != nil {
		return refusal(fmt.Sprintf("give submission %d of round %s a verdict", job, code), err)
	}
	s.db.WakeEvents(job)
	return nil
}

// whyNot says why a submission gets no verdict by hand.
func (s *Store) whyNot(ctx context.Context, tx pgx.Tx, round, job int64) error {
	is, err := s.q.OverrideWhere(ctx, tx, dbsqlc.OverrideWhereParams{JobID: job, RoundID: round})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return pg.ErrNotFound
	case err != nil:
		return err
	case is.InSet:
		return judge.Wrong("job_id", "in_set", "Submission %d is in a rejudge set that nobody has decided on. Apply the set or cancel it first.", job)
	case is.Status == string(judge.Finished):
		return judge.Wrong("job_id", "in_set", "What submission %d was judged last was not shown: rejudge it first.", job)
	}
	return judge.Wrong("job_id", "not_judged", "Submission %d is %s. Only what the judge has judged gets another verdict.", job, is.Status)
}
