package spaces

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/web/site"
	"deepoj/web/statement"
)

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
	set := statement.Set{Title: space.Title, Back: site.SpaceURL(space.Slug), Words: "back to the space"}
	for i, entry := range found {
		d, err := s.Desk(c.UserContext(), site.ViewerOf(c), space.Slug, entry.Slug)
		if no, refused := errors.AsType[*site.Fault](err); refused && no.Status < fiber.StatusInternalServerError {
			set.Left++
			continue
		}
		if err != nil {
			return err
		}
		if err := set.Print(s.Site, c, d.Problem, site.ProblemURL(space.Slug, entry.Slug), placeLabel(i+1)); err != nil {
			return err
		}
	}
	return s.Page(c, fiber.StatusOK, "print", "%s", set, space.Title)
}
