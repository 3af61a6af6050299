package throttle

import (
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/site"
)

// How often letters and accounts may be asked for from one network: a class behind one address gets through, and who
// tries names or addresses one by one does not.
const (
	askTries = 100 // at once
	askEach  = 20 * time.Second
)

// Askers counts what is asked for without an account, by network.
type Askers struct {
	mu    sync.Mutex
	full  map[string]time.Time
	tries int
}

// Take counts one, or refuses it. Clients on this machine count together.
func (a *Askers) Take(place string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	site.MakeRoom(a.full, place, now, maxKeys)
	full, over := oneMore(a.full[place], now, askEach, a.tries)
	if over > 0 {
		f := site.Refuse(fiber.StatusTooManyRequests, "too_many_letters", "Too much was asked for from here.", "Wait as long as Retry-After says.")
		f.RetryAfter = askEach
		return f
	}
	a.full[place] = full
	return nil
}

// NewAskers makes it.
func NewAskers() *Askers { return &Askers{full: map[string]time.Time{}, tries: askTries} }
