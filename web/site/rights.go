package site

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
)

// This file answers what somebody may do in a space, by the rules of package people.

// SpaceRole is the viewer's role in a space: that of the member, but through a key
// no more than the key may do elsewhere.
func (v Viewer) SpaceRole(member judge.SpaceRole) judge.SpaceRole {
	if v.Key != 0 && !v.Staff() {
		member = people.SpaceRoleByKey(v.Scope, member)
	}
	return people.SpaceRole(v.Role, member)
}

// May reports whether the viewer may do something in a space.
func (v Viewer) May(act people.SpaceAct, space *judge.Space) bool {
	return people.May(v.SpaceRole(space.Role), act, space)
}

// noSpace is the answer to whoever may not see a space, which does not exist for them.
func noSpace(slug string) error {
	f := Refuse(fiber.StatusNotFound, "not_found", "There is no space %q that you may see.", "Have its staff add you, if there is one.", Shorten(slug))
	f.Field = "space"
	return f
}

// notAllowed says why the viewer may not do something in a space that they see.
func notAllowed(act people.SpaceAct, v Viewer, space *judge.Space) error {
	switch {
	case act == people.ManageSpace:
		return Refuse(fiber.StatusForbidden, "forbidden", "Only staff of the space may do this.", "Have its staff do it, or give you the role staff in it.")
	case act == people.ArrangeSpace:
		return Refuse(fiber.StatusForbidden, "forbidden", "Only setters and staff of the space may do this.", "Have its staff give you the role setter in it.")
	case v.SpaceRole(space.Role) == "":
		return notMember(space)
	}
	return notOpen(space)
}

func notMember(space *judge.Space) error {
	f := Refuse(fiber.StatusForbidden, string(judge.SpaceNotMember), "Only members take part in %s.", "Have its staff add you.", space.Title)
	f.Field = "space"
	return f
}

func notOpen(space *judge.Space) error {
	f := Refuse(fiber.StatusForbidden, string(judge.SpaceNotOpen), "%s has not begun.", "", space.Title)
	if f.Field = "space"; space.Opens != nil {
		f.Mended("It opens at %s.", locale.When(*space.Opens))
		f.Opens = space.Opens.Sub(space.Now)
	}
	return f
}

// SpaceFor returns the space that the address names, if the viewer may do something in it.
func (s *Site) SpaceFor(c *fiber.Ctx, act people.SpaceAct) (*judge.Space, error) {
	return s.SpaceCalled(c, c.Params("space"), act)
}

// SpaceCalled returns the space of that name, if the viewer may do the act in it.
func (s *Site) SpaceCalled(c *fiber.Ctx, slug string, act people.SpaceAct) (*judge.Space, error) {
	v := ViewerOf(c)
	if !PlainWord(slug) {
		return nil, noSpace(slug)
	}
	space, err := s.Store.Space(c.UserContext(), slug, v.Name)
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !v.May(people.SeeSpace, space):
		return nil, noSpace(slug)
	case err != nil:
		return nil, err
	case !v.May(act, space):
		return nil, notAllowed(act, v, space)
	}
	return space, nil
}

// ShortName is what short names of rounds, participants, groups and organizations consist of.
var ShortName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,35}$`)

// noRound refuses the name of a round that the viewer may not see, whether there is one or not.
func noRound(name string) error {
	return Refuse(fiber.StatusNotFound, "not_found", "There is no round %q.", "", Shorten(name))
}

// RoundCalled returns a round by its short name, and its space, if the viewer may do something in that. What follows a space
// is for whom the scores of the space are.
func (s *Site) RoundCalled(c *fiber.Ctx, name string, act people.SpaceAct) (*judge.Round, *judge.Space, error) {
	if !ShortName.MatchString(name) {
		return nil, nil, noRound(name)
	}
	r, err := s.Config.Rounds.Round(c.UserContext(), name)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, nil, noRound(name)
	}
	if err != nil {
		return nil, nil, err
	}
	space, err := s.SpaceCalled(c, r.Space, act)
	if err == nil && r.Follows && !ViewerOf(c).May(people.SeeSpaceProblems, space) {
		err = noRound(name)
	}
	if f, ok := errors.AsType[*Fault](err); ok && f.Status == fiber.StatusNotFound {
		err = noRound(name)
	}
	if err != nil {
		return nil, nil, err
	}
	return r, space, nil
}

// Desk returns a space and one of its problems, to be read or solved there.
func (s *Site) Desk(ctx context.Context, v Viewer, slug, problem string) (*judge.SpaceDesk, error) {
	err := sql.ErrNotFound
	var d *judge.SpaceDesk
	if PlainWord(slug) && PlainWord(problem) {
		d, err = s.Store.SpaceDesk(ctx, slug, problem, v.Name)
	}
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !v.May(people.SeeSpace, &d.Space):
		return nil, noSpace(slug)
	case err != nil:
		return nil, err
	case !v.May(people.SeeSpaceProblems, &d.Space):
		return nil, notAllowed(people.SeeSpaceProblems, v, &d.Space)
	case d.Problem == nil:
		f := Refuse(fiber.StatusNotFound, "not_found", "There is no problem %q in this space.", "Choose one of its problems.", Shorten(problem))
		f.Field = "problem"
		return nil, f
	case d.Problem.Hidden && !v.Setter() && !people.Prepares(v.SpaceRole(d.Space.Role)) && d.Space.Phase() != judge.SpaceOpen:
		return nil, spaceClosed(&d.Space, "The problem was shown while it was open.")
	}
	if !v.Setter() && d.Space.Phase() != judge.SpaceAfter {
		d.Problem.Tags, d.Problem.Difficulty = nil, 0 // they tell how it is solved
	}
	return d, nil
}

func spaceClosed(space *judge.Space, remedy locale.Word) error {
	f := Refuse(fiber.StatusForbidden, string(judge.SpaceClosed), "%s is closed.", remedy, space.Title)
	if f.Field = "space"; space.Closes != nil {
		f.Told("%s closed at %s.", space.Title, locale.When(*space.Closes))
	}
	return f
}

// Sees reports whether the viewer may see a problem outside of spaces.
func (s *Site) Sees(ctx context.Context, v Viewer, p *judge.Problem) (bool, error) {
	if !p.Hidden || v.Setter() {
		return true, nil
	}
	return s.Store.ProblemLent(ctx, p.Slug, v.Name, people.Prepares(v.SpaceRole(judge.SpaceStaff)))
}

// Visible returns the problems of a list that are for the viewer. Those that a space lends are on its page.
func Visible(v Viewer, problems []judge.Problem) []judge.Problem {
	hidden := func(p judge.Problem) bool { return p.Hidden }
	if v.Setter() || !slices.ContainsFunc(problems, hidden) {
		return problems
	}
	return slices.DeleteFunc(slices.Clone(problems), hidden)
}

// SpaceFault explains why a space did not take a submission; other errors stay.
func SpaceFault(err error, space *judge.Space) error {
	refused, ok := errors.AsType[*judge.SpaceError](err)
	if !ok || space == nil {
		return err
	}
	f := Refuse(fiber.StatusTooManyRequests, string(refused.Refusal), "", "")
	f.Field = "space"
	switch refused.Refusal {
	case judge.SpaceNotMember:
		return notMember(space)
	case judge.SpaceNotOpen:
		return notOpen(space)
	case judge.SpaceClosed:
		return spaceClosed(space, "It takes no more submissions.")
	case judge.SpaceTooFast:
		f.Told("%s takes %d submissions a minute from each member.", space.Title, space.PerMinute)
		f.RetryAfter = time.Second
		if refused.Patience != nil {
			f.RetryAfter = max(time.Second, time.Duration(WholeSeconds(*refused.Patience))*time.Second)
		}
		f.Mended("Try again in %s.", f.RetryAfter)
	case judge.SpaceTooManyWaiting:
		f.Told("As many submissions of yours as %s allows, %d, are not judged yet.", space.Title, space.MaxWaiting)
		f.Mended("Wait for a verdict.")
		f.RetryAfter = 5 * time.Second
	}
	return f
}

// SubmissionSeen returns a submission as the viewer sees it: its author, who hands in with them, staff, and staff of the space
// that it was handed in to, who see what a round hides from participants. To others there is none: [sql.ErrNotFound].
func (s *Site) SubmissionSeen(ctx context.Context, v Viewer, id int64) (*judge.Submission, error) {
	reader := s.Store.For(v.Staff())
	sub, err := reader.Submission(ctx, id)
	if err != nil {
		return nil, err
	}
	manages := v.Staff()
	if sub.SpaceID != 0 && !manages && (sub.Feedback.Veils() || !v.MaySee(sub.Author)) {
		if manages, err = s.ManagesSpace(ctx, v, sub.SpaceID); err != nil {
			return nil, err
		}
	}
	seen := manages || v.MaySee(sub.Author)
	if !seen && sub.Participant != 0 && v.Known() {
		if seen, err = s.Store.HandsInAs(ctx, sub.Participant, v.Name); err != nil {
			return nil, err
		}
	}
	switch {
	case !seen:
		return nil, sql.ErrNotFound
	case manages && sub.Feedback.Veils():
		return reader.Unveiled().Submission(ctx, id)
	}
	return sub, nil
}

// ManagesSpace reports whether the viewer is staff of a space.
func (s *Site) ManagesSpace(ctx context.Context, v Viewer, space int64) (bool, error) {
	role, err := s.Store.SpaceRole(ctx, space, v.Name)
	return err == nil && v.SpaceRole(role) == judge.SpaceStaff, err
}

// ProblemFor returns the problem that the address names.
func (s *Site) ProblemFor(c *fiber.Ctx) (*judge.Problem, error) {
	slug := c.Params("slug")
	if !PlainWord(slug) {
		return nil, sql.ErrNotFound
	}
	p, err := s.Store.Problem(c.UserContext(), slug)
	seen := false
	if err == nil {
		seen, err = s.Sees(c.UserContext(), ViewerOf(c), p)
	}
	if errors.Is(err, sql.ErrNotFound) || err == nil && !seen {
		return nil, Refuse(fiber.StatusNotFound, "not_found", "There is no problem %q.", "", Shorten(slug))
	}
	if err != nil {
		return nil, fmt.Errorf("look up problem: %w", err)
	}
	return p, nil
}
