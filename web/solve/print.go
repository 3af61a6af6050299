package solve

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
	"deepoj/web/statement"
)

// printRound handles GET /rounds/:round/print: the problems of a round on paper, for whoever sees them.
func (s *Room) printRound(c *fiber.Ctx) error {
	d, list, err := s.roundOpen(c)
	if d.round != nil && d.round.Follows {
		return c.Redirect(site.SpaceURL(d.space.Slug)+"/print", fiber.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	set := statement.Set{Title: d.round.Title, Back: site.RoundURL(d.round.Code) + "/problems", Words: "back to the round"}
	for _, p := range list {
		one, err := s.onDesk(c, d, p)
		if errors.Is(err, errNotOnDesk) {
			set.Left++
			continue
		}
		if err != nil {
			return err
		}
		if err := set.Print(s.Site, c, one.problem, deskURL(d.round.Code, p.Problem), p.Label); err != nil {
			return err
		}
	}
	return s.Page(c, fiber.StatusOK, "print", "%s", set, d.round.Title)
}
