package job

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
)

// Addresses are the addresses of jobs of whatever kind.
func (r *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /api/v1/jobs/:id", For: site.Guest, Does: "A job of another kind", Out: JobJSON{}, By: r.apiJob},
		{Route: "GET /api/v1/jobs/:id/events", For: site.Guest, Does: "What happens to a job, from Last-Event-ID on", Query: "after", Media: site.EventStream, By: Follow(r, r.SetterJobFor)},
		{Route: "POST /api/v1/jobs/:id/cancel", For: site.Guest, Does: "End a job of any kind, for its author or staff", In: fiber.Map{"?why": ""}, Out: fiber.Map{"job_id": int64(0), "status": ""}, By: APICancel(r, r.AnyJobFor)},
	}
}
