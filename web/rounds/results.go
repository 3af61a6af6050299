package rounds

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/standings"
	"deepoj/sql"
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

// certificate is drawn as a picture of a landscape page of A4, in millimetres. Its words are those of the round and of the
// Contest API, in English.
var certificatePage = template.Must(template.New("").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="297mm" height="210mm" viewBox="0 0 297 210" font-family="Georgia, 'Noto Serif', 'Noto Serif CJK SC', serif" text-anchor="middle">
<title>{{.Name}}, {{.Title}}</title>
<rect width="297" height="210" fill="#fffdf8"/>
<rect x="9" y="9" width="279" height="192" fill="none" stroke="#0e6377" stroke-width="1.4"/>
<rect x="12" y="12" width="273" height="186" fill="none" stroke="#0e6377" stroke-width="0.4"/>
<text x="148.5" y="48" font-size="11" fill="#0e6377"{{if gt .TitleLength 46}} textLength="250" lengthAdjust="spacingAndGlyphs"{{end}}>{{.Title}}</text>
<text x="148.5" y="66" font-size="6" fill="#555">{{.Date}}</text>
<text x="148.5" y="98" font-size="15" fill="#1d2429"{{if gt .NameLength 34}} textLength="250" lengthAdjust="spacingAndGlyphs"{{end}}>{{.Name}}</text>
<text x="148.5" y="112" font-size="7.5" fill="#1d2429">{{.Organization}}</text>
{{range .Lines}}<text x="148.5" y="{{.Y}}" font-size="8" fill="#1d2429">{{.Text}}</text>
{{end}}</svg>
`))

// certificateView is what a certificate says.
type certificateView struct {
	Title, Date, Name, Organization string
	TitleLength, NameLength         int
	Lines                           []certificateLine
}

type certificateLine struct {
	Y    int
	Text string
}

// maxLines are how many awards fit on a certificate.
const maxLines = 6

// certificate handles GET /rounds/:round/certificates/:code.svg, of a result that stands.
func (s *Room) certificate(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	if !stands(r) || r.Start == nil {
		return site.Refuse(fiber.StatusConflict, "not_final", "The result does not stand yet.", "Have it stand first.")
	}
	code, ok := strings.CutSuffix(c.Params("code"), ".svg")
	if !ok {
		return sql.ErrNotFound
	}
	awards, err := s.awardsOf(c, r, standings.Public)
	if err != nil {
		return err
	}
	title := r.FormalName
	if title == "" {
		title = r.Title
	}
	view := certificateView{Title: title, Date: contest.ClockOf(r).End().UTC().Format("2 January 2006")}
	for _, a := range awards {
		at := slices.IndexFunc(a.To, func(to awarded) bool { return to.Code == code })
		if at < 0 {
			continue
		}
		view.Name, view.Organization = a.To[at].Name, a.To[at].Organization
		if len(view.Lines) < maxLines {
			view.Lines = append(view.Lines, certificateLine{132 + 10*len(view.Lines), a.Citation})
		}
	}
	if view.Name == "" {
		return sql.ErrNotFound
	}
	view.TitleLength, view.NameLength = len([]rune(view.Title)), len([]rune(view.Name))
	var out strings.Builder
	if err := certificatePage.Execute(&out, view); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "image/svg+xml")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	c.Set(fiber.HeaderContentDisposition, `inline; filename="`+code+`.svg"`)
	return c.SendString(out.String())
}
