package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// minPassword is how many bytes a new password has at least.
const minPassword = 10

// accountView is the page of one's own account.
type accountView struct {
	Next  string // where to go when the password was changed; "" = nowhere
	Fault *fault // why it was not
	Done  bool
	Keys  keysView
}

// Wrong reports whether the form comes back for this field.
func (view accountView) Wrong(field string) bool {
	return view.Fault != nil && view.Fault.names(field)
}

// accountPage shows the account of whoever is logged in.
func (s *Server) accountPage(c *fiber.Ctx) error {
	if viewerOf(c).Guest() {
		return c.Redirect("/login?next=/account", fiber.StatusSeeOther)
	}
	if err := loginOnly(viewerOf(c)); err != nil {
		return err
	}
	view := accountView{}
	if next := c.Query("next"); next != "" {
		view.Next = localPath(next)
	}
	return s.showAccount(c, fiber.StatusOK, view, nil)
}

// changePasswordForm handles POST /account.
func (s *Server) changePasswordForm(c *fiber.Ctx) error {
	view := accountView{}
	if next := c.FormValue("next"); next != "" {
		view.Next = localPath(next)
	}
	var wrong error
	if c.FormValue("new") != c.FormValue("again") {
		wrong = wrongField("again", reasonInvalid, "The two new passwords differ.")
	}
	if wrong == nil {
		wrong = s.changePassword(c, c.FormValue("current"), c.FormValue("new"))
	}
	if wrong != nil {
		if view.Fault = s.explain(c.UserContext(), wrong); view.Fault.Field == "" {
			return wrong
		}
		return s.showAccount(c, view.Fault.Status, view, nil)
	}
	if view.Next != "" {
		return c.Redirect(view.Next, fiber.StatusSeeOther)
	}
	v := viewerOf(c)
	v.OneTime = false
	c.Locals(viewerKey{}, v)
	view.Done = true
	return s.showAccount(c, fiber.StatusOK, view, nil)
}

// accountJSON is one's own account.
type accountJSON struct {
	userJSON
	Scope sql.Scope `json:"scope,omitempty"` // of the key that asks
}

// apiAccount handles GET /api/v1/account: who asks, and with what key, if any.
func (s *Server) apiAccount(c *fiber.Ctx) error {
	u, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	return c.JSON(accountJSON{publicUser(u), viewerOf(c).Scope})
}

// apiChangePassword handles POST /api/v1/account/password with {"current", "new"}.
func (s *Server) apiChangePassword(c *fiber.Ctx) error {
	f, err := readFields(c, "current", "new")
	if err != nil {
		return err
	}
	current, fresh := f.text("current"), f.text("new")
	if err := f.wrong.err(); err != nil {
		return err
	}
	if err := s.changePassword(c, current, fresh); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// ownAccount returns the account of whoever is logged in.
func (s *Server) ownAccount(c *fiber.Ctx) (*sql.User, error) {
	v := viewerOf(c)
	if v.Guest() {
		return nil, refuse(fiber.StatusUnauthorized, "login_required", "The guest has no account.", "Log in.")
	}
	return s.store.User(c.UserContext(), v.Name)
}

// changePassword changes the password of whoever is logged in, and ends their
// other sessions.
func (s *Server) changePassword(c *fiber.Ctx, current, fresh string) error {
	u, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	if err := s.checkOwn(c, u, current, "current"); err != nil {
		return err
	}
	if e := checkNewPassword(fresh, current); e != nil {
		return e
	}
	hash, err := s.hash(ctx, fresh)
	if err != nil {
		return err
	}
	err = s.store.ChangePassword(ctx, u.Name, u.PasswordHash, hash, hashToken(viewerOf(c).token))
	if errors.Is(err, sql.ErrNotFound) { // somebody else changed it just now
		return wrongField("current", "wrong_password", "The current password is wrong.")
	}
	return err
}

func checkNewPassword(fresh, current string) *judge.FieldError {
	switch {
	case len(fresh) < minPassword:
		return wrongField("new", reasonInvalid, "A new password has at least %d characters.", minPassword)
	case len(fresh) > maxPassword:
		return wrongField("new", reasonInvalid, "A new password has at most %d bytes.", maxPassword)
	case fresh == current:
		return wrongField("new", reasonInvalid, "The new password is the current one.")
	}
	return nil
}

// hash is [HashPassword] within the bound on hashing.
func (s *Server) hash(ctx context.Context, password string) (hash string, err error) {
	err = s.bounded(ctx, func() (err error) {
		hash, err = HashPassword(password)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}
