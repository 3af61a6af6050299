package job

import (
	"context"
	"strconv"

	"deepoj/host/judge"
	"deepoj/web/live"
	"deepoj/web/site"
)

// readers bounds how many streams read events at once, so that streams cannot take the database from those who submit.
const readers = 4

// hub wakes the streams of a job that has new events: at once when they came of this process, and otherwise when a look
// at the jobs that are watched shows it.
type hub struct {
	*live.Hub

	stamps  func(ctx context.Context, jobIDs []int64) (map[int64]string, error)                 // another stamp means other events
	events  func(ctx context.Context, v site.Viewer, jobID, after int64) ([]judge.Event, error) // what somebody may see
	count   *site.Counters
	reading chan struct{}
}

// watch is one stream's interest in one job.
type watch struct {
	*live.Watch

	hub   *hub
	jobID int64
}

func newHub(count *site.Counters, limit, perClient int) *hub {
	return &hub{Hub: live.New(limit, perClient), count: count, reading: make(chan struct{}, readers)}
}

// watch begins to watch a job. The caller ends it with leave.
func (h *hub) watch(jobID int64, client string) (*watch, error) {
	w, err := h.Watch(jobID, client)
	if err != nil {
		h.count.Refused.WithLabelValues(refusals[err]).Inc()
		return nil, err
	}
	h.count.Streams.Inc()
	return &watch{w, h, jobID}, nil
}

// refusals are what streams that were refused are counted by.
var refusals = map[error]string{live.ErrStopping: "stopping", live.ErrTooMany: "process", live.ErrYours: "client"}

// leave ends the watch. It may be called once.
func (w *watch) leave() {
	w.Leave()
	w.hub.count.Streams.Dec()
}

// wake has the streams of a job look for events: payload is its id, or empty when anything may have happened.
func (h *hub) wake(payload string) {
	if payload == "" {
		h.WakeAll()
		return
	}
	if id, err := strconv.ParseInt(payload, 10, 64); err == nil {
		h.Wake(id)
	}
}

// read returns what v may see of the events of the job after the given one.
func (w *watch) read(ctx context.Context, v site.Viewer, after int64) ([]judge.Event, error) {
	select {
	case w.hub.reading <- struct{}{}:
		defer func() { <-w.hub.reading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return w.hub.events(ctx, v, w.jobID, after)
}

// WakeStreams has the streams of a job look for events, or all where none is named.
func (s *Room) WakeStreams(payload string) { s.hub.wake(payload) }

// FollowJobs wakes the streams of jobs that have events from other processes, until ctx ends.
func (s *Room) FollowJobs(ctx context.Context) { s.hub.follow(ctx) }

// EndStreams ends every stream, as the server stops.
func (s *Room) EndStreams() { s.hub.Close() }

// Ended is closed when streams have to end.
func (s *Room) Ended() <-chan struct{} { return s.hub.Done() }

// OpenStreams returns how many streams are open. Whoever waits for a job counts as one.
func (s *Room) OpenStreams() int { return s.hub.Open() }
