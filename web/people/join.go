package people

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// JoinPath is where a link leads that invites into a space.
const JoinPath = "/join"

// joinCookie keeps the token of an invitation, also while somebody makes an account.
const joinCookie = "deepoj_join"

// joinView is the page of an invitation.
type joinView struct {
	Title     string // of the space; "" = the invitation does not work
	Registers bool   // who has no account may make one
}

// joinPage handles GET /join?t=: it keeps the token in a cookie and goes on without it.
func (s *Room) joinPage(c *fiber.Ctx) error {
	if token := c.Query("t"); token != "" {
		keepToken(c, joinCookie, "/", token)
		return c.Redirect(JoinPath, fiber.StatusSeeOther)
	}
	i, err := s.Store.Invitation(c.UserContext(), people.HashToken(c.Cookies(joinCookie)))
	if errors.Is(err, sql.ErrNotFound) {
		return s.Page(c, fiber.StatusGone, "join", "Invitation", joinView{})
	}
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "join", "Invitation", joinView{Title: i.Title, Registers: s.Config.Registration != site.RegisterOff})
}

// join handles POST /join: whoever is logged in becomes a member of the space.
func (s *Room) join(c *fiber.Ctx) error {
	i, err := s.Store.Invitation(c.UserContext(), people.HashToken(c.Cookies(joinCookie)))
	space := ""
	if err == nil {
		space, err = s.Store.UseInvitation(c.UserContext(), i.ID, site.ViewerOf(c).Name)
	}
	if errors.Is(err, sql.ErrNotFound) {
		return s.Page(c, fiber.StatusGone, "join", "Invitation", joinView{})
	}
	if err != nil {
		return err
	}
	forgetToken(c, joinCookie, "/")
	return c.Redirect(site.SpaceURL(space), fiber.StatusSeeOther)
}
