package web

import (
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/client"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// stale makes a session one whose owner proved long ago who they are, or never did.
func (s *stage) stale(name string, ago time.Duration) string {
	s.Helper()
	u, err := s.store.User(s.Context(), name)
	s.must(err)
	token := people.NewToken(16)
	s.must(s.store.SaveVouchedSession(s.Context(), people.HashToken(token), u, time.Now().Add(time.Hour)))
	if ago > 0 {
		s.must(s.store.ProveSession(s.Context(), people.HashToken(token), name, time.Now().Add(-ago)))
	}
	return token
}

// power is something that gives power, takes it away or destroys.
type power struct {
	name             string
	method, path, in string // through the API
	page             string // where a form does the same
	form             url.Values
	keys             bool // whether a key with the scope may
	done             int  // status of the API's answer
}

// acts are all that ask who somebody is, in the order in which each finds what it
// needs.
func acts(letter int64) []power {
	v := func(pairs ...string) url.Values {
		out := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			out.Set(pairs[i], pairs[i+1])
		}
		return out
	}
	hook := v("url", "https://example.org/secret", "submission.finished", "on")
	return []power{
		{"make a setter", "POST", "/api/v1/users", `{"name": "new1", "role": "setter"}`, "/users", v("names", "new1", "role", "setter"), false, 201},
		{"make staff", "POST", "/api/v1/users", `{"name": "new2", "role": "staff"}`, "/users", v("names", "new2", "role", "staff"), false, 201},
		{"make an administrator", "POST", "/api/v1/users", `{"name": "new3", "role": "admin"}`, "/users", v("names", "new3", "role", "admin"), false, 201},
		{"promote", "POST", "/api/v1/users/ann/role", `{"role": "admin"}`, "/users/ann/role", v("role", "admin"), false, 200},
		{"demote", "POST", "/api/v1/users/ann/role", `{"role": "contestant"}`, "/users/ann/role", v("role", "contestant"), false, 200},
		{"disable", "POST", "/api/v1/users/ann/disable", `{}`, "/users/ann/disable", v(), false, 200},
		{"enable", "POST", "/api/v1/users/ann/enable", `{}`, "/users/ann/enable", v(), false, 200},
		{"reset a password", "POST", "/api/v1/users/ann/password", `{}`, "/users/ann/password", v(), false, 200},
		{"revoke a key of another", "DELETE", "/api/v1/users/ann/keys/1", ``, "/users/ann/keys/1/revoke", v(), false, 204},
		{"make a key", "POST", "/api/v1/keys", `{"label": "x", "scope": "admin"}`, "/account/keys", v("label", "x", "scope", "admin", "days", "30"), false, 201},
		{"make a webhook", "POST", "/api/v1/webhooks", `{"url": "https://example.org/secret", "kinds": ["submission.finished"]}`, "/webhooks", hook, false, 201},
		{"change the secret of a webhook", "POST", "/api/v1/webhooks/1/rotate", `{}`, "/webhooks/1/rotate", v(), false, 200},
		{"delete a webhook", "DELETE", "/api/v1/webhooks/1", ``, "/webhooks/1/delete", v(), false, 204},
		{"make staff of a space", "POST", "/api/v1/spaces/course/members", `{"names": ["ann"], "role": "staff"}`, "/spaces/course/members", v("names", "ann", "role", "staff"), false, 200},
		{"make a setter of a space", "POST", "/api/v1/spaces/course/members", `{"names": ["ann"], "role": "setter"}`, "/spaces/course/members", v("names", "ann", "role", "setter"), false, 200},
		{"delete a space", "DELETE", "/api/v1/spaces/course", ``, "/spaces/course/delete", v(), true, 204},
		{"discard a dead letter", "POST", fmt.Sprintf("/api/v1/dlq/%d/discard", letter), `{"reason": "two\nlines"}`, fmt.Sprintf("/dlq/%d/discard", letter), v("reason", "two\nlines \"quoted\""), true, 200},
	}
}

// powers makes what the acts change, on a server of its own.
func powers(t *testing.T, options ...func(*site.Config)) (*stage, []power) {
	t.Helper()
	s := newStage(t, options...)
	hash, err := people.HashPassword("correct horse")
	s.must(err)
	s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "root", PasswordHash: hash, Role: judge.RoleAdmin}))
	s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: "x", Role: judge.RoleContestant}))
	s.keyOf("ann", judge.ScopeRead)
	root := s.as(s.session("root"))
	_, err = root.CreateSpace(t.Context(), "course", client.SpaceChange{"title": "A course"})
	s.must(err)
	_, _, err = root.CreateWebhook(t.Context(), client.NewWebhook{URL: "https://example.org/x", Kinds: []string{"submission.finished"}})
	s.must(err)
	id := s.submit("aplusb", "cpp", "x")
	s.must(s.store.Bury(t.Context(), s.claim(id), judge.ReasonPayload, "schema_version 7"))
	return s, acts(id)
}

func TestActsOfPowerNeedASessionThatHasJustProvedWhoseItIs(t *testing.T) {
	s, all := powers(t)
	s.held()() // nobody really waits
	headersOf := map[string][]string{
		"a session of long ago":              {"Authorization: Bearer " + s.stale("root", 11*time.Minute)},
		"a session that proved nothing here": {"Authorization: Bearer " + s.stale("root", 0)},
	}
	for who, headers := range headersOf {
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + strings.TrimPrefix(headers[0], "Authorization: Bearer ")
		csrf := s.csrf(cookie)
		for _, a := range all {
			f := document(t, s.do(a.method, a.path, a.in, append(headers, asJSON)...))
			if f.Status != http.StatusForbidden || f.Reason != "not_confirmed" || f.Remedy == "" {
				t.Errorf("%s, with %s: %d %s", a.name, who, f.Status, f.Reason)
			}
			for _, password := range []string{"", "wrong"} {
				form := url.Values{"csrf": {csrf}, "sure": {"yes"}}
				maps.Copy(form, a.form)
				if password != "" {
					form.Set("confirm", password)
				}
				r := s.do(http.MethodPost, a.page, form.Encode(), asForm, "Accept: text/html", cookie)
				asks := r.status == http.StatusForbidden || r.status == http.StatusUnprocessableEntity || r.status == http.StatusTooManyRequests
				if !asks || !strings.Contains(r.body, `type="password"`) || !strings.Contains(r.body, `action="`+a.page+`"`) {
					t.Errorf("%s by the form with the password %q, with %s: %d %s", a.name, password, who, r.status, r.body)
				}
				for name, values := range a.form {
					if want := fmt.Sprintf(`name="%s" value="%s"`, name, html.EscapeString(values[0])); !strings.Contains(unescaped(r.body), unescaped(want)) {
						t.Errorf("%s by the form: the page that asks for the password lost %s: %s", a.name, want, r.body)
					}
				}
			}
		}
	}
	admin := s.keyOf("root", judge.ScopeAdmin)
	for _, a := range all {
		r := s.do(a.method, a.path, a.in, "Authorization: Bearer "+admin, asJSON)
		if refused := r.status == http.StatusForbidden && strings.Contains(r.body, "login_required"); refused == a.keys {
			t.Errorf("%s, with a key of scope admin: %d %s", a.name, r.status, r.body)
		}
	}
	// Nothing of it was done but what a key may.
	for _, u := range []string{"new1", "new2", "new3"} {
		if _, err := s.store.User(t.Context(), u); err == nil {
			t.Errorf("the account %s was made", u)
		}
	}
	if u, err := s.store.User(t.Context(), "ann"); err != nil || u.Role != judge.RoleContestant || u.Disabled != nil || u.OneTime {
		t.Errorf("ann's account was changed: %+v, %v", u, err)
	}
	if hooks, err := s.store.Webhooks(t.Context(), "", 0, 10); err != nil || len(hooks) != 1 {
		t.Errorf("webhooks were changed: %v, %v", hooks, err)
	}
	// A contestant's account is what a key may make: a course is enrolled by programs.
	if _, err := s.as(admin).CreateUser(t.Context(), "new4", "contestant"); err != nil {
		t.Errorf("a key of scope admin makes no contestant: %v", err)
	}
}

// unescaped makes two ways to escape the same text equal.
func unescaped(text string) string { return html.UnescapeString(text) }

func TestWhoHasJustProvedWhoTheyAreMayAct(t *testing.T) {
	for how, prove := range map[string]func(s *stage) string{
		"by a login": func(s *stage) string {
			token, err := s.client.Login(s.Context(), "root", "correct horse")
			s.must(err)
			return token
		},
		"by the password once more": func(s *stage) string {
			token := s.stale("root", 0)
			problemOf(s.T, s.as(token).Confirm(s.Context(), "wrong"), 422, "wrong_password")
			s.must(s.as(token).Confirm(s.Context(), "correct horse"))
			return token
		},
	} {
		s, all := powers(t)
		token := prove(s)
		for _, a := range all {
			if r := s.do(a.method, a.path, a.in, "Authorization: Bearer "+token, asJSON); r.status != a.done {
				t.Errorf("%s: %s: %d %s", how, a.name, r.status, r.body)
			}
		}
	}
	// By forms: the page that asks for the password sends all on.
	s, all := powers(t)
	for _, a := range all {
		cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.stale("root", 0)
		form := url.Values{"csrf": {s.csrf(cookie)}, "sure": {"yes"}}
		maps.Copy(form, a.form)
		asks := s.do(http.MethodPost, a.page, form.Encode(), asForm, "Accept: text/html", cookie)
		action, filled := formIn(t, asks.body)
		filled.Set("confirm", "correct horse")
		if r := s.do(http.MethodPost, action, filled.Encode(), asForm, "Accept: text/html", cookie); r.status >= 400 {
			t.Errorf("%s by the form with the password: %d %s", a.name, r.status, r.body)
		}
	}
	for name, role := range map[string]judge.Role{"new1": judge.RoleSetter, "new2": judge.RoleStaff, "new3": judge.RoleAdmin} {
		if u, err := s.store.User(t.Context(), name); err != nil || u.Role != role {
			t.Errorf("the form made %+v, %v", u, err)
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/dlq/1", "", "Authorization: Bearer "+s.session("root")); !strings.Contains(strings.ReplaceAll(r.body, `\r\n`, `\n`), `"note":"two\nlines \"quoted\""`) {
		t.Errorf("the form's text became %s", r.body)
	}
}

// formIn returns where the form in the main part of a page leads, and what is filled
// in.
func formIn(t *testing.T, page string) (action string, fields url.Values) {
	t.Helper()
	_, page, _ = strings.Cut(page, `<main`)
	form := regexp.MustCompile(`(?s)<form method="post" action="([^"]*)"(.*?)</form>`).FindStringSubmatch(page)
	if form == nil {
		t.Fatalf("no form: %s", page)
	}
	fields = url.Values{}
	for _, f := range regexp.MustCompile(`(?s)<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(form[2], -1) {
		fields.Add(html.UnescapeString(f[1]), html.UnescapeString(f[2]))
	}
	return html.UnescapeString(form[1]), fields
}

// TestAProviderProvesAgainWhoSomebodyIs lets somebody without a password of their
// own promote another, and providers that do not ask again prove nothing.
func TestAProviderProvesAgainWhoSomebodyIs(t *testing.T) {
	i := newIssuer(t)
	s := newStage(t, i.at)
	ctx := t.Context()
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: "bob", PasswordHash: "x", Role: judge.RoleContestant}))
	i.as("1", "Ann")
	v := s.visitor()
	v.get(v.come("/"))
	s.must(s.store.SetRole(ctx, "ann", judge.RoleAdmin, "test"))
	u, err := url.Parse(s.url)
	s.must(err)
	cookie := func(v visitor) string {
		t.Helper()
		for _, c := range v.http.Jar.Cookies(u) {
			if c.Name == peopleroom.SessionCookie {
				return "Cookie: " + c.String()
			}
		}
		t.Fatal("no session")
		return ""
	}
	// asked sends the form, and returns the address at the provider that the page
	// leads to.
	asked := func(v visitor) string {
		t.Helper()
		form := url.Values{"csrf": {s.csrf(cookie(v))}, "role": {"staff"}}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/users/bob/role", strings.NewReader(form.Encode()))
		s.must(err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/html")
		resp, err := v.http.Do(req)
		s.must(err)
		body, err := io.ReadAll(resp.Body)
		s.must(errors.Join(err, resp.Body.Close()))
		page := string(body)
		if strings.Contains(page, `type="password"`) {
			t.Error("who has no password is asked for one")
		}
		link := regexp.MustCompile(`<a href="([^"]*/authorize[^"]*)"`).FindStringSubmatch(page)
		if resp.StatusCode != http.StatusForbidden || link == nil {
			t.Fatalf("%d without a way to the provider: %s", resp.StatusCode, page)
		}
		address := html.UnescapeString(link[1])
		q, err := url.Parse(address)
		s.must(err)
		if q.Query().Get("prompt") != "login" || q.Query().Get("max_age") != "300" {
			t.Errorf("the provider is not asked to ask: %s", address)
		}
		return address
	}
	role := func() judge.Role {
		t.Helper()
		bob, err := s.store.User(ctx, "bob")
		s.must(err)
		return bob.Role
	}
	ago := func(d time.Duration) func(*token) {
		return func(t *token) { t.claims["auth_time"] = time.Now().Add(-d).Unix() }
	}
	for name, tt := range map[string]struct {
		change  func(*token)
		subject string
	}{
		"that does not say when":    {func(*token) {}, "1"},
		"that did not ask again":    {ago(2 * time.Hour), "1"},
		"that asked somewhat early": {ago(7 * time.Minute), "1"},
		"whose clock is ahead":      {ago(-time.Hour), "1"},
		"that names somebody else":  {ago(0), "2"},
		"that says it in words":     {func(t *token) { t.claims["auth_time"] = "now" }, "1"},
	} {
		i.mu.Lock()
		i.wrong, i.subject = tt.change, tt.subject
		i.mu.Unlock()
		_, back := v.get(asked(v))
		if r, _ := v.get(back); r.status < 400 || strings.Contains(r.body, "Do it") || role() != judge.RoleContestant {
			t.Errorf("a provider %s: %d, bob is %s: %s", name, r.status, role(), r.body)
		}
		if n, err := s.store.CountUsers(ctx); err != nil || n != 2 {
			t.Errorf("a provider %s: there are %d accounts, %v", name, n, err)
		}
	}
	i.mu.Lock()
	i.wrong, i.subject = ago(time.Second), "1"
	i.mu.Unlock()

	// The proof is of the session that asked, and of nobody's who has got hold of it.
	other := s.visitor()
	other.get(other.come("/"))
	begun := asked(v)
	other.http.Jar.SetCookies(u, []*http.Cookie{{Name: "deepoj_oidc", Value: cookieOf(v, u, "deepoj_oidc"), Path: site.OIDCPath}})
	_, back := other.get(begun)
	if r, _ := other.get(back); r.status < 400 || strings.Contains(r.body, "Do it") {
		t.Errorf("another session of the same account: %d", r.status)
	}
	if r := s.do(http.MethodPost, "/api/v1/users/bob/role", `{"role": "staff"}`, asJSON, "Authorization: Bearer "+strings.TrimPrefix(cookie(other), "Cookie: "+peopleroom.SessionCookie+"=")); r.status != http.StatusForbidden {
		t.Errorf("the other session may promote: %d", r.status)
	}

	_, back = v.get(asked(v))
	r, _ := v.get(back)
	action, filled := formIn(t, r.body)
	if r.status != http.StatusOK || action != "/users/bob/role" || filled.Get("role") != "staff" || role() != judge.RoleContestant {
		t.Fatalf("the way back: %d to %s with %v, bob is %s", r.status, action, filled, role())
	}
	if r := s.do(http.MethodPost, action, filled.Encode(), asForm, cookie(v)); r.status != http.StatusSeeOther || role() != judge.RoleStaff {
		t.Errorf("after the proof: %d %s, bob is %s", r.status, r.body, role())
	}
	// It holds for the next act, and the provider's answer only once.
	if r := s.do(http.MethodPost, "/users/bob/role", url.Values{"csrf": {s.csrf(cookie(v))}, "role": {"setter"}}.Encode(), asForm, cookie(v)); r.status != http.StatusSeeOther {
		t.Errorf("the next act: %d", r.status)
	}
	if r, _ := v.get(back); r.status != http.StatusBadRequest {
		t.Errorf("the same answer twice: %d", r.status)
	}
}

// cookieOf is the value of a cookie that a browser has for the login.
func cookieOf(v visitor, u *url.URL, name string) string {
	at := *u
	at.Path = site.OIDCPath
	for _, c := range v.http.Jar.Cookies(&at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}
