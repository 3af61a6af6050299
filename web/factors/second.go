package factors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// Who has given the password of an account with a second factor is not logged in: they have half a login, which is no
// session, is known to their browser alone, and ends soon.
const (
	halfCookie = "deepoj_login"
	halfPath   = "/login"
	halfTime   = 5 * time.Minute

	codeTries = 10               // wrong codes of an account, one after the other
	codePause = 15 * time.Minute // after which one more of them may be tried, from browsers that are not known
)

// secondView is the page of the second step of a login.
type secondView struct {
	Factors judge.Factors
	Site    string          // what passkeys know the site by; "" = there are none
	Error   locale.Sentence // why it comes back; without a key it does not
}

// Begin leads somebody to the second step who has given the right password; [sql.ErrNotFound] if their account was
// disabled or reset just now.
func (s *Room) Begin(c *fiber.Ctx, u *judge.User, next string) error {
	token, expires := people.NewToken(32), time.Now().Add(halfTime)
	err := s.Store.SaveHalfLogin(c.UserContext(), people.HashToken(token), u, next, expires)
	if err != nil {
		return err
	}
	s.keepHalf(c, token, expires)
	return c.Redirect("/login/second", fiber.StatusSeeOther)
}

// keepHalf has the browser keep what proves that it began a login.
func (s *Room) keepHalf(c *fiber.Ctx, token string, expires time.Time) {
	c.Cookie(&fiber.Cookie{
		Name: halfCookie, Value: token, Path: halfPath, Expires: expires,
		HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode, Secure: c.Secure(),
	})
}

// half returns whose login the browser began, where that leads, and the hash that it is known by; [sql.ErrNotFound] if
// there is none.
func (s *Room) half(c *fiber.Ctx) (u *judge.User, next, hash string, err error) {
	token := c.Cookies(halfCookie)
	if token == "" {
		return nil, "", "", sql.ErrNotFound
	}
	hash = people.HashToken(token)
	u, next, err = s.Store.HalfLogin(c.UserContext(), hash)
	return u, next, hash, err
}

// tooLate shows the login page to somebody whose login has ended, or was never begun.
func (s *Room) tooLate(c *fiber.Ctx, next string) error {
	return s.login.Again(c, site.OrElse(next, "/"), "This login was begun in another browser, too long ago, or with too many wrong codes. Begin again.")
}

// secondPage handles GET /login/second.
func (s *Room) secondPage(c *fiber.Ctx) error {
	u, _, _, err := s.half(c)
	if errors.Is(err, sql.ErrNotFound) {
		return c.Redirect("/login", fiber.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	return s.showSecond(c, fiber.StatusOK, u, locale.Sentence{})
}

func (s *Room) showSecond(c *fiber.Ctx, status int, u *judge.User, wrong locale.Sentence) error {
	f, err := s.Store.Factors(c.UserContext(), u.Name)
	if err != nil {
		return err
	}
	view := secondView{Factors: f, Error: wrong}
	if f.Passkeys > 0 {
		view.Site = s.party.ID
	}
	return s.Page(c, status, "second", "Log in", view)
}

// second handles POST /login/second: a code of the authenticator app, or a recovery code.
func (s *Room) second(c *fiber.Ctx) error {
	u, next, hash, err := s.half(c)
	if errors.Is(err, sql.ErrNotFound) {
		return s.tooLate(c, "")
	}
	if err != nil {
		return err
	}
	code := site.OrElse(strings.TrimSpace(c.FormValue("code")), strings.TrimSpace(c.FormValue("recovery")))
	if code == "" {
		return s.showSecond(c, fiber.StatusUnprocessableEntity, u, locale.Sentence{Key: "Give a code."})
	}
	err = s.Store.TryHalfLogin(c.UserContext(), hash)
	if errors.Is(err, sql.ErrNotFound) {
		return s.tooLate(c, next)
	}
	if err != nil {
		return err
	}
	if err := s.proveCode(c, u, code); err != nil {
		f := s.Explain(c.UserContext(), err)
		if f.Field == "" {
			return err
		}
		if _, _, _, err := s.half(c); errors.Is(err, sql.ErrNotFound) {
			return s.tooLate(c, next)
		}
		return s.showSecond(c, f.Status, u, f.Said())
	}
	return s.endSecond(c, u, next, hash)
}

// endSecond makes a session of half a login, once.
func (s *Room) endSecond(c *fiber.Ctx, u *judge.User, next, hash string) error {
	err := s.Store.EndHalfLogin(c.UserContext(), hash)
	if errors.Is(err, sql.ErrNotFound) {
		return s.tooLate(c, next)
	}
	if err != nil {
		return err
	}
	s.forgetHalf(c)
	return s.login.LogIn(c, u, next)
}

// forgetHalf has the browser forget a login that it began.
func (s *Room) forgetHalf(c *fiber.Ctx) {
	c.Cookie(&fiber.Cookie{Name: halfCookie, Path: halfPath, Expires: time.Unix(1, 0), HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode})
}

// NeedCode refuses somebody who has given their password, has a second factor, and gives no right code of it.
func (s *Room) NeedCode(c *fiber.Ctx, u *judge.User, code string) error {
	f, err := s.Store.Factors(c.UserContext(), u.Name)
	switch {
	case err != nil:
		return err
	case !f.Any():
		return nil
	case strings.TrimSpace(code) == "":
		return site.WrongField("code", "code_required", "The account has a second factor: give a code of the authenticator app, or a recovery code, as well.")
	}
	return s.proveCode(c, u, code)
}

// proveCode checks a code of somebody who has given their password. It counts as wrong before it is looked at.
func (s *Room) proveCode(c *fiber.Ctx, u *judge.User, code string) error {
	ctx := c.UserContext()
	place, known := s.login.Place(c, u)
	try, err := s.tries.Begin(ctx, "code of "+u.Name, place)
	if err != nil {
		return err
	}
	switch err := s.Store.TryCode(ctx, u.Name, known, codeTries, codePause); {
	case errors.Is(err, sql.ErrNotFound):
		try.Back()
		return tooManyCodes()
	case err != nil:
		try.Back()
		return err
	}
	right, err := s.takeCode(ctx, u.Name, code)
	if err != nil {
		return err
	}
	if !right {
		s.Log.InfoContext(ctx, "code refused", slog.String("client", s.ClientAddress(c)), slog.String("trace_id", site.TraceOf(ctx)))
		return site.WrongField("code", "wrong_code", "The code is wrong, or was used before. An authenticator app has another in half a minute.")
	}
	try.Right()
	return s.Store.CodeRight(ctx, u.Name)
}

// takeCode reports whether a code is right that is tried for the first time.
func (s *Room) takeCode(ctx context.Context, user, code string) (bool, error) {
	var err error
	if people.LooksLikeTOTP(code) {
		var secret []byte
		var counts bool
		secret, counts, err = s.Store.TOTP(ctx, user)
		if err == nil {
			step, ok := people.TOTPStep(secret, code, s.now())
			if !ok || !counts {
				return false, nil
			}
			err = s.Store.TakeTOTP(ctx, user, step)
		}
	} else {
		err = s.Store.TakeRecovery(ctx, user, people.RecoveryHash(user, code))
	}
	if errors.Is(err, sql.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func tooManyCodes() error {
	f := site.Refuse(fiber.StatusTooManyRequests, "too_many_codes", "There were too many wrong codes for this account, given with its right password.",
		"Wait as long as Retry-After says, use a passkey, or a browser that has logged in before. If the codes were not yours, change the password.")
	f.RetryAfter = codePause
	return f
}

// TellFirst returns where a login leads: to the account where its owner has to be told that somebody took their factors
// off.
func (s *Room) TellFirst(c *fiber.Ctx, user, next string) (string, error) {
	f, err := s.Store.Factors(c.UserContext(), user)
	if err != nil {
		return "", fmt.Errorf("log in: %w", err)
	}
	if f.TakenOffBy == "" {
		return next, nil
	}
	return "/account?next=" + url.QueryEscape(next), nil
}

// TimeCodes has codes of authenticator apps count by another clock, which a test holds.
func (s *Room) TimeCodes(now func() time.Time) { s.now = now }
