package rounds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/web/live"
	"deepoj/web/site"
)

// Bounds of streams of boards: a hall may be behind one address.
const (
	maxStreams  = 20_000
	streamsOf   = 5_000
	streamPoll  = 5 * time.Second  // looks without being woken
	streamBeat  = 15 * time.Second // comments that keep proxies from closing a quiet stream
	streamTrust = 10 * time.Second // in which who looks is not looked at again
	streamLook  = 10 * time.Second // for one look at the database
	streamPatch = 30 * time.Second // a database that is away for so long ends the stream
	streamRetry = 2 * time.Second  // after which a browser reconnects
)

var boardToken = regexp.MustCompile(`^[a-z][0-9]{1,18}$`)

// stream sends what changes on a board to one viewer.
type stream struct {
	room    *Room
	channel *channel
	round   *judge.Round
	viewer  site.Viewer
	known   time.Time // when the viewer was last found to be who they were
	token   string    // of the board that the viewer has
	out     *bufio.Writer
}

// apiBoardStream handles GET /api/v1/rounds/:round/board/stream?view=&token=: server-sent events, from the board of a token on,
// for which Last-Event-ID goes before the parameter.
func (s *Room) apiBoardStream(c *fiber.Ctx) error {
	r, _, of, err := s.looked(c)
	if err != nil {
		return err
	}
	token := c.Get("Last-Event-ID")
	if token == "" {
		token = c.Query("token")
	}
	if token != "" && !boardToken.MatchString(token) {
		return site.WrongField("token", site.ReasonInvalid, "The token has to be that of a board.")
	}
	var wrong error
	err = s.standings.Look(c.UserContext(), r.ID, of, func(v *standings.Standings) {
		if wrong = shows(v, of); wrong == nil && token == "" {
			token = v.Token
		}
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	w, err := s.watched.Watch(r.ID, s.ClientAddress(c))
	if err != nil {
		return site.NoStream(err)
	}
	c.Set(fiber.HeaderContentType, site.EventStream+"; charset=utf-8")
	c.Set("X-Accel-Buffering", "no") // a buffering proxy would hold live events back
	if c.Method() == fiber.MethodHead {
		w.Leave()
		return nil
	}
	st := &stream{room: s, channel: s.channels.of(s.standings, r.ID, of), round: r, viewer: site.ViewerOf(c), known: time.Now(), token: token}
	trace := site.TraceOf(c.UserContext())
	c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		defer w.Leave()
		st.out = out
		if err := st.run(w); err != nil {
			s.Log.Debug("board stream ended", slog.String("round", r.Code), slog.String("trace_id", trace), slog.Any("err", err))
		}
	})
	return nil
}

// errAway is the cause of a look that failed, after which another is worth it.
var errAway = errors.New("the log cannot be read now")

// run sends what changes until the viewer is gone, may look no more, or the server stops.
func (st *stream) run(w *live.Watch) error {
	if _, err := fmt.Fprintf(st.out, "retry: %d\n\n", streamRetry.Milliseconds()); err != nil {
		return err
	}
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	poll := time.NewTicker(streamPoll)
	defer poll.Stop()
	since := time.Now().Add(-time.Second) // what was seen lately is good enough
	for well := time.Now(); ; {
		err := st.look(since)
		switch {
		case errors.Is(err, errAway) && time.Since(well) < streamPatch:
		case err != nil:
			return err
		default:
			well = time.Now()
		}
		if err := st.out.Flush(); err != nil {
			return err
		}
		select {
		case <-st.room.watched.Done():
			return live.ErrStopping
		case <-w.Woken():
			since = time.Now()
		case <-poll.C:
			since = time.Now().Add(-time.Second)
		case <-beat.C:
			if _, err := st.out.WriteString(": still here\n\n"); err != nil {
				return err
			}
		}
	}
}

// look sends what has changed since.
func (st *stream) look(since time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), streamLook)
	defer cancel()
	if err := st.still(ctx); err != nil {
		return err
	}
	list, now, known, err := st.channel.changes(ctx, st.token, since)
	if err != nil {
		return errors.Join(errAway, err)
	}
	if !known {
		list = []change{{to: now, data: []byte(`{"token":"` + now + `","reset":true}`)}}
	}
	for _, c := range list {
		if _, err := fmt.Fprintf(st.out, "id: %s\nevent: board\ndata: %s\n\n", c.to, c.data); err != nil {
			return err
		}
	}
	st.token = now
	return nil
}

// still refuses to go on where the viewer may look no more.
func (st *stream) still(ctx context.Context) error {
	if time.Since(st.known) < streamTrust {
		return nil
	}
	act := people.SeeSpace
	if st.channel.view == standings.Staff {
		act = people.ManageSpace
	}
	err := st.room.StillMay(ctx, st.viewer, st.round.Space, act)
	if err != nil && !errors.Is(err, site.ErrNoLonger) {
		return errors.Join(errAway, err)
	}
	if err != nil {
		return err
	}
	st.known = time.Now()
	return nil
}
