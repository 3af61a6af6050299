package factors

import (
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// View is the part of one's account that shows second factors.
type View struct {
	judge.Factors
	Keys     []judge.Passkey
	Site     string // what passkeys know the site by; "" = there are none
	Password bool   // the account has one; without it a provider asks for a second factor
}

// Of returns the second factors of a user.
func (s *Room) Of(c *fiber.Ctx, u *judge.User) (view View, err error) {
	view.Site, view.Password = s.party.ID, u.PasswordHash != people.AbsentPassword
	if view.Factors, err = s.Store.Factors(c.UserContext(), u.Name); err != nil {
		return view, err
	}
	view.Keys, err = s.Store.Passkeys(c.UserContext(), u.Name)
	return view, err
}

// mayHaveFactors refuses second factors to an account without a password: its logins are a provider's business, and who
// was let go there must not come in here by a passkey.
func (s *Room) mayHaveFactors(c *fiber.Ctx) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	if u.PasswordHash == people.AbsentPassword {
		return site.Refuse(fiber.StatusConflict, "no_password", "Your account has no password of its own, so a second factor would not be asked for.", "Set one up at the provider where you log in.")
	}
	return nil
}

// recoveryView is the page that shows recovery codes, once.
type recoveryView struct {
	Done  locale.Sentence // what was set up just now; without a key it is nothing but the codes
	Codes []string
}

// firstFactor goes on when a factor was set up: the first one brings recovery codes along.
func (s *Room) firstFactor(c *fiber.Ctx, done locale.Sentence) error {
	f, err := s.Store.Factors(c.UserContext(), site.ViewerOf(c).Name)
	if err != nil {
		return err
	}
	if f.Recovery > 0 {
		return site.SeeDone(c, site.DoneAdded, "/account#factors")
	}
	return s.showRecovery(c, done)
}

// makeRecovery handles POST /account/recovery: other codes in place of those that there are.
func (s *Room) makeRecovery(c *fiber.Ctx) error { return s.showRecovery(c, locale.Sentence{}) }

// showRecovery makes recovery codes. They are on the page that answers and nowhere else.
func (s *Room) showRecovery(c *fiber.Ctx, done locale.Sentence) error {
	name := site.ViewerOf(c).Name
	codes, hashes := people.NewRecoveryCodes(name)
	err := s.Store.SetRecovery(c.UserContext(), name, hashes)
	if errors.Is(err, sql.ErrNotFound) {
		return site.Refuse(fiber.StatusConflict, "no_factor", "You have no second factor that could be lost.", "Set one up first; recovery codes come with it.")
	}
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusCreated, "recovery", "Recovery codes", recoveryView{done, codes})
}

// told handles POST /account/factors/told: the owner has read that somebody took their factors off.
func (s *Room) told(c *fiber.Ctx) error {
	if err := s.Store.FactorsTold(c.UserContext(), site.ViewerOf(c).Name); err != nil {
		return err
	}
	next := "/account"
	if c.FormValue("next") != "" {
		next = site.LocalPath(c.FormValue("next"))
	}
	return c.Redirect(next, fiber.StatusSeeOther)
}

// TakeOff takes all factors off the account that the address names.
func (s *Room) TakeOff(c *fiber.Ctx) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	err = s.Store.TakeFactorsOff(c.UserContext(), u.Name, site.ViewerOf(c).Name)
	if errors.Is(err, sql.ErrNotFound) {
		return site.Refuse(fiber.StatusConflict, "no_factor", "%s has no second factor.", "", u.Name)
	}
	return err
}

// factorsJSON are the second factors of an account.
type factorsJSON struct {
	TOTP     bool          `json:"totp"`
	Passkeys []passkeyJSON `json:"passkeys"`
	Recovery int           `json:"recovery_codes"` // that are left
}

// passkeyJSON is a passkey.
type passkeyJSON struct {
	ID       int64      `json:"id"`
	Label    string     `json:"label"`
	Created  time.Time  `json:"created_at"`
	LastUsed *time.Time `json:"last_used_at"` // null: never
}

// apiFactors handles GET /api/v1/account/factors.
func (s *Room) apiFactors(c *fiber.Ctx) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	return s.tellFactors(c, u)
}

// apiUserFactors handles GET /api/v1/users/:name/factors.
func (s *Room) apiUserFactors(c *fiber.Ctx) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return s.tellFactors(c, u)
}

func (s *Room) tellFactors(c *fiber.Ctx, u *judge.User) error {
	f, err := s.Of(c, u)
	if err != nil {
		return err
	}
	out := factorsJSON{TOTP: f.TOTP, Passkeys: []passkeyJSON{}, Recovery: f.Recovery}
	for _, p := range f.Keys {
		out.Passkeys = append(out.Passkeys, passkeyJSON{p.ID, p.Label, p.Created, p.LastUsed})
	}
	return c.JSON(out)
}

// apiTakeOff handles DELETE /api/v1/users/:name/factors.
func (s *Room) apiTakeOff(c *fiber.Ctx) error {
	if err := s.TakeOff(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
