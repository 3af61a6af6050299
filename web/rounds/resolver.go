package rounds

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/web/site"
)

// stepJSON is a step of opening a frozen board.
type stepJSON struct {
	Step        int            `json:"step"` // from 1 on
	Participant string         `json:"participant"`
	Name        string         `json:"name"`
	Problem     *string        `json:"problem"` // null: nothing of the row is hidden any more, and its rank is final
	Label       string         `json:"label"`
	Was         int            `json:"was"` // its rank before
	Rank        int            `json:"rank"`
	Cell        *boardCellJSON `json:"cell"` // what is shown; null: nothing
	Awards      []string       `json:"awards"`
}

// Shows is the short name of the problem whose cell is shown, "" where a row is done with.
func (s stepJSON) Shows() string {
	if s.Problem == nil {
		return ""
	}
	return *s.Problem
}

// steps are the steps in which the frozen board of a round is opened, without those of rows that have no rank.
func (s *Room) steps(c *fiber.Ctx, r *judge.Round) (out []stepJSON, err error) {
	err = s.standings.Look(c.UserContext(), r.ID, standings.Staff, func(v *standings.Standings) {
		given := map[int64][]string{}
		for _, a := range v.State.Awards() {
			if strings.HasPrefix(a.ID, manyRanks) {
				continue // the step says it
			}
			for _, id := range a.Participants {
				given[id] = append(given[id], a.Citation)
			}
		}
		for _, step := range contest.Resolve(v.State.AsFrozen(), v.State) {
			if step.Was == 0 {
				continue
			}
			p := v.Participants[step.Participant]
			said := stepJSON{Step: len(out) + 1, Participant: p.Code, Name: p.DisplayName, Was: step.Was, Rank: step.Rank, Awards: []string{}}
			if said.Name == "" {
				said.Name = p.Name
			}
			if step.Problem != "" {
				cell := boardCellJSON{step.Cell.Judged, step.Cell.Pending, step.Cell.Solved, step.Cell.Time.Milliseconds(), step.Cell.Score}
				said.Problem, said.Label, said.Cell = &step.Problem, v.Problems[step.Problem].Label, &cell
			} else {
				said.Awards = append(said.Awards, given[step.Participant]...)
			}
			out = append(out, said)
		}
	})
	return out, err
}

// apiResolver handles GET /api/v1/rounds/:round/resolver?after=&limit=.
func (s *Room) apiResolver(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	all, err := s.steps(c, r)
	if err != nil {
		return err
	}
	limit, err := site.LimitOf(c)
	if err != nil {
		return err
	}
	behind := c.QueryInt("after")
	if text := c.Query("after"); text != "" && (strconv.Itoa(behind) != text || behind < 0) {
		return site.WrongField("after", site.ReasonInvalid, "The cursor has to be the number of a step.")
	}
	begin := min(behind, len(all))
	page := append([]stepJSON{}, all[begin:min(begin+limit, len(all))]...)
	var next *int
	if begin+limit < len(all) {
		next = new(begin + limit)
	}
	return c.JSON(fiber.Map{"steps": page, "next": next})
}

// resolverView is the page of those steps.
type resolverView struct {
	Round *judge.Round
	Space site.SpaceView
	Part  boardPart
	Steps []stepJSON
	Rest  int
	IOI   bool
}

// shownStepsOfResolver is how many steps the page shows.
const shownStepsOfResolver = 3000

// resolverPage handles GET /rounds/:round/resolver, for those who run the round.
func (s *Room) resolverPage(c *fiber.Ctx) error {
	r, space, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	view := resolverView{Round: r, Space: site.ViewSpace(space, site.ViewerOf(c)), Part: boardPart{Code: r.Code, All: true}, IOI: r.Format == string(contest.IOI)}
	if view.Steps, err = s.steps(c, r); err != nil {
		return err
	}
	if n := len(view.Steps); n > shownStepsOfResolver {
		view.Steps, view.Rest = view.Steps[:shownStepsOfResolver], n-shownStepsOfResolver
	}
	return s.Page(c, fiber.StatusOK, "roundresolver", "%s", view, r.Title)
}
