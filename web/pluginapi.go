package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// apiUpload handles POST /api/v1/plugins.
func (s *Server) apiUpload(c *fiber.Ctx) error {
	u, wrong, err := readUpload(c)
	if err != nil {
		return err
	}
	receipt, err := s.storeUpload(c.UserContext(), viewerOf(c), u, wrong)
	if err != nil {
		return err
	}
	return accepted(c, receipt)
}

// accepted answers with the job that was stored.
func accepted(c *fiber.Ctx, r sql.Receipt) error {
	c.Set(fiber.HeaderLocation, "/api/v1/jobs/"+strconv.FormatInt(r.JobID, 10))
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": r.JobID, "url": jobURL(r.JobID), "existing": r.Existing})
}

// apiPlugins handles GET /api/v1/plugins?kind=&name=.
func (s *Server) apiPlugins(c *fiber.Ctx) error {
	kind, name := c.Query("kind"), c.Query("name")
	var wrong wrongFields
	if kind != "" && !slices.Contains(pluginKinds, kind) {
		wrong.add(wrongField("kind", reasonUnknown, "There is no kind %q.", shorten(kind)))
	}
	if name != "" && !plainWord(name) {
		wrong.add(wrongField("name", reasonInvalid, "The value is not a name."))
	}
	if err := wrong.err(); err != nil {
		return err
	}
	plugins, err := s.store.Plugins(c.UserContext(), kind, name)
	if err != nil {
		return fmt.Errorf("list plugins: %w", err)
	}
	return c.JSON(fiber.Map{"plugins": plugins})
}

// apiPlugin handles GET /api/v1/plugins/:digest.
func (s *Server) apiPlugin(c *fiber.Ctx) error {
	p, err := s.plugin(c.UserContext(), c.Params("digest"))
	if err != nil {
		return err
	}
	return c.JSON(p)
}

// apiActivate handles POST /api/v1/plugins/:digest/activate.
func (s *Server) apiActivate(c *fiber.Ctx) error {
	p, err := s.activate(c.UserContext(), viewerOf(c), c.Params("digest"))
	if err != nil {
		return err
	}
	return c.JSON(p)
}

// apiRollBack handles POST /api/v1/plugins/rollback.
func (s *Server) apiRollBack(c *fiber.Ctx) error {
	f, err := readFields(c, "kind", "name")
	if err != nil {
		return err
	}
	kind, name := f.text("kind"), f.text("name")
	if err := f.wrong.err(); err != nil {
		return err
	}
	digest, err := s.rollBack(c.UserContext(), viewerOf(c), kind, name)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"kind": kind, "name": name, "digest": digest})
}

// apiPluginJob returns the handler of POST /api/v1/plugins/:digest/OP.
func (s *Server) apiPluginJob(op judge.PluginOp) fiber.Handler {
	known := []string{"problem"}
	if op == judge.PluginPreview {
		known = append(known, "limit")
	}
	return func(c *fiber.Ctx) error {
		f, err := readFields(c, known...)
		if err != nil {
			return err
		}
		p := judge.PluginPayload{Op: op, Digest: c.Params("digest"), Limit: defaultPreview}
		if f.has("problem") || op != judge.PluginTest {
			p.Problem = f.text("problem")
		}
		if f.has("limit") && json.Unmarshal(f.raw["limit"], &p.Limit) != nil {
			f.wrong.add(wrongField("limit", reasonWrong, "The field has to be a whole number, not %s.", kindOf(f.raw["limit"])))
		}
		if err := f.wrong.err(); err != nil {
			return err
		}
		receipt, err := s.again(c.UserContext(), viewerOf(c), p, c.Get("Idempotency-Key"), "Idempotency-Key")
		if err != nil {
			return err
		}
		return accepted(c, receipt)
	}
}
