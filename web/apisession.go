package web

import (
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
)

// apiLogin handles POST /api/v1/sessions: a name and password for a token.
func (s *Server) apiLogin(c *fiber.Ctx) error {
	f, err := readFields(c, "name", "password")
	if err != nil {
		return err
	}
	name, password := f.text("name"), f.text("password")
	if err := f.wrong.err(); err != nil {
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
func (s *Server) apiLogout(c *fiber.Ctx) error {
	v := viewerOf(c)
	if v.Guest() || v.Key != 0 {
		return refuse(fiber.StatusUnauthorized, "login_required", "There is no session to end.", "")
	}
	if err := s.store.DeleteSession(c.UserContext(), hashToken(v.token)); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}
