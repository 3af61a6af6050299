package rounds

import (
	"errors"
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

// boardJSON is a part of the standings of a round.
type boardJSON struct {
	Round string         `json:"round"`
	View  standings.View `json:"view"`
	Token string         `json:"token"` // of the same standings it is the same
	State stateJSON      `json:"state"`

	Problems []boardProblemJSON `json:"problems"` // none before the start
	Rows     []boardRowJSON     `json:"rows"`
	Total    int                `json:"total"` // rows that there are
	Next     *string            `json:"next"`  // the cursor behind this part; null: it was the last
}

// stateJSON is how far a round is: since when, or null.
type stateJSON struct {
	Started   *time.Time `json:"started"`
	Frozen    *time.Time `json:"frozen"`
	Ended     *time.Time `json:"ended"`
	Thawed    *time.Time `json:"thawed"`
	Finalized *time.Time `json:"finalized"`
}

// Moments are the names of those that are over, as pages know them.
func (s stateJSON) Moments() string {
	var names []string
	for _, m := range []struct {
		name string
		at   *time.Time
	}{{"started", s.Started}, {"frozen", s.Frozen}, {"ended", s.Ended}, {"thawed", s.Thawed}, {"finalized", s.Finalized}} {
		if m.at != nil {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, " ")
}

// boardProblemJSON is a column of the board.
type boardProblemJSON struct {
	Slug    string      `json:"slug"`
	Label   string      `json:"label"`
	Name    string      `json:"name"`
	RGB     string      `json:"rgb"`
	Color   string      `json:"color"`
	Points  float64     `json:"points"`
	Solved  int         `json:"solved"`  // by how many of those that are ranked
	First   []firstJSON `json:"first"`   // who solved it first; several may have in the same millisecond
	Decided bool        `json:"decided"` // nobody else can be the first any more
}

// firstJSON is who solved a problem first.
type firstJSON struct {
	Participant string `json:"participant"`
	TimeMS      int64  `json:"time_ms"` // contest time
}

// boardRowJSON is a row of the board.
type boardRowJSON struct {
	Rank         *int            `json:"rank"` // null: without one
	Participant  string          `json:"participant"`
	Name         string          `json:"name"`
	Organization string          `json:"organization"` // its short name; "": none
	Groups       []string        `json:"groups"`
	Solved       int             `json:"solved"`
	Total        int64           `json:"total"` // penalty time, in minutes, or in seconds with the rounding second
	Points       float64         `json:"points"`
	TimeMS       int64           `json:"time_ms"` // contest time of the last solution, or of the last improvement
	Cells        []boardCellJSON `json:"cells"`   // one for each problem, in their order

	From string `json:"-"` // what the organization is called, for pages
}

// Place is the rank; 0 = none.
func (r boardRowJSON) Place() int {
	if r.Rank == nil {
		return 0
	}
	return *r.Rank
}

// boardCellJSON is what counts of what a participant handed in for a problem.
type boardCellJSON struct {
	Judged  int     `json:"judged"`  // attempts: wrong ones, and the solution
	Pending int     `json:"pending"` // not judged yet, or hidden, as far as they may change something
	Solved  bool    `json:"solved"`
	TimeMS  int64   `json:"time_ms"` // of the solution, or of the last improvement
	Score   float64 `json:"score"`
}

// Minutes is the contest time of the solution in whole minutes.
func (c boardCellJSON) Minutes() int64 { return c.TimeMS / 60_000 }

// viewOf reads for whom the board is to be: for everybody, unless somebody who manages the space asks for more.
func viewOf(c *fiber.Ctx, space *judge.Space) (standings.View, error) {
	switch view := c.Query("view", string(standings.Public)); view {
	case string(standings.Public):
		return standings.Public, nil
	case string(standings.Staff):
		if !site.ViewerOf(c).May(people.ManageSpace, space) {
			return "", site.Refuse(fiber.StatusForbidden, "forbidden", "What is hidden is for staff of the space.", "Leave view out to see what everybody sees.")
		}
		return standings.Staff, nil
	}
	return "", site.WrongField("view", site.ReasonInvalid, "The view is public or staff.")
}

// looked returns the round that the address names, its space, and for whom its board is to be.
func (s *Room) looked(c *fiber.Ctx) (*judge.Round, *judge.Space, standings.View, error) {
	r, space, err := s.round(c, people.SeeSpace)
	if err != nil {
		return nil, nil, "", err
	}
	of, err := viewOf(c, space)
	return r, space, of, err
}

// part is a part of the board that somebody asks for.
type part struct {
	group, after string // by short name; "" = all, and from the first row on
	limit        int    // 0 = all

	at     *time.Duration // as it was at a contest time; nil = as it is
	search string         // only rows with this in a name; "" = all
	only   []string       // only these participants; nil = all
	known  *knownRows     // what is known of the rows, and is known from now on; nil = nothing
}

// narrow reports whether the part is of rows that are looked for.
func (p part) narrow() bool { return p.search != "" || p.only != nil }

// has reports whether a row is one of the part.
func (p part) has(v *standings.Standings, r contest.Row) bool {
	who := v.Participants[r.Participant]
	if p.only != nil && !slices.Contains(p.only, who.Code) {
		return false
	}
	for _, text := range []string{r.Name, who.Code, who.Label, v.Organizations[who.Organization].Name, v.Organizations[who.Organization].FormalName} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(p.search)) {
			return true
		}
	}
	return false
}

// readAt reads the contest time of which the board is asked for; nil is now.
func readAt(c *fiber.Ctx) (*time.Duration, error) {
	text := c.Query("at")
	if text == "" {
		return nil, nil
	}
	d, wrong := readHours("at", text)
	if wrong != nil {
		return nil, wrong
	}
	return d, nil
}

// apiBoard handles GET /api/v1/rounds/:round/board?view=&group=&after=&limit=.
func (s *Room) apiBoard(c *fiber.Ctx) error {
	r, _, of, err := s.looked(c)
	if err != nil {
		return err
	}
	cursor, limit, err := after(c)
	if err != nil {
		return err
	}
	at, err := readAt(c)
	if err != nil {
		return err
	}
	out, err := s.boardOf(c, r, of, part{group: c.Query("group"), after: cursor, limit: limit, at: at}, func(*standings.Standings) {})
	if err != nil {
		return err
	}
	return c.JSON(out)
}

// boardOf returns a part of the board of a round, and has its standings looked at besides, whether they are shown or not.
func (s *Room) boardOf(c *fiber.Ctx, r *judge.Round, of standings.View, p part, look func(*standings.Standings)) (out boardJSON, err error) {
	var wrong error
	err = s.lookAt(c, r, of, p.at, func(v *standings.Standings) {
		look(v)
		if wrong = shows(v, of); wrong == nil {
			out, wrong = board(v, p)
		}
	})
	out.Round, out.View = r.Code, of
	if err == nil {
		err = wrong
	}
	return out, err
}

// lookAt has the standings of a round looked at, as they are, or as they were at a contest time.
func (s *Room) lookAt(c *fiber.Ctx, r *judge.Round, of standings.View, at *time.Duration, fn func(*standings.Standings)) error {
	if at == nil {
		return s.standings.Look(c.UserContext(), r.ID, of, fn)
	}
	err := s.standings.At(c.UserContext(), r.ID, of, *at, fn)
	if errors.Is(err, standings.ErrNoStart) {
		return site.WrongField("at", site.ReasonInvalid, "The round has no start, and so no time.")
	}
	return err
}

// ownRowJSON is one's own row.
type ownRowJSON struct {
	Token string        `json:"token"` // of the board whose rank it has
	Row   *boardRowJSON `json:"row"`   // null: one takes no part
	Alone bool          `json:"alone"` // it has verdicts that nobody else sees
}

// apiOwnRow handles GET /api/v1/rounds/:round/board/own.
func (s *Room) apiOwnRow(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	e, err := s.Config.Rounds.Entry(c.UserContext(), r.ID, site.ViewerOf(c).Name)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return err
	}
	var out ownRowJSON
	var wrong error
	err = s.standings.Look(c.UserContext(), r.ID, standings.Public, func(v *standings.Standings) {
		if wrong = shows(v, standings.Public); wrong == nil {
			out = ownRow(v, e.Participant)
		}
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	return c.JSON(out)
}

// ownRow is the row of a participant with what only they are told.
func ownRow(v *standings.Standings, participant int64) ownRowJSON {
	out := ownRowJSON{Token: v.Token}
	if row, alone, ok := v.State.Own(participant, v.Aside); ok {
		out.Row, out.Alone = new(shownRow(v, row)), alone
	}
	return out
}

// boardHidden is the reason for which there is no board.
const boardHidden = "board_hidden"

// shows refuses to show a board that the settings of the format hide from everybody but staff while the round goes on.
func shows(v *standings.Standings, of standings.View) error {
	if of == standings.Staff || !v.Hidden() {
		return nil
	}
	return site.Refuse(fiber.StatusForbidden, boardHidden, "The board of this round is not shown before its end.", "")
}

// board is a part of standings as it is shown.
func board(v *standings.Standings, p part) (boardJSON, error) {
	if _, ok := v.Groups[p.group]; p.group != "" && !ok {
		return boardJSON{}, site.WrongField("group", site.ReasonInvalid, "The round has no group %q.", site.Shorten(p.group))
	}
	q := contest.Query{Group: p.group, Limit: p.limit}
	if p.after != "" {
		var ok bool
		if q.Offset, ok = v.Behind(p.group, p.after); !ok {
			return boardJSON{}, site.WrongField("after", site.ReasonInvalid, "The board has no participant %q.", site.Shorten(p.after))
		}
	}
	if p.narrow() {
		q.Offset, q.Limit = 0, 0
	}
	if p.known != nil {
		q.Known = func(participant int64) bool { return p.known.has(v, participant) }
	}
	b := v.State.Board(q)
	if p.narrow() {
		b.Rows = slices.DeleteFunc(b.Rows, func(r contest.Row) bool { return !p.has(v, r) })
		b.Total = len(b.Rows)
		if p.limit > 0 {
			b.Rows = b.Rows[:min(len(b.Rows), p.limit)]
		}
	}
	out := boardJSON{
		Token: v.Token, Total: b.Total, Problems: make([]boardProblemJSON, len(b.Problems)), Rows: make([]boardRowJSON, len(b.Rows)),
		State: stateJSON{v.Round.Started, v.Round.Frozen, v.Round.Ended, v.Round.Thawed, v.Round.Finalized},
	}
	for i, p := range b.Problems {
		said, points := v.Problems[p.ID], 0.0
		if p.Points != nil {
			points = *p.Points
		}
		out.Problems[i] = boardProblemJSON{
			Slug: p.ID, Label: p.Label, Name: p.Name, RGB: said.RGB, Color: said.Color, Points: points, Solved: p.Solved, First: make([]firstJSON, len(p.First)), Decided: p.Decided,
		}
		for j, f := range p.First {
			out.Problems[i].First[j] = firstJSON{v.Participants[f.Participant].Code, f.Time.Milliseconds()}
		}
	}
	for i, r := range b.Rows {
		if p.known != nil {
			out.Rows[i] = p.known.row(v, r)
		} else {
			out.Rows[i] = shownRow(v, r)
		}
	}
	if p.known != nil {
		p.known.lines = v.Lines
	}
	if n := q.Offset + len(b.Rows); !p.narrow() && n < b.Total && len(b.Rows) > 0 {
		out.Next = new(out.Rows[len(b.Rows)-1].Participant)
	}
	return out, nil
}

// rankOf is the rank of a row; nil = it has none.
func rankOf(r contest.Row) *int {
	if r.Rank == 0 {
		return nil
	}
	return new(r.Rank)
}

func shownRow(v *standings.Standings, r contest.Row) boardRowJSON {
	who := v.Participants[r.Participant]
	row := boardRowJSON{
		Participant: who.Code, Name: r.Name, Organization: who.Organization, Groups: append([]string{}, who.Groups...), Solved: r.Solved, Total: r.Total,
		Points: r.Points, TimeMS: r.Last.Milliseconds(), Cells: make([]boardCellJSON, len(r.Cells)), Rank: rankOf(r),
	}
	if from := v.Organizations[who.Organization].Name; from != row.Name {
		row.From = from
	}
	for j, cell := range r.Cells {
		row.Cells[j] = boardCellJSON{cell.Judged, cell.Pending, cell.Solved, cell.Time.Milliseconds(), cell.Score}
	}
	return row
}
