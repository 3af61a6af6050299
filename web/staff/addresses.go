package staff

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
)

// discards is what is asked for where it has to be confirmed.
const discards = "discard a dead letter"

// What is answered to a move of a job that waits, what a rejudge set is made of, and what is said of a queue.
var (
	movedTo       = fiber.Map{"job_id": int64(0), "?rank_at": time.Time{}, "?undone": "", "?place": job.PlaceJSON{}}
	rejudging     = fiber.Map{"reason": "", "?problem": "", "?language": "", "?author": "", "?verdict": "", "?job_ids": []int64{}}
	queueSettings = fiber.Map{"?ordering": "", "?max_wait_seconds": 0.0, "?spacing_seconds": 0.0, "?redeliver_seconds": 0.0, "?max_tries": 0, "?group_limit": 0, "?max_backlog": 0}
)

// Addresses are the addresses of the queue and of whoever looks after it.
func (s *Room) Addresses() []site.Address {
	return []site.Address{
		{Route: "POST /submissions/:id/rejudge", For: site.Staff, By: s.rejudgeForm},
		{Route: "GET /queue", For: site.Guest, By: s.queuePage},
		{Route: "POST /queue/move", For: site.Staff, By: s.moveForm},
		{Route: "POST /languages/:id/withdraw", For: site.Staff, By: s.withdrawForm(true)},
		{Route: "POST /languages/:id/offer", For: site.Staff, By: s.withdrawForm(false)},
		{Route: "POST /queues/:name/pause", For: site.Staff, By: s.pauseForm(true)},
		{Route: "POST /queues/:name/resume", For: site.Staff, By: s.pauseForm(false)},
		{Route: "GET /dlq", For: site.Staff, By: s.deadLettersPage},
		{Route: "POST /dlq/replay", For: site.Staff, By: s.replayAllForm},
		{Route: "GET /dlq/:id", For: site.Staff, By: s.deadLetterPage},
		{Route: "POST /dlq/:id/replay", For: site.Staff, By: s.replayForm},
		{Route: "POST /dlq/:id/discard", For: site.Staff, Asks: "discard the dead letter of job :id", Confirm: discards, OrKey: true, By: s.discardForm},
		{Route: "GET /rejudgings", For: site.Staff, By: s.rejudgingsPage},
		{Route: "POST /rejudgings", For: site.Staff, By: s.startRejudgeForm},
		{Route: "GET /rejudgings/:id", For: site.Staff, By: s.rejudgingPage},
		{Route: "POST /rejudgings/:id/apply", For: site.Staff, Asks: "show everybody the new verdicts of rejudge set :id", By: s.resolveRejudgeForm(true)},
		{Route: "POST /rejudgings/:id/cancel", For: site.Staff, Asks: "end rejudge set :id and keep what is shown", By: s.resolveRejudgeForm(false)},
		{Route: "GET /languages", For: site.Guest, By: s.languagesPage},
		{Route: "GET /workers", For: site.Staff, By: s.workersPage},
		{Route: "GET /feed", For: site.Staff, By: s.feedPage},
		{Route: "GET /audit", For: site.Admin, By: s.auditPage},

		{Route: "GET /api/v1/audit", For: site.Admin, Does: "What people with privileges did, newest first", Query: "actor action subject before limit", Out: fiber.Map{"entries": []auditJSON{}, "next": site.Cursor}, By: s.apiAudit},
		{Route: "POST /api/v1/submissions/:id/rejudge", For: site.Staff, Does: "Have a submission judged again", Status: 202, Out: fiber.Map{"job_id": int64(0), "generation": int32(0)}, By: s.apiRejudge},
		{Route: "POST /api/v1/submissions/:id/release", For: site.Staff, Does: "Put it before all that wait", Out: movedTo, By: s.apiMove("release")},
		{Route: "POST /api/v1/submissions/:id/immediate", For: site.Staff, Does: "Put it into the first lane", Out: movedTo, By: s.apiMove("immediate")},
		{Route: "POST /api/v1/submissions/:id/delay", For: site.Staff, Does: "Put it behind all of its lane", Out: movedTo, By: s.apiMove("delay")},
		{Route: "POST /api/v1/submissions/:id/move", For: site.Staff, Does: "Put it right before another", In: fiber.Map{"before": int64(0)}, Out: movedTo, By: s.apiMove("move")},
		{Route: "POST /api/v1/submissions/:id/delete", For: site.Staff, Does: "Withdraw it while it waits", Out: movedTo, By: s.apiMove("delete")},
		{Route: "POST /api/v1/submissions/:id/undo", For: site.Staff, Does: "Take back the newest of these", Out: movedTo, By: s.apiMove("undo")},
		{Route: "GET /api/v1/languages", For: site.Guest, Kept: true, Does: "Every language that was ever served", Query: "after limit", Out: fiber.Map{"languages": []languageJSON{}, "next": (*string)(nil)}, By: s.apiLanguages},
		{Route: "POST /api/v1/languages/:id/withdraw", For: site.Staff, Does: "Take a language off the list: nothing more is taken in it", Out: fiber.Map{"id": "", "withdrawn": false}, By: s.apiWithdraw(true)},
		{Route: "POST /api/v1/languages/:id/offer", For: site.Staff, Does: "Put a language back on the list", Out: fiber.Map{"id": "", "withdrawn": false}, By: s.apiWithdraw(false)},
		{Route: "GET /api/v1/workers", For: site.Guest, Does: "The workers", Query: "all after limit", Out: fiber.Map{"workers": []workerJSON{}, "next": (*string)(nil)}, By: s.apiWorkers},
		{Route: "GET /api/v1/feed", For: site.Staff, Does: "How far the change feed is, and what PostgreSQL keeps for feeds", Out: fiber.Map{"slots": []judge.Slot{}, "feeds": []judge.FeedStatus{}, "problem": ""}, By: s.apiFeed},
		{Route: "GET /api/v1/queue", For: site.Guest, Does: "The queue in figures; with group, what waits of a submitter", Query: "group after limit", Out: fiber.Map{
			"?pending": int64(0), "?delivered": int64(0), "?running": int64(0), "?lanes": map[string]int64{}, "?oldest_seconds": 0.0, "?dead_letters": int64(0),
			"?judged_last_minute": int64(0), "?group": "", "?waiting": []waitingJSON{}, "?next": (*string)(nil),
		}, By: s.apiQueue},
		{Route: "GET /api/v1/queues", For: site.Staff, Does: "Queues and how they behave", Query: "after limit", Out: fiber.Map{"queues": []queueJSON{}, "next": (*string)(nil)}, By: s.apiQueues},
		{Route: "POST /api/v1/queues/:name", For: site.Admin, Does: "Make a queue, or say anew how it behaves; what is left out is as at the beginning, but for the pause, which stays", In: queueSettings, Out: queueJSON{}, By: s.apiSetQueue},
		{Route: "GET /api/v1/invariants", For: site.Staff, Does: "How often each invariant of the queue is broken, counted now over every job: all zeros if nothing is lost or doubled", Out: fiber.Map{"invariants": []invariantJSON{}}, By: s.apiInvariants},
		{Route: "POST /api/v1/queues/:name/pause", For: site.Staff, Does: "Give no work", Out: fiber.Map{"name": "", "paused": false}, By: s.apiPause(true)},
		{Route: "POST /api/v1/queues/:name/resume", For: site.Staff, Does: "Give work again", Out: fiber.Map{"name": "", "paused": false}, By: s.apiPause(false)},
		{Route: "GET /api/v1/dlq", For: site.Staff, Does: "Dead letters, newest first", Query: "all before limit", Out: fiber.Map{"dead_letters": []deadLetterJSON{}, "next": (*string)(nil)}, By: s.apiDeadLetters},
		{Route: "POST /api/v1/dlq/replay", For: site.Staff, Does: "Have all dead jobs with one reason judged again", In: fiber.Map{"reason": ""}, Status: 202, Out: fiber.Map{"reason": "", "jobs": 0}, By: s.apiReplayAll},
		{Route: "GET /api/v1/dlq/:id", For: site.Staff, Does: "A dead letter and the attempts that led to it", Out: fiber.Map{"dead_letter": deadLetterJSON{}, "attempts": []attemptJSON{}}, By: s.apiDeadLetter},
		{Route: "POST /api/v1/dlq/:id/replay", For: site.Staff, Does: "Have a dead job judged again", Status: 202, Out: fiber.Map{"job_id": int64(0), "generation": int32(0)}, By: s.apiReplay},
		{Route: "POST /api/v1/dlq/:id/discard", For: site.Staff, Confirm: discards, OrKey: true, Does: "Resolve a dead letter without judging again", In: fiber.Map{"reason": ""}, Out: fiber.Map{"job_id": int64(0), "resolution": ""}, By: s.apiDiscard},
		{Route: "GET /api/v1/rejudgings", For: site.Staff, Does: "Rejudge sets, newest first", Query: "before limit", Out: fiber.Map{"rejudgings": []setJSON{}, "next": site.Cursor}, By: s.apiRejudgings},
		{Route: "POST /api/v1/rejudgings", For: site.Staff, Does: "Start a set; with an Idempotency-Key the same again gives the same set", In: rejudging, Status: 202, Out: setJSON{}, By: s.apiStartRejudge},
		{Route: "GET /api/v1/rejudgings/:id", For: site.Staff, Does: "A set and what it changes", Query: "after limit", Out: fiber.Map{"rejudging": setJSON{}, "matrix": []turnJSON{}, "changes": []changeJSON{}, "next": site.Cursor}, By: s.apiRejudging},
		{Route: "POST /api/v1/rejudgings/:id/apply", For: site.Staff, Does: "Show the new verdicts of a set", Out: setJSON{}, By: s.apiResolveRejudge(true)},
		{Route: "POST /api/v1/rejudgings/:id/cancel", For: site.Staff, Does: "Stop a set and change nothing", Out: setJSON{}, By: s.apiResolveRejudge(false)},
	}
}
