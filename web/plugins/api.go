package plugins

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// apiUpload handles POST /api/v1/plugins.
func (s *Room) apiUpload(c *fiber.Ctx) error {
	u, wrong, err := readUpload(c)
	if err != nil {
		return err
	}
	receipt, err := s.storeUpload(c.UserContext(), site.ViewerOf(c), u, wrong)
	if err != nil {
		return err
	}
	return site.Accepted(c, receipt, site.JobURL(receipt.JobID))
}

// apiPlugins handles GET /api/v1/plugins?kind=&name=.
func (s *Room) apiPlugins(c *fiber.Ctx) error {
	kind, name := c.Query("kind"), c.Query("name")
	var wrong site.WrongFields
	if kind != "" && !slices.Contains(Kinds, kind) {
		wrong.Add(site.WrongField("kind", site.ReasonUnknown, "There is no kind %q.", site.Shorten(kind)))
	}
	if name != "" && !site.PlainWord(name) {
		wrong.Add(site.WrongField("name", site.ReasonInvalid, "The value is not a name."))
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	plugins, err := s.Store.Plugins(c.UserContext(), kind, name)
	if err != nil {
		return fmt.Errorf("list plugins: %w", err)
	}
	page, next, err := site.PageOf(c, "after", plugins, func(p judge.Plugin) string { return p.Digest })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"plugins": page, "next": next})
}

// apiPlugin handles GET /api/v1/plugins/:digest.
func (s *Room) apiPlugin(c *fiber.Ctx) error {
	p, err := s.plugin(c.UserContext(), c.Params("digest"))
	if err != nil {
		return err
	}
	return c.JSON(p)
}

// apiActivate handles POST /api/v1/plugins/:digest/activate.
func (s *Room) apiActivate(c *fiber.Ctx) error {
	p, err := s.activate(c.UserContext(), site.ViewerOf(c), c.Params("digest"))
	if err != nil {
		return err
	}
	return c.JSON(p)
}

// apiRollBack handles POST /api/v1/plugins/rollback.
func (s *Room) apiRollBack(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "kind", "name")
	if err != nil {
		return err
	}
	kind, name := f.Text("kind"), f.Text("name")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	digest, err := s.rollBack(c.UserContext(), site.ViewerOf(c), kind, name)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"kind": kind, "name": name, "digest": digest})
}

// apiPluginJob returns the handler of POST /api/v1/plugins/:digest/OP.
func (s *Room) apiPluginJob(op judge.PluginOp) fiber.Handler {
	known := []string{"problem"}
	if op == judge.PluginPreview {
		known = append(known, "limit")
	}
	return func(c *fiber.Ctx) error {
		f, err := site.ReadFields(c, known...)
		if err != nil {
			return err
		}
		p := judge.PluginPayload{Op: op, Digest: c.Params("digest"), Limit: defaultPreview}
		if f.Has("problem") || op != judge.PluginTest {
			p.Problem = f.Text("problem")
		}
		if f.Has("limit") && json.Unmarshal(f.Raw["limit"], &p.Limit) != nil {
			f.Wrong.Add(site.WrongField("limit", site.ReasonWrong, "The field has to be a whole number, not %s.", site.KindOf(f.Raw["limit"])))
		}
		if err := f.Wrong.Err(); err != nil {
			return err
		}
		receipt, err := s.again(c.UserContext(), site.ViewerOf(c), p, site.HeaderKey(c))
		if err != nil {
			return err
		}
		return site.Accepted(c, receipt, site.JobURL(receipt.JobID))
	}
}
