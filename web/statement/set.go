package statement

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Set is a set of problems as it is printed: one after the other, each on sheets of its own.
type Set struct {
	Title      string
	Back       string      // address of what it is the set of
	Words      locale.Word // of that address
	Statements []View
	Left       int // problems that the viewer does not see just now
}

// Print adds a statement as it is on paper. One that is not in the language that was asked for is in that which fits best.
func (set *Set) Print(s *site.Site, c *fiber.Ctx, p *judge.Problem, base, label string) error {
	v, err := Of(s, c, p, base, site.ProblemURL("", p.Slug)+"/files", false)
	if err != nil {
		return err
	}
	v.Printing, v.Label = true, label
	set.Statements = append(set.Statements, v)
	return nil
}
