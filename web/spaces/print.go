package spaces

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// printView is a set of problems as it is printed: one after the other, each on sheets of its own.
type printView struct {
	Space      site.SpaceView
	Statements []statement.View
	Left       int // problems that the viewer does not see just now
}

// printPage handles GET /spaces/:space/print: the problems of a space in order, for whoever may see each of them.
func (s *Room) printPage(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.SeeSpaceProblems)
	if err != nil {
		return err
	}
	found, err := s.Store.SpaceProblems(c.UserContext(), space.ID, site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	view := printView{Space: site.ViewSpace(space, site.ViewerOf(c))}
	for i, entry := range found {
		d, err := s.Desk(c.UserContext(), site.ViewerOf(c), space.Slug, entry.Slug)
		if no, refused := errors.AsType[*site.Fault](err); refused && no.Status < fiber.StatusInternalServerError {
			view.Left++
			continue
		}
		if err != nil {
			return err
		}
		one, err := s.printed(c, d.Problem, site.ProblemURL(space.Slug, entry.Slug))
		if err != nil {
			return err
		}
		one.Label = placeLabel(i + 1)
		view.Statements = append(view.Statements, one)
	}
	return s.Page(c, fiber.StatusOK, "print", "%s", view, space.Title)
}

// printed is a statement on paper. One that is not in the language that was asked for is in that which fits best.
func (s *Room) printed(c *fiber.Ctx, p *judge.Problem, base string) (statement.View, error) {
	v, err := statement.Of(s.Site, c, p, base, site.ProblemURL("", p.Slug)+"/files", false)
	v.Printing = true
	return v, err
}
