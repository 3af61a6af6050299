package people

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
)

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
		"of who has no password":   knownDevice(withDevice("", &judge.User{Name: "ann", PasswordHash: people.AbsentPassword}, now), &judge.User{Name: "ann", PasswordHash: people.AbsentPassword}, now),
		"with the name of another": knownDevice(withDevice("", &judge.User{Name: "an", PasswordHash: ann.PasswordHash}, now), ann, now),
	} {
		if is != "" {
			t.Errorf("a cookie %s is taken as of the browser %s", what, is)
		}
	}
}

func TestTheHashOfNobodyIsOne(t *testing.T) {
	if ok, err := people.CheckPassword(people.AbsentPassword, "x"); ok || err != nil {
		t.Errorf("the hash of nobody: %t, %v", ok, err)
	}
}
