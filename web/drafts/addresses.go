package drafts

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// Addresses are the addresses of draft submissions.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /packages/:slug/try", For: site.Setter, By: s.tryPage},
		{Route: "POST /packages/:slug/try", For: site.Setter, By: s.tryForm},
		{Route: "GET /packages/:slug/drafts/:id", For: site.Setter, By: job.ShowJob(s.job, "submission", s.view)},
		{Route: "GET /packages/:slug/drafts/:id/sources/:n", For: site.Setter, By: solve.SendSource(s.find)},
		{Route: "GET /packages/:slug/drafts/:id/live", For: site.Setter, By: job.ShowLive(s.job, "submission", s.view)},
		{Route: "GET /packages/:slug/drafts/:id/events", For: site.Setter, By: job.Follow(s.job, s.find)},
		{Route: "POST /packages/:slug/drafts/:id/cancel", For: site.Setter, By: job.CancelForm(s.job, s.toCancel)},

		{Route: "GET /api/v1/problems/:slug/drafts", For: site.Setter, Does: "Submissions to versions that need not be live, newest first, for whoever may change the problem", Query: "version before limit", Out: fiber.Map{"drafts": []Draft{}, "next": site.Cursor}, By: s.apiList},
		{Route: "GET /api/v1/problems/:slug/drafts/:id", For: site.Setter, Does: "One of them", Out: Draft{}, By: s.apiShow},
		{Route: "GET /api/v1/problems/:slug/drafts/:id/events", For: site.Setter, Does: "What happens to it, as server-sent events", Query: "after", Media: site.EventStream, By: job.Follow(s.job, s.find)},
		{Route: "POST /api/v1/problems/:slug/drafts/:id/cancel", For: site.Setter, Does: "Cancel it", In: fiber.Map{"?why": ""}, Out: fiber.Map{"job_id": int64(0), "status": ""}, By: job.APICancel(s.job, s.toCancel)},
		{Route: "POST /api/v1/problems/:slug/versions/:version/submissions", For: site.Setter, Does: "Have a program judged on a version, live or not, for whoever may change the problem; it counts nowhere", In: fiber.Map{"language": "", "?source": "", "?sources": []judge.Source{}}, Status: 201, Out: site.Stored, By: s.apiSubmit},
	}
}
