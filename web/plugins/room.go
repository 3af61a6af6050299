// Package plugins serves checkers, interactors and adapters to those who upload them:
// their versions, the jobs that prove them, and the problems that use them.
package plugins

import (
	"deepoj/web/job"
	"deepoj/web/setters"
	"deepoj/web/site"
)

// Room answers for plugins.
type Room struct {
	*site.Site
	job     *job.Room
	setters *setters.Room
}

// New makes the room.
func New(shared *site.Site, jobs *job.Room, problems *setters.Room) *Room {
	return &Room{Site: shared, job: jobs, setters: problems}
}
