// Package api answers clients of Judge0: a submission of theirs is a run whose
// idempotency key is its token. What comes and goes is in the words of package judge0.
package api

import (
	"deepoj/web/callback"
	"deepoj/web/job"
	"deepoj/web/site"
)

// Room answers at the addresses under /judge0.
type Room struct {
	*site.Site
	job    *job.Room
	caller *callback.Caller
	census census
}

// New makes the room. Who asked to be told of the end of a run is told by the caller.
func New(shared *site.Site, jobs *job.Room, caller *callback.Caller) *Room {
	return &Room{Site: shared, job: jobs, caller: caller}
}
