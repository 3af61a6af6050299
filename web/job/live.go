package job

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/live"
	"deepoj/web/site"
)

// The pace of an event stream.
const (
	eventPage    = 500                    // events that are read at once
	streamPoll   = 5 * time.Second        // looks without being woken, in case a notification was lost
	streamPause  = 100 * time.Millisecond // between two looks
	streamBeat   = 15 * time.Second       // comments that keep proxies from closing a quiet stream
	streamRetry  = 2 * time.Second        // after which a browser reconnects
	streamTrust  = 5 * time.Second        // in which whoever reads is not looked at again
	streamPatch  = 30 * time.Second       // a database that is away for so long ends the stream
	LookTime     = 5 * time.Second        // for one look at the database
	maxWait      = 30 * time.Second       // of a long poll
	maxLastEvent = 20                     // digits
)

// stream sends what happens to a job as server-sent events, from the one after Last-Event-ID on. After the last one it
// sends "end"; a client that reconnects with nothing left to see is told not to (204).
func (s *Room) stream(c *fiber.Ctx, jobID int64, status judge.Status) error {
	after, err := LastEventID(c)
	if err != nil {
		return err
	}
	w, err := s.hub.watch(jobID, s.ClientAddress(c))
	if err != nil {
		return site.NoStream(err)
	}
	pending, err := w.read(c.UserContext(), site.ViewerOf(c), after)
	if err != nil {
		w.leave()
		return fmt.Errorf("read events: %w", err)
	}
	if c.Get("Last-Event-ID") != "" && len(pending) == 0 && status.Terminal() {
		w.leave()
		return c.SendStatus(fiber.StatusNoContent)
	}
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set("X-Accel-Buffering", "no") // a buffering proxy would hold live events back
	if c.Method() == fiber.MethodHead {
		w.leave()
		return nil
	}
	st := &stream{watch: w, server: s, viewer: site.ViewerOf(c), known: time.Now(), last: after, status: status, trace: site.TraceOf(c.UserContext())}
	c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		defer w.leave()
		st.out = out
		if err := st.run(pending); err != nil {
			s.Log.Debug("event stream ended", slog.Int64("job_id", w.jobID), slog.String("trace_id", st.trace), slog.Any("err", err))
		}
	})
	return nil
}

// stream writes the events of one job to one client.
type stream struct {
	watch  *watch
	server *Room
	viewer site.Viewer
	known  time.Time // when the viewer was last found to be who they were
	out    *bufio.Writer
	last   int64        // id of the last event sent
	status judge.Status // after that event
	trace  string
}

// run sends the pending events and then what comes, until the job is done, the client is gone or the server stops. A
// client that reads nothing fails a flush when the connection's patience ends.
func (st *stream) run(pending []judge.Event) error {
	if _, err := fmt.Fprintf(st.out, "retry: %d\n\n", streamRetry.Milliseconds()); err != nil {
		return err
	}
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	for well := time.Now(); ; {
		done, err := st.look(pending)
		pending = nil
		switch {
		case errors.Is(err, errLook) && time.Since(well) < streamPatch:
		case done || err != nil:
			return err
		default:
			well = time.Now()
		}
		if err := st.rest(beat.C); err != nil {
			return err
		}
	}
}

// rest waits until it is worth to look again.
func (st *stream) rest(beat <-chan time.Time) error {
	pause := time.NewTimer(streamPause)
	defer pause.Stop()
	select {
	case <-st.watch.hub.Done():
		return live.ErrStopping
	case <-pause.C:
	}
	poll := time.NewTimer(streamPoll + time.Duration(rand.Int64N(int64(time.Second)))) //nolint:gosec // spreads load, keeps no secret
	defer poll.Stop()
	for {
		select {
		case <-st.watch.hub.Done():
			return live.ErrStopping
		case <-st.watch.Woken():
			return nil
		case <-poll.C:
			return nil
		case <-beat:
			if _, err := st.out.WriteString(": still here\n\n"); err != nil {
				return err
			}
			if err := st.out.Flush(); err != nil {
				return err
			}
		}
	}
}

// errLook marks a failure of the database, which may pass.
var errLook = errors.New("look at the database")

// look sends what is new. It reports whether the job is done and everything was sent.
func (st *stream) look(events []judge.Event) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), LookTime)
	defer cancel()
	if err := st.lookAtViewer(ctx); err != nil {
		return false, err
	}
	for {
		for _, e := range events {
			if err := st.send(strconv.FormatInt(e.ID, 10), string(e.Kind), e); err != nil {
				return false, err
			}
			st.last, st.status = e.ID, cmp.Or(e.Kind.Status(), st.status)
			st.server.Count.Sent.Inc()
		}
		if err := st.out.Flush(); err != nil {
			return false, err
		}
		next, err := st.watch.read(ctx, st.viewer, st.last)
		if err != nil {
			return false, errors.Join(errLook, err)
		}
		if len(next) == 0 {
			break
		}
		events = next
	}
	return st.standing(ctx)
}

// lookAtViewer ends the stream of somebody whose account was disabled, whose session has ended, whose key was revoked,
// or who may do something else now: they may come again as who they are.
func (st *stream) lookAtViewer(ctx context.Context) error {
	if time.Since(st.known) < streamTrust {
		return nil
	}
	err := st.server.Still(ctx, st.viewer)
	switch {
	case errors.Is(err, site.ErrNoLonger):
		return err
	case err != nil:
		return errors.Join(errLook, err)
	}
	st.known = time.Now()
	return nil
}

// StillAfter refuses the answer to somebody who is no more who they were before they waited for it.
func (s *Room) StillAfter(c *fiber.Ctx, wait time.Duration) error {
	if wait < streamTrust {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), LookTime)
	defer cancel()
	err := s.Still(ctx, site.ViewerOf(c))
	if errors.Is(err, site.ErrNoLonger) {
		return site.UnknownToken(sql.ErrNotFound)
	}
	return err
}

// standing tells where the job stands: its place while it waits, or the end.
func (st *stream) standing(ctx context.Context) (bool, error) {
	if st.status.Terminal() {
		return true, st.flush("", "end", map[string]judge.Status{"status": st.status})
	}
	if st.status != judge.Pending {
		return false, nil
	}
	place, err := st.server.PlaceOf(ctx, st.viewer, st.watch.jobID, st.status)
	if err != nil {
		return false, errors.Join(errLook, err)
	}
	if place == nil {
		return false, nil // claimed meanwhile: an event follows
	}
	return false, st.flush("", "place", PublicPlace(*place))
}

func (st *stream) flush(id, kind string, data any) error {
	if err := st.send(id, kind, data); err != nil {
		return err
	}
	return st.out.Flush()
}

// send writes one event. Without an id a reconnecting client does not ask for what follows it.
func (st *stream) send(id, kind string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", kind, err)
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	_, err = fmt.Fprintf(st.out, "%sevent: %s\ndata: %s\n\n", id, kind, b)
	return err
}

// Settled returns a submission, as v may see it, as soon as it is done, or as it stands when the
// time is over. It is what ?wait= of the API does.
func (s *Room) Settled(v site.Viewer, jobID int64, client string, wait time.Duration) (sub *judge.Submission, err error) {
	err = s.settle(jobID, client, wait, func(ctx context.Context) (bool, error) {
		if sub, err = s.SubmissionSeen(ctx, v, jobID); err != nil {
			return false, fmt.Errorf("look at submission: %w", err)
		}
		return sub.Status.Terminal(), nil
	})
	return sub, err
}

// settle looks at a job until it is done or the time is over.
func (s *Room) settle(jobID int64, client string, wait time.Duration, look func(context.Context) (done bool, err error)) error {
	over := time.NewTimer(wait)
	defer over.Stop()
	w, err := s.hub.watch(jobID, client)
	if err != nil {
		over.Reset(0) // without a place to wait, the answer is how it stands now
		w = &watch{}
	} else {
		defer w.leave()
	}
	for {
		ctx, cancel := context.WithTimeout(context.Background(), LookTime)
		done, err := look(ctx)
		cancel()
		if done || err != nil {
			return err
		}
		poll := time.NewTimer(streamPoll)
		select {
		case <-w.Woken():
		case <-poll.C:
		case <-over.C:
			poll.Stop()
			return nil
		case <-s.hub.Done():
			poll.Stop()
			return nil
		}
		poll.Stop()
	}
}

// LastEventID reads where a stream continues: the header that browsers send by themselves, or the parameter "after".
func LastEventID(c *fiber.Ctx) (int64, error) {
	text := c.Get("Last-Event-ID", c.Query("after"))
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 || len(text) > maxLastEvent {
		f := site.Refuse(fiber.StatusBadRequest, site.ReasonInvalid, "The last event id has to be a whole number.", "Send the id of the last event that you saw.")
		f.Field = "Last-Event-ID"
		if c.Get(f.Field) == "" {
			f.Field = "after"
		}
		return 0, f
	}
	return id, nil
}

// WaitOf reads the parameter wait.
func WaitOf(c *fiber.Ctx) (time.Duration, error) {
	text := c.Query("wait")
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0) {
		return 0, site.WrongField("wait", site.ReasonInvalid, "The time to wait has to be a number of seconds.")
	}
	return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second)), nil
}

// JobsSettled waits until runs are done, or the time is over. It refuses whoever may not have the answer any more.
func (s *Room) JobsSettled(c *fiber.Ctx, wait time.Duration, jobIDs ...int64) error {
	deadline := time.Now().Add(wait)
	for _, id := range jobIDs {
		err := s.settle(id, s.ClientAddress(c), time.Until(deadline), func(ctx context.Context) (bool, error) {
			statuses, err := s.Store.JobStatuses(ctx, id)
			return err != nil || statuses[id].Terminal() || statuses[id] == "", err
		})
		if err != nil {
			return err
		}
	}
	return s.StillAfter(c, wait)
}
