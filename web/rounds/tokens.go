package rounds

import (
	"errors"
	"math"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// mostTokened is how many submissions a page offers to spend tokens on.
const mostTokened = 50

// tokenView is what a page says of tokens.
type tokenView struct {
	Rows []tokenRow
	Can  bool // the round goes on
}

// tokenRow is a submission of the participant, and whether a token may be spent on it.
type tokenRow struct {
	rounds.Tokened

	Label string
	Left  int // tokens for its problem; below 0: any number
	Wait  time.Duration
}

// tokens are those of a participant in a round; nil where there are none.
func tokens(r *judge.Round, list []rounds.Tokened, labels map[string]string) *tokenView {
	cfg, err := contest.ParseConfig(contest.Format(r.Format), r.Settings)
	if err != nil {
		return nil
	}
	rules, some := cfg.TokenRules()
	if !some {
		return nil
	}
	clock := contest.ClockOf(r)
	view := &tokenView{Can: clock.Started(r.Now) != nil && clock.Ended(r.Now) == nil}
	for _, v := range list[:min(len(list), mostTokened)] {
		row := tokenRow{Tokened: v, Label: labels[v.Problem]}
		if row.Left, row.Wait = left(rules, clock, list, v.Problem, clock.At(r.Now)); row.Left == math.MaxInt {
			row.Left = -1
		}
		view.Rows = append(view.Rows, row)
	}
	return view
}

// left is how many tokens there are for a problem at a contest time, and how long it is until one may be spent: see
// [contest.TokenRules.Left]. List is what the participant has handed in.
func left(rules contest.TokenRules, clock contest.Clock, list []rounds.Tokened, problem string, now time.Duration) (int, time.Duration) {
	var all, here []time.Duration
	for _, v := range list {
		if v.Token == nil {
			continue
		}
		all = append(all, clock.At(*v.Token))
		if v.Problem == problem {
			here = append(here, clock.At(*v.Token))
		}
	}
	return rules.Left(all, here, now)
}

// maySpend refuses a token that the settings of a round do not allow.
func maySpend(r *judge.Round, on rounds.Tokened, list []rounds.Tokened) error {
	cfg, err := contest.ParseConfig(contest.Format(r.Format), r.Settings)
	if err != nil {
		return err
	}
	rules, some := cfg.TokenRules()
	clock := contest.ClockOf(r)
	switch {
	case !some:
		return site.WrongField("job_id", "no_tokens", "The round has no tokens: its settings give none.")
	case clock.Started(r.Now) == nil || clock.Ended(r.Now) != nil:
		return site.WrongField("job_id", "not_running", "Tokens are spent while the round goes on.")
	}
	switch n, wait := left(rules, clock, list, on.Problem, clock.At(r.Now)); {
	case n <= 0:
		return site.WrongField("job_id", "none_left", "You have no token for %s now.", on.Problem)
	case wait > 0:
		return site.WrongField("job_id", "too_soon", "The next token may be spent in %s.", wait.Round(time.Second).String())
	}
	return nil
}

// spend has who asks spend a token of their participant on a submission.
func (s *Room) spend(c *fiber.Ctx, r *judge.Round, job int64) error {
	v, none := site.ViewerOf(c), site.WrongField("job_id", site.ReasonUnknown, "You have handed in no submission %d to the round.", job)
	e, err := s.Config.Rounds.Entry(c.UserContext(), r.ID, v.Name)
	if errors.Is(err, sql.ErrNotFound) || err == nil && !e.Entered || !v.Known() {
		return none
	}
	if err != nil {
		return err
	}
	if e.Status != judge.ParticipantActive {
		return site.Refuse(fiber.StatusForbidden, "not_active", "Your team takes part no more.", "Ask the staff of the round.")
	}
	if err = s.Config.Rounds.SpendToken(c.UserContext(), r.Code, e.Participant, job, v.Name, maySpend); errors.Is(err, sql.ErrNotFound) {
		return none
	}
	return err
}

// apiSpend handles POST /api/v1/rounds/:round/tokens with {"job_id"}.
func (s *Room) apiSpend(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	f, err := site.ReadFields(c, "job_id")
	if err != nil {
		return err
	}
	job := jobField(f)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.spend(c, r, job); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// spendForm handles POST /rounds/:round/tokens.
func (s *Room) spendForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	job, err := jobTyped(c)
	if err != nil {
		return err
	}
	if err := s.spend(c, r, job); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneSaved, site.RoundURL(c.Params("round"))+"/problems")
}
