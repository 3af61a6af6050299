package solve

import (
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/chart"
	"deepoj/web/site"
)

// profileProblems is how many problems a profile lists.
const profileProblems = 1000

// profileView is the page of what somebody has solved.
type profileView struct {
	sql.Profile

	Mine    bool
	Solved  []sql.ProfileProblem
	Tried   []sql.ProfileProblem // and not solved
	Picture template.HTML
	Choices []judge.Audience
}

// Words says of an audience who it is.
func (profileView) Words(a judge.Audience) string {
	switch a {
	case judge.AudienceSelf:
		return "only you and staff"
	case judge.AudienceMembers:
		return "whoever has an account"
	case judge.AudienceEveryone:
		return "everybody"
	}
	return string(a)
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
	missing := site.Refuse(fiber.StatusNotFound, "not_found", "There is no profile of "+strconv.Quote(site.Shorten(name))+" that you may see.", "")
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
	view := profileView{Profile: p, Mine: !v.Guest() && v.Name == p.Name, Choices: judge.Audiences}
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
	view.Picture = yearPicture(days, time.Now())
	return s.Page(c, fiber.StatusOK, "profile", p.Name, view)
}

// yearPicture draws on which days of a year somebody handed in; nothing if on none.
func yearPicture(days []sql.Day, today time.Time) template.HTML {
	if len(days) == 0 {
		return ""
	}
	y := chart.Year{Title: "Submissions by day", Days: map[int]chart.YearDay{}}
	var all int64
	for _, d := range days {
		all += d.Submitted
		y.Days[d.Ago] = chart.YearDay{Count: d.Submitted, Text: fmt.Sprintf("%s, %d accepted", site.Plural(d.Submitted, "submission", "submissions"), d.Accepted)}
	}
	y.Sum = site.Plural(all, "submission", "submissions") + " on " + site.Plural(len(days), "day", "days") + " of the last year"
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
