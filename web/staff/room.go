// Package staff answers for the queue and for whoever looks after it: what waits and runs, workers and languages, jobs
// that were given up, judging again, and what people with privileges did.
//
//	addresses.go    what the room answers to
//	auditdetail.go  what the audit log keeps of an act, in words
//	auditlog.go     what people with privileges did
//	cursors.go      where pages of dead letters and of what waits begin
//	deadletters.go  jobs that were given up
//	feed.go         the change feed
//	languages.go    languages, and which of them are on the list
//	queueapi.go     queues, and what waits of a submitter, by the API
//	queueflow.go    the picture of the last hour
//	queuemoves.go   moving what waits, and pausing queues
//	queuepage.go    the page of the queue
//	rejudge.go      judging one submission again
//	rejudgeapi.go   rejudge sets, by the API
//	rejudgepage.go  the pages of rejudge sets
//	room.go         what the room holds
//	words.go        kinds, outcomes and acts, as pages say them
//	workers.go      workers
package staff

import (
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
)

// Room answers for the queue, workers, languages and rejudging.
type Room struct {
	*site.Site
	job  *job.Room
	Flow *site.KeptTwice[[]sql.Flow] // what came and went lately
}

// New makes the room.
func New(shared *site.Site, jobs *job.Room) *Room {
	return &Room{Site: shared, job: jobs, Flow: site.KeepTwice(shared.Store, sql.Reader.QueueFlow, flowAge)}
}
