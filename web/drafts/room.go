// Package drafts serves draft submissions: programs that setters have judged on a version
// of a problem, live or not, before contestants do. They count nowhere. Who may change
// the problem sees them, and nobody else does: this is the one place that says so.
package drafts

import (
	"deepoj/web/job"
	"deepoj/web/setters"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// Room answers for draft submissions.
type Room struct {
	*site.Site
	job     *job.Room
	setters *setters.Room
	solve   *solve.Room
}

// New makes the room. Problems are those of the setters, and are tried on the page that contestants have.
func New(shared *site.Site, jobs *job.Room, problems *setters.Room, page *solve.Room) *Room {
	return &Room{Site: shared, job: jobs, setters: problems, solve: page}
}
