package web

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/web/judge0"
	"deepoj/web/site"
)

// judge0Addresses are the addresses of clients of Judge0.
func (s *Server) judge0Addresses() []site.Address {
	return []site.Address{
		{Route: "POST /judge0/submissions/batch", For: site.Guest, By: s.judge0BatchCreate},
		{Route: "GET /judge0/submissions/batch", For: site.Guest, By: s.judge0BatchShow},
		{Route: "POST /judge0/submissions", For: site.Guest, By: s.judge0Create},
		{Route: "GET /judge0/submissions", For: site.Staff, Gate: s.judge0Staff, By: s.judge0Index},
		{Route: "GET /judge0/submissions/:token", For: site.Guest, By: s.judge0Show},
		{Route: "DELETE /judge0/submissions/:token", For: site.Staff, Gate: s.judge0Staff, By: s.judge0Delete},
		{Route: "GET /judge0/languages", For: site.Guest, By: s.judge0Languages(false)},
		{Route: "GET /judge0/languages/all", For: site.Guest, By: s.judge0Languages(true)},
		{Route: "GET /judge0/languages/:id", For: site.Guest, By: s.judge0Language},
		{Route: "GET /judge0/statuses", For: site.Guest, By: func(c *fiber.Ctx) error { return c.JSON(judge0.Statuses) }},
		{Route: "GET /judge0/about", For: site.Guest, By: s.judge0About},
		{Route: "GET /judge0/version", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString(judge0Version) }},
		{Route: "GET /judge0/license", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString("See the file LICENSE of Deep-OJ.\n") }},
		{Route: "GET /judge0/isolate", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendString("Programs run in the sandbox of Deep-OJ.\n") }},
		{Route: "GET /judge0/config_info", For: site.Guest, By: s.judge0Config},
		{Route: "GET /judge0/system_info", For: site.Guest, By: s.judge0System},
		{Route: "GET /judge0/workers", For: site.Guest, By: s.judge0Workers},
		{Route: "GET /judge0/statistics", For: site.Guest, By: s.judge0Statistics},
		{Route: "POST /judge0/authenticate", For: site.Guest, By: func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) }},
		{Route: "POST /judge0/authorize", For: site.Staff, Gate: s.judge0Staff, By: func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) }},
	}
}
