package rounds

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// Problems returns the problems of a round in order.
func (s *Store) Problems(ctx context.Context, round int64) ([]judge.RoundProblem, error) {
	return s.problems(ctx, s.db.Main, round)
}

func (s *Store) problems(ctx context.Context, db dbsqlc.DBTX, round int64) ([]judge.RoundProblem, error) {
	found, err := s.q.RoundProblemList(ctx, db, round)
	if err != nil {
		return nil, fmt.Errorf("list problems of round %d: %w", round, err)
	}
	out := make([]judge.RoundProblem, len(found))
	for i, p := range found {
		out[i] = judge.RoundProblem{
			Problem: p.Problem, Version: p.Version, Title: p.Title, Label: p.Label, Points: p.Points, RGB: p.Rgb, Color: p.Color, Paused: p.PausedAt,
		}
	}
	return out, nil
}

// ChangeProblems has the problems of a round changed by act, one caller at a time: the list that it returns is the new
// one, in order. An error of act changes nothing, and is returned as it is. A problem or a version that does not exist is a
// [*judge.FieldError]. Problems that somebody has handed something in to stay: ErrInUse.
func (s *Store) ChangeProblems(
	ctx context.Context, code, by string, act func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error),
) ([]judge.RoundProblem, error) {
	var out []judge.RoundProblem
	err := pgx.BeginFunc(ctx, s.db.Main, func(tx pgx.Tx) error {
		r, err := s.hold(ctx, tx, code)
		if err != nil {
			return missing(err)
		}
		before, err := s.problems(ctx, tx, r.ID)
		if err != nil {
			return err
		}
		after, err := act(*r, before)
		if err != nil {
			return err
		}
		if r.Follows && !slices.EqualFunc(before, after, followed) {
			return judge.Wrong("problems", "follows", "problems, their letters and points are those of the space: change them there. Versions and colours are set here")
		}
		if err := s.setProblems(ctx, tx, r.ID, after); err != nil {
			return err
		}
		if out, err = s.problems(ctx, tx, r.ID); err != nil {
			return err
		}
		return s.changed(ctx, tx, change{
			space: r.SpaceID, round: &r.ID, kind: "problems", object: code, act: "round_problems", subject: "round:" + code,
			detail: map[string]any{"problems": listed(out)}, by: by,
		})
	})
	if err != nil {
		return nil, refusal(fmt.Sprintf("problems of round %s", code), err)
	}
	return out, nil
}

// listed is what the log says of problems.
func listed(problems []judge.RoundProblem) []map[string]any {
	out := []map[string]any{}
	for _, p := range problems {
		m := map[string]any{"label": p.Label, "problem": p.Problem, "version": p.Version}
		if p.Points != nil {
			m["points"] = *p.Points
		}
		if p.Paused != nil {
			m["paused"] = moment(p.Paused)
		}
		out = append(out, m)
	}
	return out
}

// followed reports whether two are the same problem, as far as the space says what it is.
func followed(a, b judge.RoundProblem) bool {
	return a.Problem == b.Problem && a.Label == b.Label && (a.Points == nil) == (b.Points == nil) && (a.Points == nil || *a.Points == *b.Points)
}

func (s *Store) setProblems(ctx context.Context, tx pgx.Tx, round int64, list []judge.RoundProblem) error {
	slugs, versions := []string{}, []string{}
	rows := make([]dbsqlc.RoundProblemPutParams, len(list))
	for i, p := range list {
		slugs, versions = append(slugs, p.Problem), append(versions, p.Version)
		rows[i] = dbsqlc.RoundProblemPutParams{
			RoundID: round, Problem: p.Problem, Version: p.Version, Place: int32(i + 1), Label: p.Label, Points: p.Points, Rgb: p.RGB, Color: p.Color,
			PausedAt: p.Paused,
		}
	}
	unknown, err := s.q.RoundProblemUnknown(ctx, tx, dbsqlc.RoundProblemUnknownParams{Problems: slugs, Versions: versions})
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		u := unknown[0]
		if u.Version == "" {
			return judge.Wrong("problem", "unknown", "there is no problem %q", u.Problem)
		}
		return judge.Wrong("version", "unknown", "problem %q has no version %q", u.Problem, u.Version)
	}
	used, err := s.q.RoundProblemUsed(ctx, tx, dbsqlc.RoundProblemUsedParams{RoundID: round, Problems: slugs})
	if err != nil {
		return err
	}
	if len(used) > 0 {
		return pg.ErrInUse
	}
	if err := s.q.RoundProblemGone(ctx, tx, dbsqlc.RoundProblemGoneParams{RoundID: round, Problems: slugs}); err != nil {
		return err
	}
	return all(s.q.RoundProblemPut(ctx, tx, rows))
}

// executed are the answers to a batch of statements.
type executed interface{ Exec(func(int, error)) }

// all returns the first error of a batch.
func all(b executed) (first error) {
	b.Exec(func(_ int, err error) {
		if first == nil {
			first = err
		}
	})
	return first
}
