package people

import (
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/web/site"
)

// apiLogin handles POST /api/v1/sessions: a name and password for a token.
func (s *Room) apiLogin(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "name", "password")
	if err != nil {
		return err
	}
	name, password := f.Text("name"), f.Text("password")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	in, err := s.openSession(c, name, password)
	if err != nil {
		return err
	}
	s.rememberDevice(c, in.device)
	return c.Status(fiber.StatusCreated).JSON(fiber.Map{"token": in.token, "expires_at": in.expires.UTC().Format(time.RFC3339)})
}

// apiLogout handles DELETE /api/v1/sessions: it ends the session that asks.
func (s *Room) apiLogout(c *fiber.Ctx) error {
	if err := s.Store.DeleteSession(c.UserContext(), people.HashToken(site.ViewerOf(c).Token)); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// sessionOnly refuses whoever has no session that could end.
func sessionOnly(v site.Viewer) error {
	if v.Guest() || v.Key != 0 {
		return site.Refuse(fiber.StatusUnauthorized, "login_required", "There is no session to end.", "")
	}
	return nil
}
