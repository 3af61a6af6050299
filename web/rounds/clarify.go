package rounds

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// clarificationJSON is a question of a participant, or what the jury says.
type clarificationJSON struct {
	ID       string    `json:"id"`
	From     *string   `json:"from"`      // who asks; null: the jury speaks
	Teams    []string  `json:"to_teams"`  // whom alone it is for, as far as the caller may know
	Groups   []string  `json:"to_groups"` // likewise; neither: everybody
	ReplyTo  *string   `json:"reply_to"`  // the question that it answers, if the caller sees that
	Problem  *string   `json:"problem"`   // null: in general
	Text     string    `json:"text"`
	At       time.Time `json:"at"`
	Answered bool      `json:"answered"` // somebody has answered or closed it
}

// clarificationIn is what may be sent of one. Participants send the text and the problem alone.
var clarificationIn = fiber.Map{"text": "", "?problem": (*string)(nil), "?reply_to": (*string)(nil), "?to_teams": []string{}, "?to_groups": []string{}}

// clarifier is who reads and writes clarifications of a round.
type clarifier struct {
	round *judge.Round
	space *judge.Space
	jury  bool
	entry rounds.Entry // zero = takes no part
}

// clarifier finds out who that is.
func (s *Room) clarifier(c *fiber.Ctx) (who clarifier, err error) {
	if who.round, who.space, err = s.round(c, people.SeeSpace); err != nil {
		return who, err
	}
	v := site.ViewerOf(c)
	if who.jury = v.May(people.ManageSpace, who.space); who.jury || !v.Known() {
		return who, nil
	}
	who.entry, err = s.Config.Rounds.Entry(c.UserContext(), who.round.ID, v.Name)
	if errors.Is(err, sql.ErrNotFound) {
		return who, nil
	}
	if !who.entry.Entered {
		who.entry = rounds.Entry{}
	}
	return who, err
}

// asks reports whether who it is may ask.
func (who clarifier) asks() bool {
	return who.entry.Participant != 0 && who.entry.Status == judge.ParticipantActive && who.round.Finalized == nil
}

// shown is a clarification as who reads it may see it.
func (who clarifier) shown(v judge.Clarification) clarificationJSON {
	out := clarificationJSON{ID: v.Code, Teams: []string{}, Groups: append([]string{}, v.Groups...), Text: v.Text, At: v.At, Answered: v.Answered || v.Closed != nil}
	out.From, out.Problem = orNull(v.From), orNull(v.Problem)
	if who.jury || v.AskedBy == who.entry.Participant && v.AskedBy != 0 {
		out.ReplyTo = orNull(v.ReplyTo)
	}
	for _, team := range v.Teams {
		if who.jury || team == who.entry.Code {
			out.Teams = append(out.Teams, team)
		}
	}
	return out
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// clarifications returns those that who reads them may see, newest first, from before one on.
func (s *Room) clarifications(c *fiber.Ctx, who clarifier, limit int) ([]judge.Clarification, *string, error) {
	before := c.Query("before")
	if before != "" && !code.MatchString(before) {
		return nil, nil, site.WrongField("before", site.ReasonInvalid, "The cursor has to be the id of a clarification.")
	}
	found, err := s.Config.Rounds.Clarifications(c.UserContext(), who.round.ID, rounds.ClarificationFilter{
		All: who.jury, Participant: who.entry.Participant, Before: before, Limit: limit,
	})
	if err != nil {
		return nil, nil, err
	}
	return found, next(found, limit, func(v judge.Clarification) string { return v.Code }), nil
}

// apiClarifications handles GET /api/v1/rounds/:round/clarifications?before=&limit=.
func (s *Room) apiClarifications(c *fiber.Ctx) error {
	who, err := s.clarifier(c)
	if err != nil {
		return err
	}
	limit, err := site.LimitOf(c)
	if err != nil {
		return err
	}
	found, next, err := s.clarifications(c, who, limit)
	if err != nil {
		return err
	}
	out := make([]clarificationJSON, len(found))
	for i, v := range found {
		out[i] = who.shown(v)
	}
	return c.JSON(fiber.Map{"clarifications": out, "next": next})
}

// apiClarify handles POST /api/v1/rounds/:round/clarifications.
func (s *Room) apiClarify(c *fiber.Ctx) error {
	who, err := s.clarifier(c)
	if err != nil {
		return err
	}
	f, err := site.ReadFields(c, fieldsOf(clarificationIn)...)
	if err != nil {
		return err
	}
	id, err := s.clarify(c, who, f)
	if err != nil {
		return err
	}
	found, err := s.Config.Rounds.Clarifications(c.UserContext(), who.round.ID, rounds.ClarificationFilter{All: who.jury, Participant: who.entry.Participant, Code: id, Limit: 1})
	if err != nil || len(found) == 0 {
		return errors.Join(err, sql.ErrNotFound)
	}
	return c.Status(fiber.StatusCreated).JSON(who.shown(found[0]))
}

// clarify adds what was sent, as a question of a participant or as what the jury says, and returns its id.
func (s *Room) clarify(c *fiber.Ctx, who clarifier, f *site.Fields) (string, error) {
	if !who.jury && !who.asks() {
		return "", site.Refuse(fiber.StatusForbidden, "forbidden", "Only participants of the round ask, and only its staff answers.", "Have its staff enter you or your team.")
	}
	v := judge.Clarification{Text: strings.TrimSpace(strings.ReplaceAll(f.Text("text"), "\r\n", "\n")), By: site.ViewerOf(c).Name, Teams: []string{}, Groups: []string{}}
	if f.Has("text") && (v.Text == "" || len(v.Text) > judge.MaxClarification || !utf8.ValidString(v.Text) || strings.ContainsRune(v.Text, 0)) {
		f.Wrong.Add(site.WrongField("text", site.ReasonInvalid, "The text has up to %d bytes, and is not empty.", judge.MaxClarification))
	}
	for name, into := range map[string]*string{"problem": &v.Problem, "reply_to": &v.ReplyTo} {
		if f.Has(name) {
			*into = f.Text(name)
		}
	}
	f.Value("to_teams", "a list of strings", &v.Teams)
	f.Value("to_groups", "a list of strings", &v.Groups)
	for _, list := range []*[]string{&v.Teams, &v.Groups} { // who is there twice is meant once
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if len(v.Teams) > maxAtOnce || len(v.Groups) > maxAtOnce {
		f.Wrong.Add(site.WrongField("to_teams", "too_many", "Name from 1 to %d at once.", maxAtOnce))
	}
	if !who.jury {
		for _, name := range []string{"reply_to", "to_teams", "to_groups"} {
			if f.Has(name) {
				f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "Only staff of the space says whom something is for. Leave the field out."))
			}
		}
	}
	if v.Problem != "" && !site.PlainWord(v.Problem) {
		f.Wrong.Add(site.WrongField("problem", site.ReasonUnknown, "The round has no problem %q.", site.Shorten(v.Problem)))
	}
	if err := f.Wrong.Err(); err != nil {
		return "", err
	}
	participant := who.entry.Participant
	if who.jury {
		participant = 0
	}
	return s.Config.Rounds.Clarify(c.UserContext(), who.round.Code, participant, v)
}

// apiCloseQuestion handles POST /api/v1/rounds/:round/clarifications/:code/close, and …/open.
func (s *Room) apiCloseQuestion(closed bool) fiber.Handler {
	return func(c *fiber.Ctx) error { return gone(c, s.closeQuestion(c, closed)) }
}

func (s *Room) closeQuestion(c *fiber.Ctx, closed bool) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	id, err := named(c)
	if err != nil {
		return err
	}
	return s.Config.Rounds.CloseQuestion(c.UserContext(), r.ID, id, closed)
}

// clarifyView is the page of the clarifications of a round.
type clarifyView struct {
	Round    *judge.Round
	Space    site.SpaceView
	Jury     bool
	Asks     bool
	Rows     []clarificationView
	More     string // address of the next page, "" at the end
	Problems []judge.RoundProblem
	Typed    map[string]string // the form as it was filled in, where it comes back
	Fault    *site.Fault
}

// clarificationView is a row of the page.
type clarificationView struct {
	clarificationJSON

	FromName string
	Label    string // of the problem; "" = in general
	Waits    bool   // a question without an answer
}

// clarifyURL is the page of the clarifications of a round.
func clarifyURL(code string) string { return site.RoundURL(code) + "/clarifications" }

// clarifyPage handles GET /rounds/:round/clarifications.
func (s *Room) clarifyPage(c *fiber.Ctx) error {
	return s.showClarify(c, fiber.StatusOK, map[string]string{"reply_to": c.Query("reply")}, nil)
}

func (s *Room) showClarify(c *fiber.Ctx, status int, typed map[string]string, f *site.Fault) error {
	who, err := s.clarifier(c)
	if err != nil {
		return err
	}
	view := clarifyView{
		Round: who.round, Space: site.ViewSpace(who.space, site.ViewerOf(c)), Jury: who.jury, Asks: who.asks(), Typed: typed, Fault: f,
	}
	found, next, err := s.clarifications(c, who, site.PageSize)
	if err != nil {
		return err
	}
	if begun := who.round.Start != nil && !who.round.Start.After(who.round.Now); begun {
		if view.Problems, err = s.Config.Rounds.Problems(c.UserContext(), who.round.ID); err != nil {
			return err
		}
	}
	labels := map[string]string{}
	for _, p := range view.Problems {
		labels[p.Problem] = p.Label
	}
	for _, v := range found {
		row := clarificationView{clarificationJSON: who.shown(v), FromName: v.FromName, Label: labels[v.Problem], Waits: v.From != "" && !v.Answered && v.Closed == nil}
		view.Rows = append(view.Rows, row)
	}
	if next != nil {
		view.More = clarifyURL(who.round.Code) + "?before=" + url.QueryEscape(*next)
	}
	return s.Page(c, status, "clarifications", "%s", view, who.round.Title)
}

// clarifyForm handles POST /rounds/:round/clarifications.
func (s *Room) clarifyForm(c *fiber.Ctx) error {
	who, err := s.clarifier(c)
	if err != nil {
		return err
	}
	f := &site.Fields{Raw: map[string]json.RawMessage{}}
	typed := map[string]string{}
	for _, name := range []string{"text", "problem", "reply_to", "to_teams", "to_groups"} {
		text := c.FormValue(name)
		typed[name] = text
		switch {
		case name == "text":
			set(f, name, text)
		case strings.TrimSpace(text) == "":
		case name == "to_teams" || name == "to_groups":
			set(f, name, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\r\n\t", r) }))
		default:
			set(f, name, text)
		}
	}
	if c.FormValue("to") == "asker" { // the answer is for whoever has asked alone
		found, err := s.Config.Rounds.Clarifications(c.UserContext(), who.round.ID, rounds.ClarificationFilter{All: who.jury, Participant: who.entry.Participant, Code: typed["reply_to"], Limit: 1})
		if err != nil {
			return err
		}
		if len(found) == 1 && found[0].From != "" && typed["reply_to"] != "" {
			set(f, "to_teams", []string{found[0].From})
		}
	}
	_, err = s.clarify(c, who, f)
	if err == nil {
		return site.SeeDone(c, site.DoneThat, clarifyURL(who.round.Code))
	}
	fault := s.Explain(c.UserContext(), err)
	if fault.Field == "" {
		return err
	}
	return s.showClarify(c, fault.Status, typed, fault)
}

// closeForm handles POST /rounds/:round/clarifications/:code/close.
func (s *Room) closeForm(c *fiber.Ctx) error {
	if err := s.closeQuestion(c, true); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneThat, clarifyURL(c.Params("round")))
}
