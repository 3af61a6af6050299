// Package solve serves problems to those who solve them: finding and reading them,
// handing in programs and running them, and what came of it.
//
//	addresses.go    what the room answers to
//	batch.go        many submissions at once
//	desk.go         a problem of a round, as a team sees it
//	difference.go   where an output differs from a right answer
//	pictures.go     pictures of figures
//	profile.go      what somebody has solved
//	print.go        the problems of a round on paper
//	problems.go     the page of a problem, with its form
//	room.go         what the room holds
//	round.go        where a program is handed in: the rounds
//	runfields.go    a run, as it comes in as JSON
//	runpage.go      the page of a run
//	runs.go         running a program, which does not count
//	search.go       the list of problems
//	statistics.go   what became of the submissions to a problem
//	submission.go   the page of a submission
//	submissions.go  lists of submissions, and one by the API
//	submit.go       a program that is handed in: checking and storing it
//	submitform.go   the same, from a form
//	testview.go     tests, groups and sources on the page of a submission
package solve

import (
	"deepoj/web/job"
	"deepoj/web/site"
)

// Room answers for problems, submissions and runs.
type Room struct {
	*site.Site
	job        *job.Room
	statistics statistics
}

// New makes the room.
func New(shared *site.Site, jobs *job.Room) *Room { return &Room{Site: shared, job: jobs} }
