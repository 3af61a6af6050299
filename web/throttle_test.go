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

	"deepoj/sql"
)

// held stops the clock of the throttle: nothing comes back, and who waits does so
// until the test lets them go on.
func (s *stage) held() (goOn func()) {
	now, gate := time.Now(), make(chan time.Time)
	goOn = sync.OnceFunc(func() { close(gate) })
	s.Cleanup(goOn)
	l := s.server.logins
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = func() time.Time { return now }
	l.after = func(time.Duration) <-chan time.Time { return gate }
	return goOn
}

// waits returns how many wait to try a password.
func (s *stage) waits() int {
	l := s.server.logins
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// behindAProxy has a server believe X-Forwarded-For of this machine, so that a test
// comes from where it likes.
func behindAProxy(c *Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }

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
			s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: absentHash, Role: sql.RoleContestant}))
			goOn := s.held()
			got := s.crowd(120, guess(s), goOn)
			if tried := nameTries + waitingPerPlace; got[http.StatusUnauthorized] != tried || got[http.StatusTooManyRequests] != 120-tried {
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
		if tried := placeTries + waitingPerPlace; got[http.StatusUnauthorized] != tried || got[http.StatusTooManyRequests] != 60-tried {
			t.Errorf("of 60 names from %s %v were answered so, want %d tried", name, got, tried)
		}
	}
}

// TestWhoGuessesKeepsNobodyOut has an attacker guess the password of an
// administrator with all that they may: the administrator gets in.
func TestWhoGuessesKeepsNobodyOut(t *testing.T) {
	s := newStage(t, behindAProxy)
	s.user("admin", "correct horse", sql.RoleAdmin)
	s.user("bob", "battery staple", sql.RoleContestant)
	first := s.guess("192.0.2.7", "admin", "correct horse")
	device := "Cookie: " + s.device(first)
	goOn := s.held()
	const attackers = waitingInAll / waitingPerPlace // places that fill all room to wait, the administrator's own among them
	var all sync.WaitGroup
	for i := range attackers {
		for range nameTries + waitingPerPlace + 2 {
			all.Go(func() { s.guess(fmt.Sprint("192.0.2.", 7+i), "admin", "wrong") })
		}
	}
	s.eventually("all room to wait is taken", func() bool { return s.waits() == waitingInAll })
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
	for i := range nameTries + 1 {
		want := http.StatusUnauthorized
		if i == nameTries {
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
		if !strings.HasPrefix(cookie, deviceCookie+"=") {
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

func TestAKnownBrowserIsThatOfOneAccountUntilItsPasswordChanges(t *testing.T) {
	now := time.Now()
	ann := &sql.User{Name: "ann", PasswordHash: "hash of ann's"}
	bob := &sql.User{Name: "bob", PasswordHash: "hash of ann's"} // the same: the name is signed too
	cookie := withDevice("", ann, now)
	id := knownDevice(cookie, ann, now)
	if id == "" || knownDevice(withDevice(cookie, ann, now.Add(time.Hour)), ann, now) != id {
		t.Errorf("the browser is %q after a login, and another after the next", id)
	}
	if other := withDevice("", ann, now); knownDevice(other, ann, now) == id {
		t.Error("two browsers have one name")
	}
	both := withDevice(cookie, bob, now)
	if knownDevice(both, ann, now) != id || knownDevice(both, bob, now) == "" || knownDevice(both, bob, now) == id {
		t.Error("a browser is not known for the two that logged in with it")
	}
	for i := range 20 {
		both = withDevice(both, &sql.User{Name: fmt.Sprint("user", i), PasswordHash: "x"}, now)
	}
	if n := strings.Count(both, ".") + 1; n != maxDevices || len(both) > 50*maxDevices {
		t.Errorf("the cookie has %d proofs in %d bytes", n, len(both))
	}
	changed := byte('A')
	if cookie[len(cookie)-4] == changed {
		changed = 'B'
	}
	for what, is := range map[string]string{
		"of somebody else":         knownDevice(cookie, bob, now),
		"after another password":   knownDevice(cookie, &sql.User{Name: "ann", PasswordHash: "hash of another"}, now),
		"after a year":             knownDevice(cookie, ann, now.Add(deviceLife+time.Second)),
		"that was changed":         knownDevice(cookie[:len(cookie)-4]+string(changed)+cookie[len(cookie)-3:], ann, now),
		"that was cut":             knownDevice(cookie[:len(cookie)-8], ann, now),
		"without content":          knownDevice("", ann, now),
		"behind many others":       knownDevice(strings.Repeat("x.", 1000)+cookie, ann, now),
		"of who has no password":   knownDevice(withDevice("", &sql.User{Name: "ann", PasswordHash: absentHash}, now), &sql.User{Name: "ann", PasswordHash: absentHash}, now),
		"with the name of another": knownDevice(withDevice("", &sql.User{Name: "an", PasswordHash: ann.PasswordHash}, now), ann, now),
	} {
		if is != "" {
			t.Errorf("a cookie %s is taken as of the browser %s", what, is)
		}
	}

	// Another server process knows it too, and no more after a change of the password.
	s := newStage(t, behindAProxy)
	token := s.user("ann", "correct horse", sql.RoleContestant)
	device := "Cookie: " + s.device(s.guess("192.0.2.7", "ann", "correct horse"))
	s.start(behindAProxy)
	goOn := s.held()
	fill := func() {
		t.Helper()
		for range nameTries {
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

func TestTheThrottleForgetsAndStaysSmall(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	th := newThrottle(func() time.Time { return now }, nil, nil)
	wait := func(name, place string) time.Duration {
		t.Helper()
		own := &try{th, pair([]byte(fmt.Sprintf("%-32.32s", name+place))), place}
		d, err := own.reserve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d > 0 {
			th.leave(place)
		}
		return d
	}
	var waits []time.Duration
	for range nameTries + 7 {
		waits = append(waits, wait("ann", "192.0.2.1"))
	}
	want := "[0s 0s 0s 0s 0s 1s 2s 4s 8s 16s 30s 30s]"
	if fmt.Sprint(waits) != want {
		t.Errorf("one after the other they wait %v, want %s", waits, want)
	}
	if d := wait("ann", "192.0.2.2") + wait("bob", "192.0.2.1"); d != 0 {
		t.Errorf("another name, or from elsewhere, waits %v", d)
	}
	now = now.Add(nameEach * (mostOver + 1))
	if d := wait("ann", "192.0.2.1"); d != 0 {
		t.Errorf("after minutes without a try the next waits %v", d)
	}
	for i := range 2 * loginKeys {
		wait(fmt.Sprint(i), fmt.Sprint("place ", i))
	}
	if len(th.pairs) > loginKeys || len(th.places) > loginKeys || len(th.waiting) != 0 || th.all != 0 {
		t.Errorf("remembered are %d pairs and %d places, and %d wait", len(th.pairs), len(th.places), th.all)
	}

	// A right password gives back what was wrong before, and a try that was not made
	// counts nothing.
	th = newThrottle(func() time.Time { return now }, nil, nil)
	for range 10 * placeTries {
		own, err := th.begin(t.Context(), "ann", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		own.right()
		if own, err = th.begin(t.Context(), "ann", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		own.back()
	}
}

func TestWhoWaitsForAPasswordDoesNotKeepTheServerFromStopping(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	th := newThrottle(time.Now, func(time.Duration) <-chan time.Time { return nil }, done)
	for range nameTries {
		if _, err := th.begin(t.Context(), "ann", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	if _, err := th.begin(t.Context(), "ann", "192.0.2.1"); err == nil || th.all != 0 {
		t.Errorf("a stopping server lets %d wait: %v", th.all, err)
	}
}
