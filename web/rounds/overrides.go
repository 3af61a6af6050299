package rounds

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// overrideJSON is a verdict that staff gave in the place of the judge's.
type overrideJSON struct {
	JobID       int64         `json:"job_id"`
	Number      int64         `json:"number"` // in the round; 0: it has none
	Participant string        `json:"participant"`
	Problem     string        `json:"problem"`
	Generation  int           `json:"generation"` // of the judging that it is
	Before      judge.Verdict `json:"before"`
	Verdict     judge.Verdict `json:"verdict"`
	Score       *float64      `json:"score"`
	Counts      bool          `json:"counts"` // false: it was judged again since
	Reason      string        `json:"reason"`
	By          string        `json:"by"`
	At          time.Time     `json:"at"`
}

// byHand are the verdicts that may be given.
var byHand = []judge.Verdict{judge.AC, judge.WA, judge.PE, judge.TLE, judge.MLE, judge.OLE, judge.RE, judge.CE}

// verdictsOf are those in a format.
func verdictsOf(r *judge.Round) []judge.Verdict {
	if contest.Format(r.Format) == contest.IOI {
		return append([]judge.Verdict{judge.PA}, byHand...)
	}
	return byHand
}

// words are verdicts as they are sent.
func words(verdicts []judge.Verdict) (out []string) {
	for _, v := range verdicts {
		out = append(out, string(v))
	}
	return out
}

// apiOverrides handles GET /api/v1/rounds/:round/verdicts?after=&limit=.
func (s *Room) apiOverrides(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	after, limit, err := afterJob(c)
	if err != nil {
		return err
	}
	found, err := s.Config.Rounds.Overrides(c.UserContext(), r.ID, after, limit)
	if err != nil {
		return err
	}
	out := make([]overrideJSON, len(found))
	for i, v := range found {
		out[i] = overrideJSON(v)
	}
	return c.JSON(fiber.Map{"verdicts": out, "next": next(found, limit, func(v rounds.Override) string { return strconv.FormatInt(v.JobID, 10) })})
}

// apiOverride handles POST /api/v1/rounds/:round/verdicts with {"job_id", "verdict", "score", "reason"}.
func (s *Room) apiOverride(c *fiber.Ctx) error {
	r, f, err := s.sent(c, "job_id", "verdict", "score", "reason")
	if err != nil {
		return err
	}
	var score *float64
	job := jobField(f)
	f.Value("score", "a number", &score)
	verdict, reason := f.Text("verdict"), f.Text("reason")
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.override(c, r, job, judge.Verdict(verdict), score, reason); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// override gives a submission a verdict.
func (s *Room) override(c *fiber.Ctx, r *judge.Round, job int64, v judge.Verdict, score *float64, reason string) error {
	reason = strings.TrimSpace(reason)
	scored := contest.Format(r.Format) == contest.IOI
	switch {
	case !slices.Contains(verdictsOf(r), v):
		return site.WrongField("verdict", site.ReasonInvalid, "The verdict is one of %s.", judge.Names(words(verdictsOf(r))))
	case reason == "" || len(reason) > maxReason:
		return site.WrongField("reason", site.ReasonInvalid, "Say why, in up to %d bytes: it is kept in the audit log.", maxReason)
	case scored && score == nil && v != judge.CE:
		return site.WrongField("score", site.ReasonMissing, "Say the score, as the problem gives scores.")
	case (!scored || v == judge.CE) && score != nil:
		return site.WrongField("score", site.ReasonInvalid, "There is no score: the format gives none, or nothing compiles.")
	case score != nil && !(*score >= 0 && *score <= rounds.MaxPoints):
		return site.WrongField("score", site.ReasonInvalid, "A score is from 0 to %d.", rounds.MaxPoints)
	}
	err := s.Config.Rounds.Override(c.UserContext(), r.Code, job, v, score, reason, site.ViewerOf(c).Name)
	if errors.Is(err, sql.ErrNotFound) {
		return site.WrongField("job_id", site.ReasonUnknown, "No participant has handed in a submission %d to the round.", job)
	}
	return err
}

// overrideForm handles POST /rounds/:round/verdicts.
func (s *Room) overrideForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	typed := map[string]string{}
	for _, name := range []string{"job_id", "verdict", "score", "reason"} {
		typed[name] = strings.TrimSpace(c.FormValue(name))
	}
	var score *float64
	job, err := jobTyped(c)
	if err == nil && typed["score"] != "" {
		score = new(0.0)
		if *score, err = strconv.ParseFloat(typed["score"], 64); err != nil {
			err = site.WrongField("score", site.ReasonInvalid, "A score is a number.")
		}
	}
	if err == nil {
		err = s.override(c, r, job, judge.Verdict(typed["verdict"]), score, typed["reason"])
	}
	return s.acted(c, err, func(v *staffView) { v.Give = typed })
}
