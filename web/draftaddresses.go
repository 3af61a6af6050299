package web

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
)

// draftAddresses are the addresses of programs that setters try on versions.
func (s *Server) draftAddresses() []site.Address {
	return []site.Address{
		{Route: "GET /packages/:slug/try", For: site.Setter, By: s.tryPage},
		{Route: "POST /packages/:slug/try", For: site.Setter, By: s.tryForm},
		{Route: "GET /packages/:slug/drafts/:id", For: site.Setter, By: job.ShowJob(s.job, "submission", s.draftView)},
		{Route: "GET /packages/:slug/drafts/:id/live", For: site.Setter, By: job.ShowLive(s.job, "submission", s.draftView)},
		{Route: "GET /packages/:slug/drafts/:id/events", For: site.Setter, By: job.Follow(s.job, s.draftFor)},
		{Route: "POST /packages/:slug/drafts/:id/cancel", For: site.Setter, By: job.CancelForm(s.job, s.draftToCancel)},

		{Route: "GET /api/v1/problems/:slug/drafts", For: site.Setter, Does: "Submissions to versions that need not be live, newest first, for whoever may change the problem", Query: "version before limit", Out: fiber.Map{"drafts": []draftJSON{}, "next": site.Cursor}, By: s.apiDrafts},
		{Route: "GET /api/v1/problems/:slug/drafts/:id", For: site.Setter, Does: "One of them", Out: draftJSON{}, By: s.apiDraft},
		{Route: "GET /api/v1/problems/:slug/drafts/:id/events", For: site.Setter, Does: "What happens to it, as server-sent events", Media: site.EventStream, By: job.Follow(s.job, s.draftFor)},
		{Route: "POST /api/v1/problems/:slug/drafts/:id/cancel", For: site.Setter, Does: "Cancel it", In: fiber.Map{"?why": ""}, Out: fiber.Map{"job_id": int64(0), "status": ""}, By: job.APICancel(s.job, s.draftToCancel)},
		{Route: "GET /api/v1/problems/:slug/versions/:version/problem", For: site.Setter, Does: "A version as contestants would see it", Out: judge.Problem{}, By: s.apiVersionProblem},
		{Route: "POST /api/v1/problems/:slug/versions/:version/submissions", For: site.Setter, Does: "Have a program judged on a version, live or not, for whoever may change the problem; it counts nowhere", In: fiber.Map{"language": "", "?source": "", "?sources": []judge.Source{}}, Status: 201, Out: site.Stored, By: s.apiSubmitDraft},
	}
}
