package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/factors"
	"deepoj/web/site"
)

// accountView is the page of one's own account.
type accountView struct {
	Next  string      // where to go when the password was changed; "" = nowhere
	Fault *site.Fault // why it was not
	Done  bool
	Keys  keysView

	Profile profileView
	Factors factors.View
	Reading readingView
}

// readingView is the form of the language and the clock of an account.
type readingView struct {
	Language, Zone string
	Fault          *site.Fault // why it comes back
}

// accountPage shows the account of whoever is logged in.
func (s *Room) accountPage(c *fiber.Ctx) error {
	if site.ViewerOf(c).Guest() {
		return c.Redirect("/login?next=/account", fiber.StatusSeeOther)
	}
	if err := site.LoginOnly(site.ViewerOf(c)); err != nil {
		return err
	}
	view := accountView{}
	if next := c.Query("next"); next != "" {
		view.Next = site.LocalPath(next)
	}
	return s.showAccount(c, fiber.StatusOK, view, nil)
}

// changePasswordForm handles POST /account.
func (s *Room) changePasswordForm(c *fiber.Ctx) error {
	view := accountView{}
	if next := c.FormValue("next"); next != "" {
		view.Next = site.LocalPath(next)
	}
	var wrong error
	if c.FormValue("new") != c.FormValue("again") {
		wrong = site.WrongField("again", site.ReasonInvalid, "The two new passwords differ.")
	}
	if wrong == nil {
		wrong = s.changePassword(c, c.FormValue("current"), c.FormValue("new"))
	}
	if wrong != nil {
		if view.Fault = s.Explain(c.UserContext(), wrong); view.Fault.Field == "" {
			return wrong
		}
		return s.showAccount(c, view.Fault.Status, view, nil)
	}
	if view.Next != "" {
		return c.Redirect(view.Next, fiber.StatusSeeOther)
	}
	v := site.ViewerOf(c)
	v.OneTime = false
	c.Locals(site.ViewerKey{}, v)
	view.Done = true
	return s.showAccount(c, fiber.StatusOK, view, nil)
}

// accountJSON is one's own account.
type accountJSON struct {
	userJSON
	Scope judge.Scope `json:"scope,omitempty"` // of the key that asks
}

// apiAccount handles GET /api/v1/account: who asks, and with what key, if any.
func (s *Room) apiAccount(c *fiber.Ctx) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	return c.JSON(accountJSON{publicUser(u), site.ViewerOf(c).Scope})
}

// apiChangePassword handles POST /api/v1/account/password with {"current", "new"}.
func (s *Room) apiChangePassword(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "current", "new")
	if err != nil {
		return err
	}
	current, fresh := f.Text("current"), f.Text("new")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.changePassword(c, current, fresh); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// changePassword changes the password of whoever is logged in, and ends their other sessions.
func (s *Room) changePassword(c *fiber.Ctx, current, fresh string) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	if err := s.checkOwn(c, u, current, "current"); err != nil {
		return err
	}
	if fresh == current {
		return site.WrongField("new", site.ReasonInvalid, "The new password is the current one.")
	}
	e, err := people.CheckNewPassword("new", fresh, *u)
	if err != nil {
		return err
	}
	if e != nil {
		return e
	}
	hash, err := s.Hash(ctx, fresh)
	if err != nil {
		return err
	}
	err = s.Store.ChangePassword(ctx, u.Name, u.PasswordHash, hash, people.HashToken(site.ViewerOf(c).Token))
	if errors.Is(err, sql.ErrNotFound) { // somebody else changed it just now
		return site.WrongField("current", "wrong_password", "The current password is wrong.")
	}
	return err
}

// Hash is [people.HashPassword] within the bound on hashing.
func (s *Room) Hash(ctx context.Context, password string) (hash string, err error) {
	err = s.bounded(ctx, func() (err error) {
		hash, err = people.HashPassword(password)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}
