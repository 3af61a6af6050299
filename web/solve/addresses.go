package solve

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
	"deepoj/web/statement"
)

// program is what may be handed in.
var program = fiber.Map{"problem": "", "?space": "", "?round": "", "language": "", "?source": "", "?sources": []judge.Source{}, "?once": false, "?immediate": false, "?priority": 0, "?job_key": ""}

// Addresses are the addresses of problems, of handing in and running, and of what came of it.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "GET /", For: site.Guest, By: s.problemsPage},
		{Route: "GET /problems", For: site.Guest, By: s.problemsPage},
		{Route: "GET /people/:name", For: site.Guest, By: s.profilePage},
		{Route: "POST /account/profile", For: site.Login, By: s.profileForm},
		{Route: "GET /problems/:slug", For: site.Guest, By: s.problemPage},
		{Route: "GET /problems/:slug/files/*", For: site.Guest, By: s.problemFile},
		{Route: "GET /problems/:slug/statistics", For: site.Guest, By: s.statisticsPage},
		{Route: "GET /problems/:slug/pictures/:name", For: site.Guest, By: statement.Pictures(s.Site, s.liveVersion)},
		{Route: "GET /problems/:slug/documents/:name", For: site.Guest, By: statement.Documents(s.Site, s.liveVersion)},
		{Route: "POST /problems/:slug", For: site.Guest, By: s.submitForm},
		{Route: "POST /problems/:slug/runs", For: site.Guest, By: s.runForm},
		{Route: "GET /spaces/:space/problems/:slug", For: site.Guest, By: s.problemPage},
		{Route: "GET /spaces/:space/problems/:slug/pictures/:name", For: site.Guest, By: statement.Pictures(s.Site, s.liveVersion)},
		{Route: "GET /spaces/:space/problems/:slug/documents/:name", For: site.Guest, By: statement.Documents(s.Site, s.liveVersion)},
		{Route: "POST /spaces/:space/problems/:slug", For: site.Guest, By: s.submitForm},
		{Route: "POST /spaces/:space/problems/:slug/runs", For: site.Guest, By: s.runForm},
		{Route: "GET /rounds/:round/problems/:slug", For: site.Guest, By: s.problemPage},
		{Route: "GET /rounds/:round/problems/:slug/pictures/:name", For: site.Guest, By: statement.Pictures(s.Site, s.liveVersion)},
		{Route: "GET /rounds/:round/problems/:slug/documents/:name", For: site.Guest, By: statement.Documents(s.Site, s.liveVersion)},
		{Route: "POST /rounds/:round/problems/:slug", For: site.Guest, By: s.submitForm},
		{Route: "POST /rounds/:round/problems/:slug/runs", For: site.Guest, By: s.runForm},
		{Route: "GET /rounds/:round/submissions", For: site.Guest, By: s.roundSubmissionsPage},
		{Route: "GET /rounds/:round/print", For: site.Guest, By: s.printRound},
		{Route: "GET /runs/:id", For: site.Guest, By: job.ShowJob(s.job, "run", s.runPage)},
		{Route: "GET /runs/:id/live", For: site.Guest, By: job.ShowLive(s.job, "run", s.runView)},
		{Route: "GET /runs/:id/events", For: site.Guest, By: job.Follow(s.job, s.job.RunFor)},
		{Route: "POST /runs/:id/cancel", For: site.Guest, By: job.CancelForm(s.job, s.job.RunFor)},
		{Route: "GET /submissions", For: site.Guest, By: s.submissionsPage},
		{Route: "GET /submissions/:id", For: site.Guest, By: job.ShowJob(s.job, "submission", s.submissionPage)},
		{Route: "GET /submissions/:id/sources/:n", For: site.Guest, By: SendSource(s.job.SubmissionFor)},
		{Route: "GET /submissions/:id/live", For: site.Guest, By: job.ShowLive(s.job, "submission", s.submissionView)},
		{Route: "GET /submissions/:id/events", For: site.Guest, By: job.Follow(s.job, s.job.SubmissionFor)},
		{Route: "POST /submissions/:id/cancel", For: site.Guest, By: job.CancelForm(s.job, s.job.SubmissionFor)},

		{Route: "POST /submit", For: site.Guest, Does: "Hand in a program; the original contract", In: fiber.Map{"problem_id": "", "language": "", "code": ""}, Out: fiber.Map{"job_id": int64(0)}, By: s.apiSubmitOriginal},
		{Route: "POST /api/v1/submissions", For: site.Guest, Does: "Hand in a program; with an Idempotency-Key the same again gives the same submission", In: program, Status: 201, Also: 200, Out: site.Stored, By: s.apiSubmit},
		{Route: "POST /api/v1/submissions/batch", For: site.Guest, Does: "Hand in up to 50 programs, all or none; with an Idempotency-Key the same again gives the same submissions", In: fiber.Map{"submissions": []entryJSON{}, "?space": "", "?round": ""}, Status: 201, Out: fiber.Map{"submissions": []Receipt{}}, By: s.apiSubmitBatch},
		{Route: "GET /api/v1/submissions/batch", For: site.Guest, Does: "Up to 50 submissions by their numbers, null for those that are not there for the viewer", Query: "ids", Out: fiber.Map{"submissions": []*job.SubmissionJSON{}}, By: s.apiSubmissionBatch},
		{Route: "POST /api/v1/runs", For: site.Guest, Does: "Run a program on inputs of one's own", In: fiber.Map{
			"?problem": "", "?samples": false, "language": "", "?source": "", "?sources": []judge.Source{}, "?stdin": "", "?expected_output": (*string)(nil),
			"?tests": []runInput{}, "?limits": (*judge.RunLimits)(nil), "?args": []string{}, "?compiler_options": []string{}, "?merge_stderr": false,
		}, Status: 202, Out: site.Stored, By: s.apiRun},
		{Route: "GET /api/v1/problems", For: site.Guest, Does: "The problems by short name, with the caller's best submission of each", Query: "q tag easiest hardest solved after limit", Out: fiber.Map{"problems": []foundJSON{}, "next": (*string)(nil)}, By: s.apiProblems},
		{Route: "GET /api/v1/problems/:slug", For: site.Guest, Kept: true, Does: "A problem with its statement, in the language that is asked for, and samples", Query: "lang", Out: judge.Problem{}, By: s.apiProblem},
		{Route: "GET /api/v1/problems/:slug/statistics", For: site.Guest, Does: "What became of the submissions to a problem, without those to spaces that are not closed", Out: statisticsJSON{}, By: s.apiStatistics},
		{Route: "GET /api/v1/spaces/:space/problems/:slug", For: site.Guest, Kept: true, Does: "A problem as the space shows it", Query: "lang", Out: judge.Problem{}, By: s.apiProblem},
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
	}
}
