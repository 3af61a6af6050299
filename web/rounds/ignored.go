package rounds

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// ignoredJSON is a submission that staff have not count.
type ignoredJSON struct {
	JobID       int64     `json:"job_id"`
	Number      int64     `json:"number"` // in the round; 0: it has none
	Participant string    `json:"participant"`
	Problem     string    `json:"problem"`
	Reason      string    `json:"reason"`
	By          string    `json:"by"`
	At          time.Time `json:"at"`
}

// apiIgnored handles GET /api/v1/rounds/:round/ignored?after=&limit=.
func (s *Room) apiIgnored(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	after, limit, err := afterJob(c)
	if err != nil {
		return err
	}
	found, err := s.Config.Rounds.Ignored(c.UserContext(), r.ID, after, limit)
	if err != nil {
		return err
	}
	out := make([]ignoredJSON, len(found))
	for i, v := range found {
		out[i] = ignoredJSON(v)
	}
	return c.JSON(fiber.Map{"ignored": out, "next": next(found, limit, func(v rounds.Ignored) string { return strconv.FormatInt(v.JobID, 10) })})
}

// jobField is the submission that JSON names.
func jobField(f *site.Fields) (job int64) {
	if !f.Has("job_id") {
		f.Wrong.Add(site.WrongField("job_id", site.ReasonMissing, "The field is missing."))
	}
	f.Value("job_id", "a number", &job)
	return job
}

// jobTyped is the submission that a form names.
func jobTyped(c *fiber.Ctx) (int64, error) {
	job, err := strconv.ParseInt(strings.TrimSpace(c.FormValue("job_id")), 10, 64)
	if err != nil {
		return 0, site.WrongField("job_id", site.ReasonInvalid, "Name the submission by its number, as its page does.")
	}
	return job, nil
}

// afterJob reads the cursor and the length of a list by submissions.
func afterJob(c *fiber.Ctx) (after int64, limit int, err error) {
	if limit, err = site.LimitOf(c); err != nil {
		return 0, 0, err
	}
	if cursor := c.Query("after"); cursor != "" {
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil || after < 1 {
			return 0, 0, site.WrongField("after", site.ReasonInvalid, "The cursor has to be the number of a submission.")
		}
	}
	return after, limit, nil
}

// apiIgnore handles POST /api/v1/rounds/:round/ignored with {"job_id", "reason"}.
func (s *Room) apiIgnore(c *fiber.Ctx) error {
	r, f, err := s.sent(c, "job_id", "reason")
	if err != nil {
		return err
	}
	job := jobField(f)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.ignore(c, r, job, f.Maybe("reason")); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// ignore has a submission not count in a round.
func (s *Room) ignore(c *fiber.Ctx, r *judge.Round, job int64, reason string) error {
	if reason = strings.TrimSpace(reason); len(reason) > maxReason {
		return site.WrongField("reason", site.ReasonInvalid, "A reason has up to %d bytes.", maxReason)
	}
	err := s.Config.Rounds.Ignore(c.UserContext(), r.Code, job, false, reason, site.ViewerOf(c).Name)
	if errors.Is(err, sql.ErrNotFound) {
		return site.WrongField("job_id", site.ReasonUnknown, "No participant has handed in a submission %d to the round, or it does not count already.", job)
	}
	return err
}

// count has the submission that the address names count again.
func (s *Room) count(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	job, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil {
		return sql.ErrNotFound
	}
	return s.Config.Rounds.Ignore(c.UserContext(), r.Code, job, true, "", site.ViewerOf(c).Name)
}

// apiCount handles DELETE /api/v1/rounds/:round/ignored/:id.
func (s *Room) apiCount(c *fiber.Ctx) error { return gone(c, s.count(c)) }

// ignoreForm handles POST /rounds/:round/ignored.
func (s *Room) ignoreForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	job, err := jobTyped(c)
	if err == nil {
		err = s.ignore(c, r, job, c.FormValue("reason"))
	}
	return s.acted(c, err, func(v *staffView) { v.Job, v.Why = c.FormValue("job_id"), c.FormValue("reason") })
}

// countForm handles POST /rounds/:round/ignored/:id/count.
func (s *Room) countForm(c *fiber.Ctx) error { return s.acted(c, s.count(c), nothingTyped) }
