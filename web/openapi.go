package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/draft"
	"deepoj/host/judge"
	"deepoj/sql"
)

// operation describes an address for programs. The examples of what comes and goes
// give types and not values; a test compares them with what really comes and goes.
type operation struct {
	needs  string // the least that may use it: anyone, guest, user, login, setter, staff, admin or proof
	route  string // METHOD /path, as the router has it
	does   string
	query  string // names of parameters: see parameters
	in     any    // JSON that is sent; nil = nothing has to be
	media  string // of what is sent (see uploads) or answered, if it is not JSON
	status int
	also   int // another status with the same answer, where the request was there before; 0 = none
	out    any // JSON that is answered; nil = none is
}

// Parts of examples that come often.
var (
	stored    = fiber.Map{"job_id": int64(0), "url": "", "existing": false}
	people    = fiber.Map{"people": []sql.ProblemPerson{}}
	cursor    = (*int64)(nil)
	movedTo   = fiber.Map{"job_id": int64(0), "?rank_at": time.Time{}, "?undone": "", "?place": placeJSON{}}
	oneTime   = fiber.Map{"name": "", "password": ""}
	program   = fiber.Map{"problem": "", "?space": "", "language": "", "?source": "", "?sources": []judge.Source{}, "?once": false, "?immediate": false, "?priority": 0, "?job_key": ""}
	rejudging = fiber.Map{"reason": "", "?problem": "", "?language": "", "?author": "", "?verdict": "", "?job_ids": []int64{}}
)

// spaceChange is what may be sent of a space. The required fields have to be.
func spaceChange(required ...string) fiber.Map {
	out := fiber.Map{}
	for name, value := range map[string]any{
		"slug": "", "title": "", "description": "", "opens_at": (*time.Time)(nil), "closes_at": (*time.Time)(nil), "languages": []string{},
		"max_source_kib": 0, "max_waiting": 0, "per_minute": 0, "listed": false,
	} {
		switch {
		case slices.Contains(required, name):
			out[name] = value
		case name != "slug":
			out["?"+name] = value
		}
	}
	return out
}

const eventStream = "text/event-stream"

// operations are the addresses that /api/openapi.json describes: all but pages,
// what machines ask without an account, and those of clients of Judge0.
var operations = []operation{
	{needs: "anyone", route: "POST /api/v1/sessions", does: "Log in: a token for a name and password", in: fiber.Map{"name": "", "password": ""}, status: 201, out: fiber.Map{"token": "", "expires_at": time.Time{}}},
	{needs: "login", route: "DELETE /api/v1/sessions", does: "End the session that asks", status: 204},
	{needs: "user", route: "GET /api/v1/account", does: "Who asks", status: 200, out: accountJSON{}},
	{needs: "login", route: "POST /api/v1/account/password", does: "Change one's own password", in: fiber.Map{"current": "", "new": ""}, status: 204},
	{needs: "login", route: "POST /api/v1/account/confirm", does: "Prove again who one is, for the acts of the next ten minutes that ask for it", in: fiber.Map{"password": ""}, status: 204},
	{needs: "login", route: "GET /api/v1/keys", does: "One's own keys, newest first", query: "before limit", status: 200, out: fiber.Map{"keys": []keyJSON{}, "next": cursor}},
	{needs: "login", route: "POST /api/v1/keys", does: "Make a key", in: fiber.Map{"label": "", "scope": "", "?expires_at": (*time.Time)(nil)}, status: 201, out: newKeyJSON{}},
	{needs: "login", route: "DELETE /api/v1/keys/:id", does: "Revoke one's own key", status: 204},
	{needs: "login", route: "GET /api/v1/webhooks", does: "One's own webhooks, newest first; for administrators with all those of everybody", query: "all before limit", status: 200, out: fiber.Map{"webhooks": []webhookJSON{}, "next": cursor}},
	{needs: "login", route: "POST /api/v1/webhooks", does: "Make a webhook", in: fiber.Map{"url": "", "kinds": []string{}, "?everyone": false, "?problem": ""}, status: 201, out: newWebhookJSON{}},
	{needs: "login", route: "GET /api/v1/webhooks/:id", does: "A webhook", status: 200, out: webhookJSON{}},
	{needs: "login", route: "DELETE /api/v1/webhooks/:id", does: "Delete a webhook", status: 204},
	{needs: "login", route: "POST /api/v1/webhooks/:id/disable", does: "Tell a webhook nothing", status: 200, out: webhookJSON{}},
	{needs: "login", route: "POST /api/v1/webhooks/:id/enable", does: "Tell a webhook again", status: 200, out: webhookJSON{}},
	{needs: "login", route: "POST /api/v1/webhooks/:id/rotate", does: "Sign by another secret from now on", status: 200, out: newWebhookJSON{}},
	{needs: "login", route: "POST /api/v1/webhooks/:id/test", does: "Try the address out", status: 202, out: fiber.Map{"delivery": int64(0)}},
	{needs: "login", route: "GET /api/v1/webhooks/:id/deliveries", does: "What a webhook was told, newest first", query: "before limit", status: 200, out: fiber.Map{"deliveries": []deliveryJSON{}, "next": cursor}},
	{needs: "login", route: "POST /api/v1/webhooks/:id/deliveries/:delivery/resend", does: "Send a message again, with the same id", status: 202, out: fiber.Map{"delivery": int64(0)}},
	{needs: "admin", route: "GET /api/v1/audit", does: "What people with privileges did, newest first", query: "actor action subject before limit", status: 200, out: fiber.Map{"entries": []auditJSON{}, "next": cursor}},
	{needs: "admin", route: "GET /api/v1/users", does: "Accounts by name", query: "prefix role after limit", status: 200, out: fiber.Map{"users": []userJSON{}, "next": (*string)(nil)}},
	{needs: "admin", route: "POST /api/v1/users", does: "Make an account with a one-time password", in: fiber.Map{"name": "", "?role": ""}, status: 201, out: fiber.Map{"name": "", "role": "", "password": ""}},
	{needs: "admin", route: "GET /api/v1/users/:name", does: "An account", status: 200, out: userJSON{}},
	{needs: "proof", route: "POST /api/v1/users/:name/role", does: "Change what a user may do", in: fiber.Map{"role": ""}, status: 200, out: userJSON{}},
	{needs: "proof", route: "POST /api/v1/users/:name/disable", does: "Refuse logins and end all sessions", status: 200, out: userJSON{}},
	{needs: "proof", route: "POST /api/v1/users/:name/enable", does: "Take logins again", status: 200, out: userJSON{}},
	{needs: "proof", route: "POST /api/v1/users/:name/password", does: "Give a one-time password and end all sessions", status: 200, out: oneTime},
	{needs: "admin", route: "GET /api/v1/users/:name/keys", does: "The keys of a user, newest first", query: "before limit", status: 200, out: fiber.Map{"keys": []keyJSON{}, "next": cursor}},
	{needs: "proof", route: "DELETE /api/v1/users/:name/keys/:id", does: "Revoke a key of a user", status: 204},

	{needs: "guest", route: "POST /submit", does: "Hand in a program; the original contract", in: fiber.Map{"problem_id": "", "language": "", "code": ""}, status: 200, out: fiber.Map{"job_id": int64(0)}},
	{needs: "guest", route: "GET /status/:id", does: "Where a submission stands; the original contract", status: 200, out: fiber.Map{
		"job_id": int64(0), "status": "", "attempt_id": int32(0), "result": (*judge.Result)(nil), "error": (*string)(nil),
	}},
	{needs: "guest", route: "POST /api/v1/submissions", does: "Hand in a program; with an Idempotency-Key the same again gives the same submission", in: program, status: 201, also: 200, out: stored},
	{needs: "guest", route: "GET /api/v1/submissions", does: "Submissions, newest first", query: "author problem language verdict before limit", status: 200, out: fiber.Map{"submissions": []submissionJSON{}, "next": cursor}},
	{needs: "guest", route: "POST /api/v1/submissions/batch", does: "Hand in up to 50 programs, all or none; with an Idempotency-Key the same again gives the same submissions", in: fiber.Map{"submissions": []entryJSON{}, "?space": ""}, status: 201, out: fiber.Map{"submissions": []receiptJSON{}}},
	{needs: "guest", route: "GET /api/v1/submissions/batch", does: "Up to 50 submissions by their numbers, null for those that are not there for the viewer", query: "ids", status: 200, out: fiber.Map{"submissions": []*submissionJSON{}}},
	{needs: "guest", route: "GET /api/v1/submissions/:id", does: "A submission; with wait as soon as it is done", query: "wait", status: 200, out: submissionJSON{}},
	{needs: "guest", route: "GET /api/v1/submissions/:id/events", does: "What happens to a submission, from Last-Event-ID on", query: "after", status: 200, media: eventStream},
	{needs: "guest", route: "POST /api/v1/submissions/:id/cancel", does: "Withdraw a submission that has no result", in: fiber.Map{"?why": ""}, status: 200, out: fiber.Map{"job_id": int64(0), "status": ""}},
	{needs: "staff", route: "POST /api/v1/submissions/:id/rejudge", does: "Have a submission judged again", status: 202, out: fiber.Map{"job_id": int64(0), "generation": int32(0)}},
	{needs: "staff", route: "POST /api/v1/submissions/:id/release", does: "Put it before all that wait", status: 200, out: movedTo},
	{needs: "staff", route: "POST /api/v1/submissions/:id/immediate", does: "Put it into the first lane", status: 200, out: movedTo},
	{needs: "staff", route: "POST /api/v1/submissions/:id/delay", does: "Put it behind all of its lane", status: 200, out: movedTo},
	{needs: "staff", route: "POST /api/v1/submissions/:id/move", does: "Put it right before another", in: fiber.Map{"before": int64(0)}, status: 200, out: movedTo},
	{needs: "staff", route: "POST /api/v1/submissions/:id/delete", does: "Withdraw it while it waits", status: 200, out: movedTo},
	{needs: "staff", route: "POST /api/v1/submissions/:id/undo", does: "Take back the newest of these", status: 200, out: movedTo},

	{needs: "guest", route: "POST /api/v1/runs", does: "Run a program on inputs of one's own", in: fiber.Map{
		"?problem": "", "?samples": false, "language": "", "?source": "", "?sources": []judge.Source{}, "?stdin": "", "?expected_output": (*string)(nil),
		"?tests": []any{}, "?limits": nil, "?args": []string{}, "?compiler_options": []string{}, "?merge_stderr": false,
	}, status: 202, out: stored},
	{needs: "guest", route: "GET /api/v1/runs/:id", does: "A run; with wait as soon as it is done", query: "wait", status: 200, out: runJSON{}},
	{needs: "guest", route: "GET /api/v1/runs/:id/events", does: "What happens to a run, from Last-Event-ID on", query: "after", status: 200, media: eventStream},
	{needs: "guest", route: "POST /api/v1/runs/:id/cancel", does: "Withdraw a run", in: fiber.Map{"?why": ""}, status: 200, out: fiber.Map{"job_id": int64(0), "status": ""}},
	{needs: "guest", route: "GET /api/v1/jobs/:id", does: "A job of another kind", status: 200, out: jobJSON{}},
	{needs: "guest", route: "POST /api/v1/jobs/:id/cancel", does: "End a job of any kind, for its author or staff", in: fiber.Map{"?why": ""}, status: 200, out: fiber.Map{"job_id": int64(0), "status": ""}},
	{needs: "guest", route: "GET /api/v1/jobs/:id/events", does: "What happens to a job, from Last-Event-ID on", query: "after", status: 200, media: eventStream},

	{needs: "guest", route: "GET /api/v1/problems", does: "The problems by short name, with the caller's best submission of each", query: "q tag easiest hardest solved after limit", status: 200, out: fiber.Map{"problems": []foundJSON{}, "next": (*string)(nil)}},
	{needs: "guest", route: "GET /api/v1/problems/:slug/statistics", does: "What became of the submissions to a problem, without those to spaces that are not closed", status: 200, out: statisticsJSON{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/labels", does: "Tags, difficulty, source and author as setters say them; null is as the package says", status: 200, out: labelsJSON{}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/labels", does: "Say them; what is left out stays", in: fiber.Map{"?tags": (*[]string)(nil), "?difficulty": (*int32)(nil), "?source": (*string)(nil), "?author": (*string)(nil)}, status: 200, out: labelsJSON{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/diff", does: "How one version differs from another", query: "from to", status: 200, out: draft.Difference{}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/clone", does: "Make a problem of one's own of a version", in: fiber.Map{"name": "", "?version": ""}, status: 202, out: stored},
	{needs: "setter", route: "GET /api/v1/templates", does: "The templates of new problems", status: 200, out: fiber.Map{"templates": []string{}}},
	{needs: "setter", route: "POST /api/v1/templates/:name", does: "Make a new problem from a template", in: fiber.Map{"name": ""}, status: 202, out: stored},
	{needs: "setter", route: "GET /api/v1/problems/:slug/drafts", does: "Submissions to versions that need not be live, newest first, for whoever may change the problem", query: "version before limit", status: 200, out: fiber.Map{"drafts": []draftJSON{}, "next": cursor}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/drafts/:id", does: "One of them", status: 200, out: draftJSON{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/drafts/:id/events", does: "What happens to it, as server-sent events", status: 200, media: "text/event-stream"},
	{needs: "setter", route: "POST /api/v1/problems/:slug/drafts/:id/cancel", does: "Cancel it", in: fiber.Map{"?why": ""}, status: 200, out: fiber.Map{"job_id": int64(0), "status": ""}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/versions/:version/problem", does: "A version as contestants would see it", status: 200, out: judge.Problem{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/versions/:version/files", does: "The files of a version", status: 200, out: fiber.Map{"files": []fileJSON{}}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/versions/:version/file", does: "One file of a version", query: "path", status: 200, media: "application/octet-stream"},
	{needs: "setter", route: "POST /api/v1/problems/:slug/versions/:version/edit", does: "Change a version: a new one is imported, which does not go live by itself", in: editJSON{}, status: 202, out: stored},
	{needs: "setter", route: "POST /api/v1/problems/:slug/versions/:version/preview", does: "What a change would make, without saving it", in: editJSON{}, status: 200, out: previewJSON{}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/versions/:version/submissions", does: "Have a program judged on a version, live or not, for whoever may change the problem; it counts nowhere", in: fiber.Map{"language": "", "?source": "", "?sources": []judge.Source{}}, status: 201, out: stored},
	{needs: "setter", route: "POST /api/v1/problems", does: "Import a package: a ZIP file, or a form with one", query: "problem activate title time memory", media: "application/zip", status: 202, out: stored},
	{needs: "setter", route: "POST /api/v1/renderings", does: "Make the pages of all versions of some problems again, or for staff of all; versions and proofs stay; with an Idempotency-Key the same again gives the same job", in: fiber.Map{"?problems": []string{}, "?all": false}, status: 202, out: stored},
	{needs: "guest", route: "GET /api/v1/problems/:slug", does: "A problem with its statement, in the language that is asked for, and samples", query: "lang", status: 200, out: judge.Problem{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/package", does: "A version as a package", query: "version", status: 200, media: "application/zip"},
	{needs: "setter", route: "GET /api/v1/problems/:slug/versions", does: "Its versions, newest first", status: 200, out: fiber.Map{"versions": []judge.ProblemVersion{}}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/versions/:version", does: "A version with the report of its proof", status: 200, out: judge.ProblemVersion{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/versions/:version/statement", does: "The statement of a version as contestants see it, or would", query: "lang", status: 200, out: statementJSON{}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/versions/:version/activate", does: "Make a version live", in: fiber.Map{"?override": false}, status: 200, out: judge.ProblemVersion{}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/versions/:version/verify", does: "Prove a version again", status: 202, out: stored},
	{needs: "setter", route: "POST /api/v1/problems/:slug/rollback", does: "Make the version live that was live before", status: 200, out: fiber.Map{"problem": "", "version": ""}},

	{needs: "setter", route: "POST /api/v1/problems/:slug/hide", does: "Show a problem only to setters, and to members of a space while that is open", status: 200, out: fiber.Map{"problem": "", "hidden": false}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/show", does: "Show a problem to everybody", status: 200, out: fiber.Map{"problem": "", "hidden": false}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/people", does: "Who may change a problem besides staff: its owner and co-authors", status: 200, out: people},
	{needs: "setter", route: "POST /api/v1/problems/:slug/people", does: "Add a co-author, or name another owner, as its owner or staff", in: fiber.Map{"name": "", "?owner": false}, status: 200, out: people},
	{needs: "setter", route: "DELETE /api/v1/problems/:slug/people/:name", does: "Remove a co-author, as its owner, as staff, or oneself", status: 204},
	{needs: "setter", route: "GET /api/v1/quota", does: "What one's packages take and may take; for staff also those of others", status: 200, out: quotaView{}},
	{needs: "setter", route: "GET /api/v1/problems/:slug/checker-messages", does: "Who reads what the checkers of a problem say", status: 200, out: messagesJSON{}},
	{needs: "setter", route: "POST /api/v1/problems/:slug/checker-messages", does: "Choose that: nobody, samples or all, or nothing for what the package says", in: fiber.Map{"checker_messages": ""}, status: 200, out: messagesJSON{}},

	{needs: "guest", route: "GET /api/v1/spaces", does: "Courses and contests, newest first: those that are listed or one's own, or all for staff", query: "before limit", status: 200, out: fiber.Map{"spaces": []spaceJSON{}, "next": (*string)(nil)}},
	{needs: "staff", route: "POST /api/v1/spaces", does: "Make a space", in: spaceChange("slug", "title"), status: 201, out: spaceJSON{}},
	{needs: "guest", route: "GET /api/v1/spaces/:space", does: "A space", status: 200, out: spaceJSON{}},
	{needs: "guest", route: "PATCH /api/v1/spaces/:space", does: "Change settings, as staff of the space; what is not sent stays", in: spaceChange(), status: 200, out: spaceJSON{}},
	{needs: "guest", route: "DELETE /api/v1/spaces/:space", does: "Delete a space that nobody has handed anything in to, as its staff", status: 204},
	{needs: "guest", route: "GET /api/v1/spaces/:space/members", does: "Members by name, for staff of the space", query: "after limit", status: 200, out: fiber.Map{"members": []spaceMemberJSON{}, "next": (*string)(nil)}},
	{needs: "guest", route: "POST /api/v1/spaces/:space/members", does: "Give accounts a role in a space, as its staff: contestant, setter or staff", in: fiber.Map{"names": []string{}, "?role": ""}, status: 200, out: spaceJSON{}},
	{needs: "guest", route: "DELETE /api/v1/spaces/:space/members/:name", does: "Take somebody out of a space, as its staff", status: 204},
	{needs: "guest", route: "GET /api/v1/spaces/:space/problems", does: "Problems of a space in order, for members once it has opened", status: 200, out: fiber.Map{"problems": []spaceProblemJSON{}}},
	{needs: "guest", route: "POST /api/v1/spaces/:space/problems", does: "Add a problem, or give it another place and points, as setter of the space", in: fiber.Map{"problem": "", "?place": 0, "?points": (*float64)(nil)}, status: 200, out: fiber.Map{"problems": []spaceProblemJSON{}}},
	{needs: "guest", route: "GET /api/v1/spaces/:space/problems/:slug", does: "A problem as the space shows it", query: "lang", status: 200, out: judge.Problem{}},
	{needs: "guest", route: "DELETE /api/v1/spaces/:space/problems/:slug", does: "Take a problem out of a space, as its setter", status: 204},
	{needs: "guest", route: "GET /api/v1/spaces/:space/scores", does: "What each contestant achieved, the best first, for members", status: 200, out: fiber.Map{"scores": []spaceScoreJSON{}}},
	{needs: "guest", route: "GET /api/v1/spaces/:space/submissions", does: "Submissions of a space, newest first: one's own, or all for its staff", query: "author problem language verdict before limit", status: 200, out: fiber.Map{"submissions": []submissionJSON{}, "next": cursor}},

	{needs: "guest", route: "GET /api/v1/languages", does: "Every language that was ever served", status: 200, out: fiber.Map{"languages": []languageJSON{}}},
	{needs: "staff", route: "POST /api/v1/languages/:id/withdraw", does: "Take a language off the list: nothing more is taken in it", status: 200, out: fiber.Map{"id": "", "withdrawn": false}},
	{needs: "staff", route: "POST /api/v1/languages/:id/offer", does: "Put a language back on the list", status: 200, out: fiber.Map{"id": "", "withdrawn": false}},
	{needs: "guest", route: "GET /api/v1/workers", does: "The workers", query: "all", status: 200, out: fiber.Map{"workers": []workerJSON{}}},
	{needs: "guest", route: "GET /api/v1/queue", does: "The queue in figures; with group, what waits of a submitter", query: "group", status: 200, out: fiber.Map{
		"?pending": int64(0), "?delivered": int64(0), "?running": int64(0), "?lanes": map[string]int64{}, "?oldest_seconds": 0.0, "?dead_letters": int64(0),
		"?judged_last_minute": int64(0), "?group": "", "?waiting": []waitingJSON{},
	}},
	{needs: "staff", route: "GET /api/v1/queues", does: "Queues and how they behave", status: 200, out: fiber.Map{"queues": []queueJSON{}}},
	{needs: "staff", route: "POST /api/v1/queues/:name/pause", does: "Give no work", status: 200, out: fiber.Map{"name": "", "paused": false}},
	{needs: "staff", route: "POST /api/v1/queues/:name/resume", does: "Give work again", status: 200, out: fiber.Map{"name": "", "paused": false}},
	{needs: "staff", route: "GET /api/v1/dlq", does: "Dead letters, newest first", query: "all before limit", status: 200, out: fiber.Map{"dead_letters": []letterJSON{}}},
	{needs: "staff", route: "POST /api/v1/dlq/replay", does: "Have all dead jobs with one reason judged again", in: fiber.Map{"reason": ""}, status: 202, out: fiber.Map{"reason": "", "jobs": 0}},
	{needs: "staff", route: "GET /api/v1/dlq/:id", does: "A dead letter and the attempts that led to it", status: 200, out: fiber.Map{"dead_letter": letterJSON{}, "attempts": []attemptJSON{}}},
	{needs: "staff", route: "POST /api/v1/dlq/:id/replay", does: "Have a dead job judged again", status: 202, out: fiber.Map{"job_id": int64(0), "generation": int32(0)}},
	{needs: "staff", route: "POST /api/v1/dlq/:id/discard", does: "Resolve a dead letter without judging again", in: fiber.Map{"reason": ""}, status: 200, out: fiber.Map{"job_id": int64(0), "resolution": ""}},
	{needs: "staff", route: "GET /api/v1/rejudgings", does: "Rejudge sets, newest first", query: "before limit", status: 200, out: fiber.Map{"rejudgings": []setJSON{}}},
	{needs: "staff", route: "POST /api/v1/rejudgings", does: "Start a set; with an Idempotency-Key the same again gives the same set", in: rejudging, status: 202, out: setJSON{}},
	{needs: "staff", route: "GET /api/v1/rejudgings/:id", does: "A set and what it changes", query: "after", status: 200, out: fiber.Map{"rejudging": setJSON{}, "matrix": []turnJSON{}, "changes": []changeJSON{}}},
	{needs: "staff", route: "POST /api/v1/rejudgings/:id/apply", does: "Show the new verdicts of a set", status: 200, out: setJSON{}},
	{needs: "staff", route: "POST /api/v1/rejudgings/:id/cancel", does: "Stop a set and change nothing", status: 200, out: setJSON{}},

	{needs: "setter", route: "GET /api/v1/plugins", does: "Uploaded plugins", query: "kind name", status: 200, out: fiber.Map{"plugins": []judge.Plugin{}}},
	{needs: "setter", route: "POST /api/v1/plugins", does: "Upload a plugin: a form with files, or a module", query: "kind name version protocol problem", media: "multipart/form-data", status: 202, out: stored},
	{needs: "setter", route: "GET /api/v1/plugins/:digest", does: "A plugin", status: 200, out: judge.Plugin{}},
	{needs: "setter", route: "POST /api/v1/plugins/:digest/activate", does: "Have a name mean this plugin", status: 200, out: judge.Plugin{}},
	{needs: "setter", route: "POST /api/v1/plugins/:digest/preview", does: "Try a checker on past outputs", in: fiber.Map{"problem": "", "?limit": 0}, status: 202, out: stored},
	{needs: "setter", route: "POST /api/v1/plugins/:digest/bind", does: "Use a checker for a problem", in: fiber.Map{"problem": ""}, status: 202, out: stored},
	{needs: "setter", route: "POST /api/v1/plugins/:digest/test", does: "Test a plugin again", in: fiber.Map{"?problem": ""}, status: 202, out: stored},
	{needs: "setter", route: "POST /api/v1/plugins/rollback", does: "Have a name mean what it meant before", in: fiber.Map{"kind": "", "name": ""}, status: 200, out: fiber.Map{"kind": "", "name": "", "digest": ""}},
	{needs: "anyone", route: "GET /api/openapi.json", does: "This description", status: 200, out: fiber.Map{"openapi": "", "info": nil, "paths": nil, "webhooks": nil, "components": nil}},
}

var pathParameter = regexp.MustCompile(`:([a-z]+)`)

// describeAPI makes the OpenAPI 3.1 document.
func describeAPI(version string) ([]byte, error) {
	types := &schemas{map[string]any{}, map[string]reflect.Type{}}
	paths := map[string]map[string]any{}
	for _, op := range operations {
		method, path, _ := strings.Cut(op.route, " ")
		address := pathParameter.ReplaceAllString(path, "{$1}")
		if paths[address] == nil {
			paths[address] = map[string]any{}
		}
		described, err := op.describe(types, path)
		if err != nil {
			return nil, fmt.Errorf("describe the API: %w", err)
		}
		paths[address][strings.ToLower(method)] = described
	}
	document := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "Deep-OJ", "version": version,
			"description": "A refusal is a problem document (RFC 9457); the page /api/errors explains the reasons. Addresses under /judge0 speak as Judge0 does.",
		},
		"paths": paths, "webhooks": describeWebhooks(types),
		"components": map[string]any{
			"schemas": types.named,
			"responses": map[string]any{"problem": map[string]any{
				"description": "A refusal", "content": map[string]any{"application/problem+json": map[string]any{"schema": types.of(fault{})}},
			}},
			"securitySchemes": map[string]any{
				"bearer": map[string]any{"type": "http", "scheme": "bearer", "description": "A key, or the token of a session"},
				"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": sessionCookie, "description": "The session of a browser; changes also need X-CSRF-Token"},
			},
		},
	}
	out, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return out, nil
}

// describeWebhooks describes what is sent to webhooks.
func describeWebhooks(types *schemas) map[string]any {
	header := func(name, does string) any {
		return map[string]any{"name": name, "in": "header", "required": true, "description": does, "schema": map[string]any{"type": "string"}}
	}
	out := map[string]any{}
	for _, kind := range append([]string{webhookTest}, sql.WebhookKinds...) {
		out[kind] = map[string]any{"post": map[string]any{
			"summary": "A submission was " + webhookKindText(kind), "parameters": []any{
				header("webhook-id", "The same each time that a message is sent"), header("webhook-timestamp", "When this try was made, in seconds since 1970"),
				header("webhook-signature", "v1, and in Base64 the HMAC-SHA256 of id, timestamp and body with points between"),
			},
			"requestBody": map[string]any{"content": map[string]any{fiber.MIMEApplicationJSON: map[string]any{"schema": types.of(messageJSON{})}}},
			"responses": map[string]any{
				"2XX": map[string]any{"description": "The message was taken"}, "410": map[string]any{"description": "The webhook is disabled"},
				"default": map[string]any{"description": "Without an answer, and after 408, 429 and 5xx, the message is sent again"},
			},
		}}
	}
	return out
}

// describe is the operation as OpenAPI has it.
func (op operation) describe(types *schemas, path string) (map[string]any, error) {
	parameters := []any{}
	for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
	}
	for name := range strings.FieldsSeq(op.query) {
		p, known := parameterOf(op.route, name)
		if !known {
			return nil, fmt.Errorf("%s: nobody says what the parameter %s is", op.route, name)
		}
		parameters = append(parameters, p.describe(name))
	}
	answer := map[string]any{"description": op.does}
	post := strings.HasPrefix(op.route, "POST ")
	switch {
	case op.out != nil:
		answer["content"] = map[string]any{fiber.MIMEApplicationJSON: map[string]any{"schema": types.of(op.out)}}
	case op.media != "" && !post:
		answer["content"] = map[string]any{op.media: op.stream(types)}
	}
	out := map[string]any{
		"operationId": op.id(), "summary": op.does, "parameters": parameters, "security": op.security(), "tags": []string{op.tag()},
		"description": "For " + map[string]string{
			"anyone": "anybody, without an account", "guest": "whoever may use the site", "user": "whoever has an account",
			"login": "whoever has logged in: a key cannot", "setter": "setters, staff and administrators", "staff": "staff and administrators", "admin": "administrators",
			"proof": "administrators who have just proved who they are: a key cannot",
		}[op.needs] + ".",
		"responses": map[string]any{strconv.Itoa(op.status): answer, "default": map[string]any{"$ref": "#/components/responses/problem"}},
	}
	if op.also != 0 {
		responses, _ := out["responses"].(map[string]any)
		responses[strconv.Itoa(op.also)] = answer
	}
	if post && op.media != "" {
		out["requestBody"] = map[string]any{"required": true, "content": op.bodies()}
	} else if op.in != nil {
		out["requestBody"] = map[string]any{"content": map[string]any{fiber.MIMEApplicationJSON: map[string]any{"schema": types.of(op.in)}}}
	}
	return out, nil
}

func (op operation) security() []any {
	switch op.needs {
	case "anyone":
		return []any{}
	case "guest":
		return []any{map[string]any{}, map[string]any{"bearer": []string{}}, map[string]any{"cookie": []string{}}}
	}
	return []any{map[string]any{"bearer": []string{}}, map[string]any{"cookie": []string{}}}
}

// id names the operation: get_users_name_keys.
func (op operation) id() string {
	method, path, _ := strings.Cut(op.route, " ")
	words := strings.FieldsFunc(strings.TrimPrefix(path, "/api/v1"), func(r rune) bool { return strings.ContainsRune("/:.", r) })
	return strings.ToLower(method) + "_" + strings.Join(words, "_")
}

// tag groups operations by what they are about.
func (op operation) tag() string {
	_, path, _ := strings.Cut(op.route, " ")
	rest, ours := strings.CutPrefix(path, "/api/v1/")
	if !ours {
		return map[bool]string{true: "description", false: "submissions"}[path == "/api/openapi.json"]
	}
	tag, _, _ := strings.Cut(rest, "/")
	return tag
}

// openapi handles GET /api/openapi.json.
func (s *Server) openapi(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(s.description)
}
