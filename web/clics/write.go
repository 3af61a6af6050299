package clics

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/standings"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// readObject reads the JSON object that was sent.
func readObject(c *fiber.Ctx, into any) error {
	if err := site.NeedJSON(c); err != nil {
		return err
	}
	if err := json.Unmarshal(c.Body(), into); err != nil {
		return badRequest("The body is not JSON: %v.", err)
	}
	return nil
}

// staffOnly refuses who does not run the round.
func staffOnly(a asker) error {
	if a.view != standings.Staff {
		return site.Refuse(fiber.StatusForbidden, "forbidden", "Only staff of the space does that.", "")
	}
	return nil
}

// soon is how long before a start nobody sets another one.
const soon = 30 * time.Second

// patch handles PATCH /clics/:version/contests/:round, of who runs the round: its start, or when it is thawed.
func (s *Room) patch(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	if err := staffOnly(a); err != nil {
		return err
	}
	var in map[string]json.RawMessage
	if err := readObject(c, &in); err != nil {
		return err
	}
	var id string
	if json.Unmarshal(in["id"], &id) != nil || id != a.round.Code {
		return site.Refuse(fiber.StatusConflict, "other_id", "The id in the body is another one than in the address.", "")
	}
	for name := range in {
		if !slices.Contains([]string{"id", "start_time", "countdown_pause_time", "scoreboard_thaw_time"}, name) {
			return badRequest("There is no such property to change: %q.", site.Shorten(name))
		}
	}
	_, start := in["start_time"]
	_, thaw := in["scoreboard_thaw_time"]
	switch {
	case start == thaw:
		return badRequest("Send start_time or scoreboard_thaw_time.")
	case start:
		return s.patchStart(c, a, in)
	}
	return s.patchThaw(c, a, in["scoreboard_thaw_time"])
}

// refused is an act that cannot be done, in the API's words.
func refused(err error) error {
	if wrong, ok := errors.AsType[*judge.FieldError](err); ok {
		return site.Refuse(fiber.StatusForbidden, wrong.Reason, "%s", "", wrong.Remedy)
	}
	return err
}

func (s *Room) patchStart(c *fiber.Ctx, a asker, in map[string]json.RawMessage) error {
	var start *clics.Moment
	var pause *string
	if err := json.Unmarshal(in["start_time"], &start); err != nil {
		return badRequest("start_time is no time: %v.", err)
	}
	if raw, there := in["countdown_pause_time"]; there && json.Unmarshal(raw, &pause) != nil {
		return badRequest("countdown_pause_time is no relative time.")
	}
	var left *time.Duration
	if pause != nil {
		d, err := clics.ParseRelTime(*pause)
		if err != nil || d < 0 || start != nil {
			return badRequest("countdown_pause_time is a relative time, and start_time is null beside it.")
		}
		left = &d
	}
	_, err := s.Config.Rounds.Change(c.UserContext(), a.round.Code, site.ViewerOf(c).Name, "round_update", func(r judge.Round) (judge.Round, error) {
		late := r.Start != nil && r.Start.Before(r.Now.Add(soon))
		if late || start != nil && start.Before(r.Now.Add(soon)) {
			return r, judge.Wrong("start_time", "soon", "The contest has begun, or begins within 30 seconds; or the new start would be as near.")
		}
		var moment *time.Time
		if start != nil {
			moment = &start.Time
		}
		out, err := contest.SetStart(r, r.Now, moment)
		out.Paused = left
		return out, err
	})
	if err != nil {
		return refused(err)
	}
	return s.awaitOne(c, a, clics.TypeContest, "", func(raw []byte) bool {
		var is clics.Contest
		if json.Unmarshal(raw, &is) != nil || (is.Start == nil) != (start == nil) {
			return false
		}
		return start == nil || *is.Start == clics.AbsTime(start.Time)
	})
}

// awaitOne answers with an object that was just made, or is another now.
func (s *Room) awaitOne(c *fiber.Ctx, a asker, kind, id string, is func(raw []byte) bool) error {
	return s.await(c, a, func(w *clics.World) (string, json.RawMessage, error) {
		raw, there := w.One(kind, id)
		if !there || !is(raw) {
			raw = nil
		}
		if kind == clics.TypeContest {
			return "", raw, nil
		}
		return kind + "/" + id, raw, nil
	})
}

func (s *Room) patchThaw(c *fiber.Ctx, a asker, raw json.RawMessage) error {
	var thaw clics.Moment
	if err := json.Unmarshal(raw, &thaw); err != nil || thaw.IsZero() {
		return badRequest("scoreboard_thaw_time is no time.")
	}
	now := false
	_, err := s.Config.Rounds.Change(c.UserContext(), a.round.Code, site.ViewerOf(c).Name, "round_thaw", func(r judge.Round) (judge.Round, error) {
		if now = !thaw.After(r.Now); now {
			return contest.ThawNow(r, r.Now)
		}
		out, err := contest.SetThaw(r, r.Now, &thaw.Time)
		if err == nil {
			err = contest.Check(&out)
		}
		return out, err
	})
	switch {
	case err != nil:
		return refused(err)
	case now:
		return s.await(c, a, func(w *clics.World) (string, json.RawMessage, error) {
			var is clics.State
			raw, told := w.One(clics.TypeState, "")
			if !told {
				return "", nil, nil
			}
			err := json.Unmarshal(raw, &is)
			if err != nil || is.Thawed == nil || *is.Thawed == nil {
				return "", nil, err
			}
			raw, _ = w.One(clics.TypeContest, "")
			return "", raw, nil
		})
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// asked is a clarification that is sent. What is null may be left out.
type asked struct {
	ID          *string       `json:"id"`
	From        *string       `json:"from_team_id"`
	Team        *string       `json:"to_team_id"`
	Teams       []string      `json:"to_team_ids"`
	Groups      []string      `json:"to_group_ids"`
	ReplyTo     *string       `json:"reply_to_id"`
	Problem     *string       `json:"problem_id"`
	Text        *string       `json:"text"`
	Time        *clics.Moment `json:"time"`
	ContestTime *string       `json:"contest_time"`
}

// clarify handles POST /clics/:version/contests/:round/clarifications, and PUT on the address of one: teams ask, and who runs the
// round answers, announces and asks for teams.
func (s *Room) clarify(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	var in asked
	if err := readObject(c, &in); err != nil {
		return err
	}
	if in.Team != nil {
		in.Teams = append(in.Teams, *in.Team)
	}
	put := c.Method() == fiber.MethodPut
	if put {
		if err := staffOnly(a); err != nil {
			return err
		}
	}
	v := judge.Clarification{By: site.ViewerOf(c).Name, Teams: unique(in.Teams), Groups: unique(in.Groups)}
	switch {
	case put && (in.ID == nil || *in.ID != c.Params("id")):
		return site.Refuse(fiber.StatusConflict, "other_id", "The id in the body is another one than in the address.", "")
	case put && !site.ShortName.MatchString(*in.ID):
		return badRequest("%q is no id.", site.Shorten(*in.ID))
	case put && in.Time == nil:
		return badRequest("time has to say when it was said.")
	case put:
		v.Code = *in.ID
	case in.ID != nil:
		return badRequest("The server gives the id.")
	}
	if in.Text == nil || strings.TrimSpace(*in.Text) == "" || len(*in.Text) > judge.MaxClarification || !utf8.ValidString(*in.Text) || strings.ContainsRune(*in.Text, 0) {
		return badRequest("text has up to %d bytes, and is not empty.", judge.MaxClarification)
	}
	v.Text = *in.Text
	participant, err := s.speaks(c, a, in)
	if err != nil {
		return err
	}
	if in.Time != nil {
		if v.At = in.Time.UTC().Truncate(time.Millisecond); v.At.After(time.Now()) {
			return badRequest("time is to come.")
		}
	}
	if in.ReplyTo != nil {
		v.ReplyTo = *in.ReplyTo
	}
	if in.Problem != nil {
		if v.Problem, err = s.problem(c, a, *in.Problem); err != nil {
			return err
		}
	}
	code, err := s.Config.Rounds.Clarify(c.UserContext(), a.round.Code, participant, v)
	if errors.Is(err, sql.ErrExists) {
		return site.Refuse(fiber.StatusConflict, "exists", "There is a clarification of this id.", "Use another id.")
	}
	if err != nil {
		return err
	}
	return s.awaitOne(c, a, clics.TypeClarifications, code, func([]byte) bool { return true })
}

// speaks finds out who says something: a participant by its number, or, where that is 0, the jury. What they may not say is
// refused.
func (s *Room) speaks(c *fiber.Ctx, a asker, in asked) (int64, error) {
	if a.view == standings.Staff {
		switch {
		case in.From == nil:
			return 0, nil
		case len(in.Teams)+len(in.Groups) > 0 || in.ReplyTo != nil:
			return 0, badRequest("What a team asks is for the jury, and answers nothing: leave to_team_ids, to_group_ids and reply_to_id out.")
		}
		if err := s.knownTeam(c, a, *in.From); err != nil {
			return 0, err
		}
		who, err := s.Config.Rounds.Participant(c.UserContext(), a.round.Space, *in.From)
		if err != nil {
			return 0, err
		}
		return who.ID, nil
	}
	switch {
	case a.view != standings.Teams || a.status != judge.ParticipantActive:
		return 0, site.Refuse(fiber.StatusForbidden, "forbidden", "Only teams of the contest ask, and only its jury answers.", "")
	case in.From != nil && *in.From != a.code:
		return 0, site.Refuse(fiber.StatusForbidden, "forbidden", "Nobody asks for another team.", "Leave from_team_id out.")
	case len(in.Teams)+len(in.Groups) > 0 || in.ReplyTo != nil:
		return 0, site.Refuse(fiber.StatusForbidden, "forbidden", "Teams ask the jury, and nobody else.", "Leave to_team_ids, to_group_ids and reply_to_id out.")
	case in.Time != nil || in.ContestTime != nil:
		return 0, site.Refuse(fiber.StatusForbidden, "forbidden", "A team does not say when it asks.", "Leave time out.")
	}
	return a.reader.Participant, nil
}

func unique(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return append([]string{}, slices.Compact(out)...)
}

// given is an award that is sent.
type given struct {
	ID       *string   `json:"id"`
	Citation *string   `json:"citation"`
	Teams    *[]string `json:"team_ids"`
}

// award handles POST /clics/:version/contests/:round/awards, and PUT and PATCH on the address of one, of who runs the round. What
// the board gives, nobody else gives.
func (s *Room) award(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err != nil {
		return err
	}
	if err := staffOnly(a); err != nil {
		return err
	}
	var in given
	if err := readObject(c, &in); err != nil {
		return err
	}
	v := judge.RoundAward{Code: c.Params("id"), Participants: []string{}}
	post := c.Method() == fiber.MethodPost
	switch {
	case post && in.ID != nil:
		return badRequest("The server gives the id. Use PUT on the address of the award.")
	case !post && in.ID != nil && *in.ID != v.Code:
		return site.Refuse(fiber.StatusConflict, "other_id", "The id in the body is another one than in the address.", "")
	case c.Method() == fiber.MethodPatch && in.Citation == nil && in.Teams == nil:
		return badRequest("Send citation or team_ids.")
	case c.Method() == fiber.MethodPatch:
		if v, err = s.awardOf(c, a); err != nil {
			return err
		}
	case in.Citation == nil || in.Teams == nil:
		return badRequest("citation and team_ids have to be there.")
	case post:
		v.Code = rounds.NewCode()
	}
	if in.Citation != nil {
		v.Citation = *in.Citation
	}
	if in.Teams != nil {
		v.Participants = unique(*in.Teams)
	}
	if err := s.mayAward(v); err != nil {
		return err
	}
	if err := s.Config.Rounds.PutAward(c.UserContext(), a.round.Code, v, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return s.awaitOne(c, a, clics.TypeAwards, v.Code, func(raw []byte) bool {
		var is clics.Award
		return json.Unmarshal(raw, &is) == nil && is.Citation == v.Citation && slices.Equal(is.Teams, v.Participants)
	})
}

// mayAward refuses what the board gives, and what cannot be told.
func (s *Room) mayAward(v judge.RoundAward) error {
	switch {
	case contest.Managed(v.Code):
		return site.Refuse(fiber.StatusForbidden, "managed", "The award %q is given by the board.", "Use another id.", site.Shorten(v.Code))
	case clics.ID(v.Code) != v.Code:
		return badRequest("%q is no id.", site.Shorten(v.Code))
	case strings.TrimSpace(v.Citation) == "" || len(v.Citation) > maxCitation || !utf8.ValidString(v.Citation) || strings.ContainsFunc(v.Citation, func(r rune) bool { return r < ' ' }):
		return badRequest("citation has from 1 to %d bytes on one line.", maxCitation)
	}
	return nil
}

const maxCitation = 200 // bytes

// awardOf is the award of the jury that the address names.
func (s *Room) awardOf(c *fiber.Ctx, a asker) (judge.RoundAward, error) {
	all, err := s.Config.Rounds.Awards(c.UserContext(), a.round.ID)
	if err != nil {
		return judge.RoundAward{}, err
	}
	i := slices.IndexFunc(all, func(v judge.RoundAward) bool { return v.Code == c.Params("id") })
	if i < 0 {
		return judge.RoundAward{}, notThere()
	}
	return all[i], nil
}

// removeAward handles DELETE /clics/:version/contests/:round/awards/:id.
func (s *Room) removeAward(c *fiber.Ctx) error {
	a, err := s.ask(c)
	if err == nil {
		err = staffOnly(a)
	}
	if err != nil {
		return err
	}
	if err := s.Config.Rounds.RemoveAward(c.UserContext(), a.round.Code, c.Params("id"), site.ViewerOf(c).Name); errors.Is(err, sql.ErrNotFound) {
		return notThere()
	} else if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
