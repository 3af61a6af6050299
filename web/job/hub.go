package job

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// readers bounds how many streams read events at once, so that streams cannot take the database from those who submit.
const readers = 4

// Why a stream was refused.
var (
	errStopping       = errors.New("the server is stopping")
	errTooManyStreams = errors.New("too many open streams")
	errTooManyOfYours = errors.New("too many open streams of this client")
)

// hub wakes the streams of a job that has new events: at once when they came of this process, and otherwise when a look
// at the jobs that are watched shows it. A stream reads the events itself, so that a missed or doubled wake-up does no
// harm and no stream waits for another.
type hub struct {
	stamps    func(ctx context.Context, jobIDs []int64) (map[int64]string, error)                 // another stamp means other events
	events    func(ctx context.Context, v site.Viewer, jobID, after int64) ([]judge.Event, error) // what somebody may see
	count     *site.Counters
	limit     int
	perClient int
	reading   chan struct{}
	done      chan struct{} // closed when the server stops

	mu      sync.Mutex
	closed  bool
	open    int
	clients map[string]int
	watched map[int64]map[*watch]struct{}
	begun   chan struct{} // holds a value when somebody began to watch
}

// watch is one stream's interest in one job.
type watch struct {
	hub    *hub
	jobID  int64
	client string
	woken  chan struct{} // holds at most one wake-up
}

func newHub(count *site.Counters, limit, perClient int) *hub {
	return &hub{
		count: count, limit: limit, perClient: perClient,
		reading: make(chan struct{}, readers), done: make(chan struct{}),
		clients: map[string]int{}, watched: map[int64]map[*watch]struct{}{}, begun: make(chan struct{}, 1),
	}
}

// watch begins to watch a job. The caller ends it with leave.
func (h *hub) watch(jobID int64, client string) (*watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, h.refuse("stopping", errStopping)
	case h.open >= h.limit:
		return nil, h.refuse("process", errTooManyStreams)
	case h.clients[client] >= h.perClient:
		return nil, h.refuse("client", errTooManyOfYours)
	}
	w := &watch{hub: h, jobID: jobID, client: client, woken: make(chan struct{}, 1)}
	h.open++
	h.clients[client]++
	if h.watched[jobID] == nil {
		h.watched[jobID] = map[*watch]struct{}{}
	}
	h.watched[jobID][w] = struct{}{}
	h.count.Streams.Inc()
	select {
	case h.begun <- struct{}{}:
	default:
	}
	return w, nil
}

func (h *hub) refuse(reason string, err error) error {
	h.count.Refused.WithLabelValues(reason).Inc()
	return err
}

// leave ends the watch. It may be called once.
func (w *watch) leave() {
	h := w.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	if h.clients[w.client]--; h.clients[w.client] == 0 {
		delete(h.clients, w.client)
	}
	delete(h.watched[w.jobID], w)
	if len(h.watched[w.jobID]) == 0 {
		delete(h.watched, w.jobID)
	}
	h.count.Streams.Dec()
}

// wake has the streams of a job look for events: payload is its id, or empty when anything may have happened.
func (h *hub) wake(payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if payload == "" {
		for _, watches := range h.watched {
			wakeAll(watches)
		}
		return
	}
	if id, err := strconv.ParseInt(payload, 10, 64); err == nil {
		wakeAll(h.watched[id])
	}
}

func wakeAll(watches map[*watch]struct{}) {
	for w := range watches {
		select {
		case w.woken <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// close ends every stream.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.done)
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
func (s *Room) EndStreams() { s.hub.close() }

// Ended is closed when streams have to end.
func (s *Room) Ended() <-chan struct{} { return s.hub.done }

// OpenStreams returns how many streams are open. Whoever waits for a job counts as one.
func (s *Room) OpenStreams() int {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.hub.open
}
