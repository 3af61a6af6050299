package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

const (
	pageSize = 50
	maxPage  = 200
)

func submissionURL(id int64) string { return "/submissions/" + strconv.FormatInt(id, 10) }

// plainWord reports whether text may be a name that people chose: the database
// takes no NUL and no broken UTF-8.
func plainWord(text string) bool {
	return text != "" && len(text) <= 128 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// filterOf reads the filter of a list. Contestants see their own submissions.
func filterOf(c *fiber.Ctx) (sql.Filter, error) {
	f, err := readFilter(c)
	if v := viewerOf(c); err == nil && !v.Staff() {
		return ownOnly(v, f)
	}
	return f, err
}

// ownOnly narrows a filter to the viewer's own submissions.
func ownOnly(v viewer, f sql.Filter) (sql.Filter, error) {
	if f.Author != "" && f.Author != v.Name {
		return f, refuse(fiber.StatusForbidden, "forbidden", "You see only your own submissions.", "")
	}
	f.Author = v.Name
	return f, nil
}

// readFilter reads a filter as it was sent.
func readFilter(c *fiber.Ctx) (sql.Filter, error) {
	f := sql.Filter{
		Author: c.Query("author"), Problem: c.Query("problem"), Language: c.Query("language"),
		Verdict: judge.Verdict(c.Query("verdict")), Limit: pageSize,
	}
	var wrong wrongFields
	for name, value := range map[string]string{"author": f.Author, "problem": f.Problem, "language": f.Language} {
		if value != "" && !plainWord(value) {
			wrong.add(wrongField(name, reasonInvalid, "The value is not a name."))
		}
	}
	if f.Verdict != "" && !f.Verdict.Valid() {
		wrong.add(wrongField("verdict", reasonUnknown, "There is no verdict %q.", shorten(string(f.Verdict))))
	}
	if text := c.Query("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			wrong.add(wrongField("before", reasonInvalid, "The cursor has to be a positive whole number."))
		}
		f.Before = n
	}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			wrong.add(wrongField("limit", reasonInvalid, "The limit has to be a whole number from 1 to %d.", maxPage))
		}
		f.Limit = n
	}
	return f, wrong.err()
}

// list returns a page of submissions and the cursor of the next one, 0 at the end.
func (s *Server) list(c *fiber.Ctx, f sql.Filter) ([]judge.Submission, int64, error) {
	asked := f.Limit
	f.Limit = min(asked+1, maxPage) // one more tells whether there is another page
	rows, err := s.store.For(viewerOf(c).Staff()).Submissions(c.UserContext(), f)
	if err != nil {
		return nil, 0, fmt.Errorf("list submissions: %w", err)
	}
	if len(rows) > asked || asked == maxPage && len(rows) == maxPage {
		rows = rows[:asked]
		return rows, rows[len(rows)-1].JobID, nil
	}
	return rows, 0, nil
}

type submissionsView struct {
	Filter     sql.Filter
	Filtered   bool
	Authors    bool       // those of others are shown, too
	Base       string     // address of the page
	Space      *spaceView // whose submissions these are; nil = of all
	Rows       []template.HTML
	Unfinished bool
	Older      string // address of the next page, "" at the end
	Problems   []judge.Problem
	Offers     []offer
	Verdicts   []judge.Verdict
	History    template.HTML // pictures, on the first page
	Scores     template.HTML // for staff, of one problem
}

func (s *Server) submissionsPage(c *fiber.Ctx) error {
	f, err := filterOf(c)
	if err != nil {
		return err
	}
	return s.showSubmissions(c, f, submissionsView{Base: "/submissions", Authors: viewerOf(c).Staff()})
}

// showSubmissions shows the page of the submissions that f chooses.
func (s *Server) showSubmissions(c *fiber.Ctx, f sql.Filter, view submissionsView) error {
	rows, next, err := s.list(c, f)
	if err != nil {
		return err
	}
	view.Filter, view.Verdicts = f, judge.Verdicts[:len(judge.Verdicts)-1] // SE is never a result
	if view.Problems, err = s.store.Problems(c.UserContext()); err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	view.Problems = visible(viewerOf(c), view.Problems)
	if view.Offers, err = s.catalog.languages(c.UserContext()); err != nil {
		return err
	}
	for i := range rows {
		view.Unfinished = view.Unfinished || !rows[i].Status.Terminal()
		view.Rows = append(view.Rows, submissionCells(&rows[i], view.Authors))
	}
	view.Filtered = f.Problem != "" || f.Language != "" || f.Verdict != "" || c.Query("author") != ""
	if next > 0 {
		q := url.Values{}
		for _, name := range []string{"author", "problem", "language", "verdict", "limit"} {
			if value := c.Query(name); value != "" {
				q.Set(name, value)
			}
		}
		q.Set("before", strconv.FormatInt(next, 10))
		view.Older = view.Base + "?" + q.Encode()
	}
	if f.Before == 0 && view.Space == nil {
		if err := s.picturesOf(c.UserContext(), f, viewerOf(c), &view); err != nil {
			return err
		}
	}
	return s.page(c, fiber.StatusOK, "submissions", "Submissions", view)
}

// picturesOf adds pictures of the submissions that f chooses.
func (s *Server) picturesOf(ctx context.Context, f sql.Filter, v viewer, view *submissionsView) error {
	days, err := s.store.History(ctx, f, historyDays)
	if err != nil {
		return err
	}
	view.History = historyPicture(days, time.Now())
	if f.Problem == "" || !v.Staff() {
		return nil
	}
	best, err := s.store.BestScores(ctx, f.Problem)
	if err != nil {
		return err
	}
	view.Scores = scoresPicture(best)
	return nil
}

// submissionFor returns the submission that the address names. One that the
// viewer may not see does not exist for them.
func (s *Server) submissionFor(c *fiber.Ctx) (*judge.Submission, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return nil, noSubmission(c.Params("id"))
	}
	sub, err := s.seenSubmission(c, id)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, noSubmission(c.Params("id"))
	}
	return sub, err
}

// seenSubmission returns a submission that the viewer may see, or [sql.ErrNotFound].
func (s *Server) seenSubmission(c *fiber.Ctx, id int64) (*judge.Submission, error) {
	sub, err := s.store.For(viewerOf(c).Staff()).Submission(c.UserContext(), id)
	seen := false
	if err == nil {
		seen, err = s.seesSubmission(c.UserContext(), viewerOf(c), sub)
	}
	if err == nil && !seen {
		err = sql.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("look up submission: %w", err)
	}
	return sub, nil
}

func noSubmission(id string) error {
	return refuse(fiber.StatusNotFound, "not_found", "There is no submission "+strconv.Quote(shorten(id))+" that you may see.", "")
}

// apiStatusOriginal handles GET /status/:id, the original contract.
func (s *Server) apiStatusOriginal(c *fiber.Ctx) error {
	sub, err := s.submissionFor(c)
	if err != nil {
		return err
	}
	p := publicSubmission(sub, viewerOf(c))
	return c.JSON(fiber.Map{"job_id": p.JobID, "status": p.Status, "attempt_id": p.AttemptID, "result": p.Result, "error": p.Error})
}

// apiSubmission handles GET /api/v1/submissions/:id?wait=SECONDS.
func (s *Server) apiSubmission(c *fiber.Ctx) error {
	sub, err := s.submissionFor(c)
	if err != nil {
		return err
	}
	wait, err := waitOf(c)
	if err != nil {
		return err
	}
	if wait > 0 {
		if sub, err = s.settled(viewerOf(c), sub.JobID, s.clientAddress(c), wait); err != nil {
			return err
		}
		if err := s.stillAfter(c, wait); err != nil {
			return err
		}
	}
	out := publicSubmission(sub, viewerOf(c))
	place, err := s.placeOf(c.UserContext(), viewerOf(c), sub.JobID, sub.Status)
	if err != nil && wait == 0 {
		return err
	}
	if place != nil {
		out.Place = publicPlace(*place)
	}
	return c.JSON(out)
}

// apiSubmissions handles GET /api/v1/submissions.
func (s *Server) apiSubmissions(c *fiber.Ctx) error {
	f, err := filterOf(c)
	if err != nil {
		return err
	}
	return s.apiListSubmissions(c, f)
}

// apiListSubmissions answers with the submissions that f chooses.
func (s *Server) apiListSubmissions(c *fiber.Ctx, f sql.Filter) error {
	rows, next, err := s.list(c, f)
	if err != nil {
		return err
	}
	page := struct {
		Submissions []submissionJSON `json:"submissions"`
		Next        *int64           `json:"next"` // the "before" of the next page
	}{Submissions: []submissionJSON{}}
	for i := range rows {
		page.Submissions = append(page.Submissions, publicSubmission(&rows[i], viewerOf(c)))
	}
	if next > 0 {
		page.Next = &next
	}
	return c.JSON(page)
}

// staffOnly refuses everybody else.
func staffOnly(c *fiber.Ctx) error {
	if !viewerOf(c).Staff() {
		return refuse(fiber.StatusForbidden, "forbidden", "Only staff may do this.", "Log in with a staff account.")
	}
	return nil
}

// rejudge has the submission that the address names judged again, and returns
// its new generation.
func (s *Server) rejudge(c *fiber.Ctx) (*judge.Submission, int32, error) {
	if err := staffOnly(c); err != nil {
		return nil, 0, err
	}
	sub, err := s.submissionFor(c)
	if err != nil {
		return nil, 0, err
	}
	generations, err := s.store.Rejudge(c.UserContext(), []int64{sub.JobID}, judge.LaneRejudge, viewerOf(c).Name)
	if err != nil {
		return nil, 0, fmt.Errorf("rejudge submission: %w", err)
	}
	return sub, generations[sub.JobID], nil
}

func (s *Server) rejudgeForm(c *fiber.Ctx) error {
	sub, _, err := s.rejudge(c)
	if err != nil {
		return err
	}
	return c.Redirect(submissionURL(sub.JobID), fiber.StatusSeeOther)
}

func (s *Server) apiRejudge(c *fiber.Ctx) error {
	sub, generation, err := s.rejudge(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"job_id": sub.JobID, "generation": generation})
}
