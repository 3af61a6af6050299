package staff

import (
	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

func (s *Room) languagesPage(c *fiber.Ctx) error {
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "languages", "Languages", offers)
}

// languageJSON is a language and what a program in it waits for.
type languageJSON struct {
	judge.Language
	Waits     string `json:"waits,omitempty"`
	Withdrawn bool   `json:"withdrawn,omitempty"` // staff took it off the list
}

// apiLanguages lists languages; one that cannot be submitted in is not available and says why.
func (s *Room) apiLanguages(c *fiber.Ctx) error {
	offers, err := s.Catalog.Languages(c.UserContext())
	if err != nil {
		return err
	}
	out := make([]languageJSON, len(offers))
	for i, o := range offers {
		out[i] = languageJSON{Language: o.Language, Waits: o.Waits.String(), Withdrawn: o.Withdrawn}
		out[i].Available, out[i].Unavailable = o.Open(), o.Why.String()
	}
	page, next, err := site.PageOf(c, "after", out, func(l languageJSON) string { return l.ID })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"languages": page, "next": next})
}

// apiWithdraw returns the handler of POST /api/v1/languages/:id/withdraw and offer.
func (s *Room) apiWithdraw(withdrawn bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.withdraw(c, withdrawn); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"id": c.Params("id"), "withdrawn": withdrawn})
	}
}

// withdrawForm returns the handler of POST /languages/:id/withdraw and offer.
func (s *Room) withdrawForm(withdrawn bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.withdraw(c, withdrawn); err != nil {
			return err
		}
		return site.SeeDone(c, site.DoneSaved, "/languages")
	}
}

// withdraw takes the language that the address names off the list, or puts it
// back. Other processes know within a second.
func (s *Room) withdraw(c *fiber.Ctx, withdrawn bool) error {
	id := c.Params("id")
	if !site.PlainWord(id) {
		return sql.ErrNotFound
	}
	defer s.Catalog.Forget()
	return s.Store.WithdrawLanguage(c.UserContext(), id, withdrawn, site.ViewerOf(c).Name)
}
