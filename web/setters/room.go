// Package setters serves problems to those who set them: their packages and versions, who may change and see them, and
// changing them in the browser. Plugins have a room of their own, and so has what contestants see.
//
//	addresses.go    what the room answers to
//	clone.go        new problems, from versions of others and from samples
//	compare.go      how two versions differ
//	edit.go         changes of a version, which make another
//	editapi.go      changes by the API
//	editforms.go    changes by forms
//	editpage.go     the page on which a version is changed
//	editpreview.go  what a change would make
//	job.go          jobs about packages
//	labels.go       what setters say of a problem, such as its tags
//	messages.go     who reads what checkers say
//	package.go      the page of a problem's versions
//	packages.go     the list of packages, and taking them in and out
//	preview.go      a version as contestants would see it
//	quota.go        what a setter may use
//	render.go       making the pages of versions again
//	rights.go       who may change a problem, and who sees it
//	room.go         what the room holds
//	store.go        storing archives, and the jobs that take them in
//	upload.go       a package as it comes in
//	versions.go     making versions live, and proving them
//	words.go        words of pages
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
