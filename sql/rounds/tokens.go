package rounds

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Tokened is what a participant handed in, where tokens are spent on submissions.
type Tokened struct {
	JobID   int64
	Problem string
	At      time.Time
	Verdict judge.Verdict // "" = it is not judged yet
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

// Left is how many tokens there are for a problem at a contest time, and how long it is until one may be spent: see
// [contest.TokenRules.Left]. List is what the participant has handed in.
func Left(rules contest.TokenRules, clock contest.Clock, list []Tokened, problem string, now time.Duration) (int, time.Duration) {
	var all, here []time.Duration
	for _, v := range list {
		if v.Token == nil {
			continue
		}
		all = append(all, clock.At(*v.Token))
		if v.Problem == problem {
			here = append(here, clock.At(*v.Token))
		}
	}
	return rules.Left(all, here, now)
}

// SpendToken has a participant spend a token on a submission to a round that goes on. Twice is once. What the settings do not allow is
// a [*judge.FieldError]; ErrNotFound where the participant has not handed it in.
func (s *Store) SpendToken(ctx context.Context, code string, participant, job int64, by string) error {
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
		done, err := mayToken(&r, list, job)
		if err != nil || done {
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

// mayToken refuses a token that the settings of a round do not allow; done is true where one was spent on the submission.
func mayToken(r *judge.Round, list []Tokened, job int64) (done bool, err error) {
	cfg, err := contest.ParseConfig(contest.Format(r.Format), r.Settings)
	if err != nil {
		return false, err
	}
	rules, some := cfg.TokenRules()
	clock := contest.ClockOf(r)
	switch {
	case !some:
		return false, judge.Wrong("job_id", "no_tokens", "The round has no tokens: its settings give none.")
	case clock.Started(r.Now) == nil || clock.Ended(r.Now) != nil:
		return false, judge.Wrong("job_id", "not_running", "Tokens are spent while the round goes on.")
	}
	for _, v := range list {
		if v.JobID != job {
			continue
		}
		if v.Token != nil {
			return true, nil
		}
		n, wait := Left(rules, clock, list, v.Problem, clock.At(r.Now))
		switch {
		case n <= 0:
			return false, judge.Wrong("job_id", "none_left", "You have no token for %s now.", v.Problem)
		case wait > 0:
			return false, judge.Wrong("job_id", "too_soon", "The next token may be spent in %s.", wait.Round(time.Second).String())
		}
		return false, nil
	}
	return false, pg.ErrNotFound
}
