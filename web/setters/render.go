package setters

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// maxRenderNames is how many problems a rendering may name; more than those are all.
const maxRenderNames = 30

// apiRender handles POST /api/v1/renderings with {"problems": […]} or {"all": true}: a
// job that makes the pages of versions again.
func (s *Room) apiRender(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "problems", "all")
	if err != nil {
		return err
	}
	var names []string
	all := false
	f.Value("problems", "a list of strings", &names)
	f.Value("all", "true or false", &all)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	receipt, err := s.orderRendering(c, names, all, site.HeaderKey(c))
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.ImportURL(receipt.JobID))
}

// renderForm handles POST /packages/:slug/render.
func (s *Room) renderForm(c *fiber.Ctx) error {
	receipt, err := s.orderRendering(c, []string{c.Params("slug")}, false, site.Key{})
	if err != nil {
		return err
	}
	return c.Redirect(site.ImportURL(receipt.JobID), fiber.StatusSeeOther)
}

// orderRendering stores a job that renders problems that the viewer may change, or for staff all.
func (s *Room) orderRendering(c *fiber.Ctx, names []string, all bool, key site.Key) (sql.Receipt, error) {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	var none sql.Receipt
	switch {
	case all && len(names) > 0:
		return none, site.WrongField("problems", site.ReasonInvalid, "Name problems, or ask for all of them, and not both.")
	case all && !v.Staff():
		return none, site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff render all problems.", "Name your own in the field problems.")
	case !all && len(names) == 0:
		return none, site.WrongField("problems", site.ReasonMissing, "Name the problems to render, or as staff set all to true.")
	case len(names) > maxRenderNames:
		return none, site.WrongField("problems", site.ReasonInvalid, "At most %d problems are rendered at a time.", maxRenderNames)
	}
	for _, slug := range names {
		versions := []judge.ProblemVersion{}
		if site.PlainWord(slug) {
			var err error
			if versions, err = s.Store.ProblemVersions(ctx, slug); err != nil {
				return none, err
			}
		}
		if len(versions) == 0 {
			return none, site.WrongField("problems", site.ReasonUnknown, "There is no problem %q.", site.Shorten(slug))
		}
		if err := s.MayChange(ctx, v, slug); err != nil {
			return none, err
		}
	}
	if wrong := key.Check(); wrong != nil {
		return none, wrong
	}
	subject := "problems"
	if len(names) == 1 {
		subject = "problem:" + names[0]
	}
	return s.Order(ctx, v, Order{
		Kind: judge.KindRender, Key: key, Act: "package_render", Subject: subject, Detail: map[string]any{"problems": names},
		Payload: judge.RenderPayload{SchemaVersion: judge.PayloadVersion, ContentType: judge.RenderType, By: v.Name, Problems: names},
	})
}

// renderingTitle is what a job of kind render is called.
func renderingTitle(p *judge.RenderPayload) locale.Sentence {
	switch {
	case p == nil || len(p.Problems) == 0:
		return locale.Sentence{Key: "Rendering of all statements"}
	case len(p.Problems) == 1:
		return locale.Sentence{Key: "Rendering of %s", Args: []any{p.Problems[0]}}
	}
	return locale.Sentence{Key: "Rendering of %d problems", Args: []any{len(p.Problems)}}
}
