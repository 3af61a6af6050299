package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/pg"
	"deepoj/sql/jobs"
)

// Rejudge starts a new generation of each job, also of dead ones. It returns the generation of each job that exists. A
// job that waits untried keeps its own, so a repeated request changes nothing.
func (s *Site) Rejudge(ctx context.Context, ids []int64, lane judge.Lane, by string) (map[int64]int32, error) {
	return s.rejudge(ctx, ids, lane, by, true)
}

func (s *Site) rejudge(ctx context.Context, ids []int64, lane judge.Lane, by string, log bool) (map[int64]int32, error) {
	out, moved, err := jobs.Rejudge(ctx, s.db, s.queue, ids, lane, by, nil, log)
	if err != nil {
		return nil, err
	}
	jobs.WakeRejudged(s.db, moved)
	return out, nil
}

// RejudgeRequest says which submissions are judged again as a set. At least one of JobIDs, Problem, Language, Author
// and Verdict chooses; together they narrow.
type RejudgeRequest struct {
	Key      string        `json:"-"` // idempotency key; "" = none
	Reason   string        `json:"-"` // for people
	By       string        `json:"-"` // who asks
	JobIDs   []int64       `json:"job_ids,omitempty"`
	Problem  string        `json:"problem,omitempty"`
	Language string        `json:"language,omitempty"`
	Author   string        `json:"author,omitempty"`
	Verdict  judge.Verdict `json:"verdict,omitempty"` // the one that is shown
}

// RejudgeSet is a set of submissions that are judged again beside what is shown.
type RejudgeSet struct {
	ID         int64
	Key        string
	Reason     string
	Request    json.RawMessage // the chosen fields of the request
	Skipped    int32           // asked for, but under way or without a verdict
	CreatedBy  string
	Created    time.Time
	Resolution string // applied, cancelled, or "" while open
	ResolvedBy string
	Resolved   *time.Time
	Total      int64
	Waiting    int64
	Running    int64
	Judged     int64 // have their new verdict
	Dead       int64 // were given up
	Left       int64 // cancelled or rejudged on their own
	Changed    int64 // judged, and the verdict or score is another
}

// Done reports whether none of the set's judgings is under way.
func (r RejudgeSet) Done() bool { return r.Waiting+r.Running == 0 }

// StartRejudge has submissions judged again in the last lane, beside the verdict that is shown, and returns their set.
// Those that are under way or have no verdict are left out. A request with a known Key returns the set that it made
// before; the same key with other submissions is a [*judge.FieldError].
func (s *Site) StartRejudge(ctx context.Context, r RejudgeRequest) (RejudgeSet, error) {
	if len(r.JobIDs) == 0 && r.Problem == "" && r.Language == "" && r.Author == "" && r.Verdict == "" {
		return RejudgeSet{}, judge.Wrong("problem", "missing", "choose submissions by job_ids, problem, language, author or verdict")
	}
	request, err := pg.Encode(r)
	if err != nil {
		return RejudgeSet{}, fmt.Errorf("rejudge: %w", err)
	}
	var id int64
	var moved []int64
	err = pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error {
		var found bool
		id, found, err = pg.Row(ctx, s.db, tx, "RejudgeSetAdd", pg.Args{"key": orNil(r.Key), "reason": r.Reason, "request": request, "by": r.By}, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		if !found {
			id, err = s.sameRejudge(ctx, tx, r.Key, request)
			return err
		}
		moved, err = s.fillRejudge(ctx, tx, id, r)
		return err
	})
	if err != nil {
		return RejudgeSet{}, fmt.Errorf("rejudge as a set: %w", err)
	}
	jobs.WakeRejudged(s.db, moved)
	return s.RejudgeSet(ctx, id)
}

// sameRejudge returns the set that an earlier request with the key made.
func (s *Site) sameRejudge(ctx context.Context, tx pgx.Tx, key string, request []byte) (int64, error) {
	type known struct {
		ID   int64
		Same bool
	}
	k, found, err := pg.Row(ctx, s.db, tx, "RejudgeSetOfKey", pg.Args{"key": key, "request": request}, pgx.RowToStructByPos[known])
	if err != nil || !found {
		return 0, errors.Join(err, fmt.Errorf("set of key %q: %w", key, ErrNotFound))
	}
	if !k.Same {
		return 0, judge.Wrong("key", "reused", "the key was used before, for set %d, with other submissions", k.ID)
	}
	return k.ID, nil
}

// fillRejudge chooses the submissions of a set and starts their judgings.
func (s *Site) fillRejudge(ctx context.Context, tx pgx.Tx, set int64, r RejudgeRequest) ([]int64, error) {
	type candidate struct {
		JobID    int64
		Eligible bool
	}
	if len(r.JobIDs) == 0 {
		r.JobIDs = nil // not to choose by
	}
	asked, err := pg.Rows(ctx, s.db, tx, "RejudgeSetCandidates", pg.Args{
		"job_ids": r.JobIDs, "problem": r.Problem, "language": r.Language, "author": r.Author, "verdict": string(r.Verdict),
	}, pgx.RowToStructByPos[candidate])
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, c := range asked {
		if c.Eligible {
			ids = append(ids, c.JobID)
		}
	}
	if ids, err = pg.Rows(ctx, s.db, tx, "RejudgeSetTake", pg.Args{"id": set, "job_ids": ids}, pgx.RowTo[int64]); err != nil {
		return nil, err
	}
	if _, _, err = jobs.Rejudge(ctx, s.db, tx, ids, judge.LaneBatch, r.By, &set, false); err != nil {
		return nil, err
	}
	_, err = pg.Rows(ctx, s.db, tx, "RejudgeSetFill", pg.Args{"id": set, "skipped": len(asked) - len(ids)}, pgx.RowTo[int64])
	return ids, err
}

// RejudgeSet returns a set with its progress, or [ErrNotFound].
func (s *Site) RejudgeSet(ctx context.Context, id int64) (RejudgeSet, error) {
	found, err := s.rejudgeSets(ctx, id, 0, 1)
	if err != nil {
		return RejudgeSet{}, err
	}
	if id <= 0 || len(found) == 0 {
		return RejudgeSet{}, fmt.Errorf("rejudge set %d: %w", id, ErrNotFound)
	}
	return found[0], nil
}

// RejudgeSets returns the sets with an id below before (0 = no bound), newest first.
func (s *Site) RejudgeSets(ctx context.Context, before int64, limit int) ([]RejudgeSet, error) {
	return s.rejudgeSets(ctx, 0, before, limit)
}

func (s *Site) rejudgeSets(ctx context.Context, id, before int64, limit int) ([]RejudgeSet, error) {
	found, err := pg.Rows(ctx, s.db, s.main, "RejudgeSetList", pg.Args{"id": id, "before": orMax(before), "max": pg.Bounded(limit)}, pgx.RowToStructByPos[RejudgeSet])
	if err != nil {
		return nil, fmt.Errorf("list rejudge sets: %w", err)
	}
	return found, nil
}

// RejudgeChange is a submission whose verdict or score a set changes.
type RejudgeChange struct {
	JobID       int64
	Author      string
	Problem     string
	Title       string // of the problem
	Before      judge.Verdict
	BeforeScore *float64
	After       judge.Verdict
	AfterScore  *float64
}

// RejudgeChanges returns what a set changes, of jobs with an id above after, in the order of their ids.
func (s *Site) RejudgeChanges(ctx context.Context, id, after int64, limit int) ([]RejudgeChange, error) {
	found, err := pg.Rows(ctx, s.db, s.main, "RejudgeSetChanges", pg.Args{"id": id, "after": after, "max": pg.Bounded(limit)}, pgx.RowToStructByPos[RejudgeChange])
	if err != nil {
		return nil, fmt.Errorf("changes of rejudge set %d: %w", id, err)
	}
	return found, nil
}

// RejudgeTurn is how many judgings of a set turned one verdict into another, or kept it.
type RejudgeTurn struct {
	Before, After judge.Verdict
	Count         int64
}

// RejudgeMatrix returns what a set turns into what, as far as it is judged.
func (s *Site) RejudgeMatrix(ctx context.Context, id int64) ([]RejudgeTurn, error) {
	found, err := pg.Rows(ctx, s.db, s.main, "RejudgeSetMatrix", pg.Args{"id": id}, pgx.RowToStructByPos[RejudgeTurn])
	if err != nil {
		return nil, fmt.Errorf("matrix of rejudge set %d: %w", id, err)
	}
	return found, nil
}

// ApplyRejudge shows the new verdicts of a set. It is refused with a [*judge.FieldError] while judgings are under way,
// and of a cancelled set; applying again is a success. Jobs that left the set keep what they show.
func (s *Site) ApplyRejudge(ctx context.Context, id int64, by string) error {
	return s.resolveRejudge(ctx, "RejudgeSetApply", "applied", id, by)
}

// CancelRejudge ends the judgings of a set that are under way and keeps the verdicts that are shown. It is refused with
// a [*judge.FieldError] for a set that was applied; cancelling again is a success.
func (s *Site) CancelRejudge(ctx context.Context, id int64, by string) error {
	return s.resolveRejudge(ctx, "RejudgeSetCancel", "cancelled", id, by)
}

func (s *Site) resolveRejudge(ctx context.Context, statement, as string, id int64, by string) error {
	type answer struct {
		Was  string
		Open int64
		Jobs []int64
	}
	a, found, err := pg.Row(ctx, s.db, s.main, statement, pg.Args{"id": id, "by": by}, pgx.RowToStructByPos[answer])
	switch {
	case err != nil:
		return fmt.Errorf("rejudge set %d: %w", id, err)
	case !found:
		return fmt.Errorf("rejudge set %d: %w", id, ErrNotFound)
	case a.Was == as:
		return nil
	case a.Was == "applied":
		return judge.Wrong("set", "resolved", "set %d was applied already; start a new one", id)
	case a.Was != "":
		return judge.Wrong("set", "resolved", "set %d was cancelled already; start a new one", id)
	case a.Open > 0:
		return judge.Wrong("set", "unfinished", "%d judgings of set %d are under way: wait for them, or cancel the set", a.Open, id)
	}
	s.db.WakeEvents(a.Jobs...)
	if len(a.Jobs) > 0 {
		s.db.Wake(pg.ChannelStops, "")
	}
	return nil
}
