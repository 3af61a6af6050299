package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

const (
	keyPrefix = "doj_" // of every secret, so that people and scanners know it
	maxKeys   = 100    // of a user that work
	maxLabel  = 100    // bytes of what a key is for
)

// NewSecret makes the secret of a key, and the hash that the database keeps.
func NewSecret() (secret, hash string) {
	secret = keyPrefix + randomHex(32)
	return secret, hashToken(secret)
}

// bearer finds out whose a token is: that of a session, or the secret of a key. It
// returns [sql.ErrNotFound] if it is nobody's.
func (s *Server) bearer(ctx context.Context, token string) (viewer, error) {
	if !strings.HasPrefix(token, keyPrefix) {
		u, err := s.store.Session(ctx, hashToken(token))
		if err != nil {
			return viewer{}, err
		}
		return viewer{Name: u.Name, Role: u.Role, OneTime: u.OneTime, token: token}, nil
	}
	u, k, err := s.store.KeyOwner(ctx, hashToken(token))
	if err != nil {
		return viewer{}, err
	}
	return viewer{Name: u.Name, Role: least(u.Role, k.Scope.Role()), Key: k.ID, Scope: k.Scope, token: token}, nil
}

// least returns the role that may do less.
func least(a, b sql.Role) sql.Role {
	return sql.Roles[min(slices.Index(sql.Roles, a), slices.Index(sql.Roles, b))]
}

// readOnly reports whether the viewer is a program whose key only reads.
func (v viewer) readOnly() bool { return v.Key != 0 && v.Scope == sql.ScopeRead }

// withinScope refuses what a key that only reads may not do.
func withinScope(c *fiber.Ctx, v viewer) error {
	if !v.readOnly() || safe(c.Method()) || c.Path() == judge0Path+"/authenticate" || c.Path() == judge0Path+"/authorize" {
		return nil
	}
	return refuse(fiber.StatusForbidden, "scope", "The key has the scope read, so it changes nothing.", "Use a key with the scope submit or more.")
}

// requireLogin lets only people in who have logged in: neither the guest nor a
// program with a key, which could make itself keys that last longer.
func (s *Server) requireLogin(c *fiber.Ctx) error {
	if err := loginOnly(viewerOf(c)); err != nil {
		return err
	}
	return c.Next()
}

func loginOnly(v viewer) error {
	switch {
	case v.Guest():
		return refuse(fiber.StatusUnauthorized, "login_required", "The guest has no account.", "Log in.")
	case v.Key != 0:
		return refuse(fiber.StatusForbidden, "login_required", "A key cannot do this.", "Log in, or send the token of a session.")
	}
	return nil
}

// keyJSON is a key, for its owner and administrators.
type keyJSON struct {
	ID       int64      `json:"id"`
	Label    string     `json:"label"`
	Scope    sql.Scope  `json:"scope"`
	Works    bool       `json:"works"`
	Created  time.Time  `json:"created_at"`
	Expires  *time.Time `json:"expires_at"`   // null: never
	LastUsed *time.Time `json:"last_used_at"` // null: never
	Revoked  *time.Time `json:"revoked_at"`
}

// newKeyJSON is a key that was made just now.
type newKeyJSON struct {
	keyJSON
	Secret string `json:"secret"`
}

func publicKey(k sql.Key) keyJSON {
	return keyJSON{k.ID, k.Label, k.Scope, k.Works(time.Now()), k.Created, k.Expires, k.LastUsed, k.Revoked}
}

// apiKeys handles GET /api/v1/keys?before=&limit=: one's own keys, newest first.
func (s *Server) apiKeys(c *fiber.Ctx) error { return s.listKeys(c, viewerOf(c).Name) }

// apiUserKeys handles GET /api/v1/users/:name/keys.
func (s *Server) apiUserKeys(c *fiber.Ctx) error {
	u, err := s.userOf(c)
	if err != nil {
		return err
	}
	return s.listKeys(c, u.Name)
}

func (s *Server) listKeys(c *fiber.Ctx, user string) error {
	f, err := filterOf(c)
	if err != nil {
		return err
	}
	found, err := s.store.Keys(c.UserContext(), user, f.Before, f.Limit)
	if err != nil {
		return err
	}
	out := make([]keyJSON, len(found))
	for i, k := range found {
		out[i] = publicKey(k)
	}
	var next *int64
	if len(found) == f.Limit {
		next = &found[len(found)-1].ID
	}
	return c.JSON(fiber.Map{"keys": out, "next": next})
}

// apiCreateKey handles POST /api/v1/keys with {"label", "scope", "expires_at"}: it
// answers with the secret, which nobody can read again.
func (s *Server) apiCreateKey(c *fiber.Ctx) error {
	f, err := readFields(c, "label", "scope", "expires_at")
	if err != nil {
		return err
	}
	k := sql.Key{Label: f.text("label"), Scope: sql.Scope(f.text("scope"))}
	if f.has("expires_at") {
		at, err := time.Parse(time.RFC3339, f.text("expires_at"))
		if err != nil {
			f.wrong.add(wrongField("expires_at", reasonInvalid, "The time has to be like 2030-01-31T12:00:00Z."))
		}
		k.Expires = &at
	}
	if err := f.wrong.err(); err != nil {
		return err
	}
	k, secret, err := s.createKey(c, k)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(newKeyJSON{publicKey(k), secret})
}

// createKey makes a key of whoever is logged in, and its secret.
func (s *Server) createKey(c *fiber.Ctx, k sql.Key) (sql.Key, string, error) {
	v := viewerOf(c)
	k.User, k.Label = v.Name, strings.TrimSpace(k.Label)
	var wrong wrongFields
	wrong.add(CheckKey(k, v.Role))
	if err := wrong.err(); err != nil {
		return k, "", err
	}
	kept, err := s.store.Keys(c.UserContext(), v.Name, 0, maxPage)
	if err != nil {
		return k, "", err
	}
	if working := len(slices.DeleteFunc(kept, func(k sql.Key) bool { return !k.Works(time.Now()) })); working >= maxKeys {
		return k, "", wrongField("label", "too_many", "You have %d keys that work; revoke those that nobody needs.", working)
	}
	secret, hash := NewSecret()
	k, err = s.store.CreateKey(c.UserContext(), k, hash, v.Name)
	return k, secret, err
}

// CheckKey reports why a user with this role may not have the key, or nil.
func CheckKey(k sql.Key, owner sql.Role) *judge.FieldError {
	switch {
	case k.Label == "":
		return wrongField("label", reasonEmpty, "Say what the key is for.")
	case len(k.Label) > maxLabel || !plainWord(k.Label):
		return wrongField("label", reasonInvalid, "The label is one line of up to %d bytes.", maxLabel)
	case !slices.Contains(sql.Scopes, k.Scope):
		return wrongField("scope", reasonUnknown, "There is no scope %q; the scopes are read, submit, setter, staff and admin.", shorten(string(k.Scope)))
	case least(k.Scope.Role(), owner) != k.Scope.Role():
		return wrongField("scope", "not_allowed", "A key may do no more than its owner, whose role is %s.", owner)
	case k.Expires != nil && !k.Expires.After(time.Now()):
		return wrongField("expires_at", reasonInvalid, "The time is over already.")
	}
	return nil
}

// apiRevokeKey handles DELETE /api/v1/keys/:id.
func (s *Server) apiRevokeKey(c *fiber.Ctx) error {
	if err := s.revokeKey(c, viewerOf(c).Name); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// apiRevokeUserKey handles DELETE /api/v1/users/:name/keys/:id.
func (s *Server) apiRevokeUserKey(c *fiber.Ctx) error {
	if err := s.revokeUserKey(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Server) revokeUserKey(c *fiber.Ctx) error {
	u, err := s.userOf(c)
	if err != nil {
		return err
	}
	return s.revokeKey(c, u.Name)
}

// revokeKey revokes the key of a user that the address names.
func (s *Server) revokeKey(c *fiber.Ctx, user string) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	return s.store.RevokeKey(c.UserContext(), id, user, viewerOf(c).Name)
}

// keyDays are the lives of a key that the form offers, in days; 0 = for ever.
var keyDays = []int{7, 30, 90, 365, 0}

// keysView is the part of a page that lists the keys of a user.
type keysView struct {
	Rows   []sql.Key
	Owner  string // in the addresses of its forms; "" = whoever is logged in
	Scopes []sql.Scope
	Days   []int

	Made   *sql.Key // just now
	Secret string
	Asked  sql.Key // what was typed, where the form comes back
	For    int     // days
	Fault  *fault  // why it does
}

// Wrong reports whether the form comes back for this field.
func (view keysView) Wrong(field string) bool { return view.Fault != nil && view.Fault.names(field) }

// Action is the address of the form that revokes a key.
func (view keysView) Action(id int64) string {
	return orElse(view.Owner, "/account") + "/keys/" + strconv.FormatInt(id, 10) + "/revoke"
}

// Working reports whether a key is taken.
func (view keysView) Working(k sql.Key) bool { return k.Works(time.Now()) }

// keysOf lists the newest keys of a user. Those of the scope that a role allows can
// be made.
func (s *Server) keysOf(ctx context.Context, user string, role sql.Role) (view keysView, err error) {
	view.Days, view.For, view.Asked.Scope = keyDays, 90, sql.ScopeSubmit
	for _, scope := range sql.Scopes {
		if least(scope.Role(), role) == scope.Role() {
			view.Scopes = append(view.Scopes, scope)
		}
	}
	view.Rows, err = s.store.Keys(ctx, user, 0, maxPage)
	return view, err
}

// createKeyForm handles POST /account/keys. The secret is on the page that answers
// and nowhere else.
func (s *Server) createKeyForm(c *fiber.Ctx) error {
	k := sql.Key{Label: c.FormValue("label"), Scope: sql.Scope(c.FormValue("scope"))}
	days, err := strconv.Atoi(c.FormValue("days"))
	if err != nil || !slices.Contains(keyDays, days) {
		return wrongField("days", reasonInvalid, "The life of a key is one of those that the form offers.")
	}
	if days > 0 {
		k.Expires = new(time.Now().Add(time.Duration(days) * 24 * time.Hour))
	}
	made, secret, err := s.createKey(c, k)
	if err != nil {
		f := s.explain(c.UserContext(), err)
		if f.Field == "" {
			return err
		}
		return s.showAccount(c, f.Status, accountView{}, func(keys *keysView) { keys.Asked, keys.For, keys.Fault = k, days, f })
	}
	return s.showAccount(c, fiber.StatusCreated, accountView{}, func(keys *keysView) { keys.Made, keys.Secret = &made, secret })
}

// revokeKeyForm handles POST /account/keys/:id/revoke.
func (s *Server) revokeKeyForm(c *fiber.Ctx) error {
	if err := s.revokeKey(c, viewerOf(c).Name); err != nil {
		return err
	}
	return c.Redirect("/account#keys", fiber.StatusSeeOther)
}

// revokeUserKeyForm handles POST /users/:name/keys/:id/revoke.
func (s *Server) revokeUserKeyForm(c *fiber.Ctx) error {
	if err := s.revokeUserKey(c); err != nil {
		return err
	}
	return c.Redirect(userURL(c.Params("name"))+"#keys", fiber.StatusSeeOther)
}

// showAccount shows one's own account. The function changes what is shown of the
// keys.
func (s *Server) showAccount(c *fiber.Ctx, status int, view accountView, change func(*keysView)) (err error) {
	v := viewerOf(c)
	if view.Keys, err = s.keysOf(c.UserContext(), v.Name, v.Role); err != nil {
		return err
	}
	if change != nil {
		change(&view.Keys)
	}
	return s.page(c, status, "account", "Account", view)
}

// unknownToken refuses a token that is nobody's.
func unknownToken(err error) error {
	if errors.Is(err, sql.ErrNotFound) {
		return refuse(fiber.StatusUnauthorized, "session_unknown", "The token is unknown or has expired.", "Log in again, or use another key.")
	}
	return fmt.Errorf("look up a token: %w", err)
}
