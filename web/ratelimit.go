package web

import (
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/web/locale"
	"deepoj/web/site"
)

const (
	rateWindow = time.Minute
	rateKeys   = 100_000 // the most addresses, users and keys that are remembered
)

// limiter bounds how many requests each of many askers may make in a window: so many at once, and then as they come
// back one by one over the window. It is the generic cell rate algorithm, which keeps one time for each asker. It is
// per process and forgets.
type limiter struct {
	now   func() time.Time
	limit int // requests in a window; 0 = no limit

	mu   sync.Mutex
	full map[string]time.Time // when the asker will have all its requests again
}

func newLimiter(now func() time.Time, limit int) *limiter {
	if limit < 0 || limit > int(rateWindow/time.Microsecond) { // nobody could make so many
		limit = 0
	}
	return &limiter{now: now, limit: limit, full: map[string]time.Time{}}
}

// quota is how much an asker has left.
type quota struct {
	limit     int
	remaining int           // requests that may follow at once
	reset     time.Duration // until there are as many as the limit
	wait      time.Duration // 0 = the request may go on, else until the next one may
}

// take counts a request of an asker, unless there were too many.
func (l *limiter) take(asker string) quota {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	step := rateWindow / time.Duration(l.limit)
	full := l.full[asker]
	if full.Before(now) {
		full = now
	}
	q := quota{limit: l.limit}
	if next := full.Add(step); next.Sub(now) <= rateWindow {
		full = next
		site.MakeRoom(l.full, asker, now, rateKeys)
		l.full[asker] = full
	} else {
		q.wait = next.Sub(now) - rateWindow
	}
	q.reset = full.Sub(now)
	q.remaining = int((rateWindow - q.reset) / step)
	return q
}

// limitAddress bounds the requests of an address, before anything is looked up for
// them. This machine is not limited: a reverse proxy on it speaks for everybody.
func (s *Server) limitAddress(c *fiber.Ctx) error {
	address, ok := site.LimitedAddress(s.ClientAddress(c))
	if !ok || s.rates.address.limit == 0 {
		return c.Next()
	}
	return s.limit(c, "address", s.rates.address, address)
}

// limitViewer bounds the requests of a user, or of a key. The guest is limited by address only.
func (s *Server) limitViewer(c *fiber.Ctx) error {
	switch v := site.ViewerOf(c); {
	case v.Guest():
	case v.Key != 0 && s.rates.key.limit > 0:
		return s.limit(c, "key", s.rates.key, strconv.FormatInt(v.Key, 10))
	case v.Key == 0 && s.rates.user.limit > 0:
		return s.limit(c, "user", s.rates.user, v.Name)
	}
	return c.Next()
}

var tooMany = map[string]locale.Word{
	"address": "There were more than %d requests in a minute from your address.",
	"user":    "There were more than %d requests in a minute from your account.",
	"key":     "There were more than %d requests in a minute with this key.",
}

// limit takes a request or refuses it, and says what is left where it is less than what was said before.
func (s *Server) limit(c *fiber.Ctx, by string, l *limiter, asker string) error {
	q := l.take(asker)
	said, err := strconv.Atoi(string(c.Response().Header.Peek("RateLimit-Remaining")))
	if err != nil || q.remaining <= said {
		c.Set("RateLimit-Policy", strconv.Itoa(q.limit)+";w="+strconv.Itoa(int(rateWindow.Seconds())))
		c.Set("RateLimit-Limit", strconv.Itoa(q.limit))
		c.Set("RateLimit-Remaining", strconv.Itoa(q.remaining))
		c.Set("RateLimit-Reset", strconv.Itoa(site.WholeSeconds(q.reset)))
	}
	if q.wait == 0 {
		return c.Next()
	}
	s.Count.Limited.WithLabelValues(by).Inc()
	f := site.Refuse(fiber.StatusTooManyRequests, "rate_limited",
		tooMany[by], "Wait as long as Retry-After says.", q.limit)
	f.RetryAfter = time.Duration(site.WholeSeconds(q.wait)) * time.Second
	return f
}
