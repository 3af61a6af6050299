package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
)

const asForm = "Content-Type: application/x-www-form-urlencoded"

// login logs in with the form and returns the session's cookie as a header.
func (s *stage) login(name, password string) string {
	s.Helper()
	r := s.do(http.MethodPost, "/login", url.Values{"name": {name}, "password": {password}}.Encode(), asForm)
	if r.status != http.StatusSeeOther {
		s.Fatalf("login: %d %s", r.status, r.body)
	}
	set := r.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Lax", "path=/"} {
		if !strings.Contains(set, want) {
			s.Errorf("the session's cookie lacks %s: %s", want, set)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	return "Cookie: " + cookie
}

// csrf returns the token of a page's forms.
func (s *stage) csrf(cookie string) string {
	s.Helper()
	found := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(s.do(http.MethodGet, "/problems/aplusb", "", cookie).body)
	if found == nil {
		s.Fatal("the page has no CSRF token")
	}
	return found[1]
}

func TestWithoutAccountsNobodyGetsInWhereOneIsRequired(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.AuthRequired = true })
	for _, path := range []string{"/", "/problems/aplusb", "/submissions", "/queue", "/languages"} {
		if r := s.do(http.MethodGet, path, ""); r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), "/login?next=") {
			t.Errorf("GET %s: %d, to %q", path, r.status, r.header.Get("Location"))
		}
	}
	for _, path := range []string{"/api/v1/problems", "/api/v1/submissions", "/api/v1/workers", "/status/1"} {
		if f := document(t, s.do(http.MethodGet, path, "")); f.Status != http.StatusUnauthorized {
			t.Errorf("GET %s: %d", path, f.Status)
		}
	}
	f := document(t, s.do(http.MethodPost, "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "x"}`, asJSON))
	if f.Status != http.StatusUnauthorized || f.Reason != "login_required" {
		t.Errorf("submit: %d %s", f.Status, f.Reason)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/login", "/api/errors"} {
		if r := s.do(http.MethodGet, path, ""); r.status != http.StatusOK {
			t.Errorf("GET %s: %d", path, r.status)
		}
	}
	ann := s.as(s.user("ann", "correct horse", judge.RoleContestant))
	if _, err := ann.Problems(t.Context()); err != nil {
		t.Errorf("with an account: %v", err)
	}
}

func TestAnAddressThatOthersReachNeedsAccounts(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:0": false, "[::1]:0": false, "localhost:0": false, "127.1.2.3:0": false,
		"0.0.0.0:0": true, ":0": true, "[::]:0": true, "192.0.2.1:80": true, "example.org:80": true,
	} {
		if got, _ := (site.Config{Listen: listen}).Guests(); got == want {
			t.Errorf("%s: guests %t, want %t", listen, got, !want)
		}
	}
}

func TestASessionLastsFromLoginToLogout(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	cookie := s.login("ann", "correct horse")
	if r := s.do(http.MethodGet, "/", "", cookie); !strings.Contains(r.body, `<a href="/account">ann</a>`) {
		t.Error("the page does not show who is logged in")
	}
	body := "language=cpp&source=x"
	if r := s.do(http.MethodPost, "/problems/aplusb", body, asForm, cookie); r.status != http.StatusForbidden {
		t.Errorf("a form without a CSRF token: %d", r.status)
	}
	if r := s.do(http.MethodPost, "/problems/aplusb", body+"&csrf=AAAAAAAAAAAAAAAAAAAAAA", asForm, cookie); r.status != http.StatusForbidden {
		t.Errorf("a form with a wrong CSRF token: %d", r.status)
	}
	token := s.csrf(cookie)
	if r := s.do(http.MethodPost, "/problems/aplusb", body+"&csrf="+token, asForm, cookie); r.status != http.StatusSeeOther {
		t.Errorf("a form with its CSRF token: %d", r.status)
	}
	if r := s.do(http.MethodPost, "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "x"}`, asJSON, cookie); r.status != http.StatusForbidden {
		t.Errorf("JSON with a cookie and no CSRF token: %d", r.status)
	}
	if r := s.do(http.MethodPost, "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "x"}`, asJSON, cookie, "X-CSRF-Token: "+token); r.status != http.StatusOK {
		t.Errorf("JSON with a cookie and its CSRF token: %d", r.status)
	}
	other := s.login("ann", "correct horse")
	if other == cookie {
		t.Error("two logins share a session")
	}
	if r := s.do(http.MethodPost, "/logout", "csrf="+token, asForm, cookie); r.status != http.StatusSeeOther {
		t.Errorf("logout: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/", "", cookie); strings.Contains(r.body, `<a href="/account">ann</a>`) {
		t.Error("the session works after logout")
	}
	if r := s.do(http.MethodGet, "/", "", other); !strings.Contains(r.body, `<a href="/account">ann</a>`) {
		t.Error("logout ended another session")
	}
}

func TestAPasswordCanBeChanged(t *testing.T) {
	s := newStage(t)
	if r := s.do(http.MethodGet, "/account", ""); r.status != http.StatusSeeOther {
		t.Errorf("the guest's account: %d", r.status)
	}
	s.user("ann", "correct horse", judge.RoleContestant)
	cookie := s.login("ann", "correct horse")
	token := s.csrf(cookie)
	for name, tt := range map[string]struct {
		current, fresh, again string
		status                int
		says                  string
	}{
		"another's password": {"wrong", "battery staple", "battery staple", 422, "current password is wrong"},
		"a short one":        {"correct horse", "short", "short", 422, "at least 10"},
		"two that differ":    {"correct horse", "battery staple", "battery stable", 422, "differ"},
	} {
		form := url.Values{"csrf": {token}, "current": {tt.current}, "new": {tt.fresh}, "again": {tt.again}}.Encode()
		if r := s.do(http.MethodPost, "/account", form, asForm, cookie); r.status != tt.status || !strings.Contains(r.body, tt.says) {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	form := url.Values{"csrf": {token}, "current": {"correct horse"}, "new": {"battery staple"}, "again": {"battery staple"}}.Encode()
	if r := s.do(http.MethodPost, "/account", form, asForm, cookie); r.status != http.StatusOK || !strings.Contains(r.body, "has been changed") {
		t.Errorf("change: %d %s", r.status, r.body)
	}
	s.login("ann", "battery staple")
	if _, err := s.client.Login(t.Context(), "ann", "correct horse"); err == nil {
		t.Error("the old password still works")
	}
}

func TestALoginGoesOnlyToThisServer(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/problems/aplusb?from=3": "/problems/aplusb?from=3", "": "/", "https://evil.example": "/", "//evil.example": "/",
		`/\evil.example`: "/", "/a\r\nSet-Cookie: x": "/", "javascript:alert(1)": "/",
	} {
		if got := site.LocalPath(next); got != want {
			t.Errorf("localPath(%q) = %q, want %q", next, got, want)
		}
	}
}

func TestTheFirstStartMakesOneAdmin(t *testing.T) {
	s := newStage(t)
	password, err := people.FirstAdmin(t.Context(), s.store.Site, "")
	s.must(err)
	if len(password) < 20 {
		t.Fatalf("password %q", password)
	}
	if again, err := people.FirstAdmin(t.Context(), s.store.Site, ""); err != nil || again != "" {
		t.Errorf("the second start: %q, %v", again, err)
	}
	token, err := s.client.Login(t.Context(), "admin", password)
	s.must(err)
	s.must(s.as(token).ChangePassword(t.Context(), password, "correct horse"))
	id := s.submit("aplusb", "cpp", "x")
	if err := s.as(token).Cancel(t.Context(), id); err != nil {
		t.Errorf("the admin may not cancel: %v", err)
	}
}

func TestPasswordsAreHashed(t *testing.T) {
	t.Parallel()
	hash, err := people.HashPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, "horse") {
		t.Errorf("hash %q", hash)
	}
	if again, _ := people.HashPassword("correct horse"); again == hash {
		t.Error("two hashes of one password are equal")
	}
	for password, want := range map[string]bool{"correct horse": true, "correct Horse": false, "": false} {
		if ok, err := people.CheckPassword(hash, password); ok != want || err != nil {
			t.Errorf("people.CheckPassword(%q) = %t, %v", password, ok, err)
		}
	}
	for _, broken := range []string{"", "plain", "$argon2id$v=19$m=1,t=1,p=1$x", "$argon2id$v=19$m=9999999,t=1,p=1$AAAA$AAAA", "$2b$10$abc"} {
		if ok, err := people.CheckPassword(broken, "x"); ok || err == nil {
			t.Errorf("people.CheckPassword with hash %q = %t, %v", broken, ok, err)
		}
	}
}

func TestContestantsSeeOnlyTheirOwn(t *testing.T) {
	s := newStage(t)
	ann, bob := s.as(s.user("ann", "correct horse", judge.RoleContestant)), s.as(s.user("bob", "battery staple", judge.RoleContestant))
	root := s.as(s.user("root", "x", judge.RoleStaff))
	id := s.submitAs("ann", "stairs", "cpp", "int main() {}")
	s.finish(id, mixed())
	if sub, err := ann.Get(t.Context(), id); err != nil || len(sub.Sources) != 1 {
		t.Errorf("the author: %v", err)
	}
	if _, err := bob.Get(t.Context(), id); err == nil {
		t.Error("another contestant sees the submission")
	}
	if sub, err := root.Get(t.Context(), id); err != nil || sub.Result.JudgeNote != "judges only" {
		t.Errorf("staff: %v", err)
	}
	if subs, _, err := bob.List(t.Context(), clientFilter); err != nil || len(subs) != 0 {
		t.Errorf("another contestant's list: %v, %v", subs, err)
	}
	for _, path := range []string{site.SubmissionURL(id), site.SubmissionURL(id) + "/live", site.SubmissionURL(id) + "/events", "/problems/stairs?from=1", "/status/1"} {
		if r := s.do(http.MethodGet, path, ""); r.status != http.StatusNotFound {
			t.Errorf("the guest: GET %s: %d", path, r.status)
		}
	}
}

func TestNothingSecretLeavesTheServer(t *testing.T) {
	s := newStage(t)
	id := s.submit("stairs", "cpp", "int main() {}")
	a := s.claim(id)
	for _, test := range mixed().Tests {
		s.test(a, 11, test)
	}
	secrets := []string{"judges only", "secret output", "judge1-5f3a", "-trap"}
	paths := []string{
		site.SubmissionURL(id), site.SubmissionURL(id) + "/live", "/submissions", "/queue", "/status/1", "/api/v1/submissions/1",
		"/api/v1/submissions", "/api/v1/submissions/1/events", "/api/v1/workers", "/api/v1/queue",
	}
	check := func(when string) {
		for _, path := range paths {
			if when == "running" && strings.HasSuffix(path, "/events") {
				continue // it does not end
			}
			r := s.do(http.MethodGet, path, "")
			if r.status != http.StatusOK {
				t.Errorf("%s: GET %s: %d", when, path, r.status)
			}
			for _, secret := range secrets {
				if strings.Contains(r.body, secret) {
					t.Errorf("%s: GET %s shows %q", when, path, secret)
				}
			}
		}
	}
	check("running")
	s.must(s.store.Finalize(t.Context(), a, mixed()))
	check("finished")
	if r := s.do(http.MethodGet, "/api/v1/submissions/1", ""); !strings.Contains(r.body, "read 5, expected 4") || !strings.Contains(r.body, `"sample/1"`) {
		t.Error("a sample test's message and name are for contestants, but are not shown")
	}
}
