package clics

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest/clics"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/live"
	"deepoj/web/site"
)

// The pace of a feed.
const (
	feedBeat  = 30 * time.Second // a line that is empty, after so long without another
	feedPoll  = 2 * time.Second  // looks without being woken
	feedTrust = 10 * time.Second // in which who reads is not looked at again
	feedLook  = 15 * time.Second // for one look at the database
	feedPatch = 30 * time.Second // a database that is away for so long ends the feed
)

// feed sends a contest's events to one client.
type feed struct {
	room      *Room
	asker     asker
	viewer    site.Viewer
	known     time.Time // when the viewer was last found to be who they were
	teller    *clics.Teller
	types     []string // empty = all
	seq       int64    // the last line that was read
	skip      int      // events of the next line that the client has
	at        place
	unchanged bool // the feed ends where the log does
	out       *bufio.Writer
}

// place is how far a client is in what it is told: so many lines of those for everybody, for teams, for its team alone, or of
// all.
type place struct{ public, teams, own, all int64 }

// token names a place for a kind of viewers, and how many events of the next line belong to it; 0 = none.
func (p place) token(v standings.View, events int) string {
	var text string
	switch v {
	case standings.Public:
		text = fmt.Sprintf("p%d", p.public)
	case standings.Teams:
		text = fmt.Sprintf("t%d.%d", p.teams, p.own)
	case standings.Staff:
		text = fmt.Sprintf("s%d", p.all)
	}
	if events > 0 {
		text += "-" + strconv.Itoa(events)
	}
	return text
}

// behind is the place behind a line.
func (p place) behind(l rounds.Logged) place {
	p.all = l.Seq
	p.public = max(p.public, l.Public)
	p.teams, p.own = max(p.teams, l.Teams), max(p.own, l.Own)
	return p
}

var tokens = map[standings.View]*regexp.Regexp{
	standings.Public: regexp.MustCompile(`^p([0-9]{1,18})(?:-([0-9]{1,9}))?$`),
	standings.Teams:  regexp.MustCompile(`^t([0-9]{1,18})\.([0-9]{1,18})(?:-([0-9]{1,9}))?$`),
	standings.Staff:  regexp.MustCompile(`^s([0-9]{1,18})(?:-([0-9]{1,9}))?$`),
}

// eventFeed handles GET /clics/:version/contests/:round/event-feed?since_token=&types=&stream=.
func (s *Room) eventFeed(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	f := &feed{room: s, asker: a, viewer: site.ViewerOf(c), known: time.Now(), unchanged: c.Query("stream") == "false"}
	for name := range c.Queries() {
		if !slices.Contains([]string{"since_token", "types", "stream", "strict"}, name) {
			return badRequest("There is no parameter %q; there are since_token, types, stream and strict.", site.Shorten(name))
		}
	}
	if types := c.Query("types"); types != "" {
		f.types = strings.Split(types, ",")
	}
	languages, err := s.languages(ctx, a.round.ID)
	if err != nil {
		return err
	}
	f.teller = clics.NewTeller(a.form, languages, a.sources())
	if err := f.begin(ctx, c.Query("since_token")); err != nil {
		return err
	}
	w, err := s.feeds.Watch(a.round.ID, s.ClientAddress(c))
	if err != nil {
		return site.NoStream(err)
	}
	c.Set(fiber.HeaderContentType, "application/x-ndjson")
	c.Set("X-Accel-Buffering", "no") // a buffering proxy would hold live events back
	if c.Method() == fiber.MethodHead {
		w.Leave()
		return nil
	}
	trace := site.TraceOf(ctx)
	c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		defer w.Leave()
		f.out = out
		if err := f.run(w); err != nil {
			s.Log.Debug("event feed ended", slog.String("round", a.round.Code), slog.String("trace_id", trace), slog.Any("err", err))
		}
	})
	return nil
}

// badRequest refuses a feed that cannot begin where it is asked to.
func badRequest(detail string, args ...any) error {
	return site.Refuse(fiber.StatusBadRequest, "invalid", "%s", "", fmt.Sprintf(detail, args...))
}

// begin goes to the place that a token names, from which on the feed goes on.
func (f *feed) begin(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	m := tokens[f.asker.view].FindStringSubmatch(token)
	if m == nil {
		return badRequest("The token %q is none of yours. Begin again without since_token.", site.Shorten(token))
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt("0"+m[i], 10, 64); return n }
	switch f.asker.view {
	case standings.Public:
		f.at.public, f.skip = number(1), int(number(2))
	case standings.Teams:
		f.at.teams, f.at.own, f.skip = number(1), number(2), int(number(3))
	case standings.Staff:
		f.at.all, f.skip = number(1), int(number(2))
	}
	log, round := f.room.Config.Rounds, f.asker.round.ID
	var err error
	switch {
	case f.at == place{}:
		return nil
	case f.asker.view == standings.Staff:
		var lines []rounds.Logged
		if lines, err = log.Log(ctx, round, f.at.all-1, 1); err == nil && len(lines) == 0 {
			err = sql.ErrNotFound
		}
		f.seq = f.at.all
	default:
		f.seq, err = log.Place(ctx, round, f.at.public, f.at.teams, f.at.own, f.asker.reader.Participant)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return badRequest("The token %q is of a place that there is not. Begin again without since_token.", site.Shorten(token))
	}
	if err != nil {
		return err
	}
	return knowing(ctx, log, f.teller, round, f.asker.reader, f.seq)
}

// run sends what there is, and then what comes, until the client is gone, may read no more, or the server stops.
func (f *feed) run(w *live.Watch) error {
	last, well := time.Now(), time.Now()
	for {
		n, err := f.look()
		switch {
		case errors.Is(err, errAway) && time.Since(well) < feedPatch:
		case err != nil:
			return err
		default:
			well = time.Now()
		}
		if n > 0 {
			last = time.Now()
		}
		if time.Since(last) >= feedBeat {
			last = time.Now()
			if _, err := f.out.WriteString("\n"); err != nil {
				return err
			}
		}
		if err := f.out.Flush(); err != nil {
			return err
		}
		if f.unchanged {
			return nil
		}
		poll := time.NewTimer(feedPoll)
		select {
		case <-f.room.feeds.Done():
			poll.Stop()
			return live.ErrStopping
		case <-w.Woken():
		case <-poll.C:
		}
		poll.Stop()
	}
}

// errAway is the cause of a look that failed, after which another is worth it.
var errAway = errors.New("the log cannot be read now")

// look sends what the log got since, and returns how many events that were.
func (f *feed) look() (sent int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), feedLook)
	defer cancel()
	if err := f.still(ctx); err != nil {
		return 0, err
	}
	log, round := f.room.Config.Rounds, f.asker.round.ID
	for {
		lines, err := log.Read(ctx, round, f.asker.reader, f.seq, linesAtOnce)
		if err != nil {
			return sent, errors.Join(errAway, err)
		}
		for _, l := range lines {
			var events []clics.Event
			err := tellWhole(ctx, log, f.teller, round, f.asker.reader, l, func(e clics.Event, _ int64) { events = append(events, e) })
			if err != nil {
				return sent, err
			}
			n, err := f.send(events, l)
			if sent += n; err != nil {
				return sent, err
			}
			f.seq, f.at, f.skip = l.Seq, f.at.behind(l), 0
		}
		if len(lines) < linesAtOnce {
			return sent, nil
		}
	}
}

// send writes the events of a line, each with its token, but for those that the client has.
func (f *feed) send(events []clics.Event, l rounds.Logged) (sent int, err error) {
	encoder := json.NewEncoder(f.out)
	encoder.SetEscapeHTML(false)
	for i, e := range events {
		if i < f.skip || len(f.types) > 0 && !slices.Contains(f.types, e.Type) {
			continue
		}
		e.Token = f.at.token(f.asker.view, i+1)
		if i == len(events)-1 {
			e.Token = f.at.behind(l).token(f.asker.view, 0)
		}
		if err := encoder.Encode(e); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, nil
}

// still refuses to go on where who reads may read no more: after a logout, a key that was revoked, another role, or in another team.
func (f *feed) still(ctx context.Context) error {
	if time.Since(f.known) < feedTrust {
		return nil
	}
	act := people.SeeSpace
	if f.asker.view == standings.Staff {
		act = people.ManageSpace
	}
	err := f.room.StillMay(ctx, f.viewer, f.asker.round.Space, act)
	if err == nil && f.asker.view == standings.Teams {
		var e rounds.Entry
		e, err = f.room.Config.Rounds.Entry(ctx, f.asker.round.ID, f.viewer.Name)
		if errors.Is(err, sql.ErrNotFound) || err == nil && (!e.Entered || e.Participant != f.asker.reader.Participant) {
			err = site.ErrNoLonger
		}
	}
	if err != nil && !errors.Is(err, site.ErrNoLonger) {
		return errors.Join(errAway, err)
	}
	if err != nil {
		return err
	}
	f.known = time.Now()
	return nil
}
