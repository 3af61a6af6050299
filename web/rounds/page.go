package rounds

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/web/site"
)

const (
	pageRows      = 250 // rows of the board that a page has
	maxFavourites = 50
	maxSearch     = 100 // bytes
)

// roundPageView is the page of a round: its times and its board.
type roundPageView struct {
	Round      *judge.Round
	Space      site.SpaceView
	Phase      contest.Phase
	Ends       *time.Time
	Board      boardJSON
	Favourites []boardRowJSON // those that the address names
	Closed     *site.Fault    // why there is no board; nil = there is one
	Groups     []boardGroup
	Part       boardPart
	Manages    bool          // the viewer may see what is hidden
	Own        *boardRowJSON // in a freeze: the viewer's row with what only they are told
	Mine       string        // the participant that the viewer is in; "" = none
	More       string        // address of the rows behind these; "" = these are the last
	First      bool          // the rows are the first of the board
	IOI        bool          // rows have points
}

// boardGroup is a group that the board can be of.
type boardGroup struct {
	Name, URL string
	Chosen    bool
}

// boardPart is what the address of the board says.
type boardPart struct {
	Code       string // of the round
	Group      string // whose rows there are; "" = all
	Search     string // only rows with this in a name; "" = all
	At         string // as it was at this contest time; "" = as it is
	All        bool   // also what is hidden
	Projector  bool   // large, without anything else
	Favourites []string
}

// url is the address of a part of the board, from behind a row on.
func (p boardPart) url(after string) string {
	q := url.Values{}
	for name, value := range map[string]string{"group": p.Group, "q": p.Search, "at": p.At, "fav": strings.Join(p.Favourites, ","), "after": after} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if p.All {
		q.Set("view", string(standings.Staff))
	}
	if p.Projector {
		q.Set("style", "projector")
	}
	if len(q) == 0 {
		return site.RoundURL(p.Code)
	}
	return site.RoundURL(p.Code) + "?" + q.Encode()
}

// Kept are the parameters that a form of the page keeps, but for one.
func (p boardPart) Kept(but string) map[string]string {
	kept := map[string]string{"group": p.Group, "q": p.Search, "at": p.At, "fav": strings.Join(p.Favourites, ",")}
	if p.All {
		kept["view"] = string(standings.Staff)
	}
	maps.DeleteFunc(kept, func(name, value string) bool { return name == but || value == "" })
	return kept
}

// Star is the address of the same board with a participant among the favourites, or not any more.
func (p boardPart) Star(participant string) string {
	if p.Starred(participant) {
		p.Favourites = slices.DeleteFunc(slices.Clone(p.Favourites), func(code string) bool { return code == participant })
	} else {
		p.Favourites = append(slices.Clone(p.Favourites), participant)
	}
	return p.url("")
}

// Starred reports whether a participant is among the favourites.
func (p boardPart) Starred(participant string) bool {
	return slices.Contains(p.Favourites, participant)
}

// Now is the address of the board as it is.
func (p boardPart) Now() string { p.At = ""; return p.url("") }

// Everybody is the address of the board of all groups, without a search.
func (p boardPart) Everybody() string { p.Group, p.Search = "", ""; return p.url("") }

// Other is the address of the board as everybody sees it, or as it is.
func (p boardPart) Other() string { p.All = !p.All; return p.url("") }

// Wall is the address of the board for a projector, or back.
func (p boardPart) Wall() string { p.Projector = !p.Projector; return p.url("") }

// Team is the address of the page of a participant.
func (p boardPart) Team(participant string) string {
	to := site.RoundURL(p.Code) + "/teams/" + url.PathEscape(participant)
	if p.All {
		to += "?view=" + string(standings.Staff)
	}
	return to
}

// Hides reports whether something is hidden by a freeze.
func (v roundPageView) Hides() bool {
	return v.Board.State.Frozen != nil && v.Board.State.Thawed == nil
}

// FreezeMinutes is how many minutes are left when the board is frozen; 0 = it is not, or there is nothing hidden on the page.
func (v roundPageView) FreezeMinutes() int {
	r := v.Round
	if v.Part.All || r.Duration == nil || r.Freeze == nil {
		return 0
	}
	return int((*r.Duration - *r.Freeze).Minutes())
}

// Live reports whether the board on the page goes on by itself.
func (v roundPageView) Live() bool {
	return v.First && v.Closed == nil && v.Part.At == "" && v.Part.Search == "" && v.Part.Group == "" && v.Round.Finalized == nil
}

// readPart reads what the address of the board says.
func readPart(c *fiber.Ctx, code string, of standings.View) (boardPart, error) {
	p := boardPart{
		Code: code, Group: c.Query("group"), Search: strings.TrimSpace(c.Query("q")), At: c.Query("at"), All: of == standings.Staff, Projector: c.Query("style") == "projector",
	}
	for one := range strings.SplitSeq(c.Query("fav"), ",") {
		if site.ShortName.MatchString(one) && !slices.Contains(p.Favourites, one) {
			p.Favourites = append(p.Favourites, one)
		}
	}
	switch {
	case len(p.Favourites) > maxFavourites:
		return p, site.WrongField("fav", "too_many", "An address names up to %d teams.", maxFavourites)
	case len(p.Search) > maxSearch:
		return p, site.WrongField("q", site.ReasonTooLong, "A search has up to %d bytes.", maxSearch)
	}
	return p, nil
}

// roundPage handles GET /rounds/:round?view=&group=&q=&at=&fav=&style=&after=.
func (s *Room) roundPage(c *fiber.Ctx) error {
	r, space, of, err := s.looked(c)
	if err != nil {
		return err
	}
	at, err := readAt(c)
	if err != nil {
		return err
	}
	viewer, mine := site.ViewerOf(c), int64(0)
	view := roundPageView{
		Round: r, Space: site.ViewSpace(space, viewer), Phase: contest.PhaseOf(r, r.Now), Ends: moment(contest.ClockOf(r).End()),
		Manages: viewer.May(people.ManageSpace, space), IOI: r.Format == string(contest.IOI),
	}
	if view.Part, err = readPart(c, r.Code, of); err != nil {
		return err
	}
	if viewer.Known() {
		e, err := s.Config.Rounds.Entry(c.UserContext(), r.ID, viewer.Name)
		if err != nil && !errors.Is(err, sql.ErrNotFound) {
			return err
		}
		view.Mine, mine = e.Code, e.Participant
	}
	view.First = c.Query("after") == ""
	rows := pageRows
	if view.Part.Projector {
		rows = 0
	}
	asked := part{group: view.Part.Group, after: c.Query("after"), limit: rows, at: at, search: view.Part.Search}
	view.Board, err = s.boardOf(c, r, of, asked, func(v *standings.Standings) {
		view.group(v)
		if of == standings.Staff || !v.Hidden() {
			view.favour(v)
		}
		if of == standings.Public && view.Live() && !view.Part.Projector && v.Round.Frozen != nil && v.Round.Thawed == nil && !v.Hidden() {
			view.Own = ownRow(v, mine).Row
		}
	})
	if f, ok := errors.AsType[*site.Fault](err); ok && f.Reason == boardHidden {
		view.Closed, err = f, nil
	}
	if err != nil {
		return err
	}
	if view.Board.Next != nil {
		view.More = view.Part.url(*view.Board.Next)
	}
	return s.Page(c, fiber.StatusOK, "round", "%s", view, r.Title)
}

// favour puts the rows of favourites on the page.
func (v *roundPageView) favour(of *standings.Standings) {
	if len(v.Part.Favourites) == 0 {
		return
	}
	if b, err := board(of, part{only: v.Part.Favourites}); err == nil {
		v.Favourites = b.Rows
	}
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
			to := v.Part
			to.Group = code
			v.Groups = append(v.Groups, boardGroup{of.Groups[code].Name, to.url(""), code == v.Part.Group})
		}
	}
}
