package setters

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// MayChange refuses whoever may not change a problem: a setter changes those that they own or are a co-author of, and
// staff all. Nobody is refused a problem that is not there.
func (s *Room) MayChange(ctx context.Context, v site.Viewer, slug string) error {
	if v.Staff() {
		return nil
	}
	rights, err := s.Store.ProblemRights(ctx, slug, v.Name)
	if err != nil {
		return fmt.Errorf("look up rights: %w", err)
	}
	if !rights.MayChange() {
		return notYours(slug)
	}
	return nil
}

func notYours(slug string) error {
	return site.Refuse(fiber.StatusForbidden, "not_yours", "The problem %q is somebody else's.",
		"Have its owner or staff add you as a co-author on the page of its package.", site.Shorten(slug))
}

// mayName refuses whoever may not say who changes a problem: its owner and staff may.
func (s *Room) mayName(ctx context.Context, v site.Viewer, slug string) error {
	if v.Staff() {
		return nil
	}
	rights, err := s.Store.ProblemRights(ctx, slug, v.Name)
	if err != nil {
		return fmt.Errorf("look up rights: %w", err)
	}
	if !rights.Owns {
		return site.Refuse(fiber.StatusForbidden, "not_yours", "Only the owner of a problem and staff say who may change it.", "Ask its owner, or staff.")
	}
	return nil
}

// addPerson makes somebody a co-author of a problem, or its owner.
func (s *Room) addPerson(c *fiber.Ctx, name string, owner bool) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	slug := versions[0].Problem
	if err := s.mayName(ctx, v, slug); err != nil {
		return err
	}
	if name == "" {
		return site.FieldRefusal(site.WrongField("name", site.ReasonMissing, "Name somebody who has an account."))
	}
	u := &judge.User{}
	err = sql.ErrNotFound
	if site.PlainWord(name) {
		u, err = s.Store.User(ctx, name)
	}
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return site.FieldRefusal(site.WrongField("name", site.ReasonUnknown, "Nobody here is called %q.", site.Shorten(name)))
	case err != nil:
		return fmt.Errorf("look up a co-author: %w", err)
	case u.Role == judge.RoleContestant:
		return site.FieldRefusal(site.WrongField("name", site.ReasonInvalid, "%s is a contestant, who does not see packages: have an administrator make them a setter.", u.Name))
	case owner:
		return s.Store.SetProblemOwner(ctx, slug, u.Name, v.Name)
	}
	return s.Store.AddProblemAuthor(ctx, slug, u.Name, v.Name)
}

// removePerson makes somebody a co-author no more. Co-authors may go by themselves.
func (s *Room) removePerson(c *fiber.Ctx) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	slug, name := versions[0].Problem, c.Params("name")
	if name != v.Name {
		if err := s.mayName(ctx, v, slug); err != nil {
			return err
		}
	}
	err = sql.ErrNotFound
	if site.PlainWord(name) {
		err = s.Store.RemoveProblemAuthor(ctx, slug, name, v.Name)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return site.Refuse(fiber.StatusNotFound, "not_found", "%q is no co-author of this problem.", "An owner is changed by naming another.", site.Shorten(name))
	}
	return err
}

// persons returns who may change the problem that the address names, besides staff.
func (s *Room) persons(c *fiber.Ctx) ([]sql.ProblemPerson, error) {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return nil, err
	}
	return s.Store.ProblemPeople(c.UserContext(), versions[0].Problem)
}

// apiPeople handles GET /api/v1/problems/:slug/people.
func (s *Room) apiPeople(c *fiber.Ctx) error {
	people, err := s.persons(c)
	if err != nil {
		return err
	}
	page, next, err := site.PageOf(c, "after", people, func(p sql.ProblemPerson) string { return p.Name })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"people": page, "next": next})
}

// apiAddPerson handles POST /api/v1/problems/:slug/people.
func (s *Room) apiAddPerson(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "name", "owner")
	if err != nil {
		return err
	}
	name, owner := f.Text("name"), false
	f.Value("owner", "true or false", &owner)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.addPerson(c, name, owner); err != nil {
		return err
	}
	return s.apiPeople(c)
}

// apiRemovePerson handles DELETE /api/v1/problems/:slug/people/:name.
func (s *Room) apiRemovePerson(c *fiber.Ctx) error {
	if err := s.removePerson(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// addPersonForm handles POST /packages/:slug/people.
func (s *Room) addPersonForm(c *fiber.Ctx) error {
	if err := s.addPerson(c, c.FormValue("name"), c.FormValue("as") == "owner"); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneSaved, site.PackageURL(c.Params("slug"))+"#people")
}

// removePersonForm handles POST /packages/:slug/people/:name/remove.
func (s *Room) removePersonForm(c *fiber.Ctx) error {
	if err := s.removePerson(c); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRemoved, site.PackageURL(c.Params("slug"))+"#people")
}

// apiHide handles POST /api/v1/problems/:slug/hide and …/show.
func (s *Room) apiHide(hidden bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.hide(c, hidden); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"problem": c.Params("slug"), "hidden": hidden})
	}
}

// hide says whether only setters see the problem that the address names, which need not be live yet.
func (s *Room) hide(c *fiber.Ctx, hidden bool) error {
	versions, err := s.VersionsOf(c)
	if err != nil {
		return err
	}
	if err := s.MayChange(c.UserContext(), site.ViewerOf(c), versions[0].Problem); err != nil {
		return err
	}
	if err := s.Store.HideProblem(c.UserContext(), versions[0].Problem, hidden, site.ViewerOf(c).Name); err != nil {
		return fmt.Errorf("hide or show a problem: %w", err)
	}
	return nil
}

// hideForm handles POST /packages/:slug/hide and …/show.
func (s *Room) hideForm(hidden bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.hide(c, hidden); err != nil {
			return err
		}
		what := site.DoneShown
		if hidden {
			what = site.DoneHidden
		}
		return site.SeeDone(c, what, site.PackageURL(c.Params("slug")))
	}
}
