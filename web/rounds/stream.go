package rounds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
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
	streamPoll  = 5 * time.Second  // all look, in case a notification was lost
	streamBeat  = 15 * time.Second // a comment keeps proxies from closing a quiet stream
	streamTrust = 10 * time.Second // in which who looks is not looked at again
	streamLook  = 10 * time.Second // for one look at the database
	streamPatch = 30 * time.Second // a database that is away for so long ends the stream
	streamRetry = 2 * time.Second  // after which a browser reconnects
)

var boardToken = regexp.MustCompile(`^[a-z][0-9]{1,18}$`)

// stream sends what changes on a board to one viewer: the server reads from it what it sends.
type stream struct {
	room    *Room
	channel *channel
	round   *judge.Round
	viewer  site.Viewer
	known   time.Time // when the viewer was last found to be who they were
	token   string    // of the board that the viewer has
	trace   string

	watch  *live.Watch
	woken  time.Time // as new as that the board has to be
	sent   time.Time // when something was last sent
	well   time.Time // when the database was last there
	looked bool
	unsent []byte
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
	st.trace, st.watch, st.woken = site.TraceOf(c.UserContext()), w, time.Now().Add(-time.Second) // what was seen lately is good enough
	st.sent, st.well = time.Now(), time.Now()
	st.unsent = fmt.Appendf(nil, "retry: %d\n\n", streamRetry.Milliseconds())
	c.Context().SetBodyStream(st, -1)
	return nil
}

// errAway is the cause of a look that failed, after which another is worth it.
var errAway = errors.New("the log cannot be read now")

// Read waits until there is something to send. It ends when the viewer may look no more, or the server stops; when the viewer is
// gone, nobody reads any more, and Close is called.
func (st *stream) Read(b []byte) (int, error) {
	for len(st.unsent) == 0 {
		if err := st.next(); err != nil {
			st.room.Log.Debug("board stream ended", slog.String("round", st.round.Code), slog.String("trace_id", st.trace), slog.Any("err", err))
			return 0, io.EOF
		}
	}
	n := copy(b, st.unsent)
	if st.unsent = st.unsent[n:]; len(st.unsent) == 0 {
		st.unsent = nil // it may be a change, which others send, too
	}
	return n, nil
}

// Close ends the stream.
func (st *stream) Close() error {
	st.watch.Leave()
	return nil
}

// next waits until it is woken, which all are every [streamPoll], and looks what is to be sent. At first it only looks.
func (st *stream) next() error {
	if st.looked {
		<-st.watch.Woken()
		if st.room.watched.Stopping() {
			return live.ErrStopping
		}
		st.woken = st.watch.Since()
	}
	now := time.Now()
	err := st.look(now, st.woken)
	switch {
	case errors.Is(err, errAway) && now.Sub(st.well) < streamPatch:
	case err != nil:
		return err
	default:
		st.well = now
	}
	st.looked = true
	switch {
	case len(st.unsent) > 0:
		st.sent = now
	case now.Sub(st.sent) >= streamBeat:
		st.sent, st.unsent = now, []byte(": still here\n\n")
	}
	return nil
}

// look sends what has changed since.
func (st *stream) look(at, since time.Time) error {
	if err := st.still(at); err != nil {
		return err
	}
	list, now, known, fresh := st.channel.have(st.token, since)
	if !fresh {
		ctx, cancel := context.WithTimeout(context.Background(), streamLook)
		defer cancel()
		var err error
		if list, now, known, err = st.channel.changes(ctx, st.token, since); err != nil {
			return errors.Join(errAway, err)
		}
	}
	if !known {
		list = []change{changed(st.token, now, []byte(`{"token":"`+now+`","reset":true}`))}
	}
	if len(list) == 1 && len(st.unsent) == 0 {
		st.unsent = list[0].event
	} else {
		for _, c := range list {
			st.unsent = append(slices.Clip(st.unsent), c.event...)
		}
	}
	st.token = now
	return nil
}

// still refuses to go on where the viewer may look no more.
func (st *stream) still(now time.Time) error {
	if now.Sub(st.known) < streamTrust {
		return nil
	}
	if st.viewer.Guest() { // what one of them may look at, all may
		if at := st.channel.guests.Load(); at != nil && now.Sub(*at) < streamTrust {
			st.known = *at
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), streamLook)
	defer cancel()
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
	if st.known = now; st.viewer.Guest() {
		st.channel.guests.Store(&now)
	}
	return nil
}
