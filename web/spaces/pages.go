package spaces

import (
	"html/template"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/host/problem/statement"
	"deepoj/sql/rounds"
	"deepoj/web/locale"
	"deepoj/web/site"
	"deepoj/web/solve"
)

type spacesView struct {
	Rows []site.SpaceView
	More string // address of the next page, "" at the end
	Form spaceSettingsView
}

func (s *Room) spacesPage(c *fiber.Ctx) error {
	return s.showSpaces(c, fiber.StatusOK, spaceSettingsView{Times: showTimes(judge.Space{}, site.LocaleOf(c).Clock())})
}

func (s *Room) showSpaces(c *fiber.Ctx, status int, form spaceSettingsView) error {
	found, next, err := s.listSpaces(c)
	if err != nil {
		return err
	}
	if form.Offers, err = s.Catalog.Languages(c.UserContext()); err != nil {
		return err
	}
	view := spacesView{Form: form}
	for _, space := range found {
		view.Rows = append(view.Rows, site.ViewSpace(&space, site.ViewerOf(c)))
	}
	if next != "" {
		view.More = "/spaces?" + url.Values{"before": {next}}.Encode()
	}
	return s.Page(c, status, "spaces", "Spaces", view)
}

// spaceSettingsView is the form of the settings of a space.
type spaceSettingsView struct {
	Space  site.SpaceView
	Times  spaceTimes
	Offers []site.Offer // languages that there are
	Made   bool         // there is such a space already
	Fault  *site.Fault  // why the form comes back
}

// languageTick is a language in the form, and whether it is chosen.
type languageTick struct {
	ID     string
	Name   locale.Sentence
	Chosen bool
}

// Ticks are the languages of the form: those that there are, and those that the space has besides.
func (view spaceSettingsView) Ticks() (out []languageTick) {
	for _, o := range view.Offers {
		out = append(out, languageTick{o.ID, locale.Sentence{Key: "%s", Args: []any{o.Name}}, slices.Contains(view.Space.Languages, o.ID)})
	}
	for _, id := range view.Space.Languages {
		if !slices.ContainsFunc(view.Offers, func(o site.Offer) bool { return o.ID == id }) {
			out = append(out, languageTick{id, locale.Sentence{Key: "%s, which nobody serves", Args: []any{id}}, true})
		}
	}
	return out
}

// createSpaceForm handles POST /spaces, for staff.
func (s *Room) createSpaceForm(c *fiber.Ctx) error {
	space, times, wrong := spaceForm(func(name string) string { return c.FormValue(name) }, site.FormOf(c)["languages"])
	err := s.createSpace(c.UserContext(), space, wrong, site.ViewerOf(c).Name)
	if err == nil {
		return site.SeeDone(c, site.DoneMade, site.SpaceURL(space.Slug))
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field == "" {
		return err
	}
	return s.showSpaces(c, f.Status, spaceSettingsView{Space: site.SpaceView{Space: space}, Times: times, Fault: f})
}

func (s *Room) spaceSettingsPage(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	return s.showSettings(c, fiber.StatusOK, space, showTimes(*space, site.LocaleOf(c).Clock()), nil)
}

func (s *Room) showSettings(c *fiber.Ctx, status int, space *judge.Space, times spaceTimes, f *site.Fault) error {
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return err
	}
	view := spaceSettingsView{Space: site.ViewSpace(space, site.ViewerOf(c)), Times: times, Offers: offers, Made: true, Fault: f}
	return s.Page(c, status, "spacesettings", "%s", view, space.Title)
}

// updateSpaceForm handles POST /spaces/:space/settings.
func (s *Room) updateSpaceForm(c *fiber.Ctx) error {
	before, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	space, times, wrong := spaceForm(func(name string) string { return c.FormValue(name) }, site.FormOf(c)["languages"])
	space.Slug = before.Slug
	err = s.updateSpace(c.UserContext(), space, before.Languages, wrong, site.ViewerOf(c).Name)
	if err == nil {
		return site.SeeDone(c, site.DoneSaved, site.SpaceURL(space.Slug))
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field == "" {
		return err
	}
	space.ID, space.Role, space.Now = before.ID, before.Role, before.Now
	return s.showSettings(c, f.Status, &space, times, f)
}

// deleteSpaceForm handles POST /spaces/:space/delete.
func (s *Room) deleteSpaceForm(c *fiber.Ctx) error {
	if err := s.deleteSpace(c); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneDeleted, "/spaces")
}

// spacePageView is the page of a space: its problems and scores.
type spacePageView struct {
	Space       site.SpaceView
	Description template.HTML
	Problems    []judge.SpaceProblem
	Rounds      []judge.Round // newest first
	Scores      []spaceScoreJSON
	Choice      []judge.Problem // that can be added
	New         newProblem      // what was typed, where the form comes back
	Fault       *site.Fault     // why it does
}

// Refresh returns after how many seconds a browser without script loads the page again: when the space opens, and not all
// at once.
func (view spacePageView) Refresh() int { return view.Space.Refresh() }

// Place is the place of a problem, from its position in the list.
func (view spacePageView) Place(i int) int { return i + 1 }

func (s *Room) spacePage(c *fiber.Ctx) error {
	return s.showSpace(c, fiber.StatusOK, spacePageView{})
}

func (s *Room) showSpace(c *fiber.Ctx, status int, view spacePageView) error {
	ctx := c.UserContext()
	space, err := s.SpaceFor(c, people.SeeSpace)
	if err != nil {
		return err
	}
	view.Space = site.ViewSpace(space, site.ViewerOf(c))
	view.Description = template.HTML(statement.Note(space.Description)) // which makes it safe
	if view.Rounds, err = s.Config.Rounds.Rounds(ctx, rounds.Filter{Space: space.Slug, Viewer: site.ViewerOf(c).Name, All: site.ViewerOf(c).Staff(), Limit: 200}); err != nil {
		return err
	}
	if view.Space.Shows() {
		if view.Problems, err = s.Store.SpaceProblems(ctx, space.ID, site.ViewerOf(c).Name); err != nil {
			return err
		}
		scores, err := s.Store.SpaceScores(ctx, space.ID, 1000)
		if err != nil {
			return err
		}
		view.Scores = ranked(scores)
	}
	if view.Space.Arranges() {
		all, err := s.Store.Problems(ctx)
		if err != nil {
			return err
		}
		there := func(p judge.Problem) bool {
			return slices.ContainsFunc(view.Problems, func(e judge.SpaceProblem) bool { return e.Slug == p.Slug })
		}
		view.Choice = slices.DeleteFunc(slices.Clone(site.Visible(site.ViewerOf(c), all)), there)
	}
	return s.Page(c, status, "space", "%s", view, space.Title)
}

// putProblemForm handles POST /spaces/:space/problems.
func (s *Room) putProblemForm(c *fiber.Ctx) error {
	added, wrong := problemForm(c)
	err := s.putProblem(c, added, wrong)
	if err == nil {
		return site.SeeDone(c, site.DoneSaved, site.SpaceURL(c.Params("space")))
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field == "" || f.Field == "space" {
		return err
	}
	return s.showSpace(c, f.Status, spacePageView{New: added, Fault: f})
}

// removeProblemForm handles POST /spaces/:space/problems/:slug/remove.
func (s *Room) removeProblemForm(c *fiber.Ctx) error {
	if err := s.removeProblem(c); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRemoved, site.SpaceURL(c.Params("space")))
}

// spaceMembersView is the page of the members of a space.
type spaceMembersView struct {
	Space site.SpaceView
	Rows  []judge.SpaceMember
	More  string // address of the next page, "" at the end
	Roles []judge.SpaceRole

	Invited invitedForm

	Names string // what was typed, where the form comes back
	Role  judge.SpaceRole
	Fault *site.Fault // why it does
}

func (s *Room) spaceMembersPage(c *fiber.Ctx) error {
	return s.showMembers(c, fiber.StatusOK, spaceMembersView{Role: judge.SpaceContestant})
}

func (s *Room) showMembers(c *fiber.Ctx, status int, view spaceMembersView) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	view.Space, view.Roles = site.ViewSpace(space, site.ViewerOf(c)), judge.SpaceRoles
	links, err := s.Store.Invitations(c.UserContext(), space.ID, site.MaxPage)
	if err != nil {
		return err
	}
	view.Invited.fill(links)
	next := ""
	if view.Rows, next, err = s.listMembers(c, space); err != nil {
		return err
	}
	if next != "" {
		view.More = site.SpaceURL(space.Slug) + "/members?" + url.Values{"after": {next}}.Encode()
	}
	return s.Page(c, status, "spacemembers", "%s", view, space.Title)
}

// putMembersForm handles POST /spaces/:space/members: all names that were pasted get the role.
func (s *Room) putMembersForm(c *fiber.Ctx) error {
	view := spaceMembersView{Names: c.FormValue("names"), Role: judge.SpaceRole(c.FormValue("role"))}
	err := s.putMembers(c, words(view.Names), view.Role, nil)
	if err == nil {
		return site.SeeDone(c, site.DoneAdded, site.SpaceURL(c.Params("space"))+"/members")
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field != "names" && f.Field != "role" {
		return err
	}
	view.Fault = f
	return s.showMembers(c, f.Status, view)
}

// removeMemberForm handles POST /spaces/:space/members/:name/remove.
func (s *Room) removeMemberForm(c *fiber.Ctx) error {
	if err := s.removeMember(c); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRemoved, site.SpaceURL(c.Params("space"))+"/members")
}

// spaceSubmissionsPage handles GET /spaces/:space/submissions.
func (s *Room) spaceSubmissionsPage(c *fiber.Ctx) error {
	space, f, err := s.spaceFilterOf(c)
	if err != nil {
		return err
	}
	v := site.ViewSpace(space, site.ViewerOf(c))
	return s.solve.ShowSubmissions(c, f, solve.SubmissionsView{Base: v.URL() + "/submissions", Authors: v.Manages(), Space: &v})
}
