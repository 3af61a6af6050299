package people

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
	"deepoj/web/throttle"
)

// SessionCookie holds the token of a session.
const SessionCookie = "deepoj_session"

type loginView struct {
	Name, Next string
	Error      locale.Sentence // why it comes back; without a key it does not

	Provider string // where people may log in too; "" = nowhere

	First     bool   // the first password was never used, and who asks is on this machine
	Registers bool   // people make accounts for themselves
	Site      string // what passkeys know the site by; "" = there are none
}

func (s *Room) loginPage(c *fiber.Ctx) error {
	if v := site.ViewerOf(c); v.Known() && !v.Guest() {
		return c.Redirect(site.LocalPath(c.Query("next")), fiber.StatusSeeOther)
	}
	return s.showLogin(c, fiber.StatusOK, loginView{Next: site.LocalPath(c.Query("next"))})
}

func (s *Room) showLogin(c *fiber.Ctx, status int, view loginView) error {
	view.Provider, view.Site = s.provider.host(), s.Factors.Passkeys()
	view.Registers = s.Config.Registration == site.RegisterOpen || s.Config.Registration == site.RegisterDomain
	if _, limited := site.LimitedAddress(s.ClientAddress(c)); !limited && !site.Proxied(c) {
		first, err := s.Store.FirstPasswordWaits(c.UserContext())
		view.First = err == nil && first // a page without a hint is better than none
	}
	return s.Page(c, status, "login", "Log in", view)
}

func (s *Room) login(c *fiber.Ctx) error {
	name, next := c.FormValue("name"), site.LocalPath(c.FormValue("next"))
	u, err := s.provePassword(c, name, c.FormValue("password"))
	var more judge.Factors
	if err == nil {
		more, err = s.Store.Factors(c.UserContext(), u.Name)
	}
	switch {
	case err != nil:
		return s.loginAgain(c, err, loginView{Name: name, Next: next})
	case more.Any():
		if err = s.Factors.Begin(c, u, next); errors.Is(err, sql.ErrNotFound) {
			return s.loginAgain(c, wrongLogin(), loginView{Name: name, Next: next})
		}
		return err
	}
	return s.LogIn(c, u, next)
}

// loginAgain shows the login page again where a refusal is the fault of who logs in.
func (s *Room) loginAgain(c *fiber.Ctx, err error, view loginView) error {
	f, ok := errors.AsType[*site.Fault](err)
	if !ok || f.Status >= fiber.StatusInternalServerError || f.RetryAfter > 0 {
		return err
	}
	view.Error = f.Said()
	return s.showLogin(c, f.Status, view)
}

// Again shows the login page to somebody who has to begin again, and why.
func (s *Room) Again(c *fiber.Ctx, next string, why locale.Word) error {
	return s.showLogin(c, fiber.StatusBadRequest, loginView{Next: next, Error: locale.Sentence{Key: why}})
}

// LogIn gives a browser the session of somebody who has proved all that is asked for.
func (s *Room) LogIn(c *fiber.Ctx, u *judge.User, next string) error {
	in, err := s.openSession(c, u)
	if err != nil {
		return s.loginAgain(c, err, loginView{Next: next})
	}
	if next, err = s.Factors.TellFirst(c, u.Name, next); err != nil {
		return err
	}
	err = s.enter(c, in.token, in.expires, next)
	s.rememberDevice(c, in.device)
	return err
}

// enter gives a browser its new session and leads it to an address of this server.
func (s *Room) enter(c *fiber.Ctx, token string, expires time.Time, next string) error {
	if old := site.ViewerOf(c); !old.Guest() { // a new login never continues an old session
		if err := s.Store.DeleteSession(c.UserContext(), people.HashToken(old.Token)); err != nil {
			return fmt.Errorf("end the old session: %w", err)
		}
	}
	c.Cookie(&fiber.Cookie{
		Name: SessionCookie, Value: token, Path: "/", Expires: expires,
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(),
	})
	return c.Redirect(next, fiber.StatusSeeOther)
}

func (s *Room) logout(c *fiber.Ctx) error {
	if v := site.ViewerOf(c); !v.Guest() {
		if err := s.Store.DeleteSession(c.UserContext(), people.HashToken(v.Token)); err != nil {
			return fmt.Errorf("end a session: %w", err)
		}
	}
	c.Cookie(&fiber.Cookie{Name: SessionCookie, Path: "/", Expires: time.Unix(1, 0), HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
	return c.Redirect("/", fiber.StatusSeeOther)
}

// entrance is what somebody gets who has logged in.
type entrance struct {
	token   string // of the session
	expires time.Time
	device  string // proves that they did with this browser
}

// provePassword returns whose name and password these are.
func (s *Room) provePassword(c *fiber.Ctx, name, password string) (u *judge.User, err error) {
	ctx := c.UserContext()
	err = sql.ErrNotFound
	if site.PlainWord(name) {
		u, err = s.Store.User(ctx, name)
	}
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, fmt.Errorf("look up a user: %w", err)
	}
	known := err == nil
	hash := people.AbsentPassword // an unknown name takes as long as a known one
	if known {
		hash = u.PasswordHash
	}
	try, err := s.logins.Begin(ctx, name, s.loginPlace(c, u))
	if err != nil {
		return nil, err
	}
	ok, err := s.checkBounded(ctx, hash, password)
	if err != nil {
		try.Back()
		return nil, err
	}
	if !ok || !known || u.Disabled != nil { // who is disabled learns no more than anybody
		s.Log.InfoContext(ctx, "login refused", slog.String("client", s.ClientAddress(c)), slog.String("trace_id", site.TraceOf(ctx)))
		return nil, wrongLogin()
	}
	try.Right()
	return u, nil
}

// openSession opens a session of somebody who has proved all that is asked for.
func (s *Room) openSession(c *fiber.Ctx, u *judge.User) (in entrance, err error) {
	in.device = withDevice(c.Cookies(deviceCookie), u, time.Now())
	in.token, in.expires, err = s.newSession(c.UserContext(), u, s.Store.SaveSession)
	return in, err
}

// newSession opens a session of somebody who has proved who they are, and returns its token.
func (s *Room) newSession(ctx context.Context, user *judge.User, save func(context.Context, string, *judge.User, time.Time) error) (string, time.Time, error) {
	none := time.Time{}
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return "", none, fmt.Errorf("make a token: %w", err)
	}
	token, expires := base64.RawURLEncoding.EncodeToString(b), time.Now().Add(s.Config.SessionLife)
	err := save(ctx, people.HashToken(token), user, expires)
	if errors.Is(err, sql.ErrNotFound) { // disabled or reset just now
		return "", none, wrongLogin()
	}
	if err != nil {
		return "", none, fmt.Errorf("save a session: %w", err)
	}
	return token, expires, nil
}

func wrongLogin() error {
	return site.Refuse(fiber.StatusUnauthorized, "wrong_login", "The name or the password is wrong.", "Check both and try again.")
}

// checkBounded checks a password within the bound on hashing.
func (s *Room) checkBounded(ctx context.Context, hash, password string) (right bool, err error) {
	if len(password) > people.MaxPassword {
		return false, nil
	}
	err = s.bounded(ctx, func() (err error) {
		right, err = people.CheckPassword(hash, password)
		return err
	})
	return right, err
}

// bounded calls what hashes a password while fewer than cap(s.hashing) others do,
// so that logins cannot take the machine's memory.
func (s *Room) bounded(ctx context.Context, hash func() error) error {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return throttle.Busy()
	}
	return hash()
}

// apiLogin handles POST /api/v1/sessions with {"name", "password", "code"}: it answers with a token.
func (s *Room) apiLogin(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "name", "password", "code")
	if err != nil {
		return err
	}
	name, password, code := f.Text("name"), f.Text("password"), ""
	if f.Has("code") {
		code = f.Text("code")
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	u, err := s.provePassword(c, name, password)
	if err != nil {
		return err
	}
	if err := s.Factors.NeedCode(c, u, code); err != nil {
		return err
	}
	in, err := s.openSession(c, u)
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

// TakesPassword reports whether a request gives a password, and so may have to wait.
func TakesPassword(method, path string) bool {
	return method == fiber.MethodPost &&
		slices.Contains([]string{"/login", "/login/second", "/account", "/api/v1/sessions", "/api/v1/account/password", "/api/v1/account/confirm"}, path)
}

// LongestWait is how long a request may have to wait for a try of a password.
const LongestWait = throttle.LongestWait

// TimeTries has tries of passwords wait by another clock, which a test holds.
func (s *Room) TimeTries(now func() time.Time, after func(time.Duration) <-chan time.Time) {
	s.logins.Time(now, after)
}

// WaitingTries returns how many wait to try a password.
func (s *Room) WaitingTries() int { return s.logins.Waiting() }
