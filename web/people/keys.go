package people

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
)

// keyJSON is a key, for its owner and administrators.
type keyJSON struct {
	ID       int64       `json:"id"`
	Label    string      `json:"label"`
	Scope    judge.Scope `json:"scope"`
	Works    bool        `json:"works"`
	Created  time.Time   `json:"created_at"`
	Expires  *time.Time  `json:"expires_at"`   // null: never
	LastUsed *time.Time  `json:"last_used_at"` // null: never
	Revoked  *time.Time  `json:"revoked_at"`
}

// newKeyJSON is a key that was made just now.
type newKeyJSON struct {
	keyJSON
	Secret string `json:"secret"`
}

func publicKey(k judge.Key) keyJSON {
	return keyJSON{k.ID, k.Label, k.Scope, k.Works(time.Now()), k.Created, k.Expires, k.LastUsed, k.Revoked}
}

// apiKeys handles GET /api/v1/keys?before=&limit=: one's own keys, newest first.
func (s *Room) apiKeys(c *fiber.Ctx) error { return s.listKeys(c, site.ViewerOf(c).Name) }

// apiUserKeys handles GET /api/v1/users/:name/keys.
func (s *Room) apiUserKeys(c *fiber.Ctx) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return s.listKeys(c, u.Name)
}

func (s *Room) listKeys(c *fiber.Ctx, user string) error {
	f, err := site.FilterOf(c)
	if err != nil {
		return err
	}
	found, err := s.Store.Keys(c.UserContext(), user, f.Before, f.Limit)
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
func (s *Room) apiCreateKey(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	return s.makeKey(c, v.Name, v.Role)
}

// apiCreateUserKey handles POST /api/v1/users/:name/keys, which is the same for another user.
func (s *Room) apiCreateUserKey(c *fiber.Ctx) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return s.makeKey(c, u.Name, u.Role)
}

// makeKey makes the key that a request describes of somebody with a role.
func (s *Room) makeKey(c *fiber.Ctx, user string, role judge.Role) error {
	f, err := site.ReadFields(c, "label", "scope", "expires_at")
	if err != nil {
		return err
	}
	k := judge.Key{User: user, Label: f.Text("label"), Scope: judge.Scope(f.Text("scope"))}
	if f.Has("expires_at") {
		at, err := time.Parse(time.RFC3339, f.Text("expires_at"))
		if err != nil {
			f.Wrong.Add(site.WrongField("expires_at", site.ReasonInvalid, "The time has to be like 2030-01-31T12:00:00Z."))
		}
		k.Expires = &at
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	k, secret, err := s.createKey(c, k, role)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(newKeyJSON{publicKey(k), secret})
}

// createKey makes a key of somebody with a role, and its secret.
func (s *Room) createKey(c *fiber.Ctx, k judge.Key, role judge.Role) (judge.Key, string, error) {
	k.Label = strings.TrimSpace(k.Label)
	var wrong site.WrongFields
	wrong.Add(people.CheckKey(k, role, time.Now()))
	if err := wrong.Err(); err != nil {
		return k, "", err
	}
	kept, err := s.Store.Keys(c.UserContext(), k.User, 0, site.MaxPage)
	if err != nil {
		return k, "", err
	}
	if working := len(slices.DeleteFunc(kept, func(k judge.Key) bool { return !k.Works(time.Now()) })); working >= people.MaxKeys {
		return k, "", site.WrongField("label", "too_many", "The account has %d keys that work; revoke those that nobody needs.", working)
	}
	secret, hash := people.NewSecret()
	k, err = s.Store.CreateKey(c.UserContext(), k, hash, site.ViewerOf(c).Name)
	return k, secret, err
}

// apiRevokeOwnKey handles DELETE /api/v1/account/key: whoever has a key may end it.
func (s *Room) apiRevokeOwnKey(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	if v.Key == 0 {
		return site.Refuse(fiber.StatusConflict, "no_key", "No key asks, but a session.", "End that with DELETE /api/v1/sessions; DELETE /api/v1/keys/:id revokes one of its owner's keys.")
	}
	if err := s.Store.RevokeKey(c.UserContext(), v.Key, v.Name, v.Name); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// apiRevokeKey handles DELETE /api/v1/keys/:id.
func (s *Room) apiRevokeKey(c *fiber.Ctx) error {
	if err := s.revokeKey(c, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// apiRevokeUserKey handles DELETE /api/v1/users/:name/keys/:id.
func (s *Room) apiRevokeUserKey(c *fiber.Ctx) error {
	if err := s.revokeUserKey(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Room) revokeUserKey(c *fiber.Ctx) error {
	u, err := s.NamedAccount(c)
	if err != nil {
		return err
	}
	return s.revokeKey(c, u.Name)
}

// revokeKey revokes the key of a user that the address names.
func (s *Room) revokeKey(c *fiber.Ctx, user string) error {
	id, err := site.IDOf(c)
	if err != nil {
		return err
	}
	return s.Store.RevokeKey(c.UserContext(), id, user, site.ViewerOf(c).Name)
}

// keyDays are the lives of a key that the form offers, in days; 0 = for ever.
var keyDays = []int{7, 30, 90, 365, 0}

// keysView is the part of a page that lists the keys of a user.
type keysView struct {
	Rows   []judge.Key
	Owner  string // in the addresses of its forms; "" = whoever is logged in
	Scopes []judge.Scope
	Days   []int

	Made   *judge.Key // just now
	Secret string
	Asked  judge.Key   // what was typed, where the form comes back
	For    int         // days
	Fault  *site.Fault // why it does
}

// Action is the address of the form that revokes a key.
func (view keysView) Action(id int64) string {
	return site.OrElse(view.Owner, "/account") + "/keys/" + strconv.FormatInt(id, 10) + "/revoke"
}

// Working reports whether a key is taken.
func (view keysView) Working(k judge.Key) bool { return k.Works(time.Now()) }

// keysOf lists the newest keys of a user. Those of the scope that a role allows can be made.
func (s *Room) keysOf(ctx context.Context, user string, role judge.Role) (view keysView, err error) {
	view.Days, view.For, view.Asked.Scope = keyDays, 90, judge.ScopeSubmit
	for _, scope := range judge.Scopes {
		if people.Least(scope.Role(), role) == scope.Role() {
			view.Scopes = append(view.Scopes, scope)
		}
	}
	view.Rows, err = s.Store.Keys(ctx, user, 0, site.MaxPage)
	return view, err
}

// createKeyForm handles POST /account/keys. The secret is on the page that answers and nowhere else.
func (s *Room) createKeyForm(c *fiber.Ctx) error {
	v := site.ViewerOf(c)
	k := judge.Key{User: v.Name, Label: c.FormValue("label"), Scope: judge.Scope(c.FormValue("scope"))}
	days, err := strconv.Atoi(c.FormValue("days"))
	if err != nil || !slices.Contains(keyDays, days) {
		return site.WrongField("days", site.ReasonInvalid, "The life of a key is one of those that the form offers.")
	}
	if days > 0 {
		k.Expires = new(time.Now().Add(time.Duration(days) * 24 * time.Hour))
	}
	made, secret, err := s.createKey(c, k, v.Role)
	if err != nil {
		f := s.Explain(c.UserContext(), err)
		if f.Field == "" {
			return err
		}
		return s.showAccount(c, f.Status, accountView{}, func(keys *keysView) { keys.Asked, keys.For, keys.Fault = k, days, f })
	}
	return s.showAccount(c, fiber.StatusCreated, accountView{}, func(keys *keysView) { keys.Made, keys.Secret = &made, secret })
}

// revokeKeyForm handles POST /account/keys/:id/revoke.
func (s *Room) revokeKeyForm(c *fiber.Ctx) error {
	if err := s.revokeKey(c, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRevoked, "/account#keys")
}

// revokeUserKeyForm handles POST /users/:name/keys/:id/revoke.
func (s *Room) revokeUserKeyForm(c *fiber.Ctx) error {
	if err := s.revokeUserKey(c); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneRevoked, site.UserURL(c.Params("name"))+"#keys")
}

// showAccount shows one's own account. The function changes what is shown of the keys.
func (s *Room) showAccount(c *fiber.Ctx, status int, view accountView, change func(*keysView)) (err error) {
	v := site.ViewerOf(c)
	if view.Keys, err = s.keysOf(c.UserContext(), v.Name, v.Role); err != nil {
		return err
	}
	if change != nil {
		change(&view.Keys)
	}
	if err := s.fillProfile(c, &view.Profile); err != nil {
		return err
	}
	u, err := s.OwnAccount(c)
	if err != nil {
		return err
	}
	if view.Factors, err = s.Factors.Of(c, u); err != nil {
		return err
	}
	if view.Reading.Fault == nil {
		view.Reading.Language, view.Reading.Zone = v.Language, v.Zone
	}
	return s.Page(c, status, "account", "Account", view)
}
