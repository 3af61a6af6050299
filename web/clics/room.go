// Package clics serves rounds as the ICPC Contest API has them, in two of its releases: /clics/2026-01 and /clics/2023-06.
//
// All objects are made of what the log of the round tells who asks, by one program: what an endpoint answers is what the
// event feed has told last.
//
// Source: Contest API, releases 2023-06 and 2026-01, of the ICPC's specifications.
//
// Its files:
//
//	addresses.go  what the room answers to
//	comment.go    commentary
//	feed.go       the event feed
//	hooks.go      addresses that are told what the feed tells
//	hooksend.go   how they are told
//	objects.go    the objects of a contest
//	room.go       what the room holds, who asks, and refusals
//	submit.go     what is handed in, and its files
//	worlds.go     objects that are kept, as logs go on
//	write.go      what is changed: times, clarifications, awards
package clics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/callback"
	"deepoj/web/live"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// Path is what the addresses of the Contest API begin with.
const Path = "/clics"

// Bounds of what is open at once.
const (
	maxFeeds    = 300 // event feeds
	feedsOfOne  = 50  // of one client: a hall may be behind one address
	maxContests = 200 // of the list
)

// Room answers for the Contest API.
type Room struct {
	*site.Site

	solve     *solve.Room
	worlds    *worlds
	standings *standings.Keeper
	feeds     *live.Hub
	caller    *callback.Caller
	wake      chan struct{} // a log has grown
}

// New makes the room, which hands in by solve, and whose boards are those of kept.
func New(shared *site.Site, solve *solve.Room, kept *standings.Keeper, caller *callback.Caller) *Room {
	s := &Room{Site: shared, solve: solve, standings: kept, feeds: live.New(maxFeeds, feedsOfOne), caller: caller, wake: make(chan struct{}, 1)}
	s.worlds = newWorlds(shared.Config.Rounds, s.languages)
	return s
}

// Follow wakes event feeds until ctx ends, and ends them then.
func (s *Room) Follow(ctx context.Context) error {
	defer s.feeds.Close()
	return s.Config.Rounds.Follow(ctx, func(round int64) {
		select {
		case s.wake <- struct{}{}:
		default: // there is a sign already
		}
		if round == 0 {
			s.feeds.WakeAll()
			return
		}
		s.feeds.Wake(round)
	})
}

// Speaks reports whether a path is one of the Contest API.
func Speaks(path string) bool { return path == Path || strings.HasPrefix(path, Path+"/") }

// Refuse answers with a fault as the Contest API has it.
func Refuse(c *fiber.Ctx, f *site.Fault) error {
	if f.Status == fiber.StatusUnprocessableEntity {
		f.Status = fiber.StatusBadRequest // the API has no other word for what is wrong with a request
	}
	message := strings.TrimSpace(f.Error() + " " + f.Remedy)
	if err := c.Status(f.Status).JSON(fiber.Map{"code": f.Status, "message": message}); err != nil {
		return fmt.Errorf("write a refusal of the Contest API: %w", err)
	}
	return nil
}

// asker is who asks about a round, and how they want to be answered.
type asker struct {
	round  *judge.Round
	form   clics.Form
	view   standings.View
	reader rounds.Reader
	code   string // of the participant, "" = none
	status judge.ParticipantStatus
}

// audiences are who is told, by view.
var audiences = map[standings.View]contest.Audience{
	standings.Public: contest.Public, standings.Teams: contest.Teams, standings.Staff: contest.Jury | contest.Staff,
}

// form is the release that the address names, or an error.
func form(c *fiber.Ctx) (clics.Form, error) {
	for _, v := range clics.Versions {
		if c.Params("version") == string(v) {
			return clics.Form{Version: v, Strict: c.Query("strict") == "1" || c.Query("strict") == "true"}, nil
		}
	}
	return clics.Form{}, site.Refuse(fiber.StatusNotFound, "not_found", "There is no release %q of the Contest API; there are %s.", "", site.Shorten(c.Params("version")), judge.Names(releases()))
}

func releases() (out []string) {
	for _, v := range clics.Versions {
		out = append(out, string(v))
	}
	return out
}

// ask finds out about which contest the address asks, and for whom.
func (s *Room) ask(c *fiber.Ctx) (a asker, err error) {
	if a.form, err = form(c); err != nil {
		return a, err
	}
	r, space, err := s.RoundCalled(c, c.Params("round"), people.SeeSpace)
	if err != nil {
		return a, err
	}
	return s.asks(c.UserContext(), a.form, site.ViewerOf(c), r, space)
}

// asks finds out as what somebody is told of a contest that they may see.
func (s *Room) asks(ctx context.Context, f clics.Form, v site.Viewer, r *judge.Round, space *judge.Space) (a asker, err error) {
	a.form, a.round, a.view = f, r, standings.Public
	if v.May(people.ManageSpace, space) {
		a.view = standings.Staff
	} else if v.Known() {
		e, err := s.Config.Rounds.Entry(ctx, r.ID, v.Name)
		switch {
		case errors.Is(err, sql.ErrNotFound):
		case err != nil:
			return a, err
		case e.Entered:
			a.view, a.reader.Participant, a.code, a.status = standings.Teams, e.Participant, e.Code, e.Status
		}
	}
	a.reader.Audience = uint8(audiences[a.view])
	return a, nil
}

// sources reports whether who asks may read what others hand in.
func (a asker) sources() bool { return a.view == standings.Staff }

// notThere refuses what there is not, or is not for who asks.
func notThere() error {
	return site.Refuse(fiber.StatusNotFound, "not_found", "There is no such object, or you may not see it.", "")
}

// languages are those that may be handed in in, as the API has them, and those in which something was handed in to a round.
func (s *Room) languages(ctx context.Context, round int64) ([]clics.Language, error) {
	offers, err := s.Catalog.Languages(ctx)
	if err != nil {
		return nil, err
	}
	out := []clics.Language{}
	for _, o := range offers {
		if !o.Withdrawn && (o.Known || o.Open()) {
			out = append(out, clics.LanguageOf(o.Language))
		}
	}
	used, err := s.Config.Rounds.Languages(ctx, round)
	for _, id := range used {
		if !slices.ContainsFunc(out, func(l clics.Language) bool { return l.ID == clics.LanguageID(id) }) {
			out = append(out, clics.LanguageOf(judge.Language{ID: id, Name: id}))
		}
	}
	return out, err
}
