package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// OfferedLanguage is a language that a worker was able to judge once.
type OfferedLanguage struct {
	judge.Language      // as a worker last described it
	Withdrawn      bool // staff took it off: nothing may be handed in in it
}

// Languages returns every language that a worker was ever able to judge, by id.
func (s *Site) Languages(ctx context.Context) ([]OfferedLanguage, error) {
	found, err := s.q.LanguageList(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("list languages: %w", err)
	}
	out := make([]OfferedLanguage, len(found))
	for i, l := range found {
		out[i].Withdrawn = l.Withdrawn
		if err := json.Unmarshal(l.Info, &out[i].Language); err != nil {
			return nil, fmt.Errorf("list languages: %w", err)
		}
	}
	return out, nil
}

// WithdrawLanguage takes a language off the list, or puts it back, which the audit log keeps. What was handed in before
// is judged all the same. It returns [ErrNotFound] for a language that no worker ever had.
func (s *Site) WithdrawLanguage(ctx context.Context, id string, withdrawn bool, by string) error {
	n, err := s.q.LanguageWithdraw(ctx, s.main, dbsqlc.LanguageWithdrawParams{ID: id, Withdrawn: withdrawn, By: by})
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("language %s: %w", id, err)
	}
	return nil
}

// WorkerRun is a job that a worker has under way.
type WorkerRun struct {
	Worker    string
	JobID     int64
	Kind      judge.Kind
	Language  string
	AttemptID int32
	Started   time.Time
}

// WorkerRuns returns at most a thousand jobs that workers have under way, the oldest first.
func (s *Site) WorkerRuns(ctx context.Context) ([]WorkerRun, error) {
	found, err := s.q.WorkerRuns(ctx, s.main, 1000)
	if err != nil {
		return nil, fmt.Errorf("list what workers run: %w", err)
	}
	out := make([]WorkerRun, len(found))
	for i, r := range found {
		out[i] = WorkerRun{Worker: r.Worker, JobID: r.JobID, Kind: judge.Kind(r.Kind), Language: r.Language, AttemptID: r.AttemptID, Started: r.StartedAt}
	}
	return out, nil
}
