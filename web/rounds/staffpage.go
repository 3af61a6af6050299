package rounds

import (
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql/rounds"
	"deepoj/web/site"
)

// staffURL is the page on which staff run a round.
func staffURL(code string) string { return site.RoundURL(code) + "/staff" }

// roundsView is the page of the rounds of a space.
type roundsView struct {
	Space site.SpaceView
	Rows  []judge.Round
	More  string // address of the next page, "" at the end
	Form  roundForm
}

// roundsPage handles GET /spaces/:space/rounds.
func (s *Room) roundsPage(c *fiber.Ctx) error {
	space, err := s.SpaceFor(c, people.SeeSpace)
	if err != nil {
		return err
	}
	usual := judge.Round{Kind: judge.RoundContest, Format: string(contest.ICPC), PublicRuns: true, Duration: new(5 * time.Hour), Freeze: new(4 * time.Hour)}
	return s.showRounds(c, fiber.StatusOK, space, showForm(&usual, site.LocaleOf(c).Clock()))
}

func (s *Room) showRounds(c *fiber.Ctx, status int, space *judge.Space, form roundForm) error {
	before := c.Query("before")
	if before != "" && !code.MatchString(before) {
		return site.WrongField("before", site.ReasonInvalid, "The cursor has to be the short name of a round.")
	}
	found, err := s.Config.Rounds.Rounds(c.UserContext(), rounds.Filter{Space: space.Slug, All: true, Before: before, Limit: site.PageSize})
	if err != nil {
		return err
	}
	view := roundsView{Space: site.ViewSpace(space, site.ViewerOf(c)), Rows: found, Form: form}
	if next := next(found, site.PageSize, func(r judge.Round) string { return r.Code }); next != nil {
		view.More = view.Space.URL() + "/rounds?before=" + *next
	}
	return s.Page(c, status, "spacerounds", "%s", view, space.Title)
}

// staffView is the page on which staff run a round.
type staffView struct {
	Round    *judge.Round
	Space    site.SpaceView
	Phase    contest.Phase
	Ends     *time.Time
	Freezes  *time.Time
	Form     roundForm
	Problems []judge.RoundProblem
	Choice   []judge.Problem // that can be added
	Entries  []string
	More     string // address of the further entries, "" at the end
	Admin    bool   // the viewer may reopen what is final
	Ignored  []rounds.Ignored
	Adjusted []rounds.Adjustment
	Given    []rounds.Override

	// As they were typed, where a form comes back.
	New      map[string]string
	Codes    string
	From, To site.TimeField
	Reason   string
	Job, Why string
	Add      map[string]string
	Give     map[string]string
	Fault    *site.Fault
}

// Arranges reports whether the round has problems that can be changed.
func (v staffView) Arranges() bool { return v.Space.Arranges() }

// Hides reports whether something is hidden that can be shown.
func (v staffView) Hides() bool {
	return v.Phase == contest.Over && v.Round.Freeze != nil && v.Round.Thawed == nil
}

// Verdicts are those that may be given by hand.
func (v staffView) Verdicts() []judge.Verdict { return verdictsOf(v.Round) }

// Removed are the intervals that were not given back.
func (v staffView) Removed() []judge.RoundRemoved {
	return slices.DeleteFunc(slices.Clone(v.Round.Removed), func(d judge.RoundRemoved) bool { return d.Undone != nil })
}

// staffPage handles GET /rounds/:round/staff.
func (s *Room) staffPage(c *fiber.Ctx) error { return s.showStaff(c, fiber.StatusOK, nothingTyped) }

// showStaff shows the page of staff, with what typed puts there.
func (s *Room) showStaff(c *fiber.Ctx, status int, typed func(*staffView)) error {
	ctx := c.UserContext()
	r, space, err := s.round(c, people.ArrangeSpace)
	if err != nil {
		return err
	}
	cursor := c.Query("after")
	if cursor != "" && !code.MatchString(cursor) {
		return site.WrongField("after", site.ReasonInvalid, "The cursor has to be a short name of the list.")
	}
	viewer, clock := site.ViewerOf(c), site.LocaleOf(c).Clock()
	times := contest.ClockOf(r)
	view := staffView{
		Round: r, Space: site.ViewSpace(space, viewer), Phase: contest.PhaseOf(r, r.Now), Ends: moment(times.End()), Freezes: moment(times.Freezes()),
		Form: showForm(r, clock), Admin: viewer.Admin(), New: map[string]string{}, Add: map[string]string{}, Give: map[string]string{}, From: site.ShowTime("from", nil, clock), To: site.ShowTime("to", nil, clock),
	}
	if view.Problems, err = s.Config.Rounds.Problems(ctx, r.ID); err != nil {
		return err
	}
	if view.Choice, err = s.Store.Problems(ctx); err != nil {
		return err
	}
	there := func(p judge.Problem) bool {
		return slices.ContainsFunc(view.Problems, func(e judge.RoundProblem) bool { return e.Problem == p.Slug })
	}
	view.Choice = slices.DeleteFunc(slices.Clone(site.Visible(viewer, view.Choice)), there)
	if view.Entries, err = s.Config.Rounds.Entries(ctx, r.ID, cursor, site.MaxPage); err != nil {
		return err
	}
	if next := next(view.Entries, site.MaxPage, func(code string) string { return code }); next != nil {
		view.More = staffURL(r.Code) + "?after=" + *next
	}
	if view.Ignored, err = s.Config.Rounds.Ignored(ctx, r.ID, 0, site.MaxPage); err != nil {
		return err
	}
	if view.Adjusted, err = s.Config.Rounds.Adjustments(ctx, r.ID, "", site.MaxPage); err != nil {
		return err
	}
	if view.Given, err = s.Config.Rounds.Overrides(ctx, r.ID, 0, site.MaxPage); err != nil {
		return err
	}
	typed(&view)
	view.Form.Fault = view.Fault
	return s.Page(c, status, "roundstaff", "%s", view, r.Title)
}
