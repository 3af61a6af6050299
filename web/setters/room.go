// Package setters serves problems to those who set them: their packages and versions,
// who may change and see them, and changing them in the browser.
package setters

import (
	"deepoj/web/job"
	"deepoj/web/site"
)

// Room answers for packages and versions.
type Room struct {
	*site.Site
	job      *job.Room
	previews chan struct{} // a place in it is the right to make a preview
}

// New makes the room.
func New(shared *site.Site, jobs *job.Room) *Room {
	return &Room{Site: shared, job: jobs, previews: make(chan struct{}, 2)}
}
