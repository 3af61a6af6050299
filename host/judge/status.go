// Package judge is the vocabulary of Deep-OJ: what a submission, an attempt, a
// verdict and a result are, and which moves between their states exist.
//
// It holds data and decisions that need no database, queue or sandbox, so every
// other package may import it and it imports none of ours.
//
// Its files:
//
//	status.go    statuses of jobs, the moves between them, and kinds of jobs
//	lane.go      the coarse order of the queue
//	standing.go  where a job of any kind stands
//	job.go       what workers get, hold and tell: tickets, claims, results
//	usage.go     what a program used, and how that is written
//	payload.go   what the job of a submission carries
//	view.go      submissions, places, languages, workers and problems as people see them
//	run.go       runs
//	plugin.go    plugins, and jobs about them
//	package.go   packages, and jobs about them
//	proof.go     what jobs about packages found, and proofs
//	conform.go   what jobs about plugins found, and proofs of conformance
//	clarification.go  questions and answers in rounds
//	page.go      what people see of a version of a problem
//	factor.go     second factors
//	given.go     what is said of a package that does not say it
//	feedback.go  what participants are told while a round hides something
//	message.go   who reads what checkers say
//	verdict.go   verdicts
//	event.go     what happens to a job
//	reject.go    why a write or a request is refused
//	round.go     rounds, their problems and who takes part
//	queue.go     queues, and what waits in them
//	people.go    accounts, roles and keys
//	space.go     courses and contests
//	webhook.go   webhooks and messages to them
//	feed.go      change feeds, and what the database keeps for them
package judge

import "slices"

// Status is where a job stands between being accepted and being complete. The zero Status is invalid.
type Status string

// The statuses of a job, spelled as PostgreSQL spells them.
const (
	Pending   Status = "pending"   // waiting for a worker
	Running   Status = "running"   // a worker holds the newest attempt
	Finished  Status = "finished"  // has a result
	Cancelled Status = "cancelled" // somebody withdrew it
	Dead      Status = "dead"      // gave up after too many tries
)

// Statuses lists every status, in the order in which a job usually meets them.
var Statuses = []Status{Pending, Running, Finished, Cancelled, Dead}

// moves is the whole state machine: what is not listed cannot happen.
var moves = map[Status][]Status{
	Pending:   {Running, Cancelled, Dead},
	Running:   {Pending, Finished, Cancelled, Dead}, // back to Pending when the lease expires
	Finished:  {Pending},                            // rejudge
	Cancelled: {Pending},                            // rejudge
	Dead:      {Pending},                            // replay from the dead letters
}

// CanBecome reports whether a job may move from s to t.
func (s Status) CanBecome(t Status) bool { return slices.Contains(moves[s], t) }

// Terminal reports whether nothing more happens to a job in s by itself.
func (s Status) Terminal() bool { return s == Finished || s == Cancelled || s == Dead }

// State is the coarse view of a Status that the fence also checks. PostgreSQL derives it in a generated column.
type State string

// The states of a job.
const (
	Queued     State = "queued"
	Processing State = "processing"
	Done       State = "done"
)

// State returns the coarse view of s.
func (s Status) State() State {
	switch s {
	case Pending:
		return Queued
	case Running:
		return Processing
	case Finished, Cancelled, Dead:
	}
	return Done
}

// Kind says what a job executes. Everything that executes is a job.
type Kind string

// The kinds of jobs.
const (
	KindSubmission  Kind = "submission"   // judge a submission on every test
	KindRun         Kind = "run"          // run a program on one's own input; never counts
	KindImport      Kind = "import"       // read a problem package
	KindVerify      Kind = "verify"       // prove a package with its own submissions
	KindRender      Kind = "render"       // make the pages of kept versions again
	KindPluginBuild Kind = "plugin_build" // compile a plugin to WASI
	KindPluginTest  Kind = "plugin_test"  // run the conformance suite
	KindDraft       Kind = "draft"        // judge a program on a version that need not be live; never counts
)

// Kinds lists every kind.
var Kinds = []Kind{KindSubmission, KindRun, KindImport, KindVerify, KindRender, KindPluginBuild, KindPluginTest, KindDraft}
