package solve

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// desk is a problem of a round as somebody sees it who takes part in it.
type desk struct {
	round    *judge.Round
	space    *judge.Space
	problem  *judge.Problem // as the version is by which the round judges
	label    string
	entry    rounds.Entry // of who looks; zero = takes no part
	prepares bool         // who looks prepares the round
}

// roundDesk returns the problem of a round that the address names, once the round has begun, or for those who prepare it.
func (s *Room) roundDesk(c *fiber.Ctx) (desk, error) {
	d, list, err := s.roundOpen(c)
	if err != nil {
		return d, err
	}
	slug := c.Params("slug")
	err = errNotOnDesk
	if i := slices.IndexFunc(list, func(p judge.RoundProblem) bool { return p.Problem == slug }); i >= 0 {
		d, err = s.onDesk(c, d, list[i])
	}
	if errors.Is(err, errNotOnDesk) {
		return d, site.Refuse(fiber.StatusNotFound, "not_found", "There is no problem %q.", "", site.Shorten(slug))
	}
	return d, err
}

// roundOpen returns the round that the address names as somebody sees it who takes part in it, and its problems, once it has begun, or
// for those who prepare it.
func (s *Room) roundOpen(c *fiber.Ctx) (d desk, list []judge.RoundProblem, err error) {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	if d.round, d.space, err = s.RoundCalled(c, c.Params("round"), people.SeeSpace); err != nil {
		return d, nil, err
	}
	if d.round.Follows {
		return d, nil, site.Refuse(fiber.StatusNotFound, "follows", "The round follows the space %s: its problems are there.", "", d.space.Slug)
	}
	if d.prepares = people.Prepares(v.SpaceRole(d.space.Role)); !d.prepares && contest.ClockOf(d.round).Started(d.round.Now) == nil {
		return d, nil, roundFault(&judge.RoundError{Refusal: judge.RoundNotOpen}, place{round: d.round, space: d.space})
	}
	if v.Known() {
		if d.entry, err = s.Config.Rounds.Entry(ctx, d.round.ID, v.Name); err != nil && !errors.Is(err, sql.ErrNotFound) {
			return d, nil, err
		}
	}
	list, err = s.Config.Rounds.Problems(ctx, d.round.ID)
	return d, list, err
}

// errNotOnDesk says that somebody is not told of a problem.
var errNotOnDesk = errors.New("the problem is not for everybody")

// onDesk adds a problem of its round to a desk. One that is not open to all is for members of the space alone: see [errNotOnDesk].
func (s *Room) onDesk(c *fiber.Ctx, d desk, p judge.RoundProblem) (desk, error) {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	live, err := s.Store.Problem(ctx, p.Problem)
	if err != nil {
		return d, err
	}
	if live.Hidden && !d.prepares && !v.Setter() && v.SpaceRole(d.space.Role) == "" && !d.entry.Entered {
		return d, errNotOnDesk
	}
	d.problem, d.label = live, p.Label
	if p.Version != "" && p.Version != live.Version {
		if d.problem, err = s.Store.LabelledVersion(ctx, p.Problem, p.Version); err != nil {
			return d, err
		}
		d.problem.Hidden = live.Hidden
	}
	d.problem.Tags, d.problem.Difficulty = nil, 0 // they would give something away
	return d, nil
}

// problemsOf are the problems of a round, as a filter names them, once it has begun.
func (s *Room) problemsOf(ctx context.Context, r *judge.Round) (out []judge.Problem, err error) {
	if contest.ClockOf(r).Started(r.Now) == nil {
		return nil, nil
	}
	list, err := s.Config.Rounds.Problems(ctx, r.ID)
	for _, p := range list {
		out = append(out, judge.Problem{Slug: p.Problem, Title: p.Label + ". " + p.Title})
	}
	return out, err
}

// deskURL is the page of a problem of a round.
func deskURL(round, slug string) string {
	return site.RoundURL(round) + "/problems/" + url.PathEscape(slug)
}

// viewInRound is the page of a problem of a round, with what the viewer's team has handed in.
func (s *Room) viewInRound(c *fiber.Ctx) (*ProblemView, error) {
	d, err := s.roundDesk(c)
	if err != nil {
		return nil, err
	}
	view, err := s.ViewProblem(c, d.problem, d.space, deskURL(d.round.Code, d.problem.Slug), site.ProblemURL("", d.problem.Slug)+"/files")
	if err != nil {
		return nil, err
	}
	view.Space, view.Round, view.Label = nil, d.round, d.label
	view.Closed = !d.prepares && !d.round.Practice && contest.ClockOf(d.round).Ended(d.round.Now) != nil
	view.AllOwn = site.RoundURL(d.round.Code) + "/submissions?problem=" + url.QueryEscape(d.problem.Slug)
	f := sql.Filter{Round: d.round.ID, Participant: d.entry.Participant, Problem: d.problem.Slug, Limit: ownShown}
	if f.Participant == 0 {
		f.Author = site.ViewerOf(c).Name
	}
	return view, s.addOwn(c, view, f)
}

// roundSubmissionsPage handles GET /rounds/:round/submissions: those of all participants for those who run the round, and those of
// their own team for others.
func (s *Room) roundSubmissionsPage(c *fiber.Ctx) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	r, space, err := s.RoundCalled(c, c.Params("round"), people.SeeSpace)
	if err != nil {
		return err
	}
	if r.Follows {
		return c.Redirect(site.SpaceURL(space.Slug)+"/submissions", fiber.StatusSeeOther)
	}
	f, err := site.ReadFilter(c)
	if err != nil {
		return err
	}
	f.Round = r.ID
	if f.Unveiled = v.May(people.ManageSpace, space); !f.Unveiled {
		e, err := s.Config.Rounds.Entry(ctx, r.ID, v.Name)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return err
		}
		if f.Participant = e.Participant; f.Participant == 0 {
			if f, err = site.OwnOnly(v, f); err != nil {
				return err
			}
		}
	}
	return s.ShowSubmissions(c, f, SubmissionsView{Base: site.RoundURL(r.Code) + "/submissions", Authors: true, Round: r, In: new(site.ViewSpace(space, v))})
}
