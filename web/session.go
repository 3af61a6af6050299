package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/sql"
)

const (
	sessionCookie = "deepoj_session"
	guestName     = "guest"
)

// viewer is who sent a request.
type viewer struct {
	Name  string // "" = nobody
	Role  sql.Role
	token string // of the session, or the secret of the key

	// Key is the key that a program sent, and Scope what it may do; 0 = a session.
	Key   int64
	Scope sql.Scope

	// ambient is set when the browser sent the session by itself, so that the
	// request needs a CSRF token.
	ambient bool
	// OneTime is set while the password is one that was given, so that nothing can
	// be done but change it.
	OneTime bool
}

// Known reports whether the viewer may use the site: a user, or the guest.
func (v viewer) Known() bool { return v.Name != "" }

// Guest reports whether the viewer has no account.
func (v viewer) Guest() bool { return v.token == "" }

// Staff reports whether the viewer may see everything and change submissions.
func (v viewer) Staff() bool { return v.Role == sql.RoleStaff || v.Role == sql.RoleAdmin }

// Admin reports whether the viewer may manage accounts.
func (v viewer) Admin() bool { return v.Role == sql.RoleAdmin }

// Setter reports whether the viewer may upload plugins and say what their names
// mean.
func (v viewer) Setter() bool { return v.Role == sql.RoleSetter || v.Staff() }

// CSRF returns the token that proves that a form was rendered for this session.
// It is derived from the session's secret and does not reveal it.
func (v viewer) CSRF() string {
	if v.token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("csrf " + v.token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// maySee reports whether the viewer may see a submission of author.
func (v viewer) maySee(author string) bool { return v.Staff() || v.Known() && v.Name == author }

// viewerKey is the key of the viewer in the locals of a request.
type viewerKey struct{}

func viewerOf(c *fiber.Ctx) viewer {
	v, _ := c.Locals(viewerKey{}).(viewer)
	return v
}

// credentials returns the viewer that a request claims to come from: only the
// token is known yet.
func credentials(cookie, authorization string) viewer {
	if bearer, ok := strings.CutPrefix(authorization, "Bearer "); ok {
		return viewer{token: strings.TrimSpace(bearer)}
	}
	return viewer{ambient: true, token: cookie}
}

// identify finds out who sent the request.
func (s *Server) identify(c *fiber.Ctx) error {
	v := credentials(c.Cookies(sessionCookie), c.Get(fiber.HeaderAuthorization))
	if token := judge0Token(c); token != "" && isJudge0(c.Path()) {
		v = viewer{token: token}
	}
	if v.token != "" {
		found, err := s.bearer(c.UserContext(), v.token)
		switch {
		case err == nil && v.ambient && found.Key != 0:
			v = viewer{} // a cookie holds a session and nothing else
		case err == nil:
			found.ambient = v.ambient
			v = found
		case !v.ambient || !errors.Is(err, sql.ErrNotFound):
			return unknownToken(err)
		default:
			v = viewer{} // a cookie that has expired
		}
	}
	if v.Name == "" && s.guests && !proxied(c) {
		v = viewer{Name: guestName, Role: sql.RoleContestant}
	}
	c.Locals(viewerKey{}, v)
	if err := withinScope(c, v); err != nil {
		return err
	}
	streamed := takesPackages(c.Method(), c.OriginalURL()) // its handler finds the token in the stream
	if v.token != "" && v.ambient && !safe(c.Method()) && !streamed && !validCSRF(c, v) {
		return refuse(fiber.StatusForbidden, "csrf", "The form is from another session.", "Reload the page and try again.")
	}
	return c.Next()
}

func validCSRF(c *fiber.Ctx, v viewer) bool {
	got := c.Get("X-CSRF-Token")
	if got == "" {
		got = c.FormValue("csrf")
	}
	return v.proves(got)
}

// proves reports whether a token is that of the viewer's forms.
func (v viewer) proves(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(v.CSRF())) == 1
}

// admit lets only people in who may use the site.
func (s *Server) admit(c *fiber.Ctx) error {
	v := viewerOf(c)
	switch {
	case v.OneTime && !changesPassword(c.Path()):
		if wantsPage(c) && safe(c.Method()) {
			return c.Redirect("/account?next="+url.QueryEscape(c.OriginalURL()), fiber.StatusSeeOther)
		}
		return refuse(fiber.StatusForbidden, "one_time_password", "The password was given to you and has to be changed first.",
			"Change it on the page /account, or with POST /api/v1/account/password.")
	case v.Known():
		return c.Next()
	case wantsPage(c) && safe(c.Method()):
		return c.Redirect("/login?next="+url.QueryEscape(c.OriginalURL()), fiber.StatusSeeOther)
	}
	why := "This needs an account."
	if s.guests {
		why = "The request came through a proxy, so it needs an account."
	}
	return refuse(fiber.StatusUnauthorized, "login_required", why,
		"Log in, or send a key or a token from POST /api/v1/sessions as Authorization: Bearer.")
}

// changesPassword reports whether somebody with a one-time password may go to the
// address.
func changesPassword(path string) bool {
	return path == "/account" || path == "/api/v1/account" || path == "/api/v1/account/password" || path == "/api/v1/sessions"
}

// hashToken is what the database knows of a session's token.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

type loginView struct {
	Name, Next, Error string

	Provider string // where people may log in too; "" = nowhere
}

func (s *Server) loginPage(c *fiber.Ctx) error {
	if v := viewerOf(c); v.Known() && !v.Guest() {
		return c.Redirect(localPath(c.Query("next")), fiber.StatusSeeOther)
	}
	return s.showLogin(c, fiber.StatusOK, loginView{Next: localPath(c.Query("next"))})
}

func (s *Server) showLogin(c *fiber.Ctx, status int, view loginView) error {
	view.Provider = s.provider.host()
	return s.page(c, status, "login", "Log in", view)
}

func (s *Server) login(c *fiber.Ctx) error {
	name, next := c.FormValue("name"), localPath(c.FormValue("next"))
	in, err := s.openSession(c, name, c.FormValue("password"))
	var f *fault
	if errors.As(err, &f) && f.Status < fiber.StatusInternalServerError {
		if f.RetryAfter > 0 {
			return err
		}
		return s.showLogin(c, f.Status, loginView{Name: name, Next: next, Error: f.Detail})
	}
	if err != nil {
		return err
	}
	err = s.enter(c, in.token, in.expires, next)
	s.rememberDevice(c, in.device)
	return err
}

// enter gives a browser its new session and leads it to an address of this server.
func (s *Server) enter(c *fiber.Ctx, token string, expires time.Time, next string) error {
	if old := viewerOf(c); !old.Guest() { // a new login never continues an old session
		if err := s.store.DeleteSession(c.UserContext(), hashToken(old.token)); err != nil {
			return fmt.Errorf("end the old session: %w", err)
		}
	}
	c.Cookie(&fiber.Cookie{
		Name: sessionCookie, Value: token, Path: "/", Expires: expires,
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(),
	})
	return c.Redirect(next, fiber.StatusSeeOther)
}

func (s *Server) logout(c *fiber.Ctx) error {
	if v := viewerOf(c); !v.Guest() {
		if err := s.store.DeleteSession(c.UserContext(), hashToken(v.token)); err != nil {
			return fmt.Errorf("end a session: %w", err)
		}
	}
	c.Cookie(&fiber.Cookie{Name: sessionCookie, Path: "/", Expires: time.Unix(1, 0), HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode})
	return c.Redirect("/", fiber.StatusSeeOther)
}

// entrance is what somebody gets who has logged in with a password.
type entrance struct {
	token   string // of the session
	expires time.Time
	device  string // proves that they did with this browser
}

// openSession checks a name and password, and opens a session.
func (s *Server) openSession(c *fiber.Ctx, name, password string) (in entrance, err error) {
	ctx := c.UserContext()
	var user *sql.User
	err = sql.ErrNotFound
	if plainWord(name) {
		user, err = s.store.User(ctx, name)
	}
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return in, fmt.Errorf("look up a user: %w", err)
	}
	known := err == nil
	hash := absentHash // an unknown name takes as long as a known one
	if known {
		hash = user.PasswordHash
	}
	try, err := s.logins.begin(ctx, name, s.loginPlace(c, user))
	if err != nil {
		return in, err
	}
	ok, err := s.checkBounded(ctx, hash, password)
	if err != nil {
		try.back()
		return in, err
	}
	if !ok || !known || user.Disabled != nil { // who is disabled learns no more than anybody
		s.log.InfoContext(ctx, "login refused", slog.String("client", s.clientAddress(c)), slog.String("trace_id", traceOf(ctx)))
		return in, wrongLogin()
	}
	try.right()
	in.device = withDevice(c.Cookies(deviceCookie), user, time.Now())
	in.token, in.expires, err = s.newSession(ctx, user, s.store.SaveSession)
	return in, err
}

// newSession opens a session of somebody who has proved who they are, and returns
// its token.
func (s *Server) newSession(ctx context.Context, user *sql.User, save func(context.Context, string, *sql.User, time.Time) error) (string, time.Time, error) {
	none := time.Time{}
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return "", none, fmt.Errorf("make a token: %w", err)
	}
	token, expires := base64.RawURLEncoding.EncodeToString(b), time.Now().Add(s.cfg.SessionLife)
	err := save(ctx, hashToken(token), user, expires)
	if errors.Is(err, sql.ErrNotFound) { // disabled or reset just now
		return "", none, wrongLogin()
	}
	if err != nil {
		return "", none, fmt.Errorf("save a session: %w", err)
	}
	return token, expires, nil
}

func wrongLogin() error {
	return refuse(fiber.StatusUnauthorized, "wrong_login", "The name or the password is wrong.", "Check both and try again.")
}

// absentHash is the hash of a password that nobody knows.
const absentHash = "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnk"

// checkBounded checks a password within the bound on hashing.
func (s *Server) checkBounded(ctx context.Context, hash, password string) (right bool, err error) {
	if len(password) > maxPassword {
		return false, nil
	}
	err = s.bounded(ctx, func() (err error) {
		right, err = checkPassword(hash, password)
		return err
	})
	return right, err
}

// bounded calls what hashes a password while fewer than cap(s.hashing) others do,
// so that logins cannot take the machine's memory.
func (s *Server) bounded(ctx context.Context, hash func() error) error {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return busyLogins()
	}
	return hash()
}

// localPath returns next if it is an address of this server, else "/".
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
