package rounds

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// teamView is the page of a participant of a round: its row, and why it is where it is.
type teamView struct {
	Round        *judge.Round
	Space        site.SpaceView
	Part         boardPart
	Name         string
	Organization string
	Contestants  []string // who is of it, as far as that is told
	Coaches      []string
	Problems     map[string]boardProblemJSON // by short name
	Explained    explanationJSON
	IOI          bool
	Manages      bool
	Jobs         map[int64]int64 // of submissions, by their numbers, as far as the viewer may read them
}

// effectWords say what an attempt does to its cell.
var effectWords = map[contest.Effect]locale.Word{
	contest.Wrong: "a wrong attempt", contest.Free: "costs nothing", contest.Pending: "pending", contest.Solution: "the solution",
	contest.After: "after the solution", contest.Counts: "counts", contest.Ignored: "ignored by staff", contest.Late: "too late",
}

// Effect says what an attempt does.
func (teamView) Effect(e contest.Effect) locale.Word { return effectWords[e] }

// Minutes is a contest time in whole minutes.
func (teamView) Minutes(ms int64) int64 { return ms / 60_000 }

// teamPage handles GET /rounds/:round/teams/:code?view=.
func (s *Room) teamPage(c *fiber.Ctx) error {
	r, space, of, err := s.looked(c)
	if err != nil {
		return err
	}
	code, err := named(c)
	if err != nil {
		return err
	}
	view := teamView{
		Round: r, Space: site.ViewSpace(space, site.ViewerOf(c)), Part: boardPart{Code: r.Code, All: of == standings.Staff}, Problems: map[string]boardProblemJSON{},
		IOI: r.Format == string(contest.IOI), Manages: site.ViewerOf(c).May(people.ManageSpace, space),
	}
	var wrong error
	err = s.standings.Look(c.UserContext(), r.ID, of, func(v *standings.Standings) {
		if wrong = shows(v, of); wrong != nil {
			return
		}
		if view.Explained, wrong = explanation(v, code); wrong != nil {
			return
		}
		view.Name = view.Explained.Row.Name
		view.Organization = v.Organizations[view.Explained.Row.Organization].Name
		view.Contestants, view.Coaches = personsOf(v, code)
		for _, p := range v.State.Columns() {
			view.Problems[p.ID] = boardProblemJSON{Slug: p.ID, Label: p.Label, Name: p.Name}
		}
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "roundteam", "%s", view, view.Name)
}
