package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

func TestALimiterGivesAllAtOnceAndThenEvenly(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := newLimiter(func() time.Time { return now }, 6)
	take := func(asker string, remaining int, wait time.Duration) {
		t.Helper()
		if q := l.take(asker); q.remaining != remaining || q.wait != wait || q.limit != 6 {
			t.Errorf("%s has %d left and waits %s, want %d and %s", asker, q.remaining, q.wait, remaining, wait)
		}
	}
	for left := 5; left >= 0; left-- {
		take("ann", left, 0)
	}
	take("ann", 0, 10*time.Second)
	take("bob", 5, 0)
	now = now.Add(4 * time.Second)
	take("ann", 0, 6*time.Second)
	now = now.Add(6 * time.Second)
	take("ann", 0, 0)
	take("ann", 0, 10*time.Second)
	now = now.Add(25 * time.Second)
	take("ann", 1, 0)
	if q := l.take("ann"); q.reset != 55*time.Second {
		t.Errorf("all are there again in %s, want 55 s", q.reset)
	}
	now = now.Add(time.Hour)
	take("ann", 5, 0)
}

func TestALimiterForgetsWhoHasAllAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := newLimiter(func() time.Time { return now }, 60)
	for range 60 {
		l.take("greedy")
	}
	for i := range rateKeys - 1 {
		l.take(strconv.Itoa(i))
	}
	now = now.Add(30 * time.Second)
	for i := range 1000 { // while there are others who have all again
		l.take("new " + strconv.Itoa(i))
	}
	if got := l.take("greedy").remaining; got != 29 || len(l.full) > rateKeys {
		t.Errorf("who has not all again is forgotten, or %d askers are remembered; %d may follow, want 29", len(l.full), got)
	}
	for i := range rateKeys + 10 { // all of them now
		l.take(strconv.Itoa(i))
	}
	if len(l.full) > rateKeys {
		t.Errorf("%d askers are remembered, at most %d may be", len(l.full), rateKeys)
	}
}

func TestAddressesAreLimitedByWhatOnePersonHas(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::1": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "127.0.0.1": "", "127.9.9.9": "", "::1": "", "::ffff:127.0.0.1": "", "10.0.0.1": "10.0.0.1",
	} {
		if got, limited := site.LimitedAddress(ip); got != want || limited != (want != "") {
			t.Errorf("%s counts as %q (%t), want %q", ip, got, limited, want)
		}
	}
}

// stopClocks stops the clocks of the limiters, so that a slow machine gives nothing back.
func (s *stage) stopClocks() {
	now := time.Now()
	for _, l := range []*limiter{s.server.rates.address, s.server.rates.user, s.server.rates.key} {
		l.mu.Lock()
		l.now = func() time.Time { return now }
		l.mu.Unlock()
	}
}

func TestAnAddressIsLimitedBeforeItsLogins(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.RatePerAddress = 2 })
	s.stopClocks()
	for i, want := range []int{200, 401, 429} {
		req := httptest.NewRequest(http.MethodGet, "/login", nil)
		req.Host = s.server.Addr()
		if i > 0 {
			req.Header.Set("Authorization", "Bearer guessed")
		}
		resp, err := s.server.app.Test(req, -1) // comes from 0.0.0.0
		s.must(err)
		s.must(resp.Body.Close())
		if resp.StatusCode != want || resp.Header.Get("RateLimit-Limit") != "2" {
			t.Errorf("request %d: %d with %q, want %d", i+1, resp.StatusCode, resp.Header.Get("RateLimit-Limit"), want)
		}
	}
	if r := s.do(http.MethodGet, "/login", ""); r.status != http.StatusOK || r.header.Get("RateLimit-Limit") != "" {
		t.Errorf("this machine: %d", r.status)
	}
}

func TestUsersAndKeysAreLimitedEachForItself(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.RatePerUser, c.RatePerKey = 3, 2 })
	s.stopClocks()
	for _, name := range []string{"ann", "bob"} {
		s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: judge.RoleContestant}))
	}
	ask := func(token string) reply {
		t.Helper()
		return s.do(http.MethodGet, "/api/v1/account", "", "Authorization: Bearer "+token)
	}
	one, two := s.session("ann"), s.session("ann")
	for i := range 3 {
		r := ask([]string{one, two, one}[i])
		for name, want := range map[string]string{"RateLimit-Limit": "3", "RateLimit-Policy": "3;w=60", "RateLimit-Remaining": fmt.Sprint(2 - i)} {
			if got := r.header.Get(name); r.status != http.StatusOK || got != want {
				t.Errorf("request %d: %d, %s is %q, want %q", i+1, r.status, name, got, want)
			}
		}
		if n, err := strconv.Atoi(r.header.Get("RateLimit-Reset")); err != nil || n < 1 || n > 60 {
			t.Errorf("request %d: RateLimit-Reset is %q", i+1, r.header.Get("RateLimit-Reset"))
		}
	}
	r := ask(two)
	f := document(t, r)
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	if f.Status != http.StatusTooManyRequests || f.Reason != "rate_limited" || err != nil || wait < 1 || wait > 60 || r.header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("one too many: %d %s, after %q", f.Status, f.Reason, r.header.Get("Retry-After"))
	}
	if r := s.do(http.MethodGet, "/submissions", "", "Authorization: Bearer "+one, "Accept: text/html"); r.status != http.StatusTooManyRequests {
		t.Errorf("pages do not count: %d", r.status)
	}
	if r := ask(s.session("bob")); r.status != http.StatusOK {
		t.Errorf("another user: %d", r.status)
	}

	// A key counts for itself, so that a busy program does not lock its owner out.
	key, other := s.keyOf("bob", judge.ScopeRead), s.keyOf("bob", judge.ScopeRead)
	for i, want := range []int{200, 200, 429} {
		if r := ask(key); r.status != want || r.header.Get("RateLimit-Limit") != "2" {
			t.Errorf("request %d with a key: %d, want %d", i+1, r.status, want)
		}
	}
	if a, b := ask(other), ask(s.session("bob")); a.status != http.StatusOK || b.status != http.StatusOK {
		t.Errorf("another key: %d, its owner: %d", a.status, b.status)
	}
	if r := s.do(http.MethodGet, "/judge0/languages", "", "X-Auth-Token: "+key); r.status != http.StatusTooManyRequests || r.body == "" || r.header.Get("Retry-After") == "" {
		t.Errorf("a client of Judge0: %d %s", r.status, r.body)
	}
	for range 10 { // the guest and what machines ask do not count
		for _, path := range []string{"/", "/healthz"} {
			if r := s.do(http.MethodGet, path, ""); r.status != http.StatusOK {
				t.Fatalf("GET %s: %d", path, r.status)
			}
		}
	}
}
