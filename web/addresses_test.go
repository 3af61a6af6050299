package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

// from sends a request as from another machine, which is limited by its address, and
// returns the status of the answer.
func (s *stage) from(method, path, host string, headers ...string) int {
	s.Helper()
	req := httptest.NewRequest(method, path, nil)
	req.Host = host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := s.server.app.Test(req, -1)
	s.must(err)
	s.must(resp.Body.Close())
	return resp.StatusCode
}

// Each check comes before what a request would cost, or tell, without it: a page of
// another site takes none of its reader's requests, a flood of guessed tokens is
// stopped before the database is asked, and who may not use the site at all learns
// nothing of who may use an address.
func TestTheChecksComeInTheirOrder(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.RatePerAddress, c.RatePerUser, c.AuthRequired = 4, 2, true })
	s.stopClocks()
	s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: "x", Role: judge.RoleContestant}))
	s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "new", PasswordHash: "x", Role: judge.RoleContestant, OneTime: true}))
	here := s.server.Addr()
	ann, fresh, guessed := "Authorization: Bearer "+s.session("ann"), "Authorization: Bearer "+s.session("new"), "Authorization: Bearer guessed"
	ask := func(what string, want int, reason, method, path, host string, headers ...string) {
		t.Helper()
		if got := s.from(method, path, host, headers...); got != want {
			t.Errorf("%s: %d, want %d (%s)", what, got, want, reason)
		}
	}
	for range 10 {
		ask("what machines ask", 200, "no check comes before it", "GET", "/healthz", "elsewhere.example", guessed)
		ask("a foreign host", 421, "before the requests of the address are counted", "GET", "/api/v1/users", "elsewhere.example", guessed)
	}
	ask("a guessed token", 401, "before the account is known", "GET", "/login", here, guessed)
	ask("nobody", 401, "before the role is looked at", "GET", "/api/v1/users", here)
	ask("a contestant", 403, "by the role", "POST", "/api/v1/users/ann/disable", here, ann)
	ask("an address for anyone", 200, "after the limits and before anybody is turned away", "GET", "/api/errors", here)
	for range 3 {
		ask("one too many of an address", 429, "before the token is looked up", "GET", "/login", here, guessed)
	}
	do := func(what string, want int, reason, method, path string, headers ...string) reply { // from this machine
		t.Helper()
		r := s.do(method, path, "", headers...)
		if r.status != want || !strings.Contains(r.body, reason) {
			t.Errorf("%s: %d %s, want %d because of %s", what, r.status, r.body, want, reason)
		}
		return r
	}
	do("a contestant who has not confirmed either", 403, "forbidden", "POST", "/api/v1/users/ann/disable", ann) // before the proof is asked for
	do("one too many of a user", 429, "rate_limited", "GET", "/api/v1/users", ann)                              // before the role
	do("a password that was given", 403, "one_time_password", "GET", "/api/v1/users", fresh)                    // before the role
	do("an address for anyone", 200, "openapi", "GET", "/api/openapi.json", fresh)
	do("one too many with it", 429, "rate_limited", "GET", "/api/v1/users", fresh) // before it is turned away
}

// What machines ask is all that is there before the checks.
func TestNothingButWhatMachinesAskIsThereWithoutChecks(t *testing.T) {
	s := newStage(t)
	machines := []string{"GET /healthz", "GET /static/*", "GET /favicon.ico"}
	tried := 0
	for _, route := range s.routesOf() {
		method, path, _ := strings.Cut(route, " ")
		free := slices.Contains(machines, route)
		if route == "GET /metrics" || route == "GET /readyz" { // look at the host by themselves
			continue
		}
		tried++
		if got := s.from(method, nowhere(path), "elsewhere.example"); (got != http.StatusMisdirectedRequest) != free {
			t.Errorf("%s under another host's name: %d", route, got)
		}
		if got := s.from(method, nowhere(path), s.server.Addr(), "Authorization: Bearer guessed"); (got != http.StatusUnauthorized) != free {
			t.Errorf("%s with a guessed token: %d", route, got)
		}
	}
	if tried < 250 {
		t.Errorf("only %d addresses", tried)
	}
}
