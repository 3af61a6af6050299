package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
)

// Profile is what others may see of an account, and who they are.
type Profile struct {
	Name     string
	Since    time.Time
	Disabled bool
	SeenBy   judge.Audience
}

// Profile returns the profile of an account, or [ErrNotFound].
func (s *Site) Profile(ctx context.Context, name string) (Profile, error) {
	v, err := s.q.ProfileGet(ctx, s.main, name)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Profile{}, fmt.Errorf("profile of %s: %w", name, err)
	}
	return Profile{v.Name, v.CreatedAt, v.Disabled, judge.Audience(v.SeenBy)}, nil
}

// SetProfile says who sees the profile of an account.
func (s *Site) SetProfile(ctx context.Context, name string, seenBy judge.Audience) error {
	if err := s.q.ProfileSet(ctx, s.main, dbsqlc.ProfileSetParams{Name: name, SeenBy: string(seenBy)}); err != nil {
		return fmt.Errorf("set the profile of %s: %w", name, err)
	}
	return nil
}

// ProfileView says of whom something is wanted, and what of it whoever looks may see.
type ProfileView struct {
	Author, Viewer string
	Hidden         bool // hidden problems, too
	Everything     bool // spaces that are not listed, too
}

// ProfileProblem is a problem that somebody has tried.
type ProfileProblem struct {
	Slug, Title string
	Tries       int64
	Solved      *time.Time // nil = not yet
}

// ProfileProblems returns the problems that somebody has tried, those that were solved last first. It counts what
// [Statistics] count.
func (s *Site) ProfileProblems(ctx context.Context, v ProfileView, limit int) ([]ProfileProblem, error) {
	found, err := s.q.ProfileProblems(ctx, planned{s.main}, dbsqlc.ProfileProblemsParams{Author: v.Author, Viewer: v.Viewer, Hidden: v.Hidden, Everything: v.Everything, Max: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("problems of %s: %w", v.Author, err)
	}
	out := make([]ProfileProblem, len(found))
	for i, p := range found {
		out[i] = ProfileProblem{p.Problem, p.Title, p.Tries, nil}
		if p.Solved {
			out[i].Solved = &p.First
		}
	}
	return out, nil
}

// ProfileDays counts by day what somebody handed in lately, as [Site.ProfileProblems] does. Days without any are left out.
func (s *Site) ProfileDays(ctx context.Context, v ProfileView, days int) ([]Day, error) {
	found, err := s.q.ProfileDays(ctx, planned{s.main}, dbsqlc.ProfileDaysParams{Author: v.Author, Viewer: v.Viewer, Hidden: v.Hidden, Everything: v.Everything, Days: int32(days)})
	if err != nil {
		return nil, fmt.Errorf("days of %s: %w", v.Author, err)
	}
	out := make([]Day, len(found))
	for i, d := range found {
		out[i] = Day{int(d.Ago), d.Submitted, d.Accepted}
	}
	return out, nil
}
