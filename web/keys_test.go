package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/client"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// key makes a key of whoever c acts as, and returns its secret.
func (s *stage) key(c *client.Client, scope judge.Scope) string {
	s.Helper()
	_, secret, err := c.CreateKey(s.Context(), client.NewKey{Label: "for a test", Scope: string(scope)})
	s.must(err)
	return secret
}

func TestAKeyDoesWhatItsScopeAllows(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.AuthRequired = true })
	ctx := t.Context()
	login := s.someone("prof", judge.RoleStaff)
	sub := client.NewSubmission{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "int main() {}"}}}
	r, err := login.Submit(ctx, sub)
	s.must(err)
	attempts := map[string]func(*client.Client) error{
		"read":   func(c *client.Client) error { _, err := c.Problems(ctx); return err },
		"submit": func(c *client.Client) error { _, err := c.Submit(ctx, sub); return err },
		"setter": func(c *client.Client) error { _, err := c.ProblemVersions(ctx, "aplusb"); return err },
		"staff":  func(c *client.Client) error { _, err := c.Rejudge(ctx, r.JobID); return err },
	}
	for i, scope := range judge.Scopes[:4] {
		c := s.as(s.key(login, scope))
		for j, needs := range judge.Scopes[:4] {
			if err := attempts[string(needs)](c); (err == nil) != (j <= i) {
				t.Errorf("a key with scope %s does what needs %s: %v", scope, needs, err)
			}
		}
	}
	_, _, err = login.CreateKey(ctx, client.NewKey{Label: "too much", Scope: "admin"})
	problemOf(t, err, 422, "not_allowed")

	// Who loses a role loses it for all keys.
	staff := s.as(s.key(login, judge.ScopeStaff))
	s.must(s.store.SetRole(ctx, "prof", judge.RoleSetter, "test"))
	if attempts["setter"](staff) != nil {
		t.Error("a key of staff is no setter's after its owner became one")
	}
	problemOf(t, attempts["staff"](staff), 403, "forbidden")
}

func TestAKeyManagesNeitherKeysNorPasswords(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	login := s.admin()
	key := s.as(s.key(login, judge.ScopeAdmin))
	if _, _, err := key.Users(ctx, client.UserFilter{}); err != nil {
		t.Errorf("a key of an administrator: %v", err)
	}
	if u, err := key.GetAccount(ctx); err != nil || u.Name != "root" {
		t.Errorf("whose key it is: %+v, %v", u, err)
	}
	_, _, err := key.CreateKey(ctx, client.NewKey{Label: "another", Scope: "read"})
	problemOf(t, err, 403, "login_required")
	_, _, err = key.Keys(ctx, 0)
	problemOf(t, err, 403, "login_required")
	problemOf(t, key.DeleteKey(ctx, 1), 403, "login_required")
	problemOf(t, key.ChangePassword(ctx, "correct horse", "battery staple"), 403, "login_required")
	_, _, err = s.client.CreateKey(ctx, client.NewKey{Label: "the guest's", Scope: "read"})
	problemOf(t, err, 401, "login_required")
	secret := s.key(login, judge.ScopeAdmin)
	if r := s.do(http.MethodDelete, "/api/v1/sessions", "", "Authorization: Bearer "+secret); r.status != http.StatusUnauthorized {
		t.Errorf("logout of a key: %d", r.status)
	}
	// A browser has no keys: a cookie that holds one is nobody's.
	if r := s.do(http.MethodGet, "/users", "", "Cookie: "+peopleroom.SessionCookie+"="+secret); r.status != http.StatusForbidden {
		t.Errorf("a key in a cookie: %d", r.status)
	}
}

func TestAKeyEndsAndIsRevoked(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	root := s.admin()
	ann, bob := s.someone("ann", judge.RoleContestant), s.someone("bob", judge.RoleContestant)
	for what, k := range map[string]client.NewKey{
		"no label": {Scope: "read"}, "two lines": {Label: "a\nb", Scope: "read"}, "a long label": {Label: strings.Repeat("x", 101), Scope: "read"},
		"no such scope": {Label: "x", Scope: "write"}, "over": {Label: "x", Scope: "read", ExpiresAt: new(time.Now().Add(-time.Minute))},
	} {
		if _, _, err := ann.CreateKey(ctx, k); err == nil {
			t.Errorf("%s: a key was made", what)
		}
	}
	k, secret, err := ann.CreateKey(ctx, client.NewKey{Label: "laptop", Scope: "submit", ExpiresAt: new(time.Now().Add(time.Hour))})
	s.must(err)
	if !strings.HasPrefix(secret, "doj_") || len(secret) < 68 || !k.Works || k.Expires == nil {
		t.Errorf("key %+v, secret %q", k, secret)
	}
	if _, _, err := s.store.KeyOwner(ctx, secret); err == nil {
		t.Error("the database keeps the secret")
	}
	if u, _, err := s.store.KeyOwner(ctx, people.HashToken(secret)); err != nil || u.Name != "ann" {
		t.Errorf("the database does not know the hash of the secret: %v", err)
	}
	laptop := s.as(secret)
	if u, err := laptop.GetAccount(ctx); err != nil || u.Name != "ann" {
		t.Errorf("the key's account: %+v, %v", u, err)
	}
	if keys, next, err := ann.Keys(ctx, 0); err != nil || len(keys) != 1 || next != 0 || keys[0].LastUsed == nil {
		t.Errorf("ann's keys: %+v, %v", keys, err)
	}
	problemOf(t, bob.DeleteKey(ctx, k.ID), 404, "not_found")
	_, _, err = bob.UserKeys(ctx, "ann", 0)
	problemOf(t, err, 403, "forbidden")
	problemOf(t, bob.DeleteUserKey(ctx, "ann", k.ID), 403, "forbidden")
	problemOf(t, root.DeleteUserKey(ctx, "bob", k.ID), 404, "not_found")
	s.must(ann.DeleteKey(ctx, k.ID))
	_, err = laptop.GetAccount(ctx)
	problemOf(t, err, 401, "session_unknown")
	_, secret, err = ann.CreateKey(ctx, client.NewKey{Label: "phone", Scope: "read"})
	s.must(err)
	keys, _, err := root.UserKeys(ctx, "ann", 0)
	s.must(err)
	if len(keys) != 2 || keys[0].Label != "phone" || keys[1].Revoked == nil || keys[1].Works {
		t.Errorf("ann's keys, as the administrator sees them: %+v", keys)
	}
	s.must(root.DeleteUserKey(ctx, "ann", keys[0].ID))
	_, err = s.as(secret).GetAccount(ctx)
	problemOf(t, err, 401, "session_unknown")
}

func TestClientsOfJudge0UseKeys(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.AuthRequired = true })
	ann, prof := s.someone("ann", judge.RoleContestant), s.someone("prof", judge.RoleStaff)
	submit, read, staff := s.key(ann, judge.ScopeSubmit), s.key(ann, judge.ScopeRead), s.key(prof, judge.ScopeStaff)
	program := `{"language_id": 71, "source_code": "print(1)"}`
	r := s.do(http.MethodPost, "/judge0/submissions", program, asJSON, "X-Auth-Token: "+submit)
	if r.status != http.StatusCreated {
		t.Fatalf("a submission with a key: %d %s", r.status, r.body)
	}
	token := regexp.MustCompile(`"token":"([^"]+)"`).FindStringSubmatch(r.body)[1]
	for name, tt := range map[string]struct {
		method, path string
		headers      []string
		status       int
	}{
		"a key that reads looks":               {"GET", "/judge0/submissions/" + token, []string{"X-Auth-Token: " + read}, 200},
		"a key that reads submits":             {"POST", "/judge0/submissions", []string{"X-Auth-Token: " + read}, 403},
		"a key that reads is good":             {"POST", "/judge0/authenticate", []string{"X-Auth-Token: " + read}, 200},
		"it is not staff's":                    {"POST", "/judge0/authorize", []string{"X-Auth-Token: " + submit}, 403},
		"staff's key":                          {"POST", "/judge0/authorize", []string{"X-Auth-User: " + staff}, 200},
		"staff's key beside a contestant's":    {"GET", "/judge0/submissions", []string{"X-Auth-Token: " + submit, "X-Auth-User: " + staff}, 200},
		"a key that is nobody's":               {"GET", "/judge0/languages", []string{"X-Auth-Token: doj_" + strings.Repeat("0", 64)}, 401},
		"the same as an ordinary bearer token": {"GET", "/judge0/submissions/" + token, []string{"Authorization: Bearer " + submit}, 200},
	} {
		if r := s.do(tt.method, tt.path, program, append(tt.headers, asJSON)...); r.status != tt.status {
			t.Errorf("%s: %d, want %d: %s", name, r.status, tt.status, r.body)
		}
	}
}

func TestKeysAreMadeAndRevokedWithForms(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	s.user("root", "correct horse", judge.RoleAdmin)
	cookie, root := s.login("ann", "correct horse"), s.login("root", "correct horse")
	post := func(cookie, path string, status int, fields url.Values) string {
		t.Helper()
		fields.Set("csrf", s.csrf(cookie))
		fields.Set("sure", "yes") // where that is asked
		r := s.do(http.MethodPost, path, fields.Encode(), asForm, cookie)
		if r.status != status {
			t.Errorf("POST %s: %d, want %d: %s", path, r.status, status, r.body)
		}
		return r.body
	}
	page := s.do(http.MethodGet, "/account", "", cookie).body
	if strings.Contains(page, `<option value="setter"`) || !strings.Contains(page, `<option value="submit" selected`) {
		t.Error("the form offers more than the owner may")
	}
	if body := post(cookie, "/account/keys", 422, url.Values{"label": {""}, "scope": {"read"}, "days": {"30"}}); !strings.Contains(body, `aria-invalid="true"`) {
		t.Error("the field that is wrong is not marked")
	}
	post(cookie, "/account/keys", 422, url.Values{"label": {"x"}, "scope": {"staff"}, "days": {"30"}})
	post(cookie, "/account/keys", 422, url.Values{"label": {"x"}, "scope": {"read"}, "days": {"31"}})
	made := post(cookie, "/account/keys", 201, url.Values{"label": {"<laptop>"}, "scope": {"submit"}, "days": {"30"}})
	secret := regexp.MustCompile(`doj_[0-9a-f]{64}`).FindString(made)
	if secret == "" || !strings.Contains(made, "&lt;laptop&gt;") {
		t.Fatalf("the page has no secret: %s", made)
	}
	if again := s.do(http.MethodGet, "/account", "", cookie).body; strings.Contains(again, secret) || !strings.Contains(again, "/account/keys/1/revoke") {
		t.Error("the page shows the secret again, or not the key")
	}
	post(root, "/account/keys/1/revoke", 404, url.Values{})
	if page := s.do(http.MethodGet, "/users/ann", "", root).body; !strings.Contains(page, "/users/ann/keys/1/revoke") {
		t.Error("the administrator does not see the key")
	}
	post(cookie, "/account/keys/1/revoke", 303, url.Values{})
	if r := s.do(http.MethodGet, "/api/v1/account", "", "Authorization: Bearer "+secret); r.status != http.StatusUnauthorized {
		t.Errorf("the revoked key: %d", r.status)
	}
	post(cookie, "/account/keys", 201, url.Values{"label": {"phone"}, "scope": {"read"}, "days": {"0"}})
	post(root, "/users/ann/keys/2/revoke", 303, url.Values{})
	if page := s.do(http.MethodGet, "/account", "", cookie).body; strings.Contains(page, "/revoke\"") {
		t.Error("a key of ann's works")
	}
}

func TestAUserHasABoundedNumberOfKeys(t *testing.T) {
	s := newStage(t)
	ann := s.someone("ann", judge.RoleContestant)
	for i := range people.MaxKeys {
		_, err := s.store.CreateKey(t.Context(), judge.Key{User: "ann", Label: "x", Scope: judge.ScopeRead}, fmt.Sprint(i), "ann")
		s.must(err)
	}
	_, _, err := ann.CreateKey(t.Context(), client.NewKey{Label: "one more", Scope: "read"})
	problemOf(t, err, 422, "too_many")
	s.must(ann.DeleteKey(t.Context(), 1))
	s.key(ann, judge.ScopeRead)
}

func TestAKeyCanEndItself(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	ann := s.someone("ann", judge.RoleContestant)
	for _, scope := range []judge.Scope{judge.ScopeRead, judge.ScopeSubmit} {
		key := s.as(s.keyOf("ann", scope))
		other := s.as(s.keyOf("ann", scope))
		s.must(key.DeleteAccountKey(ctx))
		_, err := key.GetAccount(ctx)
		problemOf(t, err, http.StatusUnauthorized, "session_unknown")
		if _, err := other.GetAccount(ctx); err != nil {
			t.Errorf("another key of scope %s: %v", scope, err)
		}
	}
	problemOf(t, ann.DeleteAccountKey(ctx), http.StatusConflict, "no_key")
	if _, err := ann.GetAccount(ctx); err != nil {
		t.Errorf("the session, after that: %v", err)
	}
}

func TestAnAdministratorMakesKeysOfOthers(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	root := s.admin()
	s.someone("robot", judge.RoleSetter)
	made, err := root.PostUserKeys(ctx, "robot", client.NewKey{Label: "nightly", Scope: "setter"})
	s.must(err)
	if a, err := s.as(made.Secret).GetAccount(ctx); err != nil || a.Name != "robot" || a.Scope != judge.ScopeSetter {
		t.Errorf("the key is of %+v, %v", a, err)
	}
	_, err = root.PostUserKeys(ctx, "robot", client.NewKey{Label: "more", Scope: "staff"})
	problemOf(t, err, http.StatusUnprocessableEntity, "not_allowed")
	_, err = root.PostUserKeys(ctx, "nobody", client.NewKey{Label: "x", Scope: "read"})
	problemOf(t, err, http.StatusNotFound, "not_found")
	_, err = s.someone("prof", judge.RoleStaff).PostUserKeys(ctx, "robot", client.NewKey{Label: "x", Scope: "read"})
	problemOf(t, err, http.StatusForbidden, "forbidden")
	entries, _, err := root.AuditLog(ctx, client.AuditFilter{Actor: "root", Action: "key_create"})
	if s.must(err); len(entries) != 1 {
		t.Errorf("the audit log says %+v", entries)
	}
}
