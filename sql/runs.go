package sql

import (
	"context"
	"fmt"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// JobStatuses returns where jobs stand, by job id. What is no job is left out.
func (s *Site) JobStatuses(ctx context.Context, jobIDs ...int64) (map[int64]judge.Status, error) {
	found, err := s.q.JobStates(ctx, s.main, jobIDs)
	if err != nil {
		return nil, fmt.Errorf("look up jobs: %w", err)
	}
	out := make(map[int64]judge.Status, len(found))
	for _, v := range found {
		out[v.JobID] = judge.Status(v.Status)
	}
	return out, nil
}

// RunKey names a run by the idempotency key that it was stored with and its group, within which the key is unique.
type RunKey struct {
	JobID int64
	Token string
	Group string
}

// RunsOfTokens returns the runs that were stored with one of these idempotency
// keys, whatever their group, the oldest first.
func (s *Site) RunsOfTokens(ctx context.Context, tokens ...string) ([]RunKey, error) {
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
func (s *Site) RunPage(ctx context.Context, prefix string, skip, limit int64) (runs []*judge.Run, total int64, err error) {
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

// RunCount is how many runs of a day ended, or stand, alike.
type RunCount struct {
	Day      time.Time // its beginning, UTC
	Language string    // "" = what the files of the run say
	Status   judge.Status
	Verdict  judge.Verdict // "" = there is no result
	Signal   int           // that ended the test which decided; 0 = none
	Runs     int64
}

// RunCensus counts the runs whose idempotency keys begin with prefix, and tells the size of the database in bytes.
func (s *Site) RunCensus(ctx context.Context, prefix string) (counts []RunCount, size int64, err error) {
	found, err := s.q.RunCensus(ctx, s.main, prefix)
	if err != nil {
		return nil, 0, fmt.Errorf("count runs: %w", err)
	}
	for _, v := range found {
		counts = append(counts, RunCount{v.Day.Time, v.Language, judge.Status(v.Status), judge.Verdict(v.Verdict), int(v.Signal), v.Runs})
	}
	if size, err = s.q.DatabaseSize(ctx, s.main); err != nil {
		return nil, 0, fmt.Errorf("ask for the size of the database: %w", err)
	}
	return counts, size, nil
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
func (s *Site) SaveCallback(ctx context.Context, token, group, url string) error {
	if err := s.q.CallbackSave(ctx, s.main, dbsqlc.CallbackSaveParams{Token: token, GroupKey: group, Url: url}); err != nil {
		return fmt.Errorf("save a callback: %w", err)
	}
	return nil
}

// DueCallbacks takes callbacks of runs that have ended, at most limit. Nobody else gets one of them within a minute.
func (s *Site) DueCallbacks(ctx context.Context, limit int) ([]Callback, error) {
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
func (s *Site) CallbackDone(ctx context.Context, token string) error {
	if err := s.q.CallbackDone(ctx, s.main, token); err != nil {
		return fmt.Errorf("forget a callback: %w", err)
	}
	return nil
}

// CallbackAgain makes a callback due again after as many seconds as it had tries.
func (s *Site) CallbackAgain(ctx context.Context, token string) error {
	if err := s.q.CallbackAgain(ctx, s.main, token); err != nil {
		return fmt.Errorf("put a callback off: %w", err)
	}
	return nil
}
