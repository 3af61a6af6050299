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

// certificate is drawn as a picture of a landscape page of A4, in millimetres. Its words are those of the round and of the
// Contest API, in English.
var certificatePage = template.Must(template.New("").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="297mm" height="210mm" viewBox="0 0 297 210" font-family="Georgia, 'Noto Serif', 'Noto Serif CJK SC', serif" text-anchor="middle">
<title>{{.Name}}, {{.Title}}</title>
<rect width="297" height="210" fill="#fffdf8"/>
<rect x="9" y="9" width="279" height="192" fill="none" stroke="#0e6377" stroke-width="1.4"/>
<rect x="12" y="12" width="273" height="186" fill="none" stroke="#0e6377" stroke-width="0.4"/>
<text x="148.5" y="48" font-size="11" fill="#0e6377"{{if gt .TitleLength 42}} textLength="250" lengthAdjust="spacingAndGlyphs"{{end}}>{{.Title}}</text>
<text x="148.5" y="66" font-size="6" fill="#555">{{.Date}}</text>
<text x="148.5" y="98" font-size="15" fill="#1d2429"{{if gt .NameLength 28}} textLength="250" lengthAdjust="spacingAndGlyphs"{{end}}>{{.Name}}</text>
<text x="148.5" y="112" font-size="7.5" fill="#1d2429">{{.Organization}}</text>
{{range .Lines}}<text x="148.5" y="{{.Y}}" font-size="8" fill="#1d2429">{{.Text}}</text>
{{end}}</svg>
`))

// certificateView is what a certificate says.
type certificateView struct {
	Title, Date, Name, Organization string
	TitleLength, NameLength         int
	Lines                           []certificateLine

	code string // of the participant
}

type certificateLine struct {
	Y    int
	Text string
}

// maxLines are how many awards fit on a certificate.
const maxLines = 6

// certificates are those of a result that stands, the best first.
func (s *Room) certificates(c *fiber.Ctx, r *judge.Round) ([]certificateView, error) {
	if !stands(r) || r.Start == nil {
		return nil, site.Refuse(fiber.StatusConflict, "not_final", "The result does not stand yet.", "Have it stand first.")
	}
	awards, err := s.awardsOf(c, r, standings.Public)
	if err != nil {
		return nil, err
	}
	var out []certificateView
	at := map[string]int{} // in out, by code
	title, date := cmp.Or(r.FormalName, r.Title), contest.ClockOf(r).End().UTC().Format("2 January 2006")
	for _, a := range awards {
		for _, to := range a.To {
			i, known := at[to.Code]
			if !known {
				i = len(out)
				at[to.Code] = i
				out = append(out, certificateView{
					Title: title, Date: date, Name: to.Name, Organization: to.Organization, TitleLength: len([]rune(title)), NameLength: len([]rune(to.Name)), code: to.Code,
				})
			}
			if lines := out[i].Lines; len(lines) < maxLines {
				out[i].Lines = append(lines, certificateLine{132 + 10*len(lines), a.Citation})
			}
		}
	}
	place := map[string]int{}
	err = s.standings.Look(c.UserContext(), r.ID, standings.Public, func(v *standings.Standings) {
		for i, row := range v.State.Board(contest.Query{}).Rows {
			place[v.Participants[row.Participant].Code] = i
		}
	})
	slices.SortStableFunc(out, func(a, b certificateView) int { return cmp.Compare(place[a.code], place[b.code]) })
	return out, err
}

// draw is the picture of a certificate.
func (v certificateView) draw() (string, error) {
	var out strings.Builder
	err := certificatePage.Execute(&out, v)
	return out.String(), err
}

// certificate handles GET /rounds/:round/certificates/:code.svg, of a result that stands.
func (s *Room) certificate(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	all, err := s.certificates(c, r)
	if err != nil {
		return err
	}
	code, ok := strings.CutSuffix(c.Params("code"), ".svg")
	i := slices.IndexFunc(all, func(v certificateView) bool { return v.code == code })
	if !ok || i < 0 {
		return sql.ErrNotFound
	}
	picture, err := all[i].draw()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "image/svg+xml")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	c.Set(fiber.HeaderContentDisposition, `inline; filename="`+code+`.svg"`)
	return c.SendString(picture)
}

// certificatesView is the page on which certificates are printed, or saved as a PDF, each on a page of its own.
type certificatesView struct {
	Round    *judge.Round
	Space    site.SpaceView
	Pictures []template.HTML
	First    int    // number of the first of them
	Total    int    // that there are
	More     string // address of the next ones, "" at the end
}

// certificatesAtOnce are how many certificates are on one page.
const certificatesAtOnce = 200

// certificatesPage handles GET /rounds/:round/certificates?after=.
func (s *Room) certificatesPage(c *fiber.Ctx) error {
	r, space, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	all, err := s.certificates(c, r)
	if err != nil {
		return err
	}
	from := 0
	if cursor := c.Query("after"); cursor != "" {
		from = slices.IndexFunc(all, func(v certificateView) bool { return v.code == cursor }) + 1
		if from == 0 {
			return site.WrongField("after", site.ReasonInvalid, "The cursor has to be a short name of the list.")
		}
	}
	shown := all[from:min(len(all), from+certificatesAtOnce)]
	view := certificatesView{Round: r, Space: site.ViewSpace(space, site.ViewerOf(c)), First: from + 1, Total: len(all)}
	for _, v := range shown {
		picture, err := v.draw()
		if err != nil {
			return err
		}
		view.Pictures = append(view.Pictures, template.HTML(picture)) // whose words a template has made safe
	}
	if from+len(shown) < len(all) {
		view.More = site.RoundURL(r.Code) + "/certificates?after=" + shown[len(shown)-1].code
	}
	return s.Page(c, fiber.StatusOK, "roundcertificates", "%s", view, r.Title)
}
