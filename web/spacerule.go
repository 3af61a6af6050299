package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// This file is the one place that says what somebody may do in a space. When a
// space takes submissions, and how many, the database decides as it stores them.

// spaceAct is something that people do in a space.
type spaceAct int

const (
	seeSpace         spaceAct = iota // that it exists, and its settings
	seeSpaceProblems                 // and scores
	arrangeSpace                     // choose its problems
	manageSpace                      // its settings and members, and see what all hand in
)

// spaceRole is the viewer's role in a space: that of the member, but through a key
// no more than the key may do elsewhere. Staff of the site are staff of each space.
func (v viewer) spaceRole(member sql.SpaceRole) sql.SpaceRole {
	switch {
	case v.Staff():
		return sql.SpaceStaff
	case member == "" || v.Key == 0:
		return member
	}
	most := slices.Index(sql.SpaceRoles, sql.SpaceRole(v.Scope.Role()))
	if most < 0 { // more than any role in a space
		return member
	}
	return sql.SpaceRoles[min(most, slices.Index(sql.SpaceRoles, member))]
}

// prepares reports whether somebody with the role prepares a space: no time and no
// limit of it binds them, and nothing that they hand in counts.
func prepares(role sql.SpaceRole) bool { return role == sql.SpaceSetter || role == sql.SpaceStaff }

// may reports whether the viewer may do something in a space.
func (v viewer) may(act spaceAct, space *sql.Space) bool {
	role := v.spaceRole(space.Role)
	switch act {
	case seeSpace:
		return space.Listed || role != ""
	case seeSpaceProblems:
		return prepares(role) || role != "" && space.Phase() != sql.SpaceBefore
	case arrangeSpace:
		return prepares(role)
	case manageSpace:
		return role == sql.SpaceStaff
	}
	return false
}

// noSpace is the answer to whoever may not see a space, which does not exist for
// them.
func noSpace(slug string) error {
	f := refuse(fiber.StatusNotFound, "not_found", "There is no space "+strconv.Quote(shorten(slug))+" that you may see.", "Have its staff add you, if there is one.")
	f.Field = "space"
	return f
}

// notAllowed says why the viewer may not do something in a space that they see.
func notAllowed(act spaceAct, v viewer, space *sql.Space) error {
	switch {
	case act == manageSpace:
		return refuse(fiber.StatusForbidden, "forbidden", "Only staff of the space may do this.", "Have its staff do it, or give you the role staff in it.")
	case act == arrangeSpace:
		return refuse(fiber.StatusForbidden, "forbidden", "Only setters and staff of the space may do this.", "Have its staff give you the role setter in it.")
	case v.spaceRole(space.Role) == "":
		return notMember(space)
	}
	return notOpen(space)
}

func notMember(space *sql.Space) error {
	f := refuse(fiber.StatusForbidden, string(sql.SpaceNotMember), "Only members take part in "+space.Title+".", "Have its staff add you.")
	f.Field = "space"
	return f
}

func notOpen(space *sql.Space) error {
	f := refuse(fiber.StatusForbidden, string(sql.SpaceNotOpen), space.Title+" has not begun.", "")
	if f.Field = "space"; space.Opens != nil {
		f.Remedy = "It opens at " + clockText(*space.Opens) + "."
	}
	return f
}

// clockText writes a moment for people.
func clockText(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }

// spaceFor returns the space that the address names, if the viewer may do something
// in it.
func (s *Server) spaceFor(c *fiber.Ctx, act spaceAct) (*sql.Space, error) {
	v, slug := viewerOf(c), c.Params("space")
	if !plainWord(slug) {
		return nil, noSpace(slug)
	}
	space, err := s.store.Space(c.UserContext(), slug, v.Name)
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !v.may(seeSpace, space):
		return nil, noSpace(slug)
	case err != nil:
		return nil, err
	case !v.may(act, space):
		return nil, notAllowed(act, v, space)
	}
	return space, nil
}

// desk returns a space and one of its problems, to be read or solved there.
func (s *Server) desk(ctx context.Context, v viewer, slug, problem string) (*sql.SpaceDesk, error) {
	err := sql.ErrNotFound
	var d *sql.SpaceDesk
	if plainWord(slug) && plainWord(problem) {
		d, err = s.store.SpaceDesk(ctx, slug, problem, v.Name)
	}
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !v.may(seeSpace, &d.Space):
		return nil, noSpace(slug)
	case err != nil:
		return nil, err
	case !v.may(seeSpaceProblems, &d.Space):
		return nil, notAllowed(seeSpaceProblems, v, &d.Space)
	case d.Problem == nil:
		f := refuse(fiber.StatusNotFound, "not_found", "There is no problem "+strconv.Quote(shorten(problem))+" in this space.", "Choose one of its problems.")
		f.Field = "problem"
		return nil, f
	case d.Problem.Hidden && !v.Setter() && !prepares(v.spaceRole(d.Space.Role)) && d.Space.Phase() != sql.SpaceOpen:
		return nil, spaceClosed(&d.Space, "The problem was shown while it was open.")
	}
	if !v.Setter() && d.Space.Phase() != sql.SpaceAfter {
		d.Problem.Tags, d.Problem.Difficulty = nil, 0 // they tell how it is solved
	}
	return d, nil
}

func spaceClosed(space *sql.Space, remedy string) error {
	f := refuse(fiber.StatusForbidden, string(sql.SpaceClosed), space.Title+" is closed.", remedy)
	if f.Field = "space"; space.Closes != nil {
		f.Detail = space.Title + " closed at " + clockText(*space.Closes) + "."
	}
	return f
}

// sees reports whether the viewer may see a problem outside of spaces.
func (s *Server) sees(ctx context.Context, v viewer, p *judge.Problem) (bool, error) {
	if !p.Hidden || v.Setter() {
		return true, nil
	}
	return s.store.ProblemLent(ctx, p.Slug, v.Name, prepares(v.spaceRole(sql.SpaceStaff)))
}

// visible returns the problems of a list that are for the viewer. Those that a space
// lends are on its page.
func visible(v viewer, problems []judge.Problem) []judge.Problem {
	hidden := func(p judge.Problem) bool { return p.Hidden }
	if v.Setter() || !slices.ContainsFunc(problems, hidden) {
		return problems
	}
	return slices.DeleteFunc(slices.Clone(problems), hidden)
}

// problemOf looks up the problem that a program is for, and the space that it is
// handed in to, if any. There is no problem that the viewer may not see.
func (s *Server) problemOf(ctx context.Context, v viewer, in handIn) (*judge.Problem, *sql.Space, error) {
	if in.Space != "" {
		d, err := s.desk(ctx, v, in.Space, in.Problem)
		if err != nil {
			return nil, nil, err
		}
		return d.Problem, &d.Space, nil
	}
	if !plainWord(in.Problem) {
		return nil, nil, nil
	}
	problem, err := s.store.Problem(ctx, in.Problem)
	if err == nil && problem.Hidden {
		var seen bool
		if seen, err = s.sees(ctx, v, problem); !seen {
			return nil, nil, err
		}
	}
	if errors.Is(err, sql.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look up problem: %w", err)
	}
	return problem, nil, nil
}

// checkSpace returns what a space has against a program, besides when it comes.
// Space is nil outside of spaces.
func checkSpace(in handIn, v viewer, problem *judge.Problem, space *sql.Space) (wrong wrongFields) {
	if space == nil {
		if problem != nil && problem.Hidden && !v.Setter() {
			wrong.add(wrongField("space", reasonMissing, "This problem is not open to all; name the space that it is handed in to."))
		}
		return wrong
	}
	if prepares(v.spaceRole(space.Role)) {
		return nil
	}
	if len(space.Languages) > 0 && in.Language != "" && !slices.Contains(space.Languages, in.Language) {
		wrong.add(wrongField(in.fields.language, "not_allowed", "%s takes only %s.", space.Title, strings.Join(space.Languages, ", ")))
	}
	total := int64(0)
	for _, source := range in.Sources {
		total += int64(len(source.Text))
	}
	if limit := int64(space.MaxSourceKiB) << 10; limit > 0 && total > limit {
		wrong.add(wrongField(in.fields.source, reasonTooLong, "The program has %s; %s takes at most %s.", plural(total, "byte", "bytes"), space.Title, bytesText(limit)))
	}
	return wrong
}

// spaceFault explains why a space did not take a submission; other errors stay.
func spaceFault(err error, space *sql.Space) error {
	refused, ok := errors.AsType[*sql.SpaceError](err)
	if !ok || space == nil {
		return err
	}
	f := refuse(fiber.StatusTooManyRequests, string(refused.Refusal), "", "")
	f.Field = "space"
	switch refused.Refusal {
	case sql.SpaceNotMember:
		return notMember(space)
	case sql.SpaceNotOpen:
		return notOpen(space)
	case sql.SpaceClosed:
		return spaceClosed(space, "It takes no more submissions.")
	case sql.SpaceTooFast:
		f.Detail = fmt.Sprintf("%s takes %s a minute from each member.", space.Title, plural(space.PerMinute, "submission", "submissions"))
		f.RetryAfter = time.Second
		if refused.Patience != nil {
			f.RetryAfter = max(time.Second, time.Duration(wholeSeconds(*refused.Patience))*time.Second)
		}
		f.Remedy = "Try again in " + waitText(f.RetryAfter) + "."
	case sql.SpaceTooManyWaiting:
		f.Detail = fmt.Sprintf("As many submissions of yours as %s allows, %d, are not judged yet.", space.Title, space.MaxWaiting)
		f.Remedy, f.RetryAfter = "Wait for a verdict.", 5*time.Second
	}
	return f
}

// seesSubmission reports whether the viewer may see a submission: its author, staff,
// and staff of the space that it was handed in to.
func (s *Server) seesSubmission(ctx context.Context, v viewer, sub *judge.Submission) (bool, error) {
	if v.maySee(sub.Author) || sub.SpaceID == 0 {
		return v.maySee(sub.Author), nil
	}
	role, err := s.store.SpaceRole(ctx, sub.SpaceID, v.Name)
	return err == nil && v.spaceRole(role) == sql.SpaceStaff, err
}
