package solve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// place is where a program is handed in: to nothing in particular, to a space or to a round.
type place struct {
	problem *judge.Problem // nil = there is none of that name
	space   *judge.Space   // nil = none
	round   *judge.Round   // nil = none
	entry   rounds.Entry   // as whom, in a round; zero for those who prepare it
}

// roundOf looks up the round that a program is handed in to, its problem there, and as whom.
func (s *Room) roundOf(ctx context.Context, v site.Viewer, in Program) (p place, err error) {
	if in.Space != "" {
		return p, site.WrongField("space", site.ReasonInvalid, "A round is in its space; leave one of both out.")
	}
	unknown := site.WrongField("round", site.ReasonUnknown, "There is no round %q that you may see.", site.Shorten(in.Round))
	if !contest.RoundCode.MatchString(in.Round) {
		return p, unknown
	}
	p.round, err = s.Config.Rounds.Round(ctx, in.Round)
	if err == nil {
		p.space, err = s.Store.Space(ctx, p.round.Space, v.Name)
	}
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !v.May(people.SeeSpace, p.space):
		return p, unknown
	case err != nil:
		return p, err
	case p.round.Follows:
		return p, site.WrongField("round", "follows", "The round follows its space. Hand in to the space %s: it counts in the round.", p.space.Slug)
	}
	if in.For != nil {
		if err := s.behalf(ctx, v, &p, in.For); err != nil {
			return p, err
		}
	} else if !people.Prepares(v.SpaceRole(p.space.Role)) {
		if err := s.enter(ctx, v, &p); err != nil {
			return p, err
		}
	}
	p.problem, err = s.problemIn(ctx, p.round, in.Problem)
	return p, err
}

// behalf finds out for whom those who run a round hand in.
func (s *Room) behalf(ctx context.Context, v site.Viewer, p *place, b *Behalf) error {
	if !v.May(people.ManageSpace, p.space) {
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff of the space hands in for others.", "")
	}
	if contest.ClockOf(p.round).Started(p.round.Now) == nil {
		return roundFault(&judge.RoundError{Refusal: judge.RoundNotOpen}, *p)
	}
	who, err := s.Config.Rounds.Participant(ctx, p.round.Space, b.Participant)
	if errors.Is(err, sql.ErrNotFound) {
		return site.WrongField("team_id", site.ReasonUnknown, "There is no participant %q in the round.", site.Shorten(b.Participant))
	}
	if err != nil {
		return err
	}
	p.entry = rounds.Entry{Participant: who.ID, Code: who.Code, Status: who.Status, Entered: true} // the database knows
	return nil
}

// enter finds out as whom a program is handed in. Before the start nobody is told which problems there are.
func (s *Room) enter(ctx context.Context, v site.Viewer, p *place) error {
	if contest.ClockOf(p.round).Started(p.round.Now) == nil {
		return roundFault(&judge.RoundError{Refusal: judge.RoundNotOpen}, *p)
	}
	var err error
	p.entry, err = s.Config.Rounds.Join(ctx, p.round, v.Name)
	if errors.Is(err, sql.ErrNotFound) || err == nil && !p.entry.Entered {
		return roundFault(&judge.RoundError{Refusal: judge.RoundNoParticipant}, *p)
	}
	return err
}

// problemIn returns a problem of a round, as it is in the version that the round judges by; nil = it has no such problem.
func (s *Room) problemIn(ctx context.Context, r *judge.Round, name string) (*judge.Problem, error) {
	list, err := s.Config.Rounds.Problems(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(list, func(p judge.RoundProblem) bool { return p.Problem == name }) {
		return nil, nil
	}
	problem, err := s.Store.Problem(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("problem of round %s: %w", r.Code, err)
	}
	return problem, nil
}

// roundFault explains why a round did not take a submission; other errors stay.
func roundFault(err error, p place) error {
	refused, ok := errors.AsType[*judge.RoundError](err)
	if !ok || p.round == nil {
		return err
	}
	f := site.Refuse(fiber.StatusForbidden, string(refused.Refusal), "", "")
	f.Field = "round"
	switch refused.Refusal {
	case judge.RoundNoParticipant:
		f.Told("You take no part in %s.", p.round.Title)
		f.Mended("Have its staff enter you or your team.")
	case judge.RoundBanned:
		f.Told("Your team was taken out of %s.", p.round.Title)
		f.Mended("Ask its staff why.")
	case judge.RoundNotOpen:
		f.Told("%s has not begun.", p.round.Title)
		if p.round.Start != nil {
			f.Mended("It begins at %s.", locale.When(*p.round.Start))
			f.Opens = p.round.Start.Sub(p.round.Now)
		}
	case judge.RoundClosed:
		f.Told("%s is over.", p.round.Title)
	case judge.RoundOtherProblem:
		f.Field = "problem"
		f.Told("%s has no such problem.", p.round.Title)
		f.Mended("Choose one of its problems.")
	case judge.RoundProblemPaused:
		f.Field = "problem"
		f.Told("The problem takes nothing for a while.")
		f.Mended("Keep the program, and hand it in when the problem is open again.")
	case judge.RoundTooMany:
		f.Field = "problem"
		f.Told("%s takes no more submissions of this problem from each participant than you have handed in.", p.round.Title)
		f.Mended("Choose another of its problems.")
	case judge.RoundTooSoon:
		f.Status, f.RetryAfter = fiber.StatusTooManyRequests, time.Second
		f.Field = "problem"
		f.Told("%s takes another submission of this problem some time after your last one.", p.round.Title)
		if refused.Patience != nil {
			f.RetryAfter = max(time.Second, time.Duration(site.WholeSeconds(*refused.Patience))*time.Second)
		}
		f.Mended("Try again in %s.", f.RetryAfter)
	case judge.RoundTooFast:
		f.Status, f.RetryAfter = fiber.StatusTooManyRequests, time.Second
		f.Told("%s takes %d submissions a minute from each participant.", p.round.Title, p.space.PerMinute)
		if refused.Patience != nil {
			f.RetryAfter = max(time.Second, time.Duration(site.WholeSeconds(*refused.Patience))*time.Second)
		}
		f.Mended("Try again in %s.", f.RetryAfter)
	case judge.RoundTooManyWaiting:
		f.Status, f.RetryAfter = fiber.StatusTooManyRequests, 5*time.Second
		f.Told("As many submissions of yours as %s allows, %d, are not judged yet.", p.round.Title, p.space.MaxWaiting)
		f.Mended("Wait for a verdict.")
	}
	return f
}
