package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/site"
)

// How passwords may be tried, as package people has it.
const (
	triesOfName       = 5  // at once, for one name from one place
	triesOfPlace      = 50 // at once, from one place
	waitersOfPlace    = 8
	waitersAltogether = 64
)

// held stops the clock of the throttle: nothing comes back, and who waits does so
// until the test lets them go on.
func (s *stage) held() (goOn func()) {
	now, gate := time.Now(), make(chan time.Time)
	goOn = sync.OnceFunc(func() { close(gate) })
	s.Cleanup(goOn)
	s.server.people.TimeTries(func() time.Time { return now }, func(time.Duration) <-chan time.Time { return gate })
	return goOn
}

// waits returns how many wait to try a password.
func (s *stage) waits() int {
	return s.server.people.WaitingTries()
}

// behindAProxy has a server believe X-Forwarded-For of this machine, so that a test
// comes from where it likes.
func behindAProxy(c *site.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }

// guess logs in through the API from an address.
func (s *stage) guess(from, name, password string, headers ...string) reply {
	s.Helper()
	body := fmt.Sprintf(`{"name": %q, "password": %q}`, name, password)
	return s.do(http.MethodPost, "/api/v1/sessions", body, append(headers, asJSON, "X-Forwarded-For: "+from)...)
}

// crowd makes many guesses at once, waits until all are answered but those that
// wait, lets those go on, and counts the answers by their status.
func (s *stage) crowd(many int, guess func(i int) reply, goOn func()) map[int]int {
	s.Helper()
	var mu sync.Mutex
	counts, answered := map[int]int{}, 0
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			r := guess(i)
			mu.Lock()
			defer mu.Unlock()
			counts[r.status]++
			answered++
			if r.status == http.StatusTooManyRequests && r.header.Get("Retry-After") == "" {
				s.Errorf("a refusal does not say when to come back")
			}
		})
	}
	s.eventually("all have been answered or wait", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return answered+s.waits() == many
	})
	goOn()
	all.Wait()
	return counts
}

func TestManyPasswordsAtOnceAreNotAllTried(t *testing.T) {
	for name, guess := range map[string]func(*stage) func(int) reply{
		"through the API": func(s *stage) func(int) reply {
			return func(i int) reply { return s.guess("198.51.100.4", "ann", fmt.Sprint("guess", i)) }
		},
		"by the form": func(s *stage) func(int) reply {
			return func(i int) reply {
				return s.do(http.MethodPost, "/login", url.Values{"name": {"ann"}, "password": {fmt.Sprint("guess", i)}}.Encode(), asForm, "X-Forwarded-For: 198.51.100.4")
			}
		},
		"of a name that is nobody's": func(s *stage) func(int) reply {
			return func(i int) reply { return s.guess("198.51.100.4", "nobody", fmt.Sprint("guess", i)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, behindAProxy)
			hash, err := people.HashPassword("correct horse")
			s.must(err)
			s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: hash, Role: judge.RoleContestant}))
			goOn := s.held()
			got := s.crowd(120, guess(s), goOn)
			if tried := triesOfName + waitersOfPlace; got[http.StatusUnauthorized] != tried || got[http.StatusTooManyRequests] != 120-tried {
				t.Errorf("of 120 passwords at once %v were answered so, want %d tried and the others refused", got, tried)
			}
		})
	}
}

func TestANetworkOfIPv6IsOnePlace(t *testing.T) {
	places := map[string]func(i int) string{
		"an address of IPv4":           func(int) string { return "198.51.100.4" },
		"a network of 64 bits of IPv6": func(i int) string { return fmt.Sprintf("2001:db8:1:2::%x", i+1) },
	}
	for name, from := range places {
		s := newStage(t, behindAProxy)
		goOn := s.held()
		got := s.crowd(60, func(i int) reply { return s.guess(from(i), fmt.Sprint("user", i), "Summer2026!") }, goOn)
		if tried := triesOfPlace + waitersOfPlace; got[http.StatusUnauthorized] != tried || got[http.StatusTooManyRequests] != 60-tried {
			t.Errorf("of 60 names from %s %v were answered so, want %d tried", name, got, tried)
		}
	}
}

// TestWhoGuessesKeepsNobodyOut has an attacker guess the password of an
// administrator with all that they may: the administrator gets in.
func TestWhoGuessesKeepsNobodyOut(t *testing.T) {
	s := newStage(t, behindAProxy)
	s.user("admin", "correct horse", judge.RoleAdmin)
	s.user("bob", "battery staple", judge.RoleContestant)
	first := s.guess("192.0.2.7", "admin", "correct horse")
	device := "Cookie: " + s.device(first)
	goOn := s.held()
	const attackers = waitersAltogether / waitersOfPlace // places that fill all room to wait, the administrator's own among them
	var all sync.WaitGroup
	for i := range attackers {
		for range triesOfName + waitersOfPlace + 2 {
			all.Go(func() { s.guess(fmt.Sprint("192.0.2.", 7+i), "admin", "wrong") })
		}
	}
	s.eventually("all room to wait is taken", func() bool { return s.waits() == waitersAltogether })
	for what, r := range map[string]reply{
		"the administrator elsewhere":                           s.guess("203.0.113.9", "admin", "correct horse"),
		"the administrator's own browser beside the attacker":   s.guess("192.0.2.7", "admin", "correct horse", device),
		"the administrator's own browser in an unknown network": s.guess("2001:db8::9", "admin", "correct horse", device),
		"somebody else beside the attacker":                     s.guess("192.0.2.7", "bob", "battery staple"),
	} {
		if r.status != http.StatusCreated {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	if r := s.guess("192.0.2.7", "admin", "correct horse"); r.status != http.StatusTooManyRequests {
		t.Errorf("an unknown browser beside the attacker: %d", r.status)
	}
	// A browser that is known guesses no faster than others.
	for i := range triesOfName + 1 {
		want := http.StatusUnauthorized
		if i == triesOfName {
			want = http.StatusTooManyRequests // there is no room to wait
		}
		if r := s.guess("192.0.2.7", "admin", "wrong", device); r.status != want {
			t.Errorf("guess %d with a known browser: %d, want %d", i+1, r.status, want)
		}
	}
	goOn()
	all.Wait()
}

// device returns the cookie by which an answer lets a browser be known.
func (s *stage) device(r reply) string {
	s.Helper()
	for _, set := range r.header.Values("Set-Cookie") {
		cookie, attributes, _ := strings.Cut(set, ";")
		if !strings.HasPrefix(cookie, "deepoj_device=") {
			continue
		}
		for _, want := range []string{"HttpOnly", "SameSite=Strict", "path=/"} {
			if !strings.Contains(attributes, want) {
				s.Errorf("the cookie of the device lacks %s: %s", want, set)
			}
		}
		return cookie
	}
	s.Fatalf("no cookie of a device: %v", r.header)
	return ""
}

func TestAnotherServerKnowsTheBrowserUntilThePasswordChanges(t *testing.T) {
	s := newStage(t, behindAProxy)
	token := s.user("ann", "correct horse", judge.RoleContestant)
	device := "Cookie: " + s.device(s.guess("192.0.2.7", "ann", "correct horse"))
	s.start(behindAProxy)
	goOn := s.held()
	fill := func() {
		t.Helper()
		for range triesOfName {
			s.guess("192.0.2.7", "ann", "wrong")
		}
	}
	fill()
	if r := s.guess("192.0.2.7", "ann", "correct horse", device); r.status != http.StatusCreated || s.waits() != 0 {
		t.Errorf("at another process: %d", r.status)
	}
	s.must(s.as(token).ChangePassword(t.Context(), "correct horse", "battery staple"))
	answer := make(chan reply, 1)
	go func() { answer <- s.guess("192.0.2.7", "ann", "battery staple", device) }()
	s.eventually("after a change of the password the browser waits like any other", func() bool { return s.waits() == 1 })
	goOn()
	if r := <-answer; r.status != http.StatusCreated {
		t.Errorf("after its wait: %d", r.status)
	}
}
