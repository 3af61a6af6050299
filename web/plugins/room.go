// Package plugins serves checkers, interactors and adapters to those who upload them:
// their versions, the jobs that prove them, and the problems that use them.
//
//	room.go       what the room has of others
//	addresses.go  its addresses
//	plugins.go    the list, and the form of uploads
//	upload.go     what is uploaded, as a form or as JSON
//	check.go      what of an upload is refused before it is proved
//	job.go        the page of a job that proves one
//	proof.go      what such a job has found so far
//	plugin.go     the page of a plugin and its versions
//	acts.go       activating, retiring and proving again
//	api.go        the same for programs
//	words.go      how kinds, severities and stages are called
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
