package solve

import (
	"errors"
	"html/template"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/chart"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// profileProblems is how many problems a profile lists.
const profileProblems = 1000

// profileView is the page of what somebody has solved.
type profileView struct {
	sql.Profile

	DisplayName string // what people call them; "" = by their name

	Mine    bool
	Solved  []sql.ProfileProblem
	Tried   []sql.ProfileProblem // and not solved
	Picture template.HTML
	Choices []judge.Audience
}

// Words says of an audience who it is.
func (profileView) Words(a judge.Audience) locale.Word {
	switch a {
	case judge.AudienceSelf:
		return "only you and staff"
	case judge.AudienceMembers:
		return "whoever has an account"
	case judge.AudienceEveryone:
		return "everybody"
	}
	return ""
}

// seesProfile reports whether somebody may see a profile.
func seesProfile(v site.Viewer, p sql.Profile) bool {
	switch {
	case v.Staff(), !v.Guest() && v.Name == p.Name:
		return true
	case p.Disabled:
		return false
	}
	return p.SeenBy == judge.AudienceEveryone || p.SeenBy == judge.AudienceMembers && !v.Guest()
}

// profilePage handles GET /people/:name. A profile that is not for the viewer is as good as none.
func (s *Room) profilePage(c *fiber.Ctx) error {
	v, name := site.ViewerOf(c), c.Params("name")
	missing := site.Refuse(fiber.StatusNotFound, "not_found", "There is no profile of %q that you may see.", "", site.Shorten(name))
	if !site.PlainWord(name) {
		return missing
	}
	p, err := s.Store.Profile(c.UserContext(), name)
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && !seesProfile(v, p):
		return missing
	case err != nil:
		return err
	}
	called := s.Names(c.UserContext(), p.Name)[p.Name]
	view := profileView{Profile: p, DisplayName: called, Mine: !v.Guest() && v.Name == p.Name, Choices: judge.Audiences}
	of := sql.ProfileView{Author: p.Name, Viewer: v.Name, Hidden: v.Setter(), Everything: v.Staff()}
	problems, err := s.Store.ProfileProblems(c.UserContext(), of, profileProblems)
	if err != nil {
		return err
	}
	for _, one := range problems {
		if one.Solved != nil {
			view.Solved = append(view.Solved, one)
		} else {
			view.Tried = append(view.Tried, one)
		}
	}
	days, err := s.Store.ProfileDays(c.UserContext(), of, chart.YearDays)
	if err != nil {
		return err
	}
	view.Picture = yearPicture(days, time.Now(), v)
	if called != "" {
		return s.Page(c, fiber.StatusOK, "profile", "%s (%s)", view, called, p.Name)
	}
	return s.Page(c, fiber.StatusOK, "profile", "%s", view, p.Name)
}

// yearPicture draws on which days of a year somebody handed in; nothing if on none.
func yearPicture(days []sql.Day, today time.Time, v site.Viewer) template.HTML {
	if len(days) == 0 {
		return ""
	}
	y := chart.Year{Title: v.Say("Submissions by day"), Last: v.Say("today"), Date: v.Locale.In(time.UTC).Day, Days: map[int]chart.YearDay{}}
	var all int64
	for _, d := range days {
		all += d.Submitted
		day := y.Date(today.AddDate(0, 0, -d.Ago))
		y.Days[d.Ago] = chart.YearDay{Count: d.Submitted, Text: v.Say("%s: %d submissions, %d accepted", day, d.Submitted, d.Accepted)}
	}
	y.Sum = v.Say("%s on %s of the last year", locale.Sentence{Key: "%d submissions", Args: []any{all}}, locale.Sentence{Key: "%d days", Args: []any{len(days)}})
	return y.SVG(today)
}

// profileForm handles POST /account/profile: who sees one's own.
func (s *Room) profileForm(c *fiber.Ctx) error {
	v, seenBy := site.ViewerOf(c), judge.Audience(c.FormValue("seen_by"))
	if !slices.Contains(judge.Audiences, seenBy) {
		return site.WrongField("seen_by", site.ReasonUnknown, "The choices are self, members and everyone.")
	}
	if err := s.Store.SetProfile(c.UserContext(), v.Name, seenBy); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneSaved, site.ProfileURL(v.Name))
}
