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
	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
)

// DeadLetter is a job that was given up.
type DeadLetter struct {
	JobID      int64
	Generation int32
	AttemptID  int32
	Tries      int32
	Kind       judge.Kind
	Queue      string
	Reason     string          // max_tries, worker_lost, or why it was buried
	Error      json.RawMessage // {code, message, component, detail}
	At         time.Time
	Resolution string // replayed, discarded, or "" while nobody has cared
	ResolvedBy string
	ResolvedAt *time.Time
	Note       string // why it was discarded
}

// LetterPlace is the place of a dead letter among all: those of the newest jobs come first, and of one job the newest.
type LetterPlace struct {
	JobID      int64
	Generation int32
}

// DeadLetters returns dead letters behind a place (the zero one is before all), newest first.
func (s *Site) DeadLetters(ctx context.Context, behind LetterPlace, unresolved bool, limit int) ([]DeadLetter, error) {
	return s.deadLetters(ctx, dbsqlc.DeadLetterListParams{
		Before: orMax(behind.JobID), BeforeGeneration: behind.Generation, Unresolved: unresolved, Max: pg.Bounded(limit),
	})
}

// DeadReason counts the dead letters with one reason that nobody has resolved.
type DeadReason struct {
	Reason  string
	Letters int64
}

// DeadReasons returns why jobs were given up that nobody has resolved, the most frequent reason first.
func (s *Site) DeadReasons(ctx context.Context) ([]DeadReason, error) {
	found, err := s.q.DeadLetterReasons(ctx, s.main)
	if err != nil {
		return nil, fmt.Errorf("count dead letters: %w", err)
	}
	out := make([]DeadReason, len(found))
	for i, r := range found {
		out[i] = DeadReason{r.Reason, r.Letters}
	}
	return out, nil
}

// DeadLetter returns the newest dead letter of a job, or [ErrNotFound].
func (s *Site) DeadLetter(ctx context.Context, jobID int64) (DeadLetter, error) {
	found, err := s.deadLetters(ctx, dbsqlc.DeadLetterListParams{Before: orMax(0), JobID: jobID, Max: 1})
	if err != nil {
		return DeadLetter{}, err
	}
	if jobID <= 0 || len(found) == 0 {
		return DeadLetter{}, fmt.Errorf("dead letter of job %d: %w", jobID, ErrNotFound)
	}
	return found[0], nil
}

func (s *Site) deadLetters(ctx context.Context, p dbsqlc.DeadLetterListParams) ([]DeadLetter, error) {
	found, err := s.q.DeadLetterList(ctx, s.main, p)
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	out := make([]DeadLetter, len(found))
	for i, d := range found {
		out[i] = DeadLetter{
			JobID: d.JobID, Generation: d.Generation, AttemptID: d.AttemptID, Tries: d.Tries, Kind: judge.Kind(d.Kind), Queue: d.Queue,
			Reason: d.Reason, Error: d.Error, At: d.At, Resolution: orEmpty(d.Resolution), ResolvedBy: orEmpty(d.ResolvedBy), ResolvedAt: d.ResolvedAt,
			Note: d.Note,
		}
	}
	return out, nil
}

// Attempt is an attempt that ended without a result.
type Attempt struct {
	AttemptID  int32
	Generation int32
	Worker     string
	Started    time.Time
	Ended      time.Time
	Outcome    string          // failed, released, lost, cancelled, superseded or buried
	Error      json.RawMessage // {code, message, component, detail}; nil where nothing went wrong
}

// Attempts returns the attempts of a job that ended without a result, oldest first.
func (s *Site) Attempts(ctx context.Context, jobID int64) ([]Attempt, error) {
	return pg.Rows(ctx, s.db, s.queue, "DeadLetterAttempts", pg.Args{"job_id": jobID}, func(r pgx.CollectableRow) (a Attempt, err error) {
		return a, r.Scan(&a.AttemptID, &a.Generation, &a.Worker, &a.Started, &a.Ended, &a.Outcome, (*[]byte)(&a.Error))
	})
}

// Replay has a dead job judged again, which resolves its dead letter, and returns its new generation. It returns a
// [*judge.RejectedError] if the job is not dead.
func (s *Site) Replay(ctx context.Context, jobID int64, by string) (int32, error) {
	_, found, err := pg.Row(ctx, s.db, s.queue, "JobDead", pg.Args{"job_id": jobID}, pgx.RowTo[int64])
	if err != nil {
		return 0, fmt.Errorf("replay job %d: %w", jobID, err)
	}
	if !found {
		return 0, jobs.Refused(ctx, s.db, jobID)
	}
	generations, err := s.Rejudge(ctx, []int64{jobID}, judge.LaneRejudge, by)
	return generations[jobID], err
}

// replayBatch is how many dead jobs one statement has judged again.
const replayBatch = 200

// ReplayAll has all dead jobs judged again that were given up for a reason ("" = any) before it was called, a bounded
// number with each statement, and returns how many. What was begun when ctx ends stays done, and calling it again does
// the rest. The audit log has one entry for all.
func (s *Site) ReplayAll(ctx context.Context, reason, by string) (n int, err error) {
	now, err := s.q.DatabaseNow(ctx, s.main)
	if err != nil {
		return 0, fmt.Errorf("replay dead letters: %w", err)
	}
	defer func() {
		if n == 0 {
			return
		}
		note := s.AuditNote(context.WithoutCancel(ctx), by, "replay_all", "dlq:"+reason, map[string]any{"jobs": n})
		err = errors.Join(err, note)
	}()
	for behind := int64(0); ; {
		ids, err := s.q.DeadLettersToReplay(ctx, s.main, dbsqlc.DeadLettersToReplayParams{Behind: behind, Until: now, Reason: reason, Max: replayBatch})
		if err == nil && len(ids) > 0 {
			var moved map[int64]int32
			moved, err = s.rejudge(ctx, ids, judge.LaneRejudge, by, false)
			n += len(moved)
		}
		if err != nil {
			return n, fmt.Errorf("replay dead letters: %w", err)
		}
		if len(ids) < replayBatch {
			return n, nil
		}
		behind = ids[len(ids)-1]
	}
}

// Discard resolves a dead letter without judging the job again, for a reason that
// is kept; [ErrNotFound] if there is none that is unresolved.
func (s *Site) Discard(ctx context.Context, jobID int64, by, reason string) error {
	_, found, err := pg.Row(ctx, s.db, s.queue, "DeadLetterDiscard", pg.Args{"job_id": jobID, "by": by, "reason": reason}, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("dead letter of job %d: %w", jobID, ErrNotFound)
	}
	return nil
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
