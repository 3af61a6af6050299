package rounds

import (
	"context"
	"html/template"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/lineup"
	"deepoj/host/people"
	"deepoj/host/roster"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// shownSteps is how many lines of a list the preview shows.
const shownSteps = 200

// teamsView is the page of the teams of a space, with the form by which lists of them come.
type teamsView struct {
	Space site.SpaceView
	Rows  []judge.Participant
	More  string // address of the next page, "" at the end

	Text  string
	Plan  *lineup.Plan // what would become of the list
	All   bool         // each team without a contestant gets an account
	Site  string       // the address of the web side, "" where nobody has said it
	Given []sheet      // accounts that were made, with passwords that nobody can read again
	Table template.URL // of them, to be downloaded
	Shown []lineup.Step
	Rest  int
	Fault *site.Fault

	Of        string // whose logo was sent
	LogoFault *site.Fault
}

// teamsPage handles GET /spaces/:space/participants.
func (s *Room) teamsPage(c *fiber.Ctx) error { return s.showTeams(c, fiber.StatusOK, teamsView{}) }

func (s *Room) showTeams(c *fiber.Ctx, status int, view teamsView) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	view.Space = site.ViewSpace(space, site.ViewerOf(c))
	cursor, _, err := after(c)
	if err != nil {
		return err
	}
	if view.Rows, err = s.Config.Rounds.Participants(c.UserContext(), space.Slug, cursor, site.MaxPage); err != nil {
		return err
	}
	if next := next(view.Rows, site.MaxPage, func(p judge.Participant) string { return p.Code }); next != nil {
		view.More = view.Space.URL() + "/participants?after=" + url.QueryEscape(*next)
	}
	if view.Plan != nil {
		n := min(len(view.Plan.Steps), shownSteps)
		view.Shown, view.Rest = view.Plan.Steps[:n], len(view.Plan.Steps)-n
	}
	return s.Page(c, status, "spaceteams", "%s", view, space.Title)
}

// teamsForm handles POST /spaces/:space/participants: it shows what would become of a list, or does it if the form says so.
// A list with a mistake in any line changes nothing.
func (s *Room) teamsForm(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	view := teamsView{Text: c.FormValue("text"), All: c.FormValue("accounts") == "all"}
	if file, err := c.FormFile("list"); err == nil && file.Size > 0 {
		body, err := site.ReadFormFile(file)
		if err != nil {
			return err
		}
		view.Text = string(body)
	}
	if view.Plan, err = s.lineup(c.UserContext(), space.Slug, view.Text, view.All); err != nil {
		return err
	}
	switch {
	case !view.Plan.OK():
		return s.showTeams(c, fiber.StatusUnprocessableEntity, view)
	case c.FormValue("step") != "import":
		return s.showTeams(c, fiber.StatusOK, view)
	}
	if view.Given, err = s.bring(c, space.Slug, view.Plan); err != nil {
		if view.Fault = s.Explain(c.UserContext(), err); view.Fault.Field == "" {
			return err
		}
		return s.showTeams(c, view.Fault.Status, view)
	}
	if len(view.Given) > 0 {
		return s.showSheets(c, space, view)
	}
	return site.SeeDone(c, site.DoneSaved, site.SpaceURL(space.Slug)+"/participants")
}

// lineup says what would become of a list.
func (s *Room) lineup(ctx context.Context, space, text string, all bool) (*lineup.Plan, error) {
	list, making := lineup.Read([]byte(text)), lineup.Making{All: all, Prefix: space}
	found, err := s.Store.Known(ctx, sql.Asked{Names: list.Users(making), Emails: []string{}, Spaces: []string{}})
	if err != nil {
		return nil, err
	}
	known := lineup.Known{Accounts: map[string]bool{}}
	for name := range found.Accounts {
		known.Accounts[name] = true
	}
	if known.Organizations, err = whole(ctx, space, s.Config.Rounds.Organizations, func(o judge.Organization) string { return o.Code }); err != nil {
		return nil, err
	}
	if known.Groups, err = whole(ctx, space, s.Config.Rounds.Groups, func(g judge.TeamGroup) string { return g.Code }); err != nil {
		return nil, err
	}
	known.Participants, err = whole(ctx, space, s.Config.Rounds.Participants, func(p judge.Participant) string { return p.Code })
	if err != nil {
		return nil, err
	}
	plan := list.Plan(known, making)
	return plan, plan.CheckPasswords()
}

// whole reads a list of a space to its end.
func whole[T any](ctx context.Context, space string, read func(ctx context.Context, space, after string, limit int) ([]T, error), key func(T) string) (all []T, err error) {
	for behind := ""; ; behind = key(all[len(all)-1]) {
		page, err := read(ctx, space, behind, site.MaxPage)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < site.MaxPage {
			return all, nil
		}
	}
}

// bring does what a plan says. It returns the accounts that were made, with their passwords.
func (s *Room) bring(c *fiber.Ctx, space string, p *lineup.Plan) ([]sheet, error) {
	if p.Counts[lineup.Makes]+p.Counts[lineup.Changes] == 0 {
		return nil, nil
	}
	given, accounts, err := s.sheets(c.UserContext(), p.Accounts)
	if err != nil {
		return nil, err
	}
	return given, s.Config.Rounds.PutLineup(c.UserContext(), space, rounds.Lineup{
		Organizations: p.Organizations, Groups: p.Groups, Participants: p.Participants, Accounts: accounts,
	}, site.ViewerOf(c).Name)
}

// lineupJSON is what came, or would come, of a list of teams.
type lineupJSON struct {
	Imported bool             `json:"imported"` // false: a preview, or there are problems, and nothing has changed
	Made     int              `json:"made"`
	Changed  int              `json:"changed"`
	Same     int              `json:"same"`
	Problems []roster.Mistake `json:"problems"`
	More     int              `json:"more_problems"`
	Accounts []sheet          `json:"accounts"` // that were made for teams, with passwords that nobody can read again
}

// apiLineup handles POST /api/v1/spaces/:space/lineup with {"text", "preview", "accounts"}.
func (s *Room) apiLineup(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	f, err := site.ReadFields(c, "text", "preview", "accounts")
	if err != nil {
		return err
	}
	text, preview, all := f.Text("text"), false, false
	f.Value("preview", "a truth value", &preview)
	f.Value("accounts", "a truth value", &all)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	plan, err := s.lineup(c.UserContext(), space.Slug, text, all)
	given := []sheet{}
	if err == nil && plan.OK() && !preview {
		given, err = s.bring(c, space.Slug, plan)
	}
	if err != nil {
		return err
	}
	out := lineupJSON{plan.OK() && !preview, plan.Counts[lineup.Makes], plan.Counts[lineup.Changes], plan.Counts[lineup.Stays], plan.Problems, plan.More, append([]sheet{}, given...)}
	if out.Problems == nil {
		out.Problems = []roster.Mistake{}
	}
	return c.JSON(out)
}
