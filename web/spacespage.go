package web

import (
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// spaceView is a space on its pages, as the viewer sees it.
type spaceView struct {
	sql.Space
	viewer viewer
}

// URL is the page of the space.
func (v spaceView) URL() string { return spaceURL(v.Slug) }

// Manages reports whether the viewer may change settings and members.
func (v spaceView) Manages() bool { return v.viewer.may(manageSpace, &v.Space) }

// Arranges reports whether the viewer may choose the problems.
func (v spaceView) Arranges() bool { return v.viewer.may(arrangeSpace, &v.Space) }

// Shows reports whether the viewer may see problems and scores.
func (v spaceView) Shows() bool { return v.viewer.may(seeSpaceProblems, &v.Space) }

// MyRole is the viewer's role, "" if they are no member.
func (v spaceView) MyRole() sql.SpaceRole { return v.viewer.spaceRole(v.Role) }

// Prepares reports whether what the viewer hands in does not count.
func (v spaceView) Prepares() bool { return prepares(v.MyRole()) }

// Phase is where the space stands in time.
func (v spaceView) Phase() sql.SpacePhase { return v.Space.Phase() }

// Left is how long the space stays as it is: until it opens, or closes; 0 = for ever.
func (v spaceView) Left() time.Duration {
	switch v.Phase() {
	case sql.SpaceBefore:
		return v.Opens.Sub(v.Now)
	case sql.SpaceOpen:
		if v.Closes != nil {
			return v.Closes.Sub(v.Now)
		}
	case sql.SpaceAfter:
	}
	return 0
}

// Clock writes a moment for people.
func (v spaceView) Clock(t *time.Time) string { return clockText(*t) }

// SourceLimit is the limit on programs for people.
func (v spaceView) SourceLimit() string { return bytesText(int64(v.MaxSourceKiB) << 10) }

type spacesView struct {
	Rows []spaceView
	More string // address of the next page, "" at the end
	Form spaceSettingsView
}

func (s *Server) spacesPage(c *fiber.Ctx) error {
	return s.showSpaces(c, fiber.StatusOK, spaceSettingsView{})
}

func (s *Server) showSpaces(c *fiber.Ctx, status int, form spaceSettingsView) error {
	found, next, err := s.listSpaces(c)
	if err != nil {
		return err
	}
	view := spacesView{Form: form}
	for _, space := range found {
		view.Rows = append(view.Rows, spaceView{space, viewerOf(c)})
	}
	if next != "" {
		view.More = "/spaces?" + url.Values{"before": {next}}.Encode()
	}
	return s.page(c, status, "spaces", "Spaces", view)
}

// spaceSettingsView is the form of the settings of a space.
type spaceSettingsView struct {
	Space spaceView
	Made  bool   // there is such a space already
	Fault *fault // why the form comes back
}

// Wrong reports whether the form comes back for this field.
func (view spaceSettingsView) Wrong(field string) bool {
	return view.Fault != nil && view.Fault.names(field)
}

// Local writes a time as its field has it.
func (view spaceSettingsView) Local(t *time.Time) string {
	if t == nil {
		return ""
	}
	layout := formTime
	if t.UTC().Second() != 0 {
		layout += ":05"
	}
	return t.UTC().Format(layout)
}

// createSpaceForm handles POST /spaces, for staff.
func (s *Server) createSpaceForm(c *fiber.Ctx) error {
	space, wrong := spaceForm(func(name string) string { return c.FormValue(name) })
	err := s.createSpace(c.UserContext(), space, wrong, viewerOf(c).Name)
	if err == nil {
		return c.Redirect(spaceURL(space.Slug), fiber.StatusSeeOther)
	}
	f := s.explain(c.UserContext(), err)
	if f.Field == "" {
		return err
	}
	return s.showSpaces(c, f.Status, spaceSettingsView{Space: spaceView{Space: space}, Fault: f})
}

func (s *Server) spaceSettingsPage(c *fiber.Ctx) error {
	space, err := s.spaceFor(c, manageSpace)
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "spacesettings", space.Title, spaceSettingsView{Space: spaceView{*space, viewerOf(c)}, Made: true})
}

// updateSpaceForm handles POST /spaces/:space/settings.
func (s *Server) updateSpaceForm(c *fiber.Ctx) error {
	before, err := s.spaceFor(c, manageSpace)
	if err != nil {
		return err
	}
	space, wrong := spaceForm(func(name string) string { return c.FormValue(name) })
	space.Slug = before.Slug
	err = s.updateSpace(c.UserContext(), space, wrong, viewerOf(c).Name)
	if err == nil {
		return c.Redirect(spaceURL(space.Slug), fiber.StatusSeeOther)
	}
	f := s.explain(c.UserContext(), err)
	if f.Field == "" {
		return err
	}
	space.ID, space.Role, space.Now = before.ID, before.Role, before.Now
	return s.page(c, f.Status, "spacesettings", before.Title, spaceSettingsView{Space: spaceView{space, viewerOf(c)}, Made: true, Fault: f})
}

// deleteSpaceForm handles POST /spaces/:space/delete.
func (s *Server) deleteSpaceForm(c *fiber.Ctx) error {
	if err := s.deleteSpace(c); err != nil {
		return err
	}
	return c.Redirect("/spaces", fiber.StatusSeeOther)
}

// spacePageView is the page of a space: its problems and scores.
type spacePageView struct {
	Space    spaceView
	Problems []sql.SpaceProblem
	Scores   []spaceScoreJSON
	Choice   []judge.Problem // that can be added
	Entry    spaceEntry      // what was typed, where the form comes back
	Fault    *fault          // why it does
}

// Wrong reports whether the form comes back for this field.
func (view spacePageView) Wrong(field string) bool {
	return view.Fault != nil && view.Fault.names(field)
}

// Place is the place of a problem, from its position in the list.
func (view spacePageView) Place(i int) int { return i + 1 }

func (s *Server) spacePage(c *fiber.Ctx) error {
	return s.showSpace(c, fiber.StatusOK, spacePageView{})
}

func (s *Server) showSpace(c *fiber.Ctx, status int, view spacePageView) error {
	ctx := c.UserContext()
	space, err := s.spaceFor(c, seeSpace)
	if err != nil {
		return err
	}
	view.Space = spaceView{*space, viewerOf(c)}
	if view.Space.Shows() {
		if view.Problems, err = s.store.SpaceProblems(ctx, space.ID, viewerOf(c).Name); err != nil {
			return err
		}
		scores, err := s.store.SpaceScores(ctx, space.ID)
		if err != nil {
			return err
		}
		view.Scores = ranked(scores)
	}
	if view.Space.Arranges() {
		all, err := s.store.Problems(ctx)
		if err != nil {
			return err
		}
		there := func(p judge.Problem) bool {
			return slices.ContainsFunc(view.Problems, func(e sql.SpaceProblem) bool { return e.Slug == p.Slug })
		}
		view.Choice = slices.DeleteFunc(slices.Clone(visible(viewerOf(c), all)), there)
	}
	return s.page(c, status, "space", space.Title, view)
}

// putEntryForm handles POST /spaces/:space/problems.
func (s *Server) putEntryForm(c *fiber.Ctx) error {
	entry, wrong := entryForm(c)
	err := s.putEntry(c, entry, wrong)
	if err == nil {
		return c.Redirect(spaceURL(c.Params("space")), fiber.StatusSeeOther)
	}
	f := s.explain(c.UserContext(), err)
	if f.Field == "" || f.Field == "space" {
		return err
	}
	return s.showSpace(c, f.Status, spacePageView{Entry: entry, Fault: f})
}

// removeEntryForm handles POST /spaces/:space/problems/:slug/remove.
func (s *Server) removeEntryForm(c *fiber.Ctx) error {
	if err := s.removeEntry(c); err != nil {
		return err
	}
	return c.Redirect(spaceURL(c.Params("space")), fiber.StatusSeeOther)
}

// spaceMembersView is the page of the members of a space.
type spaceMembersView struct {
	Space spaceView
	Rows  []sql.SpaceMember
	More  string // address of the next page, "" at the end
	Roles []sql.SpaceRole

	Names string // what was typed, where the form comes back
	Role  sql.SpaceRole
	Fault *fault // why it does
}

// Wrong reports whether the form comes back for this field.
func (view spaceMembersView) Wrong(field string) bool {
	return view.Fault != nil && view.Fault.names(field)
}

func (s *Server) spaceMembersPage(c *fiber.Ctx) error {
	return s.showMembers(c, fiber.StatusOK, spaceMembersView{Role: sql.SpaceContestant})
}

func (s *Server) showMembers(c *fiber.Ctx, status int, view spaceMembersView) error {
	space, err := s.spaceFor(c, manageSpace)
	if err != nil {
		return err
	}
	view.Space, view.Roles = spaceView{*space, viewerOf(c)}, sql.SpaceRoles
	next := ""
	if view.Rows, next, err = s.listMembers(c, space); err != nil {
		return err
	}
	if next != "" {
		view.More = spaceURL(space.Slug) + "/members?" + url.Values{"after": {next}}.Encode()
	}
	return s.page(c, status, "spacemembers", space.Title, view)
}

// putMembersForm handles POST /spaces/:space/members: all names that were pasted
// get the role.
func (s *Server) putMembersForm(c *fiber.Ctx) error {
	view := spaceMembersView{Names: c.FormValue("names"), Role: sql.SpaceRole(c.FormValue("role"))}
	err := s.putMembers(c, words(view.Names), view.Role, nil)
	if err == nil {
		return c.Redirect(spaceURL(c.Params("space"))+"/members", fiber.StatusSeeOther)
	}
	f := s.explain(c.UserContext(), err)
	if f.Field != "names" && f.Field != "role" {
		return err
	}
	view.Fault = f
	return s.showMembers(c, f.Status, view)
}

// removeMemberForm handles POST /spaces/:space/members/:name/remove.
func (s *Server) removeMemberForm(c *fiber.Ctx) error {
	if err := s.removeMember(c); err != nil {
		return err
	}
	return c.Redirect(spaceURL(c.Params("space"))+"/members", fiber.StatusSeeOther)
}

// spaceSubmissionsPage handles GET /spaces/:space/submissions.
func (s *Server) spaceSubmissionsPage(c *fiber.Ctx) error {
	space, f, err := s.spaceFilterOf(c)
	if err != nil {
		return err
	}
	v := spaceView{*space, viewerOf(c)}
	return s.showSubmissions(c, f, submissionsView{Base: v.URL() + "/submissions", Authors: v.Manages(), Space: &v})
}
