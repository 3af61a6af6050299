package api

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/web/judge0"
	"deepoj/web/site"
)

// Addresses are the addresses of clients of Judge0.
func (s *Room) Addresses() []site.Address {
	reader := site.Guest
	if s.Config.Judge0Open {
		reader = site.Anyone // the token is asked for
	}
	return []site.Address{
		{Route: "GET /judge0", For: site.Guest, By: nothing},
		{Route: "POST /judge0/submissions/batch", For: site.Guest, By: s.createBatch},
		{Route: "GET /judge0/submissions/batch", For: reader, By: s.showBatch},
		{Route: "POST /judge0/submissions", For: site.Guest, By: s.create},
		{Route: "GET /judge0/submissions", For: site.Staff, Gate: s.staffOnly, By: s.index},
		{Route: "GET /judge0/submissions/:token", For: reader, By: s.show},
		{Route: "DELETE /judge0/submissions/:token", For: site.Staff, Gate: s.staffOnly, By: s.remove},
		{Route: "GET /judge0/languages", For: site.Guest, By: s.languages(false)},
		{Route: "GET /judge0/languages/all", For: site.Guest, By: s.languages(true)},
		{Route: "GET /judge0/languages/:id", For: site.Guest, By: s.language},
		{Route: "GET /judge0/statuses", For: site.Guest, By: func(c *fiber.Ctx) error { return c.JSON(judge0.Statuses) }},
		{Route: "GET /judge0/about", For: site.Guest, By: s.about},
		{Route: "GET /judge0/version", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString(version) }},
		{Route: "GET /judge0/license", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString("See the file LICENSE of Deep-OJ.\n") }},
		{Route: "GET /judge0/isolate", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString("Programs run in the sandbox of Deep-OJ.\n") }},
		{Route: "GET /judge0/config_info", For: site.Guest, By: s.configInfo},
		{Route: "GET /judge0/system_info", For: site.Guest, By: s.systemInfo},
		{Route: "GET /judge0/workers", For: site.Guest, By: s.workers},
		{Route: "GET /judge0/statistics", For: site.Guest, By: s.statistics},
		{Route: "POST /judge0/authenticate", For: site.Guest, By: nothing},
		{Route: "POST /judge0/authorize", For: site.Staff, Gate: s.staffOnly, By: nothing},
	}
}

// nothing answers that all is well.
func nothing(*fiber.Ctx) error { return nil }
