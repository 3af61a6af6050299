package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// Run returns a run with its payload and result, or [ErrNotFound].
func (s *Store) Run(ctx context.Context, jobID int64) (*judge.Run, error) {
	runs, err := s.Runs(ctx, jobID)
	if err != nil {
		return nil, err
	}
	if runs[0] == nil {
		return nil, fmt.Errorf("run %d: %w", jobID, ErrNotFound)
	}
	return runs[0], nil
}

// Runs returns runs in the order of their job ids, and nil for what is no run.
func (s *Store) Runs(ctx context.Context, jobIDs ...int64) ([]*judge.Run, error) {
	found, err := s.q.RunViews(ctx, s.main, jobIDs)
	if err != nil {
		return nil, fmt.Errorf("look up runs: %w", err)
	}
	byID := make(map[int64]*judge.Run, len(found))
	for _, v := range found {
		r := &judge.Run{
			JobID: v.JobID, Token: v.Token, Author: v.GroupKey, Status: judge.Status(v.Status), QueueState: v.QueueState,
			AttemptID: v.AttemptID, Tries: v.Tries, MaxTries: v.MaxTries, TraceID: v.TraceID,
			Created: v.CreatedAt, Started: v.StartedAt, Finished: v.FinishedAt, LastError: v.LastError, Told: judge.CheckerMessages(v.CheckerMessages),
		}
		if len(v.Payload) > 0 {
			if err := json.Unmarshal(v.Payload, &r.Asked); err != nil {
				return nil, fmt.Errorf("run %d: read payload: %w", v.JobID, err)
			}
		}
		if len(v.Result) > 0 {
			r.Result = new(judge.Result)
			if err := json.Unmarshal(v.Result, r.Result); err != nil {
				return nil, fmt.Errorf("run %d: read result: %w", v.JobID, err)
			}
		}
		if r.Result != nil && len(r.Result.Report) > 0 {
			if err := json.Unmarshal(r.Result.Report, &r.Report); err != nil {
				return nil, fmt.Errorf("run %d: read report: %w", v.JobID, err)
			}
		}
		byID[v.JobID] = r
	}
	out := make([]*judge.Run, len(jobIDs))
	for i, id := range jobIDs {
		out[i] = byID[id]
	}
	return out, nil
}

// RunStatuses returns where runs stand, by job id. What is no run is left out.
func (s *Store) RunStatuses(ctx context.Context, jobIDs ...int64) (map[int64]judge.Status, error) {
	found, err := s.q.RunStates(ctx, s.main, jobIDs)
	if err != nil {
		return nil, fmt.Errorf("look up runs: %w", err)
	}
	out := make(map[int64]judge.Status, len(found))
	for _, v := range found {
		out[v.JobID] = judge.Status(v.Status)
	}
	return out, nil
}

// RunKey names a run by the idempotency key that it was stored with and its
// group, within which the key is unique.
type RunKey struct {
	JobID int64
	Token string
	Group string
}

// RunsOfTokens returns the runs that were stored with one of these idempotency
// keys, whatever their group, the oldest first.
func (s *Store) RunsOfTokens(ctx context.Context, tokens ...string) ([]RunKey, error) {
	found, err := s.q.RunsOfTokens(ctx, s.main, tokens)
	if err != nil {
		return nil, fmt.Errorf("look up runs by their tokens: %w", err)
	}
	out := make([]RunKey, len(found))
	for i, v := range found {
		out[i] = RunKey{v.JobID, v.Token, v.GroupKey}
	}
	return out, nil
}

// RunPage returns the newest runs whose idempotency keys begin with prefix,
// without the first skip, at most limit, and how many there are in all.
func (s *Store) RunPage(ctx context.Context, prefix string, skip, limit int64) (runs []*judge.Run, total int64, err error) {
	if total, err = s.q.RunCount(ctx, s.main, prefix); err != nil {
		return nil, 0, fmt.Errorf("count runs: %w", err)
	}
	ids, err := s.q.RunPage(ctx, s.main, dbsqlc.RunPageParams{Prefix: prefix, Skip: skip, Max: limit})
	if err != nil {
		return nil, 0, fmt.Errorf("list runs: %w", err)
	}
	runs, err = s.Runs(ctx, ids...)
	return runs, total, err
}

// Callback is an address that has to be told that a run has ended.
type Callback struct {
	Token string // of the run
	JobID int64
	URL   string
	Tries int32 // with this one
}

// SaveCallback has url told when the run of the group with this token ends. It
// comes before the run is stored, so that none is forgotten.
func (s *Store) SaveCallback(ctx context.Context, token, group, url string) error {
	if err := s.q.CallbackSave(ctx, s.main, dbsqlc.CallbackSaveParams{Token: token, GroupKey: group, Url: url}); err != nil {
		return fmt.Errorf("save a callback: %w", err)
	}
	return nil
}

// DueCallbacks takes callbacks of runs that have ended, at most limit. Nobody
// else gets one of them within a minute.
func (s *Store) DueCallbacks(ctx context.Context, limit int) ([]Callback, error) {
	found, err := s.q.CallbackDue(ctx, s.main, int32(min(limit, 1000)))
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	out := make([]Callback, len(found))
	for i, v := range found {
		out[i] = Callback{v.Token, v.JobID, v.Url, v.Tries}
	}
	return out, nil
}

// CallbackDone forgets a callback: the address was told, or will not be.
func (s *Store) CallbackDone(ctx context.Context, token string) error {
	if err := s.q.CallbackDone(ctx, s.main, token); err != nil {
		return fmt.Errorf("forget a callback: %w", err)
	}
	return nil
}

// CallbackAgain makes a callback due again after as many seconds as it had
// tries.
func (s *Store) CallbackAgain(ctx context.Context, token string) error {
	if err := s.q.CallbackAgain(ctx, s.main, token); err != nil {
		return fmt.Errorf("put a callback off: %w", err)
	}
	return nil
}
