package site

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// OwnAccount returns the account of whoever is logged in.
func (s *Site) OwnAccount(c *fiber.Ctx) (*judge.User, error) {
	v := ViewerOf(c)
	if err := AccountOnly(v); err != nil {
		return nil, err
	}
	return s.Store.User(c.UserContext(), v.Name)
}

// NamedAccount returns the account that the address names.
func (s *Site) NamedAccount(c *fiber.Ctx) (*judge.User, error) {
	name := c.Params("name")
	if !PlainWord(name) {
		return nil, sql.ErrNotFound
	}
	return s.Store.User(c.UserContext(), name)
}
