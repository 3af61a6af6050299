package rounds

import (
	"encoding/json"
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

// roundJSON is a round as /api/v1 shows it.
type roundJSON struct {
	Code       string          `json:"code"`
	Space      string          `json:"space"`
	Title      string          `json:"title"`
	FormalName string          `json:"formal_name"` // "": the title
	Kind       judge.RoundKind `json:"kind"`
	Format     string          `json:"format"`
	Settings   json.RawMessage `json:"settings"` // of the format

	Start      *time.Time         `json:"starts_at"`   // null: nobody knows yet
	PausedMS   *int64             `json:"paused_ms"`   // what was left of the countdown when it was stopped; null: it was not
	DurationMS *int64             `json:"duration_ms"` // contest time; null: without end
	FreezeMS   *int64             `json:"freeze_ms"`   // contest time from which on judgements are hidden; null: never
	Removed    []roundRemovedJSON `json:"removed"`     // also what was given back
	Thaw       *time.Time         `json:"thaw_at"`     // planned
	Thawed     *time.Time         `json:"thawed_at"`
	Finalized  *time.Time         `json:"finalized_at"`
	UpdatesEnd *time.Time         `json:"updates_end_at"`

	PublicRuns bool      `json:"public_runs"`
	Practice   bool      `json:"practice"`
	Follows    bool      `json:"follows"` // its times and problems are those of the space
	Created    time.Time `json:"created_at"`

	// At the time of the answer.
	Now    time.Time     `json:"now"`
	Phase  contest.Phase `json:"phase"`
	TimeMS int64         `json:"time_ms"` // contest time; 0 before the start
	End    *time.Time    `json:"ends_at"` // null: without end, or without a start
	Frozen *time.Time    `json:"freezes_at"`

	Snapshots []judge.BoardSnapshot `json:"snapshots,omitempty"` // what its boards were when they were last shown; for staff
}

// roundRemovedJSON is an interval that was taken out of the time of a round.
type roundRemovedJSON struct {
	ID     int64      `json:"id"`
	From   time.Time  `json:"from"`
	To     time.Time  `json:"to"`
	Reason string     `json:"reason"`
	Undone *time.Time `json:"undone_at"` // null: it still is
}

func shown(r *judge.Round) roundJSON {
	removed := make([]roundRemovedJSON, len(r.Removed))
	for i, d := range r.Removed {
		removed[i] = roundRemovedJSON{d.ID, d.From, d.To, d.Reason, d.Undone}
	}
	settings := r.Settings
	if len(settings) == 0 {
		settings = json.RawMessage("{}")
	}
	clock := contest.ClockOf(r)
	return roundJSON{
		Code: r.Code, Space: r.Space, Title: r.Title, FormalName: r.FormalName, Kind: r.Kind, Format: r.Format, Settings: settings,
		Start: r.Start, PausedMS: millis(r.Paused), DurationMS: millis(r.Duration), FreezeMS: millis(r.Freeze), Removed: removed,
		Thaw: r.Thaw, Thawed: r.Thawed, Finalized: r.Finalized, UpdatesEnd: r.UpdatesEnd, PublicRuns: r.PublicRuns, Practice: r.Practice, Follows: r.Follows,
		Created: r.Created, Now: r.Now, Phase: contest.PhaseOf(r, r.Now), TimeMS: clock.At(r.Now).Milliseconds(), End: moment(clock.End()), Frozen: moment(clock.Freezes()),
	}
}

func millis(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(d.Milliseconds())
}

// moment is a time, or nil where it is zero.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// apiRounds handles GET /api/v1/rounds?space=&before=&limit=: the newest first.
func (s *Room) apiRounds(c *fiber.Ctx) error {
	limit, err := site.LimitOf(c)
	if err != nil {
		return err
	}
	v := site.ViewerOf(c)
	f := rounds.Filter{Viewer: v.Name, All: v.Staff(), Before: c.Query("before"), Space: c.Query("space"), Limit: limit}
	if f.Before != "" && !code.MatchString(f.Before) {
		return site.WrongField("before", site.ReasonInvalid, "The cursor has to be the short name of a round.")
	}
	if f.Space != "" {
		space, err := s.SpaceCalled(c, f.Space, people.SeeSpace)
		if err != nil {
			return err
		}
		f.Space = space.Slug
	}
	found, err := s.Config.Rounds.Rounds(c.UserContext(), f)
	if err != nil {
		return err
	}
	out := make([]roundJSON, len(found))
	for i := range found {
		out[i] = shown(&found[i])
	}
	return c.JSON(fiber.Map{"rounds": out, "next": next(out, limit, func(r roundJSON) string { return r.Code })})
}

// apiCreate handles POST /api/v1/spaces/:space/rounds.
func (s *Room) apiCreate(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.ManageSpace)
	if err != nil {
		return err
	}
	f, err := site.ReadFields(c, append([]string{"code"}, settings...)...)
	if err != nil {
		return err
	}
	made, err := s.create(c, space, f)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/v1/rounds/"+made.Code)
	return c.Status(fiber.StatusCreated).JSON(shown(made))
}

// create makes a round of what was sent.
func (s *Room) create(c *fiber.Ctx, space *judge.Space, f *site.Fields) (*judge.Round, error) {
	r := judge.Round{Space: space.Slug, Code: f.Text("code"), Kind: judge.RoundContest, Format: string(contest.ICPC), PublicRuns: true, Now: space.Now}
	read(f, &r)
	if !f.Has("title") {
		f.Wrong.Add(site.WrongField("title", site.ReasonMissing, "The field is missing."))
	}
	if err := f.Wrong.Err(); err != nil {
		return nil, err
	}
	if err := contest.Check(&r); err != nil {
		return nil, err
	}
	err := s.Config.Rounds.Create(c.UserContext(), r, site.ViewerOf(c).Name)
	if errors.Is(err, sql.ErrExists) {
		return nil, site.WrongField("code", "duplicate", "There is a round %s already.", r.Code)
	}
	if err != nil {
		return nil, err
	}
	return s.Config.Rounds.Round(c.UserContext(), r.Code)
}

// apiRound handles GET /api/v1/rounds/:round.
func (s *Room) apiRound(c *fiber.Ctx) error {
	r, space, err := s.round(c, people.SeeSpace)
	if err != nil {
		return err
	}
	out := shown(r)
	if site.ViewerOf(c).May(people.ManageSpace, space) {
		if out.Snapshots, err = s.Config.Rounds.Snapshots(c.UserContext(), r.ID); err != nil {
			return err
		}
	}
	return c.JSON(out)
}

// apiUpdate handles PATCH /api/v1/rounds/:round: what is not sent stays. Times change by the acts for them, so that
// nothing which was hidden is shown by accident.
func (s *Room) apiUpdate(c *fiber.Ctx) error {
	r, f, err := s.sent(c, settings...)
	if err != nil {
		return err
	}
	return s.change(c, r, "round_update", updates(f))
}

// updates is the act that changes what was sent.
func updates(f *site.Fields) func(judge.Round) (judge.Round, error) {
	return func(r judge.Round) (judge.Round, error) {
		if r.Finalized != nil {
			return r, judge.Wrong("finalized_at", "finalized", "The result of the round stands. Reopen it first.")
		}
		return update(f, r)
	}
}

// sent returns the round that the address names, to staff of its space, and what was sent for it.
func (s *Room) sent(c *fiber.Ctx, known ...string) (*judge.Round, *site.Fields, error) {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return nil, nil, err
	}
	f, err := site.ReadFields(c, known...)
	return r, f, err
}

// change has a round changed, and answers with it.
func (s *Room) change(c *fiber.Ctx, r *judge.Round, action string, act func(judge.Round) (judge.Round, error)) error {
	changed, err := s.Config.Rounds.Change(c.UserContext(), r.Code, site.ViewerOf(c).Name, action, act)
	if err != nil {
		return err
	}
	return c.JSON(shown(changed))
}

// act is a handler of what staff do without saying more.
func (s *Room) act(action string, act func(judge.Round) (judge.Round, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r, _, err := s.round(c, people.ManageSpace)
		if err != nil {
			return err
		}
		return s.change(c, r, action, act)
	}
}

func startNow(r judge.Round) (judge.Round, error)        { return contest.StartNow(r, r.Now) }
func pauseCountdown(r judge.Round) (judge.Round, error)  { return contest.PauseCountdown(r, r.Now) }
func resumeCountdown(r judge.Round) (judge.Round, error) { return contest.ResumeCountdown(r, r.Now) }
func freezeNow(r judge.Round) (judge.Round, error)       { return contest.FreezeNow(r, r.Now) }
func unfreeze(r judge.Round) (judge.Round, error)        { return contest.Unfreeze(r, r.Now) }
func thawNow(r judge.Round) (judge.Round, error)         { return contest.ThawNow(r, r.Now) }

// apiFinalize handles POST /api/v1/rounds/:round/finalize with {"b"}.
func (s *Room) apiFinalize(c *fiber.Ctx) error {
	_, f, err := s.sent(c, "b")
	if err != nil {
		return err
	}
	done, err := s.finalize(c, f)
	if err != nil {
		return err
	}
	return c.JSON(shown(done))
}

// finalize has the result of the round that the address names stand, as was sent.
func (s *Room) finalize(c *fiber.Ctx, f *site.Fields) (*judge.Round, error) {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return nil, err
	}
	var b *int
	if f.Has("b") {
		b = new(int)
		if f.Value("b", "a whole number", b); len(f.Wrong) == 0 && (*b < 0 || *b > maxBronze) {
			f.Wrong.Add(site.WrongField("b", site.ReasonInvalid, "The number is from 0 to %d.", maxBronze))
		}
	}
	if err := f.Wrong.Err(); err != nil {
		return nil, err
	}
	by := site.ViewerOf(c).Name
	done, err := s.Config.Rounds.Finalize(c.UserContext(), r.Code, by, func(r judge.Round, u judge.RoundUnsettled) (judge.Round, error) {
		return contest.Finalize(r, r.Now, by, b, u)
	})
	if open, ok := errors.AsType[*judge.RoundOpenError](err); ok {
		err = openFault(open)
	}
	return done, err
}

// Bounds of what is said of a result.
const (
	maxBronze = 10_000 // further medals
	maxReason = 500    // bytes
)

// openFault names everything for which the result of a round cannot stand yet.
func openFault(e *judge.RoundOpenError) error {
	var in site.WrongFields
	if e.Running {
		in.Add(site.WrongField("ends_at", "not_over", "The round is not over."))
	}
	if e.Unjudged > 0 {
		in.Add(site.WrongField("unjudged", "unjudged", "%d submissions have no verdict yet.", e.Unjudged))
	}
	if e.Errors > 0 {
		in.Add(site.WrongField("errors", "errors", "%d submissions have a judging error. Mend the problem, and rejudge them.", e.Errors))
	}
	if e.InSets > 0 {
		in.Add(site.WrongField("rejudgings", "rejudgings", "%d submissions are in rejudge sets. Apply or cancel those.", e.InSets))
	}
	if e.Questions > 0 {
		in.Add(site.WrongField("clarifications", "unanswered", "%d questions have no answer. Answer or close them.", e.Questions))
	}
	f := new(site.Fault)
	if errors.As(in.Err(), &f) {
		f.Status = fiber.StatusConflict
		return f
	}
	return in.Err()
}

// apiReopen handles POST /api/v1/rounds/:round/reopen with {"reason"}, for administrators.
func (s *Room) apiReopen(c *fiber.Ctx) error {
	_, f, err := s.sent(c, "reason")
	if err != nil {
		return err
	}
	again, err := s.reopen(c, f)
	if err != nil {
		return err
	}
	return c.JSON(shown(again))
}

// reopen has the result of the round that the address names stand no more.
func (s *Room) reopen(c *fiber.Ctx, f *site.Fields) (*judge.Round, error) {
	r, _, err := s.round(c, people.ManageSpace)
	if err == nil && !site.ViewerOf(c).Admin() {
		err = site.Refuse(fiber.StatusForbidden, "forbidden", "Only an administrator reopens what is final.", "Ask one.")
	}
	if err != nil {
		return nil, err
	}
	reason := f.Text("reason")
	if len(f.Wrong) == 0 && (strings.TrimSpace(reason) == "" || len(reason) > maxReason) {
		f.Wrong.Add(site.WrongField("reason", site.ReasonInvalid, "Say why, in up to %d bytes.", maxReason))
	}
	if err := f.Wrong.Err(); err != nil {
		return nil, err
	}
	return s.Config.Rounds.Reopen(c.UserContext(), r.Code, site.ViewerOf(c).Name, reason, contest.Reopen)
}

// apiExtend handles POST /api/v1/rounds/:round/extend with {"by_ms"}.
func (s *Room) apiExtend(c *fiber.Ctx) error {
	r, f, err := s.sent(c, "by_ms")
	if err != nil {
		return err
	}
	by := span(f, "by_ms")
	if by == nil && len(f.Wrong) == 0 {
		f.Wrong.Add(site.WrongField("by_ms", site.ReasonMissing, "The field is missing."))
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	return s.change(c, r, "round_extend", func(r judge.Round) (judge.Round, error) { return contest.Extend(r, r.Now, *by) })
}

// apiRemove handles POST /api/v1/rounds/:round/removed with {"from", "to", "reason"}.
func (s *Room) apiRemove(c *fiber.Ctx) error {
	r, f, err := s.sent(c, "from", "to", "reason")
	if err != nil {
		return err
	}
	var from, to *time.Time
	reason := ""
	for name, into := range map[string]**time.Time{"from": &from, "to": &to} {
		if f.Text(name); f.Has(name) {
			f.Moment(name, into)
		}
	}
	if f.Has("reason") {
		reason = f.Text("reason")
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	return s.change(c, r, "round_remove", func(r judge.Round) (judge.Round, error) { return contest.Remove(r, r.Now, *from, *to, reason) })
}

// apiGiveBack handles DELETE /api/v1/rounds/:round/removed/:id.
func (s *Room) apiGiveBack(c *fiber.Ctx) error { return gone(c, s.giveBack(c)) }

// gone answers that something is there no more, or why it is.
func gone(c *fiber.Ctx, err error) error {
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// giveBack gives the interval back that the address names.
func (s *Room) giveBack(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || !slices.ContainsFunc(r.Removed, func(d judge.RoundRemoved) bool { return d.ID == id }) {
		return sql.ErrNotFound
	}
	_, err = s.Config.Rounds.Change(c.UserContext(), r.Code, site.ViewerOf(c).Name, "round_give_back", func(r judge.Round) (judge.Round, error) {
		return contest.GiveBack(r, r.Now, id)
	})
	return err
}

// apiDelete handles DELETE /api/v1/rounds/:round.
func (s *Room) apiDelete(c *fiber.Ctx) error {
	_, err := s.remove(c)
	return gone(c, err)
}

// remove removes the round that the address names, and returns of which space it was.
func (s *Room) remove(c *fiber.Ctx) (space string, err error) {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return "", err
	}
	return r.Space, inUse(s.Config.Rounds.Delete(c.UserContext(), r.Code, site.ViewerOf(c).Name))
}

// apiEntries handles GET /api/v1/rounds/:round/entries?after=&limit=.
func (s *Room) apiEntries(c *fiber.Ctx) error {
	same := func(code string) string { return code }
	return someOfRound(s, c, "entries", s.Config.Rounds.Entries, same, same)
}

// apiEnter handles POST /api/v1/rounds/:round/entries with {"participants"}.
func (s *Room) apiEnter(c *fiber.Ctx) error {
	r, f, err := s.sent(c, "participants")
	if err != nil {
		return err
	}
	var codes []string
	if f.Value("participants", "a list of strings", &codes); len(f.Wrong) == 0 && (len(codes) == 0 || len(codes) > maxAtOnce) {
		f.Wrong.Add(site.WrongField("participants", site.ReasonInvalid, "Name from 1 to %d at once.", maxAtOnce))
	}
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	if err := s.Config.Rounds.Enter(c.UserContext(), r.Code, codes, site.ViewerOf(c).Name); err != nil {
		return err
	}
	return s.apiRound(c)
}

// apiLeave handles DELETE /api/v1/rounds/:round/entries/:code.
func (s *Room) apiLeave(c *fiber.Ctx) error { return gone(c, s.leave(c)) }

// leave takes the participant that the address names out of its round.
func (s *Room) leave(c *fiber.Ctx) error {
	r, _, err := s.round(c, people.ManageSpace)
	if err != nil {
		return err
	}
	participant, err := named(c)
	if err != nil {
		return err
	}
	return inUse(s.Config.Rounds.Leave(c.UserContext(), r.Code, participant, site.ViewerOf(c).Name))
}
