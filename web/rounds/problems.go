package rounds

import (
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// roundProblemJSON is a problem of a round.
type roundProblemJSON struct {
	Label   string     `json:"label"`
	Place   int        `json:"place"`
	Slug    string     `json:"slug"`
	Version string     `json:"version"` // which is judged; "": the live one
	Title   string     `json:"title"`
	Points  *float64   `json:"points"`    // of a full solution; null: 1, or the problem's own
	RGB     string     `json:"rgb"`       // of its balloon; "": none
	Color   string     `json:"color"`     // the name of that; "": none
	Paused  *time.Time `json:"paused_at"` // null: it is open
}

// problemIn is what may be sent of a problem.
var problemIn = fiber.Map{
	"problem": "", "?place": 0, "?version": (*string)(nil), "?label": "", "?points": (*float64)(nil), "?rgb": "", "?color": "", "?paused": false,
}

var (
	label = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,9}$`)
	rgb   = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

const (
	maxPoints = 1e6
	maxColor  = 40 // bytes
)

// apiProblems handles GET /api/v1/rounds/:round/problems.
func (s *Room) apiProblems(c *fiber.Ctx) error {
	r, space, err := s.round(c, people.SeeSpaceProblems)
	if err != nil {
		return err
	}
	if begun := r.Start != nil && !r.Start.After(r.Now); !begun && !site.ViewerOf(c).May(people.ArrangeSpace, space) {
		return site.Refuse(fiber.StatusForbidden, string(judge.RoundNotOpen), "%s has not begun.", "", r.Title)
	}
	found, err := s.Config.Rounds.Problems(c.UserContext(), r.ID)
	if err != nil {
		return err
	}
	out := make([]roundProblemJSON, len(found))
	for i, p := range found {
		out[i] = roundProblemJSON{p.Label, i + 1, p.Problem, p.Version, p.Title, p.Points, p.RGB, p.Color, p.Paused}
	}
	page, next, err := site.PageOf(c, "after", out, func(p roundProblemJSON) string { return p.Slug })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"problems": page, "next": next})
}

// apiPutProblem handles POST /api/v1/rounds/:round/problems.
func (s *Room) apiPutProblem(c *fiber.Ctx) error {
	if _, _, err := s.round(c, people.ArrangeSpace); err != nil {
		return err
	}
	f, err := site.ReadFields(c, "problem", "place", "version", "label", "points", "rgb", "color", "paused")
	if err == nil {
		err = s.putProblem(c, f)
	}
	if err != nil {
		return err
	}
	return s.apiProblems(c)
}

// putProblem adds a problem to the round that the address names, or changes it, as was sent.
func (s *Room) putProblem(c *fiber.Ctx, f *site.Fields) error {
	r, _, err := s.round(c, people.ArrangeSpace)
	if err != nil {
		return err
	}
	slug := f.Text("problem")
	if len(f.Wrong) == 0 {
		if err := s.mayTake(c, r, slug); err != nil {
			return err
		}
	}
	_, err = s.Config.Rounds.ChangeProblems(c.UserContext(), r.Code, site.ViewerOf(c).Name, func(r judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return withProblem(f, r, list, slug)
	})
	if errors.Is(err, sql.ErrExists) {
		return site.WrongField("label", "duplicate", "Another problem of the round has this label.")
	}
	return err
}

// mayTake refuses a hidden problem that the round does not have, but to setters of the site: through the round they could
// show it to others.
func (s *Room) mayTake(c *fiber.Ctx, r *judge.Round, slug string) error {
	unknown := site.WrongField("problem", site.ReasonUnknown, "There is no problem %q.", site.Shorten(slug))
	if !site.PlainWord(slug) {
		return unknown
	}
	p, err := s.Store.Problem(c.UserContext(), slug)
	if errors.Is(err, sql.ErrNotFound) {
		return unknown
	}
	if err != nil || !p.Hidden || site.ViewerOf(c).Setter() {
		return err
	}
	list, err := s.Config.Rounds.Problems(c.UserContext(), r.ID)
	if err == nil && !slices.ContainsFunc(list, func(p judge.RoundProblem) bool { return p.Problem == slug }) {
		return unknown
	}
	return err
}

// withProblem changes the list of problems to what the JSON says of one.
func withProblem(f *site.Fields, r judge.Round, list []judge.RoundProblem, slug string) ([]judge.RoundProblem, error) {
	wrong := slices.Clone(f.Wrong)
	defer func() { f.Wrong = wrong }()
	at := slices.IndexFunc(list, func(p judge.RoundProblem) bool { return p.Problem == slug })
	p := judge.RoundProblem{Problem: slug}
	if at >= 0 {
		p = list[at]
		list = slices.Delete(list, at, at+1)
	} else {
		p.Label = freeLabel(list)
		at = len(list)
	}
	place := 0
	f.Value("place", "a whole number", &place)
	if place > 0 {
		at = min(place-1, len(list))
	}
	if _, there := f.Raw["version"]; there {
		if p.Version = ""; f.Has("version") {
			p.Version = f.Text("version")
		}
	}
	if f.Has("label") {
		p.Label = f.Text("label")
	}
	if _, there := f.Raw["points"]; there {
		p.Points = nil
		f.Value("points", "a number", &p.Points)
	}
	for name, into := range map[string]*string{"rgb": &p.RGB, "color": &p.Color} {
		if f.Has(name) {
			*into = f.Text(name)
		}
	}
	if f.Has("paused") {
		pause(f, &p, r.Now)
	}
	switch {
	case !label.MatchString(p.Label):
		f.Wrong.Add(site.WrongField("label", site.ReasonInvalid, "A label has up to 10 letters, digits, _, . and -, and begins with a letter or digit."))
	case p.Points != nil && (*p.Points < 0 || *p.Points > maxPoints):
		f.Wrong.Add(site.WrongField("points", site.ReasonInvalid, "Points have to be from 0 to %v.", maxPoints))
	case p.RGB != "" && !rgb.MatchString(p.RGB):
		f.Wrong.Add(site.WrongField("rgb", site.ReasonInvalid, "The colour has to be like #ff8800."))
	case len(p.Color) > maxColor || !plain(p.Color):
		f.Wrong.Add(site.WrongField("color", site.ReasonInvalid, "The name of a colour has up to %d bytes and no control characters.", maxColor))
	case place < 0:
		f.Wrong.Add(site.WrongField("place", site.ReasonInvalid, "Places are counted from 1."))
	case len(list) >= judge.MaxRoundProblems:
		f.Wrong.Add(site.WrongField("problem", "too_many", "A round has at most %d problems.", judge.MaxRoundProblems))
	}
	if err := f.Wrong.Err(); err != nil {
		return nil, err
	}
	return slices.Insert(list, at, p), nil
}

// pause stops a problem, or has it go on.
func pause(f *site.Fields, p *judge.RoundProblem, now time.Time) {
	paused := false
	f.Value("paused", "a truth value", &paused)
	switch {
	case !paused:
		p.Paused = nil
	case p.Paused == nil:
		p.Paused = &now
	}
}

// freeLabel is the first letter that no problem has, or the first two letters.
func freeLabel(list []judge.RoundProblem) string {
	taken := map[string]bool{}
	for _, p := range list {
		taken[p.Label] = true
	}
	for l := 'A'; l <= 'Z'; l++ {
		if !taken[string(l)] {
			return string(l)
		}
	}
	for l := 'A'; ; l++ {
		for k := 'A'; k <= 'Z'; k++ {
			if name := string(l) + string(k); !taken[name] {
				return name
			}
		}
	}
}

// apiRemoveProblem handles DELETE /api/v1/rounds/:round/problems/:slug.
func (s *Room) apiRemoveProblem(c *fiber.Ctx) error { return gone(c, s.removeProblem(c)) }

// removeProblem takes the problem that the address names out of its round.
func (s *Room) removeProblem(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ArrangeSpace)
	if err != nil {
		return err
	}
	slug := c.Params("slug")
	_, err = s.Config.Rounds.ChangeProblems(c.UserContext(), r.Code, site.ViewerOf(c).Name, func(_ judge.Round, list []judge.RoundProblem) ([]judge.RoundProblem, error) {
		at := slices.IndexFunc(list, func(p judge.RoundProblem) bool { return p.Problem == slug })
		if at < 0 {
			return nil, sql.ErrNotFound
		}
		return slices.Delete(list, at, at+1), nil
	})
	return inUse(err)
}
