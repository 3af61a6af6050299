package rounds

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/site"
)

// roundForm are the settings of a round as a form has them.
type roundForm struct {
	Code, Title, FormalName, Kind, Format, Settings string
	Length, Freeze                                  string // h:mm, the freeze before the end; "" = none
	Zone                                            string
	Start, Thaw                                     site.TimeField
	Practice, PublicRuns                            bool
	Made                                            bool // there is such a round already

	Fault *site.Fault // why the form comes back
}

// Formats are the formats that the form offers.
func (roundForm) Formats() []contest.Format { return []contest.Format{contest.ICPC, contest.IOI} }

// Kinds are the kinds that the form offers.
func (roundForm) Kinds() []judge.RoundKind {
	return []judge.RoundKind{judge.RoundContest, judge.RoundAssignment}
}

// showForm is the form of a round by a clock.
func showForm(r *judge.Round, clock *time.Location) roundForm {
	f := roundForm{
		Code: r.Code, Title: r.Title, FormalName: r.FormalName, Kind: string(r.Kind), Format: r.Format, Settings: string(r.Settings), Zone: clock.String(),
		Start: site.ShowTime("starts_at", r.Start, clock), Thaw: site.ShowTime("thaw_at", r.Thaw, clock), Practice: r.Practice, PublicRuns: r.PublicRuns, Made: r.ID != 0,
	}
	if f.Settings == "{}" {
		f.Settings = ""
	}
	if r.Duration != nil {
		f.Length = hours(*r.Duration)
		if r.Freeze != nil {
			f.Freeze = hours(*r.Duration - *r.Freeze)
		}
	}
	return f
}

// hours writes a length of time as people do, in hours and minutes, and seconds where there are some.
func hours(d time.Duration) string {
	text := fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
	if s := int(d.Seconds()) % 60; s != 0 {
		text += fmt.Sprintf(":%02d", s)
	}
	return text
}

var hoursText = regexp.MustCompile(`^([0-9]{1,5}):([0-5][0-9])(?::([0-5][0-9]))?$`)

// readHours reads what hours writes.
func readHours(field, text string) (*time.Duration, *judge.FieldError) {
	if text == "" {
		return nil, nil
	}
	m := hoursText.FindStringSubmatch(text)
	if m == nil {
		return nil, site.WrongField(field, site.ReasonInvalid, "The length has to be in hours and minutes, like 5:00.")
	}
	var d time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(m[i+1]) // which may be missing
		d += time.Duration(n) * unit
	}
	return &d, nil
}

// set has a field be a value, as if JSON had been sent.
func set(f *site.Fields, name string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		raw = []byte("null")
	}
	f.Raw[name] = raw
}

// readForm reads the settings of a round from a form: as it was typed, and as JSON would name them. What is as the form
// showed it of before is not named, so that it stays as it is to the millisecond.
func readForm(c *fiber.Ctx, before *judge.Round) (roundForm, *site.Fields) {
	value := func(name string) string { return c.FormValue(name) }
	in := &site.Fields{Raw: map[string]json.RawMessage{}}
	clock, e := site.FormClock(value)
	in.Wrong.Add(e)
	was := showForm(before, clock)
	f := roundForm{
		Code: value("code"), Title: strings.TrimSpace(value("title")), FormalName: strings.TrimSpace(value("formal_name")), Kind: value("kind"), Format: value("format"),
		Settings: strings.TrimSpace(value("settings")), Length: strings.TrimSpace(value("duration_ms")), Freeze: strings.TrimSpace(value("freeze_ms")), Zone: clock.String(),
		Practice: value("practice") != "", PublicRuns: value("public_runs") != "", Made: before.ID != 0,
	}
	for name, text := range map[string]string{"title": f.Title, "formal_name": f.FormalName, "kind": f.Kind, "format": f.Format} {
		set(in, name, text)
	}
	if !f.Made {
		set(in, "code", f.Code)
	}
	set(in, "practice", f.Practice)
	set(in, "public_runs", f.PublicRuns)
	switch {
	case f.Settings == "":
		set(in, "settings", struct{}{})
	case json.Valid([]byte(f.Settings)):
		in.Raw["settings"] = json.RawMessage(f.Settings)
	default:
		in.Wrong.Add(site.WrongField("settings", site.ReasonInvalid, "The settings of the format have to be JSON, like {\"penalty_minutes\": 20}."))
	}
	moment := func(name string, shown site.TimeField) site.TimeField {
		field, at, e := site.ReadTime(name, value, clock)
		in.Wrong.Add(e)
		if field.Text != shown.Text || field.Offset != "" && field.Offset != shown.Offset {
			set(in, name, at)
		}
		return field
	}
	f.Start, f.Thaw = moment("starts_at", was.Start), moment("thaw_at", was.Thaw)
	length, e := readHours("duration_ms", f.Length)
	in.Wrong.Add(e)
	if f.Length != was.Length {
		set(in, "duration_ms", millis(length))
	}
	freeze, e := readHours("freeze_ms", f.Freeze)
	in.Wrong.Add(e)
	switch {
	case f.Freeze == was.Freeze:
	case freeze == nil:
		set(in, "freeze_ms", nil)
	case length == nil:
		in.Wrong.Add(site.WrongField("freeze_ms", site.ReasonInvalid, "Only a round with a length has a freeze before its end."))
	default:
		set(in, "freeze_ms", (*length - *freeze).Milliseconds())
	}
	return f, in
}

// createForm handles POST /spaces/:space/rounds.
func (s *Room) createForm(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	form, f := readForm(c, &judge.Round{})
	made, err := s.create(c, space, f)
	if err == nil {
		return site.SeeDone(c, site.DoneMade, staffURL(made.Code))
	}
	if form.Fault = s.Explain(c.UserContext(), err); form.Fault.Field == "" {
		return err
	}
	return s.showRounds(c, form.Fault.Status, space, form)
}

// settingsForm handles POST /rounds/:round/settings.
func (s *Room) settingsForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	form, f := readForm(c, r)
	form.Code = r.Code
	_, err = s.Config.Rounds.Change(c.UserContext(), r.Code, site.ViewerOf(c).Name, "round_update", updates(f))
	return s.acted(c, err, func(v *staffView) { v.Form = form })
}

// acted leads back to the page of staff, which says that it is done, or why not. What was typed is put there by typed.
func (s *Room) acted(c *fiber.Ctx, err error, typed func(*staffView)) error {
	if err == nil {
		return site.SeeDone(c, site.DoneThat, staffURL(c.Params("round")))
	}
	f := s.Explain(c.UserContext(), err)
	if f.Field == "" && len(f.Errors) == 0 && f.Status != fiber.StatusConflict {
		return err
	}
	return s.showStaff(c, f.Status, func(v *staffView) {
		typed(v)
		v.Fault = f
	})
}

// nothingTyped is for forms of one button.
func nothingTyped(*staffView) {}

// formAct is a handler of a button of staff.
func (s *Room) formAct(action string, act func(judge.Round) (judge.Round, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r, _, err := s.round(c, people.ManageSpace)
		if err != nil {
			return err
		}
		_, err = s.Config.Rounds.Change(c.UserContext(), r.Code, site.ViewerOf(c).Name, action, act)
		return s.acted(c, err, nothingTyped)
	}
}

// extendForm handles POST /rounds/:round/extend with minutes.
func (s *Room) extendForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(c.FormValue("minutes"), 10, 20)
	if err != nil {
		return s.acted(c, site.WrongField("minutes", site.ReasonInvalid, "Say how many minutes longer it goes on, as a whole number."), nothingTyped)
	}
	_, err = s.Config.Rounds.Change(c.UserContext(), r.Code, site.ViewerOf(c).Name, "round_extend", func(r judge.Round) (judge.Round, error) {
		return contest.Extend(r, r.Now, time.Duration(n)*time.Minute)
	})
	return s.acted(c, err, nothingTyped)
}

// finalizeForm handles POST /rounds/:round/finalize with a number of further bronze medals, which may be left out.
func (s *Room) finalizeForm(c *fiber.Ctx) error {
	f := &site.Fields{Raw: map[string]json.RawMessage{}}
	if text := strings.TrimSpace(c.FormValue("b")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return s.acted(c, site.WrongField("b", site.ReasonInvalid, "The number is from 0 to %d.", maxBronze), nothingTyped)
		}
		set(f, "b", n)
	}
	_, err := s.finalize(c, f)
	return s.acted(c, err, nothingTyped)
}

// reopenForm handles POST /rounds/:round/reopen with a reason.
func (s *Room) reopenForm(c *fiber.Ctx) error {
	f := &site.Fields{Raw: map[string]json.RawMessage{}}
	set(f, "reason", c.FormValue("reason"))
	_, err := s.reopen(c, f)
	return s.acted(c, err, nothingTyped)
}

// removedForm handles POST /rounds/:round/removed.
func (s *Room) removedForm(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	value := func(name string) string { return c.FormValue(name) }
	var wrong site.WrongFields
	clock, e := site.FormClock(value)
	wrong.Add(e)
	from, begin, e := site.ReadTime("from", value, clock)
	wrong.Add(e)
	to, end, e := site.ReadTime("to", value, clock)
	wrong.Add(e)
	for name, at := range map[string]*time.Time{"from": begin, "to": end} {
		if at == nil && value(name) == "" {
			wrong.Add(site.WrongField(name, site.ReasonMissing, "The field is missing."))
		}
	}
	typed := func(v *staffView) { v.From, v.To, v.Reason = from, to, value("reason") }
	if err := wrong.Err(); err != nil {
		return s.acted(c, err, typed)
	}
	_, err = s.Config.Rounds.Change(c.UserContext(), r.Code, site.ViewerOf(c).Name, "round_remove", func(r judge.Round) (judge.Round, error) {
		return contest.Remove(r, r.Now, *begin, *end, value("reason"))
	})
	return s.acted(c, err, typed)
}

// giveBackForm handles POST /rounds/:round/removed/:id/undo.
func (s *Room) giveBackForm(c *fiber.Ctx) error { return s.acted(c, s.giveBack(c), nothingTyped) }

// problemForm handles POST /rounds/:round/problems.
func (s *Room) problemForm(c *fiber.Ctx) error {
	f := &site.Fields{Raw: map[string]json.RawMessage{}}
	form := map[string]string{}
	for _, name := range []string{"problem", "label", "rgb", "color", "version", "place", "points"} {
		form[name] = strings.TrimSpace(c.FormValue(name))
	}
	for name, text := range form {
		switch {
		case text == "" && name != "problem":
		case name == "place" || name == "points":
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				f.Wrong.Add(site.WrongField(name, site.ReasonInvalid, "The field has to be %s, not %s.", "a number", "a string"))
			}
			set(f, name, n)
		default:
			set(f, name, text)
		}
	}
	if paused := c.FormValue("paused"); paused != "" {
		set(f, "paused", paused == "yes")
	}
	return s.acted(c, s.putProblem(c, f), func(v *staffView) { v.New = form })
}

// removeProblemForm handles POST /rounds/:round/problems/:slug/remove.
func (s *Room) removeProblemForm(c *fiber.Ctx) error {
	return s.acted(c, s.removeProblem(c), nothingTyped)
}

// enterForm handles POST /rounds/:round/entries: participants by their short names, or all of the space.
func (s *Room) enterForm(c *fiber.Ctx) error {
	r, space, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	codes := strings.FieldsFunc(c.FormValue("participants"), func(r rune) bool { return strings.ContainsRune(" ,;\r\n\t", r) })
	if c.FormValue("all") != "" {
		if codes, err = s.activeOf(c, space.Slug); err != nil {
			return err
		}
	}
	if len(codes) == 0 {
		err = site.WrongField("participants", site.ReasonMissing, "Name at least one participant of the space.")
	} else {
		err = s.Config.Rounds.Enter(c.UserContext(), r.Code, codes, site.ViewerOf(c).Name)
	}
	return s.acted(c, err, func(v *staffView) { v.Codes = c.FormValue("participants") })
}

// activeOf are the short names of all of a space who take part.
func (s *Room) activeOf(c *fiber.Ctx, space string) (codes []string, err error) {
	all, err := whole(c.UserContext(), space, s.Config.Rounds.Participants, func(p judge.Participant) string { return p.Code })
	for _, p := range all {
		if p.Status == judge.ParticipantActive {
			codes = append(codes, p.Code)
		}
	}
	return codes, err
}

// leaveForm handles POST /rounds/:round/entries/:code/remove.
func (s *Room) leaveForm(c *fiber.Ctx) error { return s.acted(c, s.leave(c), nothingTyped) }

// deleteForm handles POST /rounds/:round/delete.
func (s *Room) deleteForm(c *fiber.Ctx) error {
	space, err := s.remove(c)
	if err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneDeleted, site.SpaceURL(space)+"/rounds")
}
