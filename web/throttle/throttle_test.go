package throttle

import (
	"fmt"
	"testing"
	"time"
)

func TestTheThrottleForgetsAndStaysSmall(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	th := New(func() time.Time { return now }, nil, nil)
	wait := func(name, place string) time.Duration {
		t.Helper()
		own := &Try{th, pair([]byte(fmt.Sprintf("%-32.32s", name+place))), place}
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
	for i := range 2 * maxKeys {
		wait(fmt.Sprint(i), fmt.Sprint("place ", i))
	}
	if len(th.pairs) > maxKeys || len(th.places) > maxKeys || len(th.waiting) != 0 || th.all != 0 {
		t.Errorf("remembered are %d pairs and %d places, and %d wait", len(th.pairs), len(th.places), th.all)
	}

	// A right password gives back what was wrong before, and a try that was not made
	// counts nothing.
	th = New(func() time.Time { return now }, nil, nil)
	for range 10 * placeTries {
		own, err := th.Begin(t.Context(), "ann", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		own.Right()
		if own, err = th.Begin(t.Context(), "ann", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		own.Back()
	}
}

func TestWhoWaitsForAPasswordDoesNotKeepTheServerFromStopping(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	th := New(time.Now, func(time.Duration) <-chan time.Time { return nil }, done)
	for range nameTries {
		if _, err := th.Begin(t.Context(), "ann", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	if _, err := th.Begin(t.Context(), "ann", "192.0.2.1"); err == nil || th.all != 0 {
		t.Errorf("a stopping server lets %d wait: %v", th.all, err)
	}
}
