package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// WorkerBeat records that a worker lives.
func (s *Store) WorkerBeat(ctx context.Context, w judge.WorkerInfo) error {
	info, err := encode(w)
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.Name, err)
	}
	languages := make([]string, 0, len(w.Languages))
	for _, l := range w.Languages {
		if l.Available {
			languages = append(languages, l.ID)
		}
	}
	err = s.q.WorkerBeat(ctx, s.main, dbsqlc.WorkerBeatParams{
		Name: w.Name, Pool: orDefault(w.Pool, DefaultPool), Languages: languages, Info: info, StartedAt: w.Started,
	})
	if err != nil {
		return fmt.Errorf("worker %s: %w", w.Name, err)
	}
	return nil
}

// Workers returns the workers that were seen within maxAge, by name. Seen is the
// database's time.
func (s *Store) Workers(ctx context.Context, maxAge time.Duration) ([]judge.WorkerInfo, error) {
	found, err := s.q.WorkerList(ctx, s.main, interval(maxAge, 0))
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	out := make([]judge.WorkerInfo, len(found))
	for i, w := range found {
		if err := json.Unmarshal(w.Info, &out[i]); err != nil {
			return nil, fmt.Errorf("list workers: %w", err)
		}
		out[i].Seen = w.SeenAt
	}
	return out, nil
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

// WorkerRuns returns at most a thousand jobs that workers have under way, the
// oldest first.
func (s *Store) WorkerRuns(ctx context.Context) ([]WorkerRun, error) {
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

// WorkerGone forgets a worker that stopped.
func (s *Store) WorkerGone(ctx context.Context, name string) error {
	if err := s.q.WorkerGone(ctx, s.main, name); err != nil {
		return fmt.Errorf("forget worker %s: %w", name, err)
	}
	return nil
}

// SaveProblem stores a version of a problem and makes it the active one. Saving
// a version again only activates it and refreshes its view.
func (s *Store) SaveProblem(ctx context.Context, p judge.Problem, by string) error {
	if p.Slug == "" || p.Version == "" {
		return errors.New("save problem: slug and version are required")
	}
	p.Hidden = false // which is said of the problem and not of a version
	data, err := encode(p)
	if err != nil {
		return fmt.Errorf("save problem %s: %w", p.Slug, err)
	}
	err = s.q.ProblemSave(ctx, s.main, dbsqlc.ProblemSaveParams{Slug: p.Slug, Version: p.Version, Title: p.Title, Problem: data, CreatedBy: by})
	if err != nil {
		return fmt.Errorf("save problem %s: %w", p.Slug, err)
	}
	return nil
}

// Problem returns the active version of a problem, or [ErrNotFound].
func (s *Store) Problem(ctx context.Context, slug string) (*judge.Problem, error) {
	v, err := s.q.ProblemGet(ctx, s.main, slug)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("problem %s: %w", slug, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("problem %s: %w", slug, err)
	}
	p, err := problem(v.Problem, v.UpdatedAt, v.Hidden)
	return &p, err
}

// Problems returns the active versions of all problems by short name, without
// their statements and samples.
func (s *Store) Problems(ctx context.Context) ([]judge.Problem, error) {
	found, err := s.q.ProblemList(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	out := make([]judge.Problem, len(found))
	for i, v := range found {
		if out[i], err = problem(v.Problem, v.UpdatedAt, v.Hidden); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func problem(data []byte, updated time.Time, hidden bool) (p judge.Problem, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("read problem: %w", err)
	}
	p.Updated, p.Hidden = updated, hidden
	return p, nil
}
