package rounds

import (
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// deskView is the page from which somebody takes part: the problems, and how far they are with each.
type deskView struct {
	Round  *judge.Round
	Space  site.SpaceView
	Phase  contest.Phase
	Ends   *time.Time
	IOI    bool
	Team   string // as whom who looks takes part; "" = not at all
	Rank   int    // of that, as everybody sees it; 0 = none
	Closed bool   // the round has not begun, so its problems are not shown
	Rows   []deskRow
	Tokens *tokenView // nil = the round has none
}

// deskRow is a problem on it.
type deskRow struct {
	judge.RoundProblem

	Mine   *rounds.Tries // nil = nothing was handed in
	Solved int           // by how many, as far as everybody knows
}

// deskPage handles GET /rounds/:round/problems.
func (s *Room) deskPage(c *fiber.Ctx) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	r, space, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	if r.Follows {
		return c.Redirect(site.SpaceURL(space.Slug), fiber.StatusSeeOther)
	}
	view := deskView{
		Round: r, Space: site.ViewSpace(space, v), Phase: contest.PhaseOf(r, r.Now), Ends: moment(contest.ClockOf(r).End()), IOI: r.Format == string(contest.IOI),
		Closed: contest.ClockOf(r).Started(r.Now) == nil && !v.May(people.ArrangeSpace, space),
	}
	tries := map[string]rounds.Tries{}
	entry := rounds.Entry{}
	if v.Known() {
		if entry, err = s.Config.Rounds.Entry(ctx, r.ID, v.Name); err != nil && !errors.Is(err, sql.ErrNotFound) {
			return err
		}
	}
	if entry.Entered {
		if tries, err = s.Config.Rounds.Tries(ctx, r.ID, entry.Participant); err != nil {
			return err
		}
	}
	solved, own := map[string]int{}, false
	err = s.standings.Look(ctx, r.ID, standings.Public, func(of *standings.Standings) {
		if p, there := of.Participants[entry.Participant]; there && entry.Entered {
			if view.Team = p.DisplayName; view.Team == "" {
				view.Team = p.Name
			}
			if row, ok := of.State.Row(entry.Participant); ok && !of.Hidden() {
				view.Rank = row.Rank
			}
		}
		if of.Hidden() {
			own = of.Config.IOI.Board == contest.BoardOwnRank && of.Round.Frozen == nil
			return
		}
		for _, p := range of.State.Board(contest.Query{Limit: 1}).Problems {
			solved[p.ID] = p.Solved
		}
	})
	if err != nil {
		return err
	}
	if own && entry.Entered {
		err = s.standings.Look(ctx, r.ID, standings.Staff, func(of *standings.Standings) {
			if row, ok := of.State.Row(entry.Participant); ok {
				view.Rank = row.Rank
			}
		})
		if err != nil {
			return err
		}
	}
	labels := map[string]string{}
	if !view.Closed {
		list, err := s.Config.Rounds.Problems(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, p := range list {
			row := deskRow{RoundProblem: p, Solved: solved[p.Problem]}
			if mine, some := tries[p.Problem]; some {
				row.Mine = &mine
			}
			view.Rows = append(view.Rows, row)
			labels[p.Problem] = p.Label
		}
		if entry.Entered {
			list, err := s.Config.Rounds.Tokened(ctx, r.ID, entry.Participant)
			if err != nil {
				return err
			}
			view.Tokens = tokens(r, list, labels)
		}
	}
	return s.Page(c, fiber.StatusOK, "rounddesk", "%s", view, r.Title)
}
