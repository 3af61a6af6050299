package staff

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// maxSetJobs bounds the submissions that a form names by number.
const maxSetJobs = 1000

// setRow is a rejudge set on a page.
type setRow struct {
	sql.RejudgeSet
	Chosen locale.Sentence // which submissions
}

func showSet(r sql.RejudgeSet) setRow { return setRow{r, chosenText(r.Request)} }

// State says in a word where the set stands.
func (r setRow) State() locale.Sentence {
	switch {
	case r.Resolution != "":
		return locale.Named(setStates, r.Resolution)
	case r.Done():
		return locale.Named(setStates, "judged")
	}
	return locale.Named(setStates, "judging")
}

// When is when somebody resolved it.
func (r setRow) When() time.Time { return *r.Resolved }

// chosenText says which submissions a request chooses.
func chosenText(request json.RawMessage) (chosen locale.Sentence) {
	var r sql.RejudgeRequest
	if json.Unmarshal(request, &r) != nil {
		return chosen
	}
	add := func(key locale.Word, arg any) {
		part := locale.Sentence{Key: key, Args: []any{arg}}
		if chosen.Key != "" {
			part = locale.Sentence{Key: "%s, %s", Args: []any{chosen, part}}
		}
		chosen = part
	}
	for _, p := range []struct {
		key   locale.Word
		value string
	}{{"problem %s", r.Problem}, {"language %s", r.Language}, {"author %s", r.Author}, {"verdict %s", string(r.Verdict)}} {
		if p.value != "" {
			add(p.key, p.value)
		}
	}
	switch n := len(r.JobIDs); {
	case n == 0:
	case n <= 5:
		ids := make(judge.Names, n)
		for i, id := range r.JobIDs {
			ids[i] = strconv.FormatInt(id, 10)
		}
		add("%s", ids)
	default:
		add("%d submissions by number", n)
	}
	return chosen
}

type rejudgingsView struct {
	Rows     []setRow
	Older    string
	Problems []judge.Problem
	Offers   []site.Offer
	Verdicts []judge.Verdict
	Asked    sql.RejudgeRequest // what was typed, where the form comes back
	Jobs     string
	Fault    *site.Fault // why it does
}

func (s *Room) rejudgingsPage(c *fiber.Ctx) error {
	asked := sql.RejudgeRequest{
		Key: people.NewToken(16), Problem: c.Query("problem"), Language: c.Query("language"), Author: c.Query("author"), Verdict: judge.Verdict(c.Query("verdict")),
	}
	return s.showRejudgings(c, fiber.StatusOK, rejudgingsView{Asked: asked})
}

func (s *Room) showRejudgings(c *fiber.Ctx, status int, view rejudgingsView) error {
	f, err := site.FilterOf(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	found, err := s.Store.RejudgeSets(ctx, f.Before, f.Limit)
	if err != nil {
		return err
	}
	for _, r := range found {
		view.Rows = append(view.Rows, showSet(r))
	}
	if len(found) == f.Limit {
		view.Older = "/rejudgings?" + url.Values{"before": {strconv.FormatInt(found[len(found)-1].ID, 10)}}.Encode()
	}
	view.Verdicts = judge.Verdicts[:len(judge.Verdicts)-1] // SE is never a result
	if view.Problems, err = s.Store.Problems(ctx); err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	if view.Offers, err = s.Catalog.Languages(ctx); err != nil {
		return err
	}
	return s.Page(c, status, "rejudgings", "Rejudge sets", view)
}

// startRejudgeForm handles POST /rejudgings.
func (s *Room) startRejudgeForm(c *fiber.Ctx) error {
	r := sql.RejudgeRequest{
		Key: c.FormValue("key"), Reason: c.FormValue("reason"), Problem: c.FormValue("problem"), Language: c.FormValue("language"),
		Author: strings.TrimSpace(c.FormValue("author")), Verdict: judge.Verdict(c.FormValue("verdict")),
	}
	jobs := c.FormValue("jobs")
	var wrong site.WrongFields
	if strings.TrimSpace(jobs) != "" {
		ids, e := jobNumbers("jobs", []string{jobs}, maxSetJobs)
		wrong.Add(e)
		r.JobIDs = ids
	}
	set, err := s.startRejudge(c, r, wrong, "key")
	if err != nil {
		f := s.Explain(c.UserContext(), err)
		if f.Field == "" {
			return err
		}
		r.Key = people.NewToken(16) // what is sent next is another set
		return s.showRejudgings(c, f.Status, rejudgingsView{Asked: r, Jobs: jobs, Fault: f})
	}
	return c.Redirect(site.RejudgingURL(set.ID), fiber.StatusSeeOther)
}

// matrixView shows how many submissions went from each verdict to each other.
type matrixView struct {
	After []judge.Verdict
	Rows  []matrixRow
}

type matrixRow struct {
	Before judge.Verdict
	Cells  []matrixCell
}

type matrixCell struct {
	Count int64
	Same  bool // nothing changes
}

func showMatrix(turns []sql.RejudgeTurn) matrixView {
	var m matrixView
	var before []judge.Verdict
	for _, v := range judge.Verdicts {
		if slices.ContainsFunc(turns, func(x sql.RejudgeTurn) bool { return x.Before == v }) {
			before = append(before, v)
		}
		if slices.ContainsFunc(turns, func(x sql.RejudgeTurn) bool { return x.After == v }) {
			m.After = append(m.After, v)
		}
	}
	for _, b := range before {
		row := matrixRow{Before: b}
		for _, a := range m.After {
			cell := matrixCell{Same: a == b}
			for _, x := range turns {
				if x.Before == b && x.After == a {
					cell.Count = x.Count
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// changeRow is what a set changes about a submission, on a page.
type changeRow struct{ sql.RejudgeChange }

// Gain is by how much the score grows; 0 if there is none, or it does not.
func (r changeRow) Gain() float64 {
	if r.BeforeScore == nil || r.AfterScore == nil {
		return 0
	}
	return max(0, *r.AfterScore-*r.BeforeScore)
}

// Loss is by how much the score shrinks.
func (r changeRow) Loss() float64 {
	if r.BeforeScore == nil || r.AfterScore == nil {
		return 0
	}
	return max(0, *r.BeforeScore-*r.AfterScore)
}

type rejudgingView struct {
	Set     setRow
	Matrix  matrixView
	Changes []changeRow
	More    string // address of the next changes, "" at the end
}

func (view rejudgingView) Refresh() int {
	if view.Set.Resolution == "" && !view.Set.Done() {
		return 3
	}
	return 0
}

func (s *Room) rejudgingPage(c *fiber.Ctx) error {
	id, err := site.IDOf(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	set, err := s.Store.RejudgeSet(ctx, id)
	if err != nil {
		return err
	}
	turns, err := s.Store.RejudgeMatrix(ctx, id)
	if err != nil {
		return err
	}
	view := rejudgingView{Set: showSet(set), Matrix: showMatrix(turns)}
	changes, err := s.Store.RejudgeChanges(ctx, id, int64(c.QueryInt("after")), site.PageSize)
	if err != nil {
		return err
	}
	for _, change := range changes {
		view.Changes = append(view.Changes, changeRow{change})
	}
	if n := len(view.Changes); n == site.PageSize {
		view.More = site.RejudgingURL(id) + "?after=" + strconv.FormatInt(view.Changes[n-1].JobID, 10)
	}
	return s.Page(c, fiber.StatusOK, "rejudging", "Rejudge set %s", view, locale.ID(id))
}

// resolveRejudgeForm returns the handler of POST /rejudgings/:id/apply and cancel.
func (s *Room) resolveRejudgeForm(apply bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		id, err := s.resolveRejudge(c, apply)
		if err != nil {
			return err
		}
		return c.Redirect(site.RejudgingURL(id), fiber.StatusSeeOther)
	}
}
