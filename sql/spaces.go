package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// ErrInUse is returned when something cannot be deleted because others need it.
var ErrInUse = pg.ErrInUse

func space(v dbsqlc.SpaceGetRow) judge.Space {
	return judge.Space{
		ID: v.ID, Slug: v.Slug, Title: v.Title, Description: v.Description, Opens: v.OpensAt, Closes: v.ClosesAt, Languages: v.Languages,
		MaxSourceKiB: v.MaxSourceKib, MaxWaiting: v.MaxWaiting, PerMinute: v.PerMinute, Listed: v.Listed, CreatedBy: v.CreatedBy, Created: v.CreatedAt,
		Role: judge.SpaceRole(v.Role), Now: v.Now, Members: v.Members, Problems: v.Problems,
	}
}

// Space returns a space as viewer sees it, or [ErrNotFound].
func (s *Site) Space(ctx context.Context, slug, viewer string) (*judge.Space, error) {
	v, err := s.q.SpaceGet(ctx, s.main, dbsqlc.SpaceGetParams{Slug: slug, Viewer: viewer})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("space %s: %w", slug, err)
	}
	out := space(v)
	return &out, nil
}

// SpaceFilter chooses spaces. Zero fields do not restrict.
type SpaceFilter struct {
	Viewer string // whose role is told
	All    bool   // also those that are neither listed nor the viewer's
	Before string // only those made before this one: the cursor
	Limit  int    // 1 to 200; 0 = 50
}

// Spaces returns the spaces that f chooses, newest first.
func (s *Site) Spaces(ctx context.Context, f SpaceFilter) ([]judge.Space, error) {
	found, err := s.q.SpaceList(ctx, s.main, dbsqlc.SpaceListParams{Viewer: f.Viewer, AllOfThem: f.All, Before: f.Before, Max: pg.Bounded(f.Limit)})
	if err != nil {
		return nil, fmt.Errorf("list spaces: %w", err)
	}
	out := make([]judge.Space, len(found))
	for i, v := range found {
		out[i] = space(dbsqlc.SpaceGetRow(v))
	}
	return out, nil
}

// CreateSpace adds a space; [ErrExists] if the name is taken.
func (s *Site) CreateSpace(ctx context.Context, v judge.Space, by string) error {
	n, err := s.q.SpaceCreate(ctx, s.main, dbsqlc.SpaceCreateParams{
		By: by, Slug: v.Slug, Title: v.Title, Description: v.Description, OpensAt: v.Opens, ClosesAt: v.Closes, Languages: orNone(v.Languages),
		MaxSourceKib: v.MaxSourceKiB, MaxWaiting: v.MaxWaiting, PerMinute: v.PerMinute, Listed: v.Listed,
	})
	if err == nil && n == 0 {
		err = ErrExists
	}
	if err != nil {
		return fmt.Errorf("create space %s: %w", v.Slug, err)
	}
	return nil
}

// UpdateSpace changes all settings of a space but its short name; [ErrNotFound] if there is none.
func (s *Site) UpdateSpace(ctx context.Context, v judge.Space, by string) error {
	n, err := s.q.SpaceUpdate(ctx, s.main, dbsqlc.SpaceUpdateParams{
		By: by, Slug: v.Slug, Title: v.Title, Description: v.Description, OpensAt: v.Opens, ClosesAt: v.Closes, Languages: orNone(v.Languages),
		MaxSourceKib: v.MaxSourceKiB, MaxWaiting: v.MaxWaiting, PerMinute: v.PerMinute, Listed: v.Listed,
	})
	return changed(n, err, "update space "+v.Slug)
}

// orNone is a list that is not NULL to the database.
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// DeleteSpace removes a space that nobody has handed anything in to. It returns [ErrNotFound], or [ErrInUse].
func (s *Site) DeleteSpace(ctx context.Context, slug, by string) error {
	v, err := s.q.SpaceDelete(ctx, s.main, dbsqlc.SpaceDeleteParams{Slug: slug, By: by})
	switch {
	case err == nil && !v.Found:
		err = ErrNotFound
	case err == nil && !v.Done:
		err = ErrInUse
	}
	if err != nil {
		return fmt.Errorf("delete space %s: %w", slug, err)
	}
	return nil
}

// SpaceRole returns the role of a user in a space, "" if they are no member.
func (s *Site) SpaceRole(ctx context.Context, id int64, user string) (judge.SpaceRole, error) {
	role, err := s.q.SpaceRole(ctx, s.main, dbsqlc.SpaceRoleParams{SpaceID: id, UserName: user})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("role of %s in space %d: %w", user, id, err)
	}
	return judge.SpaceRole(role), nil
}

// SpaceMembers returns members by name, from the one behind after on.
func (s *Site) SpaceMembers(ctx context.Context, id int64, after string, limit int) ([]judge.SpaceMember, error) {
	found, err := s.q.SpaceMembers(ctx, s.main, dbsqlc.SpaceMembersParams{SpaceID: id, After: after, Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list members of space %d: %w", id, err)
	}
	out := make([]judge.SpaceMember, len(found))
	for i, m := range found {
		out[i] = judge.SpaceMember{Name: m.UserName, DisplayName: m.DisplayName, Role: judge.SpaceRole(m.Role), Added: m.AddedAt}
	}
	return out, nil
}

// PutSpaceMembers adds accounts to a space, or changes their roles in it. If no
// account has one of the names, it returns all such and adds nobody.
func (s *Site) PutSpaceMembers(ctx context.Context, id int64, names []string, role judge.SpaceRole, by string) (unknown []string, err error) {
	unknown, err = s.q.SpaceMembersPut(ctx, s.main, dbsqlc.SpaceMembersPutParams{SpaceID: id, Names: names, Role: string(role), By: by})
	if err != nil {
		return nil, fmt.Errorf("add members to space %d: %w", id, err)
	}
	return unknown, nil
}

// RemoveSpaceMember takes somebody out of a space; [ErrNotFound] if they were not in it. What they handed in stays.
func (s *Site) RemoveSpaceMember(ctx context.Context, id int64, name, by string) error {
	n, err := s.q.SpaceMemberRemove(ctx, s.main, dbsqlc.SpaceMemberRemoveParams{SpaceID: id, UserName: name, By: by})
	return changed(n, err, fmt.Sprintf("remove %s from space %d", name, id))
}

// SpaceProblems returns the problems of a space in order.
func (s *Site) SpaceProblems(ctx context.Context, id int64, viewer string) ([]judge.SpaceProblem, error) {
	found, err := s.q.SpaceProblems(ctx, s.main, dbsqlc.SpaceProblemsParams{SpaceID: id, Viewer: viewer})
	if err != nil {
		return nil, fmt.Errorf("list problems of space %d: %w", id, err)
	}
	out := make([]judge.SpaceProblem, len(found))
	for i, p := range found {
		out[i] = judge.SpaceProblem{
			Slug: p.Problem, Title: p.Title, Points: p.Points, Worth: p.Worth, Hidden: p.Hidden, Solved: p.Solved,
			Tries: p.Tries, Verdict: judge.Verdict(p.Verdict), Score: p.Score, JobID: p.JobID,
		}
	}
	return out, nil
}

// ErrTooMany is returned by a change that would make a list too long.
var ErrTooMany = errors.New("too many")

// PutSpaceProblem adds a live problem to a space, or gives it another place and other points. Places are counted from
// 1; 0 keeps it where it is, or adds it at the end. It returns [ErrNotFound] if there is no such space or problem, and
// [ErrTooMany].
func (s *Site) PutSpaceProblem(ctx context.Context, id int64, problem string, place int, points *float64, by string) error {
	return s.changeSpaceProblems(ctx, id, "space_problem", problem, by, func(list []dbsqlc.SpaceProblemOrderRow) ([]dbsqlc.SpaceProblemOrderRow, error) {
		at := slices.IndexFunc(list, func(p dbsqlc.SpaceProblemOrderRow) bool { return p.Problem == problem })
		if at >= 0 {
			list = slices.Delete(list, at, at+1)
		} else {
			at = len(list)
		}
		if place > 0 {
			at = min(place-1, len(list))
		}
		if len(list) >= judge.MaxSpaceProblems {
			return nil, ErrTooMany
		}
		return slices.Insert(list, at, dbsqlc.SpaceProblemOrderRow{Problem: problem, Points: points}), nil
	})
}

// RemoveSpaceProblem takes a problem out of a space; [ErrNotFound] if it was not in
// it. What was handed in stays, and counts no more.
func (s *Site) RemoveSpaceProblem(ctx context.Context, id int64, problem, by string) error {
	return s.changeSpaceProblems(ctx, id, "space_problem_remove", problem, by, func(list []dbsqlc.SpaceProblemOrderRow) ([]dbsqlc.SpaceProblemOrderRow, error) {
		at := slices.IndexFunc(list, func(p dbsqlc.SpaceProblemOrderRow) bool { return p.Problem == problem })
		if at < 0 {
			return nil, ErrNotFound
		}
		return slices.Delete(list, at, at+1), nil
	})
}

// changeSpaceProblems changes the list of problems of a space, one caller at a time, and logs it.
func (s *Site) changeSpaceProblems(
	ctx context.Context, id int64, action, problem, by string, change func([]dbsqlc.SpaceProblemOrderRow) ([]dbsqlc.SpaceProblemOrderRow, error),
) error {
	err := pgx.BeginFunc(ctx, s.main, func(tx pgx.Tx) error {
		slug, err := s.q.SpaceHold(ctx, tx, id)
		if err != nil {
			return err
		}
		list, err := s.q.SpaceProblemOrder(ctx, tx, id)
		if err != nil {
			return err
		}
		if list, err = change(list); err != nil {
			return err
		}
		set := dbsqlc.SpaceProblemsSetParams{SpaceID: id, Problems: []string{}, Points: []float64{}}
		detail := map[string]any{"problem": problem}
		for i, p := range list {
			points := -1.0
			if p.Points != nil {
				points = *p.Points
			}
			set.Problems, set.Points = append(set.Problems, p.Problem), append(set.Points, points)
			if p.Problem == problem {
				detail["place"], detail["points"] = i+1, p.Points
			}
		}
		if err := s.q.SpaceProblemsSet(ctx, tx, set); err != nil {
			return err
		}
		data, err := pg.Encode(detail)
		if err != nil {
			return err
		}
		return s.q.AuditLogAdd(ctx, tx, dbsqlc.AuditLogAddParams{Actor: by, Action: action, Subject: "space:" + slug, Detail: data})
	})
	if pe, ok := errors.AsType[*pgconn.PgError](err); errors.Is(err, pgx.ErrNoRows) || ok && pe.Code == "23503" { // no such space, or problem
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("problem %s of space %d: %w", problem, id, err)
	}
	return nil
}

// SpaceDesk returns a space and one of its problems as viewer sees them, or [ErrNotFound] if there is no such space.
func (s *Site) SpaceDesk(ctx context.Context, slug, problemSlug, viewer string) (*judge.SpaceDesk, error) {
	v, err := s.q.SpaceDesk(ctx, s.main, dbsqlc.SpaceDeskParams{Slug: slug, Problem: problemSlug, Viewer: viewer})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("space %s: %w", slug, err)
	}
	d := &judge.SpaceDesk{Place: v.Place, Space: space(dbsqlc.SpaceGetRow{
		ID: v.ID, Slug: v.Slug, Title: v.Title, Description: v.Description, OpensAt: v.OpensAt, ClosesAt: v.ClosesAt, Languages: v.Languages,
		MaxSourceKib: v.MaxSourceKib, MaxWaiting: v.MaxWaiting, PerMinute: v.PerMinute, Listed: v.Listed, CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt,
		Now: v.Now, Role: v.Role,
	})}
	if v.Place > 0 {
		p, err := problem(v.Problem, v.UpdatedAt, v.Hidden)
		if err != nil {
			return nil, err
		}
		d.Problem = &p
	}
	return d, nil
}

// SpaceScores returns the contestants of a space, the best first, at most so many; 0 = all.
func (s *Site) SpaceScores(ctx context.Context, id int64, most int32) ([]judge.SpaceScore, error) {
	found, err := s.q.SpaceScores(ctx, s.main, dbsqlc.SpaceScoresParams{SpaceID: id, Max: cmp.Or(most, math.MaxInt32)})
	if err != nil {
		return nil, fmt.Errorf("scores of space %d: %w", id, err)
	}
	out := make([]judge.SpaceScore, len(found))
	for i, v := range found {
		out[i] = judge.SpaceScore{Name: v.UserName, DisplayName: v.DisplayName, Solved: v.Solved, Tried: v.Tried, Points: v.Points}
	}
	return out, nil
}

// ProblemLent reports whether somebody sees a hidden problem through a space: while
// it is open, or as one who prepares it, if that counts.
func (s *Site) ProblemLent(ctx context.Context, problem, viewer string, prepares bool) (bool, error) {
	lent, err := s.q.ProblemLent(ctx, s.main, dbsqlc.ProblemLentParams{Problem: problem, Viewer: viewer, Prepares: prepares})
	if err != nil {
		return false, fmt.Errorf("whether %s sees problem %s: %w", viewer, problem, err)
	}
	return lent, nil
}

// HandsInAs reports whether somebody hands in as a participant.
func (s *Site) HandsInAs(ctx context.Context, participant int64, user string) (bool, error) {
	mate, err := s.q.ParticipantMate(ctx, s.main, dbsqlc.ParticipantMateParams{Participant: participant, UserName: user})
	if err != nil {
		return false, fmt.Errorf("look up whether %s is in participant %d: %w", user, participant, err)
	}
	return mate, nil
}

// HideProblem says whether only setters see a problem, and members of a space that
// is open. A problem can be hidden before it is live.
func (s *Site) HideProblem(ctx context.Context, slug string, hidden bool, by string) error {
	if _, err := s.q.ProblemHide(ctx, s.main, dbsqlc.ProblemHideParams{Slug: slug, Hidden: hidden, By: by}); err != nil {
		return fmt.Errorf("hide problem %s: %w", slug, err)
	}
	return nil
}

// ProblemHidden reports whether a problem is hidden, which need not be live.
func (s *Site) ProblemHidden(ctx context.Context, slug string) (bool, error) {
	hidden, err := s.q.ProblemHidden(ctx, s.main, slug)
	if err != nil {
		return false, fmt.Errorf("whether problem %s is hidden: %w", slug, err)
	}
	return hidden, nil
}
