package web

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
)

// printView is a set of problems as it is printed: one after the other, each on sheets
// of its own.
type printView struct {
	Space      spaceView
	Statements []statementView
	Left       int // problems that the viewer does not see just now
}

// printPage handles GET /spaces/:space/print: the problems of a space in order, for
// whoever may see each of them.
func (s *Server) printPage(c *fiber.Ctx) error {
	space, err := s.spaceFor(c, seeSpaceProblems)
	if err != nil {
		return err
	}
	found, err := s.store.SpaceProblems(c.UserContext(), space.ID, viewerOf(c).Name)
	if err != nil {
		return err
	}
	view := printView{Space: spaceView{*space, viewerOf(c)}}
	for i, entry := range found {
		d, err := s.desk(c.UserContext(), viewerOf(c), space.Slug, entry.Slug)
		if no, refused := errors.AsType[*fault](err); refused && no.Status < fiber.StatusInternalServerError {
			view.Left++
			continue
		}
		if err != nil {
			return err
		}
		one, err := s.printed(c, d.Problem, problemURL(space.Slug, entry.Slug))
		if err != nil {
			return err
		}
		one.Label = placeLabel(i + 1)
		view.Statements = append(view.Statements, one)
	}
	return s.page(c, fiber.StatusOK, "print", space.Title, view)
}

// printed is a statement on paper. One that is not in the language that was asked for is
// in that which fits best.
func (s *Server) printed(c *fiber.Ctx, p *judge.Problem, base string) (statementView, error) {
	v, err := s.statement(c, p, base, problemURL("", p.Slug)+"/files", false)
	v.Printing = true
	return v, err
}
