package setters

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/draft"
)

// compareView is the page that says how two versions differ.
type compareView struct {
	draft.Difference

	Problem string
	Others  []string
}

// comparePage handles GET /packages/:slug/compare?from=&to=.
func (s *Room) comparePage(c *fiber.Ctx) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	view := compareView{Problem: versions[0].Problem}
	for _, v := range versions {
		view.Others = append(view.Others, v.Version)
	}
	to := c.Query("to", versions[0].Version)
	from := c.Query("from")
	if from == "" { // the one before
		from = to
		if i := slices.Index(view.Others, to); i >= 0 && i+1 < len(view.Others) {
			from = view.Others[i+1]
		}
	}
	if view.Difference, err = s.difference(c.UserContext(), view.Problem, from, to); err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "compare", "Compare versions of %s", view, view.Problem)
}

// difference compares two versions of a problem.
func (s *Room) difference(ctx context.Context, slug, from, to string) (draft.Difference, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), previewTime)
	defer cancel()
	a, err := s.loadVersion(ctx, slug, from)
	if err != nil {
		return draft.Difference{}, err
	}
	b, err := s.loadVersion(ctx, slug, to)
	if err != nil {
		return draft.Difference{}, err
	}
	return draft.Compare(ctx, a, b)
}

// apiDiff handles GET /api/v1/problems/:slug/diff?from=&to=.
func (s *Room) apiDiff(c *fiber.Ctx) error {
	d, err := s.difference(c.UserContext(), c.Params("slug"), c.Query("from"), c.Query("to"))
	if err != nil {
		return err
	}
	return c.JSON(d)
}
