package site

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
)

// Viewer is who sent a request.
type Viewer struct {
	Name   string // "" = nobody
	Called string // what people call them; "" = by their name
	Role   judge.Role
	Token  string // of the session, or the secret of the key

	// Key is the key that a program sent, and Scope what it may do; 0 = a session.
	Key   int64
	Scope judge.Scope

	// Ambient is set when the browser sent the session by itself, so that the request needs a CSRF token.
	Ambient bool
	// OneTime is set while the password is one that was given, so that nothing can be done but change it.
	OneTime bool

	// Language and Zone are what the account chose to read in; "" = what the browser says.
	Language, Zone string
	// Locale is how the viewer reads, which is English by UTC where a program asks.
	Locale *locale.Locale
}

// Say returns a sentence as the viewer reads it: see [locale.Locale.Say].
func (v Viewer) Say(key locale.Word, args ...any) string { return v.Locale.Say(key, args...) }

// Known reports whether the viewer may use the site: a user, or the guest.
func (v Viewer) Known() bool { return v.Name != "" }

// Guest reports whether the viewer has no account.
func (v Viewer) Guest() bool { return v.Token == "" }

// Staff reports whether the viewer may see everything and change submissions.
func (v Viewer) Staff() bool { return v.Role == judge.RoleStaff || v.Role == judge.RoleAdmin }

// Admin reports whether the viewer may manage accounts.
func (v Viewer) Admin() bool { return v.Role == judge.RoleAdmin }

// Setter reports whether the viewer may upload plugins and say what their names mean.
func (v Viewer) Setter() bool { return v.Role == judge.RoleSetter || v.Staff() }

// CSRF returns a token that proves that a form was rendered for this session. It is derived from the session's secret
// and does not reveal it. Each is another, hidden under random bytes that stand before it: pages are sent packed, and
// from their lengths nobody can guess what is never twice the same (BREACH).
func (v Viewer) CSRF() string {
	if v.Token == "" {
		return ""
	}
	out := make([]byte, 2*csrfBytes)
	_, _ = rand.Read(out[:csrfBytes]) // never fails
	subtle.XORBytes(out[csrfBytes:], out[:csrfBytes], v.csrf())
	return base64.RawURLEncoding.EncodeToString(out)
}

// csrfBytes are those of what the tokens of a session's forms hide.
const csrfBytes = 16

func (v Viewer) csrf() []byte {
	sum := sha256.Sum256([]byte("csrf " + v.Token))
	return sum[:csrfBytes]
}

// MaySee reports whether the viewer may see a submission of author.
func (v Viewer) MaySee(author string) bool { return v.Staff() || v.Known() && v.Name == author }

// ViewerKey is the key of the viewer in the locals of a request.
type ViewerKey struct{}

// ViewerOf returns who makes a request: nobody before the gates have looked.
func ViewerOf(c *fiber.Ctx) Viewer {
	v, _ := c.Locals(ViewerKey{}).(Viewer)
	return v
}

// Proves reports whether a token is that of the viewer's forms.
func (v Viewer) Proves(token string) bool {
	if v.Token == "" { // who has no session needs no proof
		return token == ""
	}
	got, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(got) != 2*csrfBytes {
		return false
	}
	subtle.XORBytes(got[csrfBytes:], got[csrfBytes:], got[:csrfBytes])
	return subtle.ConstantTimeCompare(got[csrfBytes:], v.csrf()) == 1
}

// ValidCSRF reports whether a request has the token of its session's forms.
func ValidCSRF(c *fiber.Ctx, v Viewer) bool {
	got := c.Get("X-CSRF-Token")
	if got == "" {
		got = c.FormValue("csrf")
	}
	return v.Proves(got)
}

// LocalPath returns next if it is an address of this server, else "/".
func LocalPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// Bearer finds out whose a token is: that of a session, or the secret of a key. It
// returns [sql.ErrNotFound] if it is nobody's.
func (s *Site) Bearer(ctx context.Context, token string) (Viewer, error) {
	if !strings.HasPrefix(token, people.KeyPrefix) {
		u, err := s.Store.Session(ctx, people.HashToken(token))
		if err != nil {
			return Viewer{}, err
		}
		return Viewer{Name: u.Name, Called: u.DisplayName, Role: u.Role, OneTime: u.OneTime, Token: token, Language: u.Language, Zone: u.Zone}, nil
	}
	u, k, err := s.Store.KeyOwner(ctx, people.HashToken(token))
	if err != nil {
		return Viewer{}, err
	}
	return Viewer{Name: u.Name, Role: people.Least(u.Role, k.Scope.Role()), Key: k.ID, Scope: k.Scope, Token: token}, nil
}

// readOnly reports whether the viewer is a program whose key only reads.
func (v Viewer) readOnly() bool { return v.Key != 0 && v.Scope == judge.ScopeRead }

// UnknownToken refuses a token that is nobody's.
func UnknownToken(err error) error {
	if errors.Is(err, sql.ErrNotFound) {
		return Refuse(fiber.StatusUnauthorized, "session_unknown", "The token is unknown or has expired.", "Log in again, or use another key.")
	}
	return fmt.Errorf("look up a token: %w", err)
}

// AsStaff is the viewer where they read something of which they see all.
func (v Viewer) AsStaff() Viewer {
	v.Role = judge.RoleStaff
	return v
}

// OwnKeyPath is where a key ends itself.
const OwnKeyPath = "/api/v1/account/key"

// WithinScope refuses what a key that only reads may not do.
func WithinScope(c *fiber.Ctx, v Viewer) error {
	if !v.readOnly() || Safe(c.Method()) || c.Path() == Judge0Path+"/authenticate" || c.Path() == Judge0Path+"/authorize" || c.Path() == OwnKeyPath {
		return nil
	}
	return Refuse(fiber.StatusForbidden, "scope", "The key has the scope read, so it changes nothing.", "Use a key with the scope submit or more.")
}
