package web

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
)

// Acts that give power, take it away or destroy something are asked to be confirmed:
// by a session whose owner has proved within confirmAge who they are, by giving
// the password or by logging in anew at the provider of OpenID Connect. So neither
// a key that leaks nor a browser that is left alone becomes an account for ever.
const (
	confirmAge   = 10 * time.Minute
	confirmField = "confirm" // of a form: the password, beside what is asked for
	maxKeptForm  = 64 << 10  // bytes of a form that waits while its sender is at the provider
)

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
	makesSpaceRole = "give somebody more rights in a space than a contestant's"
	deletesSpace   = "delete a space"
	discards       = "discard a dead letter"
)

// confirmed lets only a session through that has just proved who its owner is. The
// text says what is asked for: "give somebody another role".
func (s *Server) confirmed(act string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.needConfirmation(c, act); err != nil {
			return err
		}
		return c.Next()
	}
}

// confirmedByPeople is confirmed for what the scope of a key may allow: who made
// that key said so.
func (s *Server) confirmedByPeople(act string) fiber.Handler {
	confirmed := s.confirmed(act)
	return func(c *fiber.Ctx) error {
		if v := viewerOf(c); v.Key != 0 || v.Guest() {
			return c.Next()
		}
		return confirmed(c)
	}
}

// needConfirmation refuses an act unless the session has just proved who its owner
// is. A form may bring the password along: see showConfirm.
func (s *Server) needConfirmation(c *fiber.Ctx, act string) error {
	v := viewerOf(c)
	if err := loginOnly(v); err != nil {
		return err
	}
	age, err := s.store.SessionProved(c.UserContext(), hashToken(v.token))
	switch {
	case err == nil && age < confirmAge:
		return nil
	case err != nil && !errors.Is(err, sql.ErrNotFound):
		return err
	}
	f := refuse(fiber.StatusForbidden, "not_confirmed", "To "+act+", prove again who you are.",
		"Send the password to POST /api/v1/account/confirm, or log in again; a page asks for it. That holds for ten minutes.")
	f.confirms = act
	password := c.FormValue(confirmField)
	if !wantsPage(c) || password == "" {
		return f
	}
	err = s.confirm(c, password)
	if err == nil {
		return nil
	}
	wrong := *s.explain(c.UserContext(), err) // the page asks again, and keeps the form
	wrong.confirms = act
	return &wrong
}

// confirm notes that whoever is logged in has just given their password.
func (s *Server) confirm(c *fiber.Ctx, password string) error {
	u, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	if err := s.checkOwn(c, u, password, "password"); err != nil {
		return err
	}
	return s.store.ProveSession(c.UserContext(), hashToken(viewerOf(c).token), u.Name, time.Now())
}

// checkOwn checks the password of whoever is logged in, which a field gives. Who
// guesses is slowed down by the session: others cannot keep its owner out.
func (s *Server) checkOwn(c *fiber.Ctx, u *sql.User, password, field string) error {
	ctx := c.UserContext()
	try, err := s.logins.begin(ctx, u.Name, "session "+hashToken(viewerOf(c).token))
	if err != nil {
		return err
	}
	right, err := s.checkBounded(ctx, u.PasswordHash, password)
	switch {
	case err != nil:
		try.back()
		return err
	case !right:
		return wrongField(field, "wrong_password", "The current password is wrong.")
	}
	try.right()
	return nil
}

// apiConfirm handles POST /api/v1/account/confirm with {"password"}.
func (s *Server) apiConfirm(c *fiber.Ctx) error {
	f, err := readFields(c, "password")
	if err != nil {
		return err
	}
	password := f.text("password")
	if err := f.wrong.err(); err != nil {
		return err
	}
	if err := s.confirm(c, password); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// confirmView is the page that asks who somebody is before a form is done, which it
// holds with all that was filled in.
type confirmView struct {
	Does   string // what is asked for
	Act    string // address of the form
	Fields []formField

	Done     bool   // it is proved; the form is to be sent
	Password bool   // the account has one
	Provider string // where they may prove it instead; "" = nowhere
	Leads    string // the address there; "" = it does not answer
	Error    string
}

// formField is a field of a form, as it was filled in.
type formField struct{ Name, Value string }

// fieldsOf are the fields of a form, but for what belongs to a session.
func fieldsOf(form url.Values) (out []formField) {
	for name, values := range form {
		if name == "csrf" || name == confirmField {
			continue
		}
		for _, value := range values {
			out = append(out, formField{name, value})
		}
	}
	slices.SortStableFunc(out, func(a, b formField) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// formOf reads the fields of a form, without files.
func formOf(c *fiber.Ctx) url.Values {
	form := url.Values{}
	if m, err := c.MultipartForm(); err == nil {
		maps.Copy(form, m.Value)
		return form
	}
	c.Request().PostArgs().VisitAll(func(name, value []byte) { form.Add(string(name), string(value)) })
	return form
}

// showConfirm shows the page in place of a form that f refused.
func (s *Server) showConfirm(c *fiber.Ctx, f *fault) error {
	u, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	form := formOf(c)
	view := confirmView{Does: f.confirms, Act: c.OriginalURL(), Fields: fieldsOf(form), Password: u.PasswordHash != absentHash}
	if f.Reason != "not_confirmed" {
		view.Error = f.Detail
	}
	if s.provider != nil {
		known, err := s.store.IdentityKnown(c.UserContext(), s.provider.Issuer, u.Name)
		if err != nil {
			return err
		}
		if known {
			view.Provider = s.provider.host()
			if view.Leads, err = s.proveElsewhere(c, form); err != nil {
				view.Error = view.Provider + " does not answer. Try again in a minute."
				s.log.WarnContext(c.UserContext(), "no proof at the provider", slog.Any("err", err), slog.String("trace_id", traceOf(c.UserContext())))
			}
		}
	}
	return s.page(c, f.Status, "confirm", "Confirm", view)
}

// proveElsewhere keeps a form and returns the address at the provider that asks its
// sender to log in anew.
func (s *Server) proveElsewhere(c *fiber.Ctx, form url.Values) (leads string, err error) {
	form.Del("csrf")
	form.Del(confirmField)
	kept := form.Encode()
	if len(kept) > maxKeptForm {
		return "", refuse(fiber.StatusRequestEntityTooLarge, reasonTooLong, "The form is too large to be kept meanwhile.", "Fill in less.")
	}
	found, err := s.provider.describe(c.UserContext())
	if err != nil {
		return "", err
	}
	return s.leadAway(c, found, sql.BegunLogin{Next: "/", Proves: hashToken(viewerOf(c).token), Act: c.OriginalURL(), Form: kept})
}

// returned goes on with a form when its sender has proved at the provider who they
// are.
func (s *Server) returned(c *fiber.Ctx, l sql.BegunLogin, who proved) error {
	v := viewerOf(c)
	if v.Guest() || v.Key != 0 || hashToken(v.token) != l.Proves {
		return s.refuseOIDC(c, fiber.StatusForbidden, "/", "You are not logged in any more, or as somebody else.", nil)
	}
	u, err := s.store.IdentityUser(c.UserContext(), who.Identity)
	switch {
	case errors.Is(err, sql.ErrNotFound) || err == nil && u.Name != v.Name:
		return refuse(fiber.StatusForbidden, "not_confirmed", "You proved to be somebody else than whose session this is.", "Go back, and log in there as "+v.Name+".")
	case err != nil:
		return err
	}
	if err := who.justNow(time.Now()); err != nil {
		s.log.WarnContext(c.UserContext(), "proof at the provider refused", slog.Any("err", err), slog.String("trace_id", traceOf(c.UserContext())))
		return refuse(fiber.StatusForbidden, "not_confirmed", s.provider.host()+" did not ask you to log in again.", "Log out there, go back and try again; or ask whoever runs it to heed prompt=login and max_age.")
	}
	if err := s.store.ProveSession(c.UserContext(), l.Proves, v.Name, who.at); err != nil {
		return err
	}
	form, err := url.ParseQuery(l.Form)
	if err != nil {
		return fmt.Errorf("read a kept form: %w", err)
	}
	return s.page(c, fiber.StatusOK, "confirm", "Confirmed", confirmView{Act: localPath(l.Act), Fields: fieldsOf(form), Done: true})
}
