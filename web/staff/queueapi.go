package staff

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
)

// waitingJSON is a job that waits, for its owner.
type waitingJSON struct {
	JobID     int64          `json:"job_id"`
	URL       string         `json:"url"`
	State     string         `json:"state"` // waiting, scheduled or delivered
	Lane      judge.Lane     `json:"lane"`
	Since     time.Time      `json:"since"`
	NotBefore time.Time      `json:"not_before"`
	Delayed   bool           `json:"delayed"`
	Place     *job.PlaceJSON `json:"place,omitempty"`
}

// reservations answers GET /api/v1/queue?group=&after=&limit=: what waits of one submitter. Contestants may ask only for themselves.
func (s *Room) reservations(c *fiber.Ctx, group string, behind judge.Waiting, limit int) error {
	v := site.ViewerOf(c)
	if !site.PlainWord(group) {
		return site.WrongField("group", site.ReasonInvalid, "The value is not a name.")
	}
	if !v.Staff() && group != v.Name {
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff may see what waits of others.", "")
	}
	found, err := s.Store.For(v.Staff()).Waiting(c.UserContext(), "", group, behind, limit)
	if err != nil {
		return err
	}
	ids := make([]int64, len(found))
	for i, w := range found {
		ids[i] = w.JobID
	}
	places, err := s.job.PlacesOf(c.UserContext(), v, ids)
	if err != nil {
		return err
	}
	out := make([]waitingJSON, len(found))
	for i, w := range found {
		out[i] = waitingJSON{
			JobID: w.JobID, URL: site.SubmissionURL(w.JobID), State: map[string]string{"R": "waiting", "S": "scheduled", "D": "delivered"}[w.State],
			Lane: w.Lane, Since: w.Since, NotBefore: w.NotBefore, Delayed: w.Delayed,
		}
		if place, waits := places[w.JobID]; waits {
			out[i].Place = job.PublicPlace(place)
		}
	}
	return c.JSON(fiber.Map{"group": group, "waiting": out, "next": nextWaiting(found, limit)})
}

// queueJSON is how a queue behaves.
type queueJSON struct {
	Name             string  `json:"name"`
	Paused           bool    `json:"paused"`
	Ordering         string  `json:"ordering"`
	MaxWaitSeconds   float64 `json:"max_wait_seconds"`
	SpacingSeconds   float64 `json:"spacing_seconds"`
	RedeliverSeconds float64 `json:"redeliver_seconds"`
	MaxTries         int     `json:"max_tries"`
	GroupLimit       int     `json:"group_limit"`
	MaxBacklog       int     `json:"max_backlog"`
}

func (s *Room) apiQueues(c *fiber.Ctx) error {
	found, err := s.Store.Queues(c.UserContext())
	if err != nil {
		return err
	}
	out := make([]queueJSON, len(found))
	for i, q := range found {
		out[i] = publicQueue(q)
	}
	page, next, err := site.PageOf(c, "after", out, func(q queueJSON) string { return q.Name })
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"queues": page, "next": next})
}

func publicQueue(q judge.Queue) queueJSON {
	return queueJSON{q.Name, q.Paused, q.Ordering, q.MaxWait.Seconds(), q.Spacing.Seconds(), q.Redeliver.Seconds(), q.MaxTries, q.GroupLimit, q.MaxBacklog}
}

// maxSpan bounds the times of a queue, in seconds: 30 days.
const maxSpan = 30 * 24 * 3600

// maxCount bounds the numbers of a queue.
const maxCount = 1_000_000

// apiSetQueue handles POST /api/v1/queues/:name.
func (s *Room) apiSetQueue(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "ordering", "max_wait_seconds", "spacing_seconds", "redeliver_seconds", "max_tries", "group_limit", "max_backlog")
	if err != nil {
		return err
	}
	q := judge.Queue{Name: c.Params("name")}
	if !site.PlainWord(q.Name) {
		f.Wrong.Add(site.WrongField("name", site.ReasonInvalid, "The name of a queue has 1 to 128 printable characters."))
	}
	f.Value("ordering", "fifo or lifo", &q.Ordering)
	if q.Ordering != "" && q.Ordering != judge.FIFO && q.Ordering != judge.LIFO {
		f.Wrong.Add(site.WrongField("ordering", site.ReasonUnknown, "The order is fifo or lifo, not %q.", site.Shorten(q.Ordering)))
	}
	for name, to := range map[string]*time.Duration{"max_wait_seconds": &q.MaxWait, "spacing_seconds": &q.Spacing, "redeliver_seconds": &q.Redeliver} {
		var seconds float64
		f.Value(name, "a number of seconds", &seconds)
		if seconds < 0 || seconds > maxSpan {
			f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "The time has to be from 0 to %d seconds.", maxSpan))
		}
		*to = time.Duration(seconds * float64(time.Second))
	}
	for name, to := range map[string]*int{"max_tries": &q.MaxTries, "group_limit": &q.GroupLimit, "max_backlog": &q.MaxBacklog} {
		f.Value(name, "a whole number", to)
		if *to < 0 || *to > maxCount {
			f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "The number has to be from 0 to %d.", maxCount))
		}
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.Store.SetQueue(c.UserContext(), q, site.ViewerOf(c).Name); err != nil {
		return err
	}
	found, err := s.Store.Queues(c.UserContext())
	if err != nil {
		return err
	}
	for _, made := range found {
		if made.Name == q.Name {
			return c.JSON(publicQueue(made))
		}
	}
	return sql.ErrNotFound // somebody removed it in this moment
}

// invariantJSON is how often an invariant is broken.
type invariantJSON struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// apiInvariants handles GET /api/v1/invariants.
func (s *Room) apiInvariants(c *fiber.Ctx) error {
	a, err := s.Store.Invariants(c.UserContext())
	if err != nil {
		return err
	}
	out := []invariantJSON{}
	for _, r := range a.Rows() {
		out = append(out, invariantJSON(r))
	}
	return c.JSON(fiber.Map{"invariants": out})
}
