// Package job serves jobs of every kind: how the one is found that an address names, its page, its live part, its
// stream and its end. A kind says which jobs the viewer may see, and adds its part.
//
// Its files:
//
//	room.go       what the kinds share
//	addresses.go  addresses of jobs of whatever kind
//	jobs.go       which job an address names
//	public.go     what the viewer may see of it
//	standing.go   how it stands, in a sentence
//	history.go    what has happened to it
//	place.go      its place in the queue
//	live.go       its stream of events
//	hub.go        who watches
//	follow.go     what other processes did to jobs that are watched
//	cancel.go     its end
package job

import "deepoj/web/site"

// Room is what the rooms of all kinds of jobs share.
type Room struct {
	*site.Site
	hub *hub // of the streams
}

// New makes the room.
func New(shared *site.Site) *Room {
	r := &Room{Site: shared, hub: newHub(shared.Count, shared.Config.MaxStreams, shared.Config.MaxStreamsPerClient)}
	r.hub.events, r.hub.stamps = r.seenEvents, shared.Store.Stamps
	return r
}
