package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// mayChange refuses whoever may not change a problem: a setter changes those that they
// own or are a co-author of, and staff all. Nobody is refused a problem that is not
// there.
func (s *Server) mayChange(ctx context.Context, v site.Viewer, slug string) error {
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
	return site.Refuse(fiber.StatusForbidden, "not_yours", "The problem "+strconv.Quote(site.Shorten(slug))+" is somebody else's.",
		"Have its owner or staff add you as a co-author on the page of its package.")
}

// mayChangeUsers refuses whoever may not change every problem that a name of a checker
// decides on.
func (s *Server) mayChangeUsers(ctx context.Context, v site.Viewer, kind, name string) error {
	if v.Staff() || kind == "toolchain" {
		return nil
	}
	problems, err := s.Store.Problems(ctx)
	if err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	for _, p := range problems {
		if slices.Contains(p.Checkers, name) {
			if err := s.mayChange(ctx, v, p.Slug); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayName refuses whoever may not say who changes a problem: its owner and staff may.
func (s *Server) mayName(ctx context.Context, v site.Viewer, slug string) error {
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
func (s *Server) addPerson(c *fiber.Ctx, name string, owner bool) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	versions, err := s.versionsOf(c)
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
func (s *Server) removePerson(c *fiber.Ctx) error {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	versions, err := s.versionsOf(c)
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
		return site.Refuse(fiber.StatusNotFound, "not_found", strconv.Quote(site.Shorten(name))+" is no co-author of this problem.", "An owner is changed by naming another.")
	}
	return err
}

// persons returns who may change the problem that the address names, besides staff.
func (s *Server) persons(c *fiber.Ctx) ([]sql.ProblemPerson, error) {
	versions, err := s.versionsOf(c)
	if err != nil {
		return nil, err
	}
	return s.Store.ProblemPeople(c.UserContext(), versions[0].Problem)
}

// apiPeople handles GET /api/v1/problems/:slug/people.
func (s *Server) apiPeople(c *fiber.Ctx) error {
	people, err := s.persons(c)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"people": people})
}

// apiAddPerson handles POST /api/v1/problems/:slug/people.
func (s *Server) apiAddPerson(c *fiber.Ctx) error {
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
func (s *Server) apiRemovePerson(c *fiber.Ctx) error {
	if err := s.removePerson(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// personForm handles POST /packages/:slug/people.
func (s *Server) personForm(c *fiber.Ctx) error {
	if err := s.addPerson(c, c.FormValue("name"), c.FormValue("as") == "owner"); err != nil {
		return err
	}
	return c.Redirect("/packages/"+url.PathEscape(c.Params("slug"))+"#people", fiber.StatusSeeOther)
}

// goneForm handles POST /packages/:slug/people/:name/remove.
func (s *Server) goneForm(c *fiber.Ctx) error {
	if err := s.removePerson(c); err != nil {
		return err
	}
	return c.Redirect("/packages/"+url.PathEscape(c.Params("slug"))+"#people", fiber.StatusSeeOther)
}

// quotaView is what a setter has used of what they may.
type quotaView struct {
	Used     int64       `json:"used_bytes"`        // of files that only their versions have
	Allowed  int64       `json:"allowed_bytes"`     // 0 = any number
	Versions int32       `json:"versions_today"`    // since midnight UTC
	PerDay   int32       `json:"versions_a_day"`    // 0 = any number
	Saves    int32       `json:"saves_today"`       // in the browser, beside the versions
	MaxSaves int32       `json:"saves_a_day"`       // 0 = any number
	Sent     int64       `json:"sent_bytes"`        // of archives, today; as many may be as are allowed
	Setters  []sql.Usage `json:"setters,omitempty"` // of each, for staff
}

// quota returns what somebody has used. Staff have no limits and see what others use.
func (s *Server) quota(ctx context.Context, v site.Viewer) (q quotaView, err error) {
	if q.Used, err = s.Store.SetterBytes(ctx, v.Name); err != nil {
		return q, err
	}
	today, err := s.Store.SetterToday(ctx, v.Name)
	if err != nil {
		return q, err
	}
	q.Versions, q.Saves, q.Sent = today.Versions, today.Saves, today.Bytes
	if v.Staff() {
		q.Setters, err = s.Store.SettersBytes(ctx, 200)
		return q, err
	}
	q.Allowed, q.PerDay, q.MaxSaves = s.Config.SetterQuota, s.Config.SetterVersions, s.maxSaves()
	return q, nil
}

// apiQuota handles GET /api/v1/quota.
func (s *Server) apiQuota(c *fiber.Ctx) error {
	q, err := s.quota(c.UserContext(), site.ViewerOf(c))
	if err != nil {
		return err
	}
	return c.JSON(q)
}

// hasRoom refuses a setter whose packages take as much room as they may.
func (s *Server) hasRoom(ctx context.Context, v site.Viewer) error {
	if s.Config.SetterQuota <= 0 {
		return nil
	}
	used, err := s.Store.SetterBytes(ctx, v.Name)
	if err != nil {
		return err
	}
	if used >= s.Config.SetterQuota {
		return site.Refuse(fiber.StatusRequestEntityTooLarge, "quota", "Your packages take "+site.BytesText(used)+", and may take "+site.BytesText(s.Config.SetterQuota)+".",
			"Ask staff to raise SETTER_QUOTA_MIB.")
	}
	return nil
}

// takeVersion refuses a setter who has made as many versions today as they may, or
// whose packages take as much room; else it counts one more. An archive of some bytes
// is announced. Staff may make any number.
func (s *Server) takeVersion(ctx context.Context, v site.Viewer, announced int64) error {
	if v.Staff() {
		return nil
	}
	if err := s.hasRoom(ctx, v); err != nil {
		return err
	}
	taken, err := s.Store.TakeVersion(ctx, v.Name, s.Config.SetterVersions, max(announced, 0), s.Config.SetterQuota)
	if err != nil || taken {
		return err
	}
	today, err := s.Store.SetterToday(ctx, v.Name)
	if err != nil {
		return err
	}
	f := site.Refuse(fiber.StatusTooManyRequests, "too_many_versions", fmt.Sprintf("You have sent %d versions today, which is as many as a setter may.", today.Versions),
		"Send it again tomorrow, by UTC, or have staff send it.")
	if today.Versions < s.Config.SetterVersions {
		f = site.Refuse(fiber.StatusTooManyRequests, "sent_too_much", "With this package you would have sent more than "+site.BytesText(s.Config.SetterQuota)+" today.", "Send it again tomorrow, by UTC, or have staff send it.")
	}
	f.RetryAfter = max(today.Left, time.Second)
	return f
}

// spent is what an order has taken of what a setter may make on a day.
type spent struct{ versions, saves int32 }

// savesPerVersion is how many further saves a setter has for each version of the day.
const savesPerVersion = 10

func (s *Server) maxSaves() int32 {
	return min(s.Config.SetterVersions, math.MaxInt32/savesPerVersion) * savesPerVersion
}

// takeSave counts one more save of a problem in the browser. One that follows another
// by the same setter soon is no version of the day, as long as there are not too many.
func (s *Server) takeSave(ctx context.Context, v site.Viewer, slug string) (spent, error) {
	if v.Staff() {
		return spent{}, nil
	}
	if err := s.hasRoom(ctx, v); err != nil {
		return spent{}, err
	}
	switch taken, err := s.Store.TakeSave(ctx, slug, v.Name, s.maxSaves(), s.Config.SetterQuota); {
	case err != nil:
		return spent{}, err
	case taken:
		return spent{saves: 1}, nil
	}
	return spent{versions: 1}, s.takeVersion(ctx, v, 0)
}

// countVersion counts what came of a version that was taken: its archive, and none at
// all if it came to nothing.
func (s *Server) countVersion(ctx context.Context, v site.Viewer, bytes int64, nothing bool) error {
	return s.countSpent(ctx, v, spent{versions: 1}, bytes, nothing)
}

// countSpent is countVersion for what was taken as a version or a save.
func (s *Server) countSpent(ctx context.Context, v site.Viewer, taken spent, bytes int64, nothing bool) error {
	if v.Staff() || bytes == 0 && !nothing {
		return nil
	}
	if !nothing {
		taken = spent{}
	}
	return s.Store.CountArchive(context.WithoutCancel(ctx), v.Name, bytes, taken.versions, taken.saves)
}
