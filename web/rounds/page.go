package rounds

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/web/site"
)

// pageRows is how many rows of the board a page has.
const pageRows = 250

// roundPageView is the page of a round: its times and its board.
type roundPageView struct {
	Round   *judge.Round
	Space   site.SpaceView
	Phase   contest.Phase
	Ends    *time.Time
	Board   boardJSON
	Closed  *site.Fault // why there is no board; nil = there is one
	Groups  []boardGroup
	Group   string // whose rows there are; "" = all
	All     bool   // it shows what is hidden
	Manages bool   // the viewer may see what is hidden
	Mine    string // the participant that the viewer is in; "" = none
	More    string // address of the rows behind these; "" = these are the last
	IOI     bool   // rows have points
}

// boardGroup is a group that the board can be of.
type boardGroup struct {
	Name, URL string
	Chosen    bool
}

// FrozenMinutes is how many minutes were left when the board was frozen, as long as something is hidden by that; 0 = nothing is.
func (v roundPageView) FrozenMinutes() int {
	r := v.Round
	if v.All || v.Board.State.Frozen == nil || r.Thawed != nil || r.Duration == nil || r.Freeze == nil {
		return 0
	}
	return int((*r.Duration - *r.Freeze).Minutes())
}

// boardURL is the address of a part of the board.
func boardURL(code, group, after string, all bool) string {
	q := url.Values{}
	for name, value := range map[string]string{"group": group, "after": after} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if all {
		q.Set("view", string(standings.Staff))
	}
	if len(q) == 0 {
		return site.RoundURL(code)
	}
	return site.RoundURL(code) + "?" + q.Encode()
}

// OtherView is the address of the board as everybody sees it, or as it is.
func (v roundPageView) OtherView() string { return boardURL(v.Round.Code, v.Group, "", !v.All) }

// roundPage handles GET /rounds/:round?view=&group=&after=.
func (s *Room) roundPage(c *fiber.Ctx) error {
	r, space, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	of, err := viewOf(c, space)
	if err != nil {
		return err
	}
	viewer := site.ViewerOf(c)
	view := roundPageView{
		Round: r, Space: site.ViewSpace(space, viewer), Phase: contest.PhaseOf(r, r.Now), Ends: moment(contest.ClockOf(r).End()),
		Group: c.Query("group"), All: of == standings.Staff, Manages: viewer.May(people.ManageSpace, space), IOI: r.Format == string(contest.IOI),
	}
	if viewer.Known() {
		e, err := s.Config.Rounds.Entry(c.UserContext(), r.ID, viewer.Name)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return err
		}
		view.Mine = e.Code
	}
	view.Board, err = s.boardOf(c, r, of, part{group: view.Group, after: c.Query("after"), limit: pageRows}, func(v *standings.Standings) { view.group(v) })
	if f, ok := errors.AsType[*site.Fault](err); ok && f.Reason == boardHidden {
		view.Closed, err = f, nil
	}
	if err != nil {
		return err
	}
	if view.Board.Next != nil {
		view.More = boardURL(r.Code, view.Group, *view.Board.Next, view.All)
	}
	return s.Page(c, fiber.StatusOK, "round", "%s", view, r.Title)
}

// group offers the groups in which somebody is.
func (v *roundPageView) group(of *standings.Standings) {
	in := map[string]bool{}
	for _, p := range of.Participants {
		for _, g := range p.Groups {
			in[g] = true
		}
	}
	for _, code := range slices.Sorted(maps.Keys(of.Groups)) {
		if in[code] {
			v.Groups = append(v.Groups, boardGroup{of.Groups[code].Name, boardURL(v.Round.Code, code, "", v.All), code == v.Group})
		}
	}
}
