package spaces

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// spaceProblemJSON is a problem of a space, with what whoever asks achieved.
type spaceProblemJSON struct {
	Label   string        `json:"label"`
	Place   int           `json:"place"`
	Slug    string        `json:"slug"`
	URL     string        `json:"url"`
	Title   string        `json:"title"`
	Points  *float64      `json:"points"` // of a full solution; null: 1, or the problem's own
	Hidden  bool          `json:"hidden"`
	Solved  int64         `json:"solved"` // by how many members
	Tries   int64         `json:"tries"`  // of whoever asks
	Verdict judge.Verdict `json:"verdict"`
	Score   *float64      `json:"score"`
	JobID   int64         `json:"job_id"` // of the best; 0: there is none
}

// apiSpaceProblems handles GET /api/v1/spaces/:space/problems.
func (s *Room) apiSpaceProblems(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.SeeSpaceProblems)
	if err != nil {
		return err
	}
	found, err := s.Store.SpaceProblems(c.UserContext(), space.ID, site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	out := make([]spaceProblemJSON, len(found))
	for i, p := range found {
		out[i] = spaceProblemJSON{
			placeLabel(i + 1), i + 1, p.Slug, site.ProblemURL(space.Slug, p.Slug), p.Title, p.Points, p.Hidden, p.Solved, p.Tries, p.Verdict, p.Score, p.JobID,
		}
	}
	page, next, err := site.PageOf(c, "after", out, func(p spaceProblemJSON) string { return p.Slug })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"problems": page, "next": next})
}

// apiPutSpaceProblem handles POST /api/v1/spaces/:space/problems with {"problem",
// "place", "points"}: it adds a problem, or gives it another place and points.
func (s *Room) apiPutSpaceProblem(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "problem", "place", "points")
	if err != nil {
		return err
	}
	if err := s.putProblem(c, readProblem(f), f.Wrong); err != nil {
		return err
	}
	return s.apiSpaceProblems(c)
}

// putProblem puts a problem into the space that the address names. Only setters of the
// site may take one that is hidden: through the space they could show it to others.
func (s *Room) putProblem(c *fiber.Ctx, e newProblem, wrong site.WrongFields) error {
	ctx := c.UserContext()
	space, err := s.SpaceFor(c, people.ArrangeSpace)
	if err != nil {
		return err
	}
	if len(wrong) == 0 {
		wrong = e.check()
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	unknown := site.WrongField("problem", site.ReasonUnknown, "There is no problem %q.", site.Shorten(e.Problem))
	d, err := s.Store.SpaceDesk(ctx, space.Slug, e.Problem, site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	if d.Problem == nil {
		p, err := s.Store.Problem(ctx, e.Problem)
		if errors.Is(err, sql.ErrNotFound) || err == nil && p.Hidden && !site.ViewerOf(c).Setter() {
			return unknown
		}
		if err != nil {
			return err
		}
	}
	err = s.Store.PutSpaceProblem(ctx, space.ID, e.Problem, e.Place, e.Points, site.ViewerOf(c).Name)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return unknown
	case errors.Is(err, sql.ErrTooMany):
		return site.WrongField("problem", "too_many", "A space has at most %d problems.", judge.MaxSpaceProblems)
	}
	return err
}

// apiRemoveSpaceProblem handles DELETE /api/v1/spaces/:space/problems/:slug.
func (s *Room) apiRemoveSpaceProblem(c *fiber.Ctx) error {
	if err := s.removeProblem(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Room) removeProblem(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ArrangeSpace)
	if err != nil {
		return err
	}
	slug := c.Params("slug")
	if !site.PlainWord(slug) {
		return sql.ErrNotFound
	}
	return s.Store.RemoveSpaceProblem(c.UserContext(), space.ID, slug, site.ViewerOf(c).Name)
}
