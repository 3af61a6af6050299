package people

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
)

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

func TestAKnownBrowserIsThatOfOneAccountUntilItsPasswordChanges(t *testing.T) {
	now := time.Now()
	ann := &judge.User{Name: "ann", PasswordHash: "hash of ann's"}
	bob := &judge.User{Name: "bob", PasswordHash: "hash of ann's"} // the same: the name is signed too
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
		both = withDevice(both, &judge.User{Name: fmt.Sprint("user", i), PasswordHash: "x"}, now)
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
		"after another password":   knownDevice(cookie, &judge.User{Name: "ann", PasswordHash: "hash of another"}, now),
		"after a year":             knownDevice(cookie, ann, now.Add(deviceLife+time.Second)),
		"that was changed":         knownDevice(cookie[:len(cookie)-4]+string(changed)+cookie[len(cookie)-3:], ann, now),
		"that was cut":             knownDevice(cookie[:len(cookie)-8], ann, now),
		"without content":          knownDevice("", ann, now),
		"behind many others":       knownDevice(strings.Repeat("x.", 1000)+cookie, ann, now),
		"of who has no password":   knownDevice(withDevice("", &judge.User{Name: "ann", PasswordHash: absentHash}, now), &judge.User{Name: "ann", PasswordHash: absentHash}, now),
		"with the name of another": knownDevice(withDevice("", &judge.User{Name: "an", PasswordHash: ann.PasswordHash}, now), ann, now),
	} {
		if is != "" {
			t.Errorf("a cookie %s is taken as of the browser %s", what, is)
		}
	}
}

func TestTheHashOfNobodyIsOne(t *testing.T) {
	if ok, err := people.CheckPassword(absentHash, "x"); ok || err != nil {
		t.Errorf("the hash of nobody: %t, %v", ok, err)
	}
}
