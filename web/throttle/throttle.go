// Package throttle slows down who guesses passwords and codes, or asks for too many letters.
package throttle

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
)

// How fast passwords may be tried. Tries come back one by one; who has none left
// waits a second, then two, four, and so on up to LongestWait.
const (
	nameTries  = 5                // at once, for one name from one place
	nameEach   = 30 * time.Second // after which one of them is back
	placeTries = 50               // at once, from one place for all names
	placeEach  = 6 * time.Second

	LongestWait     = 30 * time.Second
	waitingPerPlace = 8
	waitingInAll    = 64

	maxKeys = 10_000 // the most pairs, and the most places, that are remembered
)

// Throttle slows down guessing of passwords. It counts by a name and the place that somebody tries it from, so that
// nobody is kept out by what others do elsewhere: a place is an address, a network of 64 bits of IPv6, a device that
// has logged in before, or a session. It is per process and forgets.
type Throttle struct {
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
	done  <-chan struct{} // the server stops; nil = never

	mu      sync.Mutex
	pairs   map[pair]time.Time   // when all their tries are back
	places  map[string]time.Time // likewise
	waiting map[string]int       // by place
	all     int                  // who wait
}

// pair is a name and a place: a digest, as names may be long.
type pair [sha256.Size]byte

// New returns a throttle by a clock, whose waits end when done does.
func New(now func() time.Time, after func(time.Duration) <-chan time.Time, done <-chan struct{}) *Throttle {
	return &Throttle{
		now: now, after: after, done: done,
		pairs: map[pair]time.Time{}, places: map[string]time.Time{}, waiting: map[string]int{},
	}
}

// Try is a password that somebody may try now. It counts as a wrong one from the
// begin, so that many at once gain nothing, until it is said to be another.
type Try struct {
	throttle *Throttle
	pair     pair
	place    string
}

// Begin reserves a try and waits until it may be made. It refuses where too many
// wait already, or longer than the request may take.
func (t *Throttle) Begin(ctx context.Context, name, place string) (*Try, error) {
	own := &Try{t, sha256.Sum256([]byte(name + "\x00" + place)), place}
	wait, err := own.reserve(ctx)
	if err != nil || wait == 0 {
		return own, err
	}
	defer t.leave(place)
	select {
	case <-t.after(wait):
		return own, nil
	case <-ctx.Done():
		own.Back()
		return nil, Busy()
	case <-t.done:
		own.Back()
		return nil, site.Stopping()
	}
}

// reserve counts the try, and says how long it has to wait.
func (own *Try) reserve(ctx context.Context) (time.Duration, error) {
	t := own.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	pairFull, pairOver := oneMore(t.pairs[own.pair], now, nameEach, nameTries)
	placeFull, placeOver := oneMore(t.places[own.place], now, placeEach, placeTries)
	wait := time.Duration(0)
	if over := max(pairOver, placeOver); over > 0 {
		wait = min(LongestWait, time.Second<<(over-1))
		deadline, bounded := ctx.Deadline()
		if t.all >= waitingInAll || t.waiting[own.place] >= waitingPerPlace || bounded && time.Until(deadline) < wait+hashingTime {
			return 0, tooManyLogins(wait)
		}
		t.all++
		t.waiting[own.place]++
	}
	site.MakeRoom(t.pairs, own.pair, now, maxKeys)
	site.MakeRoom(t.places, own.place, now, maxKeys)
	t.pairs[own.pair], t.places[own.place] = pairFull, placeFull
	return wait, nil
}

// mostOver bounds by how much the tries of an asker may be overdrawn: to wait longer than LongestWait makes no sense.
const mostOver = 6

// oneMore takes a try from an asker whose tries will all be back at a time, and
// returns that time afterwards, and how many more were taken than there are at once.
func oneMore(full, now time.Time, each time.Duration, tries int) (time.Time, int) {
	if full.Before(now) {
		full = now
	}
	full = full.Add(each)
	if most := now.Add(each * time.Duration(tries+mostOver)); full.After(most) {
		full = most
	}
	taken := int((full.Sub(now) + each - 1) / each)
	return full, max(0, taken-tries)
}

// leave ends a wait.
func (t *Throttle) leave(place string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.waiting[place]--; t.waiting[place] == 0 {
		delete(t.waiting, place)
	}
}

// Back gives the try back: it was not made.
func (own *Try) Back() {
	t := own.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	if full, known := t.pairs[own.pair]; known {
		t.pairs[own.pair] = full.Add(-nameEach)
	}
	own.refund()
}

// Right says that the password was right: what was wrong before was a mistake of its owner.
func (own *Try) Right() {
	t := own.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pairs, own.pair)
	own.refund()
}

// refund gives the place its try back. It must be called with the lock held.
func (own *Try) refund() {
	if full, known := own.throttle.places[own.place]; known {
		own.throttle.places[own.place] = full.Add(-placeEach)
	}
}

// hashingTime is what a request needs after its wait.
const hashingTime = 5 * time.Second

func tooManyLogins(wait time.Duration) error {
	f := site.Refuse(fiber.StatusTooManyRequests, "too_many_logins", "There were too many wrong passwords, and too many wait to try others.", "Wait as long as Retry-After says. A browser that has logged in before does not wait for others.")
	f.RetryAfter = wait
	return f
}

// Busy refuses whoever waited too long.
func Busy() error {
	f := site.Refuse(fiber.StatusServiceUnavailable, "busy", "Too many people are logging in at once.", "Try again in a few seconds.")
	f.RetryAfter = 3 * time.Second
	return f
}

// Time has tries wait by another clock, which a test holds.
func (t *Throttle) Time(now func() time.Time, after func(time.Duration) <-chan time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now, t.after = now, after
}

// Waiting returns how many wait for their try.
func (t *Throttle) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}
