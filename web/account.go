package web

import (
	"fmt"

	"github.com/gofiber/fiber/v2"
)

// minPassword is how many bytes a new password has at least.
const minPassword = 10

// accountView is the page of one's own account.
type accountView struct {
	Error string
	Field string // which field the error is about
	Done  bool
}

// accountPage shows the account of whoever is logged in.
func (s *Server) accountPage(c *fiber.Ctx) error {
	if viewerOf(c).Guest() {
		return c.Redirect("/login?next=/account", fiber.StatusSeeOther)
	}
	return s.page(c, fiber.StatusOK, "account", "Account", accountView{})
}

// changePassword handles POST /account.
func (s *Server) changePassword(c *fiber.Ctx) error {
	v, ctx := viewerOf(c), c.UserContext()
	if v.Guest() {
		return refuse(fiber.StatusUnauthorized, "login_required", "The guest has no password.", "Log in.")
	}
	if wait := s.logins.wait(v.Name, c.IP()); wait > 0 {
		return tooManyLogins(wait)
	}
	user, err := s.store.User(ctx, v.Name)
	if err != nil {
		return fmt.Errorf("look up a user: %w", err)
	}
	right, err := s.checkBounded(ctx, user.PasswordHash, c.FormValue("current"))
	if err != nil {
		return err
	}
	fresh := c.FormValue("new")
	status, view := fiber.StatusUnprocessableEntity, accountView{Done: true}
	switch {
	case !right:
		s.logins.failed(v.Name, c.IP())
		status, view = fiber.StatusUnauthorized, accountView{Error: "The current password is wrong.", Field: "current"}
	case len(fresh) < minPassword || len(fresh) > maxPassword:
		view = accountView{Error: fmt.Sprintf("A new password has at least %d characters.", minPassword), Field: "new"}
	case fresh != c.FormValue("again"):
		view = accountView{Error: "The two new passwords differ.", Field: "again"}
	default:
		hash, err := HashPassword(fresh)
		if err != nil {
			return fmt.Errorf("hash a password: %w", err)
		}
		if err := s.store.SetPassword(ctx, v.Name, hash); err != nil {
			return fmt.Errorf("set a password: %w", err)
		}
		if err := s.store.AuditNote(ctx, v.Name, "password", "user:"+v.Name, nil); err != nil {
			return fmt.Errorf("note a change of password: %w", err)
		}
		status = fiber.StatusOK
	}
	return s.page(c, status, "account", "Account", view)
}
