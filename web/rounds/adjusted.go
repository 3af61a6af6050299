package rounds

import (
	"errors"
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

// adjustmentJSON is what staff added to the row of a participant.
type adjustmentJSON struct {
	Participant string    `json:"participant"`
	Minutes     int64     `json:"minutes"` // of penalty time
	Points      float64   `json:"points"`
	Reason      string    `json:"reason"`
	By          string    `json:"by"`
	At          time.Time `json:"at"`
}

// apiAdjustments handles GET /api/v1/rounds/:round/adjustments?after=&limit=.
func (s *Room) apiAdjustments(c *fiber.Ctx) error {
	return someOfRound(s, c, "adjustments", s.Config.Rounds.Adjustments, func(a rounds.Adjustment) adjustmentJSON { return adjustmentJSON(a) },
		func(a adjustmentJSON) string { return a.Participant })
}

// apiAdjust handles POST /api/v1/rounds/:round/adjustments with {"participant", "minutes" or "points", "reason"}.
func (s *Room) apiAdjust(c *fiber.Ctx) error {
	r, f, err := s.sent(c, "participant", "minutes", "points", "reason")
	if err != nil {
		return err
	}
	a := rounds.Adjustment{Participant: f.Text("participant"), Reason: f.Maybe("reason")}
	f.Value("minutes", "a whole number of minutes", &a.Minutes)
	f.Value("points", "a number", &a.Points)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.adjust(c, r, a); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// adjust adds something to the row of a participant: minutes where time costs, else points.
func (s *Room) adjust(c *fiber.Ctx, r *judge.Round, a rounds.Adjustment) error {
	a.Reason = strings.TrimSpace(a.Reason)
	scored := contest.Format(r.Format) == contest.IOI
	switch {
	case !code.MatchString(a.Participant):
		return site.WrongField("participant", site.ReasonInvalid, "Name the participant by its short name.")
	case len(a.Reason) > maxReason:
		return site.WrongField("reason", site.ReasonInvalid, "A reason has up to %d bytes.", maxReason)
	case scored && a.Minutes != 0:
		return site.WrongField("minutes", site.ReasonInvalid, "Points are added in the format %s, and no minutes.", r.Format)
	case !scored && a.Points != 0:
		return site.WrongField("points", site.ReasonInvalid, "Minutes of penalty time are added in the format %s, and no points.", r.Format)
	}
	err := s.Config.Rounds.Adjust(c.UserContext(), r.Code, a, site.ViewerOf(c).Name)
	if errors.Is(err, sql.ErrNotFound) {
		return site.WrongField("participant", site.ReasonUnknown, "%s takes no part in the round.", a.Participant)
	}
	return err
}

// adjustForm handles POST /rounds/:round/adjustments.
func (s *Room) adjustForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	typed := map[string]string{}
	for _, name := range []string{"participant", "added", "reason"} {
		typed[name] = strings.TrimSpace(c.FormValue(name))
	}
	a := rounds.Adjustment{Participant: typed["participant"], Reason: typed["reason"]}
	if contest.Format(r.Format) == contest.IOI {
		a.Points, err = strconv.ParseFloat(typed["added"], 64)
	} else {
		a.Minutes, err = strconv.ParseInt(typed["added"], 10, 64)
	}
	if err != nil {
		err = site.WrongField("added", site.ReasonInvalid, "Say how much is added, such as 20, or -20; 0 takes it away.")
	} else {
		err = s.adjust(c, r, a)
	}
	return s.acted(c, err, func(v *staffView) { v.Add = typed })
}
