package web

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/client"
)

// admin adds an administrator and returns their client.
func (s *stage) admin() *client.Client {
	s.Helper()
	return s.someone("root", judge.RoleAdmin)
}

// problemOf checks that err is a refusal for this reason.
func problemOf(t *testing.T, err error, status int, reason string) {
	t.Helper()
	var p *client.Problem
	if !errors.As(err, &p) || p.Status != status || p.Reason != reason {
		t.Errorf("got %v, want %d %s", err, status, reason)
	}
}

func TestAnAdministratorMakesAndChangesAccounts(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	root := s.admin()
	given, err := root.CreateUser(ctx, "ann", "setter")
	s.must(err)
	for name, role := range map[string]string{"Ann": "setter", "guest": "contestant", "": "contestant", "a/b": "contestant", "-x": "contestant"} {
		_, err := root.CreateUser(ctx, name, role)
		problemOf(t, err, 422, "invalid")
	}
	_, err = root.CreateUser(ctx, "ann", "setter")
	problemOf(t, err, 422, "duplicate")
	_, err = root.CreateUser(ctx, "bob", "emperor")
	problemOf(t, err, 422, "unknown")

	// The given password opens nothing but the change of it.
	token, err := s.client.Login(ctx, "ann", given)
	s.must(err)
	ann := s.as(token)
	_, err = ann.Problems(ctx)
	problemOf(t, err, 403, "one_time_password")
	if u, err := ann.GetAccount(ctx); err != nil || !u.OneTime || u.Role != "setter" {
		t.Errorf("the account: %+v, %v", u, err)
	}
	problemOf(t, ann.ChangePassword(ctx, given, given), 422, "invalid")
	problemOf(t, ann.ChangePassword(ctx, "wrong", "battery staple"), 422, "wrong_password")
	s.must(ann.ChangePassword(ctx, given, "battery staple"))
	if _, err := ann.ProblemVersions(ctx, "aplusb"); err != nil {
		t.Errorf("after the change the setter may not do what setters may: %v", err)
	}

	s.must(root.SetRole(ctx, "ann", "contestant"))
	_, err = ann.ProblemVersions(ctx, "aplusb")
	problemOf(t, err, 403, "forbidden")
	problemOf(t, root.SetRole(ctx, "root", "staff"), 409, "last_admin")
	problemOf(t, root.SetRole(ctx, "nobody", "staff"), 404, "not_found")

	s.must(root.DisableUser(ctx, "ann", true))
	_, err = ann.GetAccount(ctx)
	problemOf(t, err, 401, "session_unknown")
	_, err = s.client.Login(ctx, "ann", "battery staple")
	problemOf(t, err, 401, "wrong_login")
	if u, err := root.GetUser(ctx, "ann"); err != nil || u.Disabled == nil {
		t.Errorf("the disabled account: %+v, %v", u, err)
	}
	s.must(root.DisableUser(ctx, "ann", false))
	token, err = s.client.Login(ctx, "ann", "battery staple")
	s.must(err)
	ann = s.as(token)
	fresh, err := root.ResetPassword(ctx, "ann")
	s.must(err)
	_, err = ann.GetAccount(ctx)
	problemOf(t, err, 401, "session_unknown")
	_, err = s.client.Login(ctx, "ann", "battery staple")
	problemOf(t, err, 401, "wrong_login")
	if _, err := s.client.Login(ctx, "ann", fresh); err != nil {
		t.Errorf("the given password: %v", err)
	}
}

func TestOnlyAdministratorsManageAccounts(t *testing.T) {
	s := newStage(t)
	for _, role := range []judge.Role{judge.RoleContestant, judge.RoleSetter, judge.RoleStaff} {
		c := s.someone("some-"+string(role), role)
		_, _, err := c.Users(t.Context(), client.UserFilter{})
		problemOf(t, err, 403, "forbidden")
		problemOf(t, c.SetRole(t.Context(), "some-"+string(role), "admin"), 403, "forbidden")
		_, err = c.ResetPassword(t.Context(), "some-contestant")
		problemOf(t, err, 403, "forbidden")
	}
	if r := s.do(http.MethodGet, "/users", ""); r.status != http.StatusForbidden {
		t.Errorf("the guest sees the accounts: %d", r.status)
	}
}

func TestAccountsArePaged(t *testing.T) {
	s := newStage(t)
	root := s.admin()
	for _, name := range []string{"u1", "u2", "u3"} {
		s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: judge.RoleContestant}))
	}
	var names []string
	for after := ""; ; {
		users, next, err := root.Users(t.Context(), client.UserFilter{Prefix: "u", After: after, Limit: 2})
		s.must(err)
		for _, u := range users {
			names = append(names, u.Name)
		}
		if after = next; after == "" {
			break
		}
	}
	if strings.Join(names, " ") != "u1 u2 u3" {
		t.Errorf("the pages have %v", names)
	}
	_, _, err := root.Users(t.Context(), client.UserFilter{Limit: 1000})
	problemOf(t, err, 422, "invalid")
}

func TestASessionThatSomebodyPlantedIsNotContinued(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	s.user("eve", "correct horse", judge.RoleContestant)
	// Eve plants a cookie of her own invention, or of her own session, in Ann's
	// browser before Ann logs in.
	for what, planted := range map[string]string{"invented": "deepoj_session=planted-by-eve", "Eve's own": strings.TrimPrefix(s.login("eve", "correct horse"), "Cookie: ")} {
		csrf := ""
		if page := s.do(http.MethodGet, "/login", "", "Cookie: "+planted); page.status == http.StatusOK {
			if found := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page.body); found != nil {
				csrf = found[1]
			}
		} else { // logged in as Eve, so the form is on another page
			csrf = s.csrf("Cookie: " + planted)
		}
		form := url.Values{"name": {"ann"}, "password": {"correct horse"}, "csrf": {csrf}}.Encode()
		r := s.do(http.MethodPost, "/login", form, asForm, "Cookie: "+planted)
		cookie, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
		if r.status != http.StatusSeeOther || cookie == "" || cookie == planted {
			t.Errorf("%s: login answers %d and sets %q", what, r.status, cookie)
		}
		for token, who := range map[string]string{cookie: `<a href="/account">ann</a>`, planted: `<span class="muted">guest</span>`} {
			if page := s.do(http.MethodGet, "/", "", "Cookie: "+token); !strings.Contains(page.body, who) {
				t.Errorf("%s: the session %s is not that of %s", what, token, who)
			}
		}
	}
}

func TestTheUsersPageWorksWithForms(t *testing.T) {
	s := newStage(t)
	s.user("root", "correct horse", judge.RoleAdmin)
	cookie := s.login("root", "correct horse")
	csrf := s.csrf(cookie)
	post := func(path string, status int, fields url.Values) string {
		t.Helper()
		fields.Set("csrf", csrf)
		fields.Set("sure", "yes") // where that is asked
		r := s.do(http.MethodPost, path, fields.Encode(), asForm, cookie)
		if r.status != status {
			t.Errorf("POST %s: %d, want %d: %s", path, r.status, status, r.body)
		}
		return r.body
	}
	made := post("/users", 201, url.Values{"names": {"ann, bob\ncat"}, "role": {"contestant"}})
	passwords := regexp.MustCompile(`<a href="/users/(\w+)">\w+</a></th><td><code>([a-z0-9-]{23})</code>`).FindAllStringSubmatch(made, -1)
	if len(passwords) != 3 || passwords[1][1] != "bob" {
		t.Fatalf("made: %v", passwords)
	}
	for _, bad := range []string{"", "Ann", "dan dan", "guest", strings.Repeat("x", 65)} {
		if body := post("/users", 422, url.Values{"names": {bad}, "role": {"contestant"}}); !strings.Contains(body, `aria-invalid="true"`) {
			t.Errorf("%q: no field is marked", bad)
		}
	}
	// Those before one that exists are made, and their passwords shown.
	if body := post("/users", 422, url.Values{"names": {"dan Eve fay Gil fay"}, "role": {"contestant"}}); strings.Count(body, "A name has up to 64") != 2 ||
		!strings.Contains(body, "Eve: A name") || !strings.Contains(body, "Gil: A name") || !strings.Contains(body, "fay is there twice.") {
		t.Errorf("not all wrong names are told: %s", between(body, `id="create"`, "</form>"))
	}
	if body := post("/users", 422, url.Values{"names": {"dan bob eve"}, "role": {"setter"}}); !strings.Contains(body, `<a href="/users/dan">dan</a></th><td><code>`) || !strings.Contains(body, "bob\neve</textarea>") {
		t.Error("the page does not say what was made and what was not")
	}
	if page := s.do(http.MethodGet, "/users?role=setter", "", cookie); !strings.Contains(page.body, "dan") || strings.Contains(page.body, ">bob<") {
		t.Error("the filter does not choose setters")
	}
	post("/users/bob/role", 303, url.Values{"role": {"staff"}})
	if body := post("/users/bob/role", 422, url.Values{"role": {"emperor"}}); !strings.Contains(body, "no role") {
		t.Error("an unknown role is not named")
	}
	if body := post("/users/root/disable", 409, url.Values{}); !strings.Contains(body, "no other administrator") {
		t.Error("the last administrator can be disabled")
	}
	post("/users/bob/disable", 303, url.Values{})
	if page := s.do(http.MethodGet, "/users/bob", "", cookie); !strings.Contains(page.body, "disabled") || !strings.Contains(page.body, "/users/bob/enable") {
		t.Error("the page does not show that bob is disabled")
	}
	post("/users/bob/enable", 303, url.Values{})
	body := post("/users/bob/password", 200, url.Values{})
	found := regexp.MustCompile(`<code id="password">([^<]+)<`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no password: %s", body)
	}

	// Who has a one-time password is led to the change of it, and on to where they
	// wanted.
	bob := s.login("bob", found[1])
	r := s.do(http.MethodGet, "/queue?group=x", "", bob)
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/account?next=%2Fqueue%3Fgroup%3Dx" {
		t.Errorf("with a one-time password: %d, to %s", r.status, r.header.Get("Location"))
	}
	page := s.do(http.MethodGet, r.header.Get("Location"), "", bob)
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page.body)
	if token == nil || !strings.Contains(page.body, "choose your own") {
		t.Fatalf("the page to change it: %s", page.body)
	}
	form := url.Values{"csrf": {token[1]}, "next": {"/queue?group=x"}, "current": {found[1]}, "new": {"battery staple"}, "again": {"battery staple"}}
	if r := s.do(http.MethodPost, "/account", form.Encode(), asForm, bob); r.status != http.StatusSeeOther || r.header.Get("Location") != "/queue?group=x" {
		t.Errorf("after the change: %d, to %s", r.status, r.header.Get("Location"))
	}
	if r := s.do(http.MethodGet, "/queue?group=x", "", bob); r.status != http.StatusOK {
		t.Errorf("after the change the page is %d", r.status)
	}
	form.Set("next", "//evil.example")
	form.Set("current", "battery staple")
	form.Set("new", "battery stable")
	form.Set("again", "battery stable")
	if r := s.do(http.MethodPost, "/account", form.Encode(), asForm, bob); r.header.Get("Location") != "/" {
		t.Errorf("another server's address: %d, to %s", r.status, r.header.Get("Location"))
	}
}
