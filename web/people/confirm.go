package people

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Acts that give power, take it away or destroy something are asked to be confirmed: by a session whose owner has
// proved within confirmAge who they are, by giving the password or by logging in anew at the provider of OpenID
// Connect. So neither a key that leaks nor a browser that is left alone becomes an account for ever.
const (
	confirmAge     = 10 * time.Minute
	confirmField   = "confirm"         // of a form: the password, beside what is asked for
	confirmCode    = "confirm_code"    // likewise: a code, where there is a second factor
	confirmPasskey = "confirm_passkey" // likewise: what a passkey signed, instead of both
	maxKeptForm    = 64 << 10          // bytes of a form that waits while its sender is at the provider
)

// confirmFields are what a form brings along to prove who somebody is, and what is never kept of it.
var confirmFields = []string{confirmField, confirmCode, confirmPasskey}

// What is asked for, as the page says it.
const (
	makesAccount   = "make an account with more rights than a contestant's"
	changesRole    = "change what somebody may do"
	disables       = "disable an account"
	enables        = "enable an account"
	resets         = "give somebody another password"
	makesKey       = "make a key"
	revokes        = "revoke somebody's key"
	makesWebhook   = "make a webhook"
	changesSecret  = "change the secret of a webhook"
	deletesWebhook = "delete a webhook"
)

// Confirmed lets only a session through that has just proved who its owner is. The
// text says what is asked for: "give somebody another role".
func (s *Room) Confirmed(act locale.Word) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.NeedConfirmation(c, act); err != nil {
			return err
		}
		return c.Next()
	}
}

// ConfirmedByPeople is confirmed for what the scope of a key may allow: who made that key said so.
func (s *Room) ConfirmedByPeople(act locale.Word) fiber.Handler {
	confirmed := s.Confirmed(act)
	return func(c *fiber.Ctx) error {
		if v := site.ViewerOf(c); v.Key != 0 || v.Guest() {
			return c.Next()
		}
		return confirmed(c)
	}
}

// NeedConfirmation refuses an act unless the session has just proved who its owner
// is. A form may bring the password along: see ShowConfirm.
func (s *Room) NeedConfirmation(c *fiber.Ctx, act locale.Word) error {
	v := site.ViewerOf(c)
	if err := site.LoginOnly(v); err != nil {
		return err
	}
	age, err := s.Store.SessionProved(c.UserContext(), people.HashToken(v.Token))
	switch {
	case err == nil && age < confirmAge:
		return nil
	case err != nil && !errors.Is(err, sql.ErrNotFound):
		return err
	}
	f := site.Refuse(fiber.StatusForbidden, "not_confirmed", "To %s, prove again who you are.",
		"Send the password to POST /api/v1/account/confirm, or log in again; a page asks for it. That holds for ten minutes.", act)
	f.Confirms = act
	password, signed := c.FormValue(confirmField), c.FormValue(confirmPasskey)
	switch {
	case !site.WantsPage(c) || password == "" && signed == "":
		return f
	case signed != "":
		err = s.Factors.Confirm(c, signed)
	default:
		err = s.confirm(c, password, c.FormValue(confirmCode))
	}
	if err == nil {
		return nil
	}
	wrong := *s.Explain(c.UserContext(), err) // the page asks again, and keeps the form
	wrong.Confirms = act
	return &wrong
}

// confirm notes that whoever is logged in has just given their password, and a code where they have a second factor.
func (s *Room) confirm(c *fiber.Ctx, password, code string) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	if err := s.checkOwn(c, u, password, "password"); err != nil {
		return err
	}
	if err := s.Factors.NeedCode(c, u, code); err != nil {
		return err
	}
	return s.Store.ProveSession(c.UserContext(), people.HashToken(site.ViewerOf(c).Token), u.Name, time.Now())
}

// checkOwn checks the password of whoever is logged in, which a field gives. Who
// guesses is slowed down by the session: others cannot keep its owner out.
func (s *Room) checkOwn(c *fiber.Ctx, u *judge.User, password, field string) error {
	ctx := c.UserContext()
	try, err := s.logins.Begin(ctx, u.Name, "session "+people.HashToken(site.ViewerOf(c).Token))
	if err != nil {
		return err
	}
	right, err := s.checkBounded(ctx, u.PasswordHash, password)
	switch {
	case err != nil:
		try.Back()
		return err
	case !right:
		return site.WrongField(field, "wrong_password", "The current password is wrong.")
	}
	try.Right()
	return nil
}

// apiConfirm handles POST /api/v1/account/confirm with {"password", "code"}.
func (s *Room) apiConfirm(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "password", "code")
	if err != nil {
		return err
	}
	password, code := f.Text("password"), ""
	if f.Has("code") {
		code = f.Text("code")
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.confirm(c, password, code); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// confirmView is the page that asks who somebody is before a form is done, which it holds with all that was filled in.
type confirmView struct {
	Does   locale.Word // what is asked for
	Act    string      // address of the form
	Fields []site.FormField

	Done     bool            // it is proved; the form is to be sent
	Password bool            // the account has one
	Factors  judge.Factors   // of the account
	Site     string          // what passkeys know the site by; "" = there are none
	Provider string          // where they may prove it instead; "" = nowhere
	Leads    string          // the address there; "" = it does not answer
	Error    locale.Sentence // why it is asked again; without a key it is not
}

// ShowConfirm shows the page in place of a form that f refused.
func (s *Room) ShowConfirm(c *fiber.Ctx, f *site.Fault) error {
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	form := site.FormOf(c)
	view := confirmView{Does: f.Confirms, Act: c.OriginalURL(), Fields: site.FormFields(form, confirmFields...), Password: u.PasswordHash != people.AbsentPassword}
	if f.Reason != "not_confirmed" {
		view.Error = f.Said()
	}
	if view.Factors, err = s.Store.Factors(c.UserContext(), u.Name); err != nil {
		return err
	}
	if view.Factors.Passkeys > 0 {
		view.Site = s.Factors.Passkeys()
	}
	if s.provider != nil {
		known, err := s.Store.IdentityKnown(c.UserContext(), s.provider.Issuer, u.Name)
		if err != nil {
			return err
		}
		if known {
			view.Provider = s.provider.host()
			if view.Leads, err = s.proveElsewhere(c, form); err != nil {
				view.Error = locale.Sentence{Key: "%s does not answer. Try again in a minute.", Args: []any{view.Provider}}
				s.Log.WarnContext(c.UserContext(), "no proof at the provider", slog.Any("err", err), slog.String("trace_id", site.TraceOf(c.UserContext())))
			}
		}
	}
	return s.Page(c, f.Status, "confirm", "Confirm", view)
}

// proveElsewhere keeps a form and returns the address at the provider that asks its sender to log in anew.
func (s *Room) proveElsewhere(c *fiber.Ctx, form url.Values) (leads string, err error) {
	form.Del("csrf")
	for _, field := range confirmFields {
		form.Del(field)
	}
	kept := form.Encode()
	if len(kept) > maxKeptForm {
		return "", site.Refuse(fiber.StatusRequestEntityTooLarge, site.ReasonTooLong, "The form is too large to be kept meanwhile.", "Fill in less.")
	}
	found, err := s.provider.describe(c.UserContext())
	if err != nil {
		return "", err
	}
	return s.leadAway(c, found, sql.BegunLogin{Next: "/", Proves: people.HashToken(site.ViewerOf(c).Token), Act: c.OriginalURL(), Form: kept})
}

// returned goes on with a form when its sender has proved at the provider who they are.
func (s *Room) returned(c *fiber.Ctx, l sql.BegunLogin, who proved) error {
	v := site.ViewerOf(c)
	if v.Guest() || v.Key != 0 || people.HashToken(v.Token) != l.Proves {
		return s.refuseOIDC(c, fiber.StatusForbidden, "/", nil, "You are not logged in any more, or as somebody else.")
	}
	u, err := s.Store.IdentityUser(c.UserContext(), who.Identity)
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && u.Name != v.Name:
		return site.Refuse(fiber.StatusForbidden, "not_confirmed", "You proved to be somebody else than whose session this is.", "").
			Mended("Go back, and log in there as %s.", v.Name)
	case err != nil:
		return err
	}
	if err := who.justNow(time.Now()); err != nil {
		s.Log.WarnContext(c.UserContext(), "proof at the provider refused", slog.Any("err", err), slog.String("trace_id", site.TraceOf(c.UserContext())))
		return site.Refuse(fiber.StatusForbidden, "not_confirmed", "%s did not ask you to log in again.",
			"Log out there, go back and try again; or ask whoever runs it to heed prompt=login and max_age.", s.provider.host())
	}
	if err := s.Store.ProveSession(c.UserContext(), l.Proves, v.Name, who.at); err != nil {
		return err
	}
	form, err := url.ParseQuery(l.Form)
	if err != nil {
		return fmt.Errorf("read a kept form: %w", err)
	}
	return s.Page(c, fiber.StatusOK, "confirm", "Confirmed", confirmView{Act: site.LocalPath(l.Act), Fields: site.FormFields(form, confirmFields...), Done: true})
}
