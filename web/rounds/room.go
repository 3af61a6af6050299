// Package rounds serves the rounds of spaces: their times, their problems and who takes part.
//
//	addresses.go     what the room answers to
//	adjusted.go      what staff add to rows
//	board.go         standings
//	certificates.go  certificates of who has an award
//	clarify.go       questions and answers
//	desk.go          the page from which somebody takes part
//	differences.go   what changes on a board
//	explain.go       why a row is where it is, and who gets what
//	export.go        standings as files
//	fields.go        rounds as they come in
//	forms.go         what forms of staff do
//	ignored.go       what staff have not count
//	lineup.go        lists of teams that come in
//	logos.go         logos of organizations
//	overrides.go     verdicts that staff give
//	page.go          the page of a round
//	participants.go  teams and single people, their groups and organizations
//	persons.go       who is of the teams
//	problems.go      the problems of a round
//	ranklist.go      standings as a Standard Ranklist
//	resolver.go      how a frozen board is opened
//	results.go       awards
//	room.go          what the room holds, and who may do what
//	rounds.go        rounds and their times
//	team.go          the page of a participant
//	tokens.go        tokens that are spent on submissions
//	stream.go        what changes on a board, sent to who looks at it
//	sheets.go        accounts of teams, once they are made
//	staffpage.go     the pages on which staff make and run rounds
package rounds

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/web/live"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// Room answers for rounds.
type Room struct {
	*site.Site

	people    *peopleroom.Room
	standings *standings.Keeper
	channels  channels  // of boards that somebody looks at
	watched   *live.Hub // who looks at which round
}

// New makes the room.
func New(shared *site.Site, accounts *peopleroom.Room) *Room {
	return &Room{Site: shared, people: accounts, standings: standings.New(standings.Config{Logger: shared.Log}, shared.Config.Rounds), watched: live.New(maxStreams, streamsOf)}
}

// Standings are those that the room keeps.
func (s *Room) Standings() *standings.Keeper { return s.standings }

// Follow hears which standings change until ctx ends, and ends the streams of boards then.
func (s *Room) Follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var polling sync.WaitGroup
	polling.Go(func() { s.poll(ctx) })
	defer s.watched.Close()
	defer polling.Wait()
	defer cancel()
	return s.standings.Run(ctx, func(round int64) {
		if round == 0 {
			s.watched.WakeAll()
			return
		}
		s.watched.Wake(round)
	})
}

// poll has all streams look from time to time, until ctx ends.
func (s *Room) poll(ctx context.Context) {
	every := time.NewTicker(streamPoll)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			s.watched.WakeAll()
		case <-ctx.Done():
			return
		}
	}
}

// code is what short names of rounds, participants, groups and organizations consist of.
var code = site.ShortName

// round returns the round that the address names, and its space, if the viewer may do the act in that.
func (s *Room) round(c *fiber.Ctx, act people.SpaceAct) (*judge.Round, *judge.Space, error) {
	return s.RoundCalled(c, c.Params("round"), act)
}

// named returns a short name of the address, or refuses it.
func named(c *fiber.Ctx) (string, error) {
	name := c.Params("code")
	if !code.MatchString(name) {
		return "", sql.ErrNotFound
	}
	return name, nil
}

// inUse is the refusal of a removal, if that is what the store says.
func inUse(err error) error {
	if errors.Is(err, sql.ErrInUse) {
		return site.Refuse(fiber.StatusConflict, "in_use", "Something else needs it, or something was handed in, so it stays.", "Remove what needs it first, or change its status.")
	}
	return err
}

// after reads the cursor and the length of a list by short names.
func after(c *fiber.Ctx) (cursor string, limit int, err error) {
	if limit, err = site.LimitOf(c); err != nil {
		return "", 0, err
	}
	cursor = c.Query("after")
	if cursor != "" && !code.MatchString(cursor) {
		return "", 0, site.WrongField("after", site.ReasonInvalid, "The cursor has to be a short name of the list.")
	}
	return cursor, limit, nil
}

// next is the cursor behind a page that was as long as it might be; nil = it was the last.
func next[T any](page []T, limit int, key func(T) string) *string {
	if len(page) < limit || len(page) == 0 {
		return nil
	}
	return new(key(page[len(page)-1]))
}
