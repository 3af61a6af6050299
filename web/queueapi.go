package web

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// requireStaff is staffOnly as a middleware.
func (s *Server) requireStaff(c *fiber.Ctx) error {
	if err := staffOnly(c); err != nil {
		return err
	}
	return c.Next()
}

// idOf reads the number that the address names.
func idOf(c *fiber.Ctx) (int64, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, sql.ErrNotFound
	}
	return id, nil
}

// waitingJSON is a job that waits, for its owner.
type waitingJSON struct {
	JobID     int64      `json:"job_id"`
	URL       string     `json:"url"`
	State     string     `json:"state"` // waiting, scheduled or delivered
	Lane      judge.Lane `json:"lane"`
	Since     time.Time  `json:"since"`
	NotBefore time.Time  `json:"not_before"`
	Delayed   bool       `json:"delayed"`
	Place     *placeJSON `json:"place,omitempty"`
}

// reservations answers GET /api/v1/queue?group=: what waits of one submitter.
// Contestants may ask only for themselves.
func (s *Server) reservations(c *fiber.Ctx, group string) error {
	v := viewerOf(c)
	if !plainWord(group) {
		return wrongField("group", reasonInvalid, "The value is not a name.")
	}
	if !v.Staff() && group != v.Name {
		return refuse(fiber.StatusForbidden, "forbidden", "Only staff may see what waits of others.", "")
	}
	found, err := s.store.Waiting(c.UserContext(), "", group, maxPage)
	if err != nil {
		return err
	}
	out := make([]waitingJSON, len(found))
	for i, w := range found {
		out[i] = waitingJSON{
			JobID: w.JobID, URL: submissionURL(w.JobID), State: map[string]string{"R": "waiting", "S": "scheduled", "D": "delivered"}[w.State],
			Lane: w.Lane, Since: w.Since, NotBefore: w.NotBefore, Delayed: w.Delayed,
		}
		place, err := s.placeOf(c.UserContext(), w.JobID, judge.Pending)
		if err != nil {
			return err
		}
		if place != nil {
			out[i].Place = publicPlace(*place)
		}
	}
	return c.JSON(fiber.Map{"group": group, "waiting": out})
}

// apiMove returns the handler of POST /api/v1/submissions/:id/VERB, which moves
// a waiting submission.
func (s *Server) apiMove(verb string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := staffOnly(c); err != nil {
			return err
		}
		id, err := idOf(c)
		if err != nil {
			return err
		}
		ctx, by := c.UserContext(), viewerOf(c).Name
		out := fiber.Map{"job_id": id}
		switch verb {
		case "release":
			err = s.store.Release(ctx, id, by)
		case "delay":
			out["rank_at"], err = s.store.Delay(ctx, id, by)
		case "delete":
			err = s.store.Withdraw(ctx, id, by)
		case "undo":
			out["undone"], err = s.store.Undo(ctx, id, by)
		case "move":
			var before int64
			if before, err = readBefore(c); err == nil {
				err = s.store.Move(ctx, id, before, by)
			}
		}
		if err != nil {
			return err
		}
		place, err := s.placeOf(ctx, id, judge.Pending)
		if err != nil {
			return err
		}
		if place != nil {
			out["place"] = publicPlace(*place)
		}
		return c.JSON(out)
	}
}

// readBefore reads {"before": id}.
func readBefore(c *fiber.Ctx) (id int64, err error) {
	f, err := readFields(c, "before")
	if err != nil {
		return 0, err
	}
	if !f.has("before") {
		f.wrong.add(wrongField("before", reasonMissing, "The field is missing."))
	} else if json.Unmarshal(f.raw["before"], &id) != nil || id < 1 {
		f.wrong.add(wrongField("before", reasonWrong, "The field has to be the id of a job."))
	}
	return id, f.wrong.err()
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

func (s *Server) apiQueues(c *fiber.Ctx) error {
	found, err := s.store.Queues(c.UserContext())
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

// apiPause returns the handler of POST /api/v1/queues/:name/pause and resume.
func (s *Server) apiPause(paused bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		name, by := c.Params("name"), viewerOf(c).Name
		if err := s.store.PauseQueue(c.UserContext(), name, paused, by); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"name": name, "paused": paused})
	}
}

// letterJSON is a dead letter, for staff.
type letterJSON struct {
	JobID      int64           `json:"job_id"`
	Generation int32           `json:"generation"`
	AttemptID  int32           `json:"attempt_id"`
	Tries      int32           `json:"tries"`
	Kind       judge.Kind      `json:"kind"`
	Queue      string          `json:"queue"`
	Reason     string          `json:"reason"`
	Error      json.RawMessage `json:"error,omitempty"`
	At         time.Time       `json:"at"`
	Resolution string          `json:"resolution,omitempty"`
	ResolvedBy string          `json:"resolved_by,omitempty"`
	ResolvedAt *time.Time      `json:"resolved_at,omitempty"`
}

// attemptJSON is an attempt that ended without a result, for staff.
type attemptJSON struct {
	AttemptID  int32           `json:"attempt_id"`
	Generation int32           `json:"generation"`
	Worker     string          `json:"worker"`
	Started    time.Time       `json:"started"`
	Ended      time.Time       `json:"ended"`
	Outcome    string          `json:"outcome"`
	Error      json.RawMessage `json:"error,omitempty"`
}

// apiLetters handles GET /api/v1/dlq?all=&before=&limit=: unresolved dead letters
// unless all of them are wanted, newest first.
func (s *Server) apiLetters(c *fiber.Ctx) error {
	f, err := filterOf(c)
	if err != nil {
		return err
	}
	found, err := s.store.DeadLetters(c.UserContext(), f.Before, !c.QueryBool("all"), f.Limit)
	if err != nil {
		return err
	}
	out := make([]letterJSON, len(found))
	for i, l := range found {
		out[i] = letterJSON(l)
	}
	return c.JSON(fiber.Map{"dead_letters": out})
}

// apiLetter handles GET /api/v1/dlq/:id: the newest dead letter of a job with the
// attempts that led to it.
func (s *Server) apiLetter(c *fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	letter, err := s.store.DeadLetter(c.UserContext(), id)
	if err != nil {
		return err
	}
	found, err := s.store.Attempts(c.UserContext(), id)
	if err != nil {
		return fmt.Errorf("list attempts: %w", err)
	}
	attempts := make([]attemptJSON, len(found))
	for i, a := range found {
		attempts[i] = attemptJSON(a)
	}
	return c.JSON(fiber.Map{"dead_letter": letterJSON(letter), "attempts": attempts})
}

func (s *Server) apiReplay(c *fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	generation, err := s.store.Replay(c.UserContext(), id, viewerOf(c).Name)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": id, "generation": generation})
}

func (s *Server) apiDiscard(c *fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	if err := s.store.Discard(c.UserContext(), id, viewerOf(c).Name); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"job_id": id, "resolution": "discarded"})
}
