package rounds

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/web/site"
)

// resultsView is the page of the result of a round.
type resultsView struct {
	Round   *judge.Round
	Space   site.SpaceView
	Part    boardPart
	Final   bool // the result stands, and nothing of it is hidden from the viewer
	Manages bool
	Awards  []shownAward
}

// shownAward is an award with the names of who gets it.
type shownAward struct {
	ID, Citation string
	To           []awarded
}

// awarded is who gets an award.
type awarded struct{ Code, Name, Organization string }

// manyRanks are awards that say no more than the board does.
const manyRanks = "rank-"

// awardsOf are the awards that who looks may know of, and whether they stand.
func (s *Room) awardsOf(c *fiber.Ctx, r *judge.Round, of standings.View) (out []shownAward, err error) {
	err = s.standings.Look(c.UserContext(), r.ID, of, func(v *standings.Standings) {
		for _, a := range v.State.Awards() {
			shown := shownAward{ID: a.ID, Citation: a.Citation}
			for _, id := range a.Participants {
				p := v.Participants[id]
				name := p.DisplayName
				if name == "" {
					name = p.Name
				}
				shown.To = append(shown.To, awarded{p.Code, name, v.Organizations[p.Organization].Name})
			}
			out = append(out, shown)
		}
	})
	if err != nil {
		return nil, err
	}
	given, err := s.Config.Rounds.Awards(c.UserContext(), r.ID)
	if err != nil || len(given) == 0 {
		return out, err
	}
	err = s.standings.Look(c.UserContext(), r.ID, of, func(v *standings.Standings) {
		for _, a := range given {
			shown := shownAward{ID: a.Code, Citation: a.Citation}
			for _, p := range v.Participants {
				if slices.Contains(a.Participants, p.Code) {
					shown.To = append(shown.To, awarded{p.Code, cmp.Or(p.DisplayName, p.Name), v.Organizations[p.Organization].Name})
				}
			}
			slices.SortFunc(shown.To, func(a, b awarded) int { return strings.Compare(a.Code, b.Code) })
			out = append(out, shown)
		}
	})
	return out, err
}

// stands reports whether a result stands and is shown to everybody.
func stands(r *judge.Round) bool { return r.Finalized != nil && (r.Freeze == nil || r.Thawed != nil) }

// resultsPage handles GET /rounds/:round/results?view=.
func (s *Room) resultsPage(c *fiber.Ctx) error {
	r, space, of, err := s.looked(c)
	if err != nil {
		return err
	}
	view := resultsView{
		Round: r, Space: site.ViewSpace(space, site.ViewerOf(c)), Part: boardPart{Code: r.Code, All: of == standings.Staff}, Final: stands(r),
		Manages: site.ViewerOf(c).May(people.ManageSpace, space),
	}
	if view.Final || of == standings.Staff {
		if view.Awards, err = s.awardsOf(c, r, of); err != nil {
			return err
		}
		view.Awards = slices.DeleteFunc(view.Awards, func(a shownAward) bool { return strings.HasPrefix(a.ID, manyRanks) })
	}
	return s.Page(c, fiber.StatusOK, "roundresults", "%s", view, r.Title)
}
