// Package rounds keeps the rounds of spaces, and who takes part in them.
//
// Every change writes, in its own transaction, what it changed to round_changes and to the log of privileged acts.
//
// Its files:
//
//	rounds.go        rounds and their times
//	said.go          what the log says of a round
//	problems.go      their problems
//	participants.go  teams and single people, with their groups and organizations
//	entries.go       who takes part in which round
//	awards.go        what the jury gives
//	extras.go        persons, accounts and commentary
//	marks.go         what does not count
//	adjustments.go   what staff add to rows
//	overrides.go     verdicts that staff give
//	logos.go         logos of organizations
//	tokens.go        tokens that are spent on submissions
//	clarifications.go  questions and answers
//	import.go        contests that were held elsewhere
//	importjobs.go    what was handed in to them, and their logs
//	record.go        the log of what happened
//	log.go           what logs say
//	snapshots.go     what boards were when they were shown
//	hooks.go         whom contests tell by themselves
package rounds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Store is where rounds are. It is safe for concurrent use.
type Store struct {
	db *pg.DB
	q  *dbsqlc.Queries
}

// New returns the store of a database.
func New(db *pg.DB) *Store { return &Store{db, dbsqlc.New()} }

// round makes a round of its row, without what was removed.
func round(v dbsqlc.RoundGetRow) judge.Round {
	return judge.Round{
		ID: v.ID, SpaceID: v.SpaceID, Space: v.Space, Code: v.Code, Title: v.Title, FormalName: v.FormalName, Kind: judge.RoundKind(v.Kind),
		Format: v.Format, Settings: v.Settings, Start: v.StartsAt, Paused: duration(v.PausedMs), Duration: duration(v.DurationMs),
		Freeze: duration(v.FreezeMs), Thaw: v.ThawAt, Thawed: v.ThawedAt, Finalized: v.FinalizedAt, FinalizedBy: v.FinalizedBy,
		UpdatesEnd: v.UpdatesEndAt, PublicRuns: v.PublicRuns, Practice: v.Practice, Follows: v.Follows, Speed: int(v.Speed), By: v.CreatedBy, Created: v.CreatedAt, Now: v.Now,
	}
}

// duration is what a column of milliseconds means.
func duration(ms *int64) *time.Duration {
	if ms == nil {
		return nil
	}
	return new(time.Duration(*ms) * time.Millisecond)
}

// millis is what a column of milliseconds gets.
func millis(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(d.Milliseconds())
}

// Round returns a round, or ErrNotFound.
func (s *Store) Round(ctx context.Context, code string) (*judge.Round, error) {
	v, err := s.q.RoundGet(ctx, s.db.Main, code)
	if err != nil {
		return nil, fmt.Errorf("round %s: %w", code, missing(err))
	}
	out := []judge.Round{round(v)}
	if err := s.remove(ctx, s.db.Main, out); err != nil {
		return nil, err
	}
	return &out[0], nil
}

// remove adds to rounds what was removed from their times.
func (s *Store) remove(ctx context.Context, db dbsqlc.DBTX, rounds []judge.Round) error {
	at := map[int64]*judge.Round{}
	ids := []int64{}
	for i := range rounds {
		at[rounds[i].ID], ids = &rounds[i], append(ids, rounds[i].ID)
	}
	found, err := s.q.RoundRemovedList(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("list what was removed from rounds: %w", err)
	}
	for _, d := range found {
		r := at[d.RoundID]
		r.Removed = append(r.Removed, judge.RoundRemoved{ID: d.ID, From: d.FromAt, To: d.ToAt, Reason: d.Reason, By: d.By, Undone: d.UndoneAt})
	}
	return nil
}

// missing is err, or ErrNotFound if that is what it says.
func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return pg.ErrNotFound
	}
	return err
}

// Filter chooses rounds. Zero fields do not restrict.
type Filter struct {
	Space  string // its short name
	Viewer string // who looks
	All    bool   // also those of spaces that are neither listed nor the viewer's
	Before string // only those made before the one of this code: the cursor
	Limit  int    // 1 to 200; 0 = 50
}

// Rounds returns the rounds that f chooses, newest first.
func (s *Store) Rounds(ctx context.Context, f Filter) ([]judge.Round, error) {
	found, err := s.q.RoundList(ctx, s.db.Main, dbsqlc.RoundListParams{
		Space: f.Space, AllOfThem: f.All, Viewer: f.Viewer, Before: f.Before, Max: pg.Bounded(f.Limit),
	})
	if err != nil {
		return nil, fmt.Errorf("list rounds: %w", err)
	}
	out := make([]judge.Round, len(found))
	for i, v := range found {
		out[i] = round(dbsqlc.RoundGetRow(v))
	}
	return out, s.remove(ctx, s.db.Main, out)
}

// Create adds a round to its space. It returns ErrNotFound if there is no such space, and ErrExists if the code is taken.
func (s *Store) Create(ctx context.Context, r judge.Round, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		made, err := s.q.RoundCreate(ctx, tx, dbsqlc.RoundCreateParams{
			Space: r.Space, Code: r.Code, Title: r.Title, FormalName: r.FormalName, Kind: string(r.Kind), Format: r.Format, Settings: settings(r),
			StartsAt: r.Start, PausedMs: millis(r.Paused), DurationMs: millis(r.Duration), FreezeMs: millis(r.Freeze), ThawAt: r.Thaw,
			PublicRuns: r.PublicRuns, Practice: r.Practice, Speed: int32(max(r.Speed, 1)), CreatedBy: by,
		})
		if err != nil {
			return err
		}
		return s.changed(ctx, tx, change{space: made.SpaceID, round: &made.ID, kind: "round", object: r.Code, act: "round_create", subject: "round:" + r.Code, detail: said(&r), by: by})
	})
	if err != nil {
		return fmt.Errorf("create round %s: %w", r.Code, named(missing(err)))
	}
	return nil
}

// named is err, or the error that the database's refusal means.
func named(err error) error {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && pe.Code == uniqueViolation:
		return pg.ErrExists
	case ok && pe.Code == foreignKeyViolation:
		return pg.ErrInUse
	}
	return err
}

// Errors of PostgreSQL, by its manual, appendix A.
const (
	foreignKeyViolation = "23503"
	uniqueViolation     = "23505"
)

func settings(r judge.Round) []byte {
	if len(r.Settings) == 0 {
		return []byte("{}")
	}
	return r.Settings
}

// Change has a round changed by act, one caller at a time, and returns it. An error of act changes nothing, and is
// returned as it is. Intervals without an id are new ones; code, id and space stay.
func (s *Store) Change(ctx context.Context, code, by, action string, act func(judge.Round) (judge.Round, error)) (*judge.Round, error) {
	return s.changeWith(ctx, code, by, action, nil, func(_ pgx.Tx, r judge.Round) (judge.Round, error) { return act(r) })
}

// Reopen is Change for a reason, which the log of privileged acts keeps.
func (s *Store) Reopen(ctx context.Context, code, by, reason string, act func(judge.Round) (judge.Round, error)) (*judge.Round, error) {
	return s.changeWith(ctx, code, by, "round_reopen", map[string]any{"reason": reason}, func(_ pgx.Tx, r judge.Round) (judge.Round, error) { return act(r) })
}

func (s *Store) changeWith(
	ctx context.Context, code, by, action string, more map[string]any, act func(pgx.Tx, judge.Round) (judge.Round, error),
) (*judge.Round, error) {
	var out *judge.Round
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		held, err := s.hold(ctx, tx, code)
		if err != nil {
			return err
		}
		before := *held
		before.Removed = slices.Clone(held.Removed)
		after, err := act(tx, *held)
		if err != nil {
			return err
		}
		after.ID, after.SpaceID, after.Space, after.Code = before.ID, before.SpaceID, before.Space, before.Code
		if err := s.update(ctx, tx, &after, by); err != nil {
			return err
		}
		out = &after
		detail := differences(said(&before), said(&after))
		if len(detail) == 0 {
			return nil
		}
		maps.Copy(detail, more)
		return s.changed(ctx, tx, change{space: after.SpaceID, round: &after.ID, kind: "round", object: code, act: action, subject: "round:" + code, detail: detail, by: by})
	})
	if err != nil {
		if _, refused := errors.AsType[*judge.FieldError](err); refused {
			return nil, err
		}
		if _, refused := errors.AsType[*judge.RoundOpenError](err); refused {
			return nil, err
		}
		return nil, fmt.Errorf("change round %s: %w", code, missing(err))
	}
	return out, nil
}

// Finalize is Change by an act that also looks at what has no result that stands.
func (s *Store) Finalize(
	ctx context.Context, code, by string, act func(judge.Round, judge.RoundUnsettled) (judge.Round, error),
) (*judge.Round, error) {
	return s.changeWith(ctx, code, by, "round_finalize", nil, func(tx pgx.Tx, r judge.Round) (judge.Round, error) {
		u, err := s.q.RoundUnsettled(ctx, tx, r.ID)
		if err != nil {
			return r, err
		}
		return act(r, judge.RoundUnsettled{Unjudged: int(u.Unjudged), Errors: int(u.Errors), InSets: int(u.InSets), Questions: int(u.Questions)})
	})
}

// hold returns a round and keeps others from changing it until the transaction ends.
func (s *Store) hold(ctx context.Context, tx pgx.Tx, code string) (*judge.Round, error) {
	v, err := s.q.RoundHold(ctx, tx, code)
	if err != nil {
		return nil, err
	}
	held := []judge.Round{round(dbsqlc.RoundGetRow(v))}
	if err := s.remove(ctx, tx, held); err != nil {
		return nil, err
	}
	return &held[0], nil
}

// update writes a round with what was removed from its time.
func (s *Store) update(ctx context.Context, tx pgx.Tx, r *judge.Round, by string) error {
	err := s.q.RoundUpdate(ctx, tx, dbsqlc.RoundUpdateParams{
		ID: r.ID, Title: r.Title, FormalName: r.FormalName, Kind: string(r.Kind), Format: r.Format, Settings: settings(*r), StartsAt: r.Start,
		PausedMs: millis(r.Paused), DurationMs: millis(r.Duration), FreezeMs: millis(r.Freeze), ThawAt: r.Thaw, ThawedAt: r.Thawed,
		FinalizedAt: r.Finalized, FinalizedBy: r.FinalizedBy, UpdatesEndAt: r.UpdatesEnd, PublicRuns: r.PublicRuns, Practice: r.Practice,
	})
	if err != nil {
		return err
	}
	for i := range r.Removed {
		switch d := &r.Removed[i]; {
		case d.ID == 0:
			d.By = by
			d.ID, err = s.q.RoundRemovedAdd(ctx, tx, dbsqlc.RoundRemovedAddParams{RoundID: r.ID, FromAt: d.From, ToAt: d.To, Reason: d.Reason, By: by})
		case d.Undone != nil:
			err = s.q.RoundRemovedUndo(ctx, tx, dbsqlc.RoundRemovedUndoParams{UndoneAt: d.Undone, ID: d.ID, RoundID: r.ID})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a round that nobody has handed anything in to. It returns ErrNotFound, or ErrInUse.
func (s *Store) Delete(ctx context.Context, code, by string) error {
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		v, err := s.q.RoundHold(ctx, tx, code)
		if err != nil {
			return err
		}
		n, err := s.q.RoundDelete(ctx, tx, v.ID)
		if err == nil && n == 0 {
			err = pg.ErrInUse
		}
		if err != nil {
			return err
		}
		return s.changed(ctx, tx, change{space: v.SpaceID, round: &v.ID, kind: "round", object: code, act: "round_delete", subject: "round:" + code, by: by})
	})
	if err != nil {
		return fmt.Errorf("delete round %s: %w", code, missing(err))
	}
	return nil
}

// change is what a transaction has changed.
type change struct {
	space        int64
	round        *int64 // nil = all rounds of the space
	kind, object string // for whoever follows rounds
	act, subject string // for the log
	detail       map[string]any
	by           string
}

// changed says what a transaction has changed.
func (s *Store) changed(ctx context.Context, tx pgx.Tx, c change) error {
	if err := s.q.RoundChangeAdd(ctx, tx, dbsqlc.RoundChangeAddParams{SpaceID: c.space, RoundID: c.round, Kind: c.kind, Object: c.object}); err != nil {
		return err
	}
	if c.detail == nil {
		c.detail = map[string]any{}
	}
	data, err := pg.Encode(c.detail)
	if err != nil {
		return err
	}
	return s.q.AuditLogAdd(ctx, tx, dbsqlc.AuditLogAddParams{Actor: c.by, Action: c.act, Subject: c.subject, Detail: data})
}
