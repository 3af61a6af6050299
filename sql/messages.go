package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// MessageRule says who, beside staff, reads what the checkers of a problem say.
type MessageRule struct {
	Chosen  judge.CheckerMessages // on its page; "" = as the package says
	Package judge.CheckerMessages // of the live version; "" = nothing
	Counts  judge.CheckerMessages // what holds now, for results of every age

	// Barred says that [judge.ToldAll] cannot be chosen, and does not count: Untold is the first checker of which
	// nobody knows that it gives no answer away, "" if no version is live.
	Barred bool
	Untold string
}

// CheckerMessages returns the rule of a problem.
func (s *Site) CheckerMessages(ctx context.Context, slug string) (MessageRule, error) {
	v, err := s.q.CheckerMessagesGet(ctx, s.main, slug)
	if err != nil {
		return MessageRule{}, fmt.Errorf("who reads the checker messages of %s: %w", slug, err)
	}
	return MessageRule{judge.CheckerMessages(v.Chosen), judge.CheckerMessages(v.Package), judge.CheckerMessages(v.Counts), v.Barred, v.Untold}, nil
}

// SetCheckerMessages chooses who reads what the checkers of a problem say; "" is as
// its package says. It returns a [*judge.FieldError] when everybody must not.
func (s *Site) SetCheckerMessages(ctx context.Context, slug string, who judge.CheckerMessages, by string) error {
	if who != "" && !who.Valid() {
		return judge.Wrong("checker_messages", "unknown", "choose nobody, samples or all")
	}
	_, err := s.q.CheckerMessagesSet(ctx, s.main, dbsqlc.CheckerMessagesSetParams{Slug: slug, CheckerMessages: string(who), By: by})
	if !errors.Is(err, pgx.ErrNoRows) {
		if err != nil {
			return fmt.Errorf("choose who reads the checker messages of %s: %w", slug, err)
		}
		return nil
	}
	return judge.Wrong("checker_messages", "may_leak", "show that the checkers give no answer away")
}

// ToldOfJob returns what is told of a submission or run beside that it is done.
func (s *Site) ToldOfJob(ctx context.Context, jobID int64) (judge.JobTold, error) {
	v, err := s.q.ToldOfJob(ctx, s.main, jobID)
	if err != nil {
		return judge.JobTold{}, fmt.Errorf("who reads what of job %d: %w", jobID, err)
	}
	return judge.JobTold{Messages: judge.CheckerMessages(v.Counts), Feedback: judge.Feedback(v.Feedback), SpaceID: v.SpaceID}, nil
}
