package staff

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
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

// reservations answers GET /api/v1/queue?group=: what waits of one submitter. Contestants may ask only for themselves.
func (s *Room) reservations(c *fiber.Ctx, group string) error {
	v := site.ViewerOf(c)
	if !site.PlainWord(group) {
		return site.WrongField("group", site.ReasonInvalid, "The value is not a name.")
	}
	if !v.Staff() && group != v.Name {
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff may see what waits of others.", "")
	}
	found, err := s.Store.For(v.Staff()).Waiting(c.UserContext(), "", group, site.MaxPage)
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
	return c.JSON(fiber.Map{"group": group, "waiting": out})
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
		out[i] = queueJSON{
			q.Name, q.Paused, q.Ordering, q.MaxWait.Seconds(), q.Spacing.Seconds(), q.Redeliver.Seconds(), q.MaxTries, q.GroupLimit, q.MaxBacklog,
		}
	}
	return c.JSON(fiber.Map{"queues": out})
}
