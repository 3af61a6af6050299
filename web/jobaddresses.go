package web

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
)

// jobAddresses are the addresses of jobs of every kind.
func (s *Server) jobAddresses() []site.Address {
	return []site.Address{
		{Route: "GET /runs/:id", For: site.Guest, By: job.ShowJob(s.job, "run", s.runView)},
		{Route: "GET /runs/:id/live", For: site.Guest, By: job.ShowLive(s.job, "run", s.runView)},
		{Route: "GET /runs/:id/events", For: site.Guest, By: job.Follow(s.job, s.job.RunFor)},
		{Route: "POST /runs/:id/cancel", For: site.Guest, By: job.CancelForm(s.job, s.job.RunFor)},
		{Route: "GET /submissions", For: site.Guest, By: s.submissionsPage},
		{Route: "GET /submissions/:id", For: site.Guest, By: job.ShowJob(s.job, "submission", s.submissionView)},
		{Route: "GET /submissions/:id/live", For: site.Guest, By: job.ShowLive(s.job, "submission", s.submissionView)},
		{Route: "GET /submissions/:id/events", For: site.Guest, By: job.Follow(s.job, s.job.SubmissionFor)},
		{Route: "POST /submissions/:id/cancel", For: site.Guest, By: job.CancelForm(s.job, s.job.SubmissionFor)},

		{Route: "GET /status/:id", For: site.Guest, Does: "Where a submission stands; the original contract", Out: fiber.Map{
			"job_id": int64(0), "status": "", "attempt_id": int32(0), "result": (*judge.Result)(nil), "error": (*string)(nil),
		}, By: s.apiStatusOriginal},
		{Route: "GET /api/v1/submissions", For: site.Guest, Does: "Submissions, newest first", Query: "author problem language verdict before limit", Out: fiber.Map{"submissions": []job.SubmissionJSON{}, "next": site.Cursor}, By: s.apiSubmissions},
		{Route: "GET /api/v1/submissions/:id", For: site.Guest, Does: "A submission; with wait as soon as it is done", Query: "wait", Out: job.SubmissionJSON{}, By: s.apiSubmission},
		{Route: "GET /api/v1/submissions/:id/events", For: site.Guest, Does: "What happens to a submission, from Last-Event-ID on", Query: "after", Media: site.EventStream, By: job.Follow(s.job, s.job.SubmissionFor)},
		{Route: "POST /api/v1/submissions/:id/cancel", For: site.Guest, Does: "Withdraw a submission that has no result", In: fiber.Map{"?why": ""}, Out: fiber.Map{"job_id": int64(0), "status": ""}, By: job.APICancel(s.job, s.job.SubmissionFor)},
		{Route: "GET /api/v1/runs/:id", For: site.Guest, Does: "A run; with wait as soon as it is done", Query: "wait", Out: runJSON{}, By: s.apiRunStatus},
		{Route: "GET /api/v1/runs/:id/events", For: site.Guest, Does: "What happens to a run, from Last-Event-ID on", Query: "after", Media: site.EventStream, By: job.Follow(s.job, s.job.RunFor)},
		{Route: "POST /api/v1/runs/:id/cancel", For: site.Guest, Does: "Withdraw a run", In: fiber.Map{"?why": ""}, Out: fiber.Map{"job_id": int64(0), "status": ""}, By: job.APICancel(s.job, s.job.RunFor)},
		{Route: "GET /api/v1/jobs/:id", For: site.Guest, Does: "A job of another kind", Out: job.JobJSON{}, By: s.job.APIJob},
		{Route: "GET /api/v1/jobs/:id/events", For: site.Guest, Does: "What happens to a job, from Last-Event-ID on", Query: "after", Media: site.EventStream, By: job.Follow(s.job, s.job.SetterJobFor)},
		{Route: "POST /api/v1/jobs/:id/cancel", For: site.Guest, Does: "End a job of any kind, for its author or staff", In: fiber.Map{"?why": ""}, Out: fiber.Map{"job_id": int64(0), "status": ""}, By: job.APICancel(s.job, s.job.AnyJobFor)},
	}
}
