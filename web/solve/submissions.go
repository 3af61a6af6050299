package solve

import (
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/site"
)

// list returns a page of submissions and the cursor of the next one, 0 at the end.
func (s *Room) list(c *fiber.Ctx, f sql.Filter) ([]judge.Submission, int64, error) {
	asked := f.Limit
	f.Limit = min(asked+1, site.MaxPage) // one more tells whether there is another page
	rows, err := s.Store.For(site.ViewerOf(c).Staff()).Submissions(c.UserContext(), f)
	if err != nil {
		return nil, 0, fmt.Errorf("list submissions: %w", err)
	}
	if len(rows) > asked || asked == site.MaxPage && len(rows) == site.MaxPage {
		rows = rows[:asked]
		return rows, rows[len(rows)-1].JobID, nil
	}
	return rows, 0, nil
}

// SubmissionsView is a list of submissions.
type SubmissionsView struct {
	Filter     sql.Filter
	Filtered   bool
	Authors    bool            // those of others are shown, too
	Base       string          // address of the page
	Space      *site.SpaceView // whose submissions these are; nil = of all
	Round      *judge.Round    // likewise
	In         *site.SpaceView // the space of the round
	Rows       []template.HTML
	Unfinished bool
	Older      string // address of the next page, "" at the end
	Problems   []judge.Problem
	Offers     []site.Offer
	Verdicts   []judge.Verdict
	Home       string        // address of the problems
	History    template.HTML // pictures, on the first page
	Scores     template.HTML // for staff, of one problem
}

func (s *Room) submissionsPage(c *fiber.Ctx) error {
	f, err := site.FilterOf(c)
	if err != nil {
		return err
	}
	return s.ShowSubmissions(c, f, SubmissionsView{Base: "/submissions", Authors: site.ViewerOf(c).Staff()})
}

// ShowSubmissions shows the page of the submissions that f chooses.
func (s *Room) ShowSubmissions(c *fiber.Ctx, f sql.Filter, view SubmissionsView) error {
	rows, next, err := s.list(c, f)
	if err != nil {
		return err
	}
	v := site.ViewerOf(c)
	view.Filter, view.Verdicts = f, judge.Verdicts[:len(judge.Verdicts)-1] // SE is never a result
	if view.Problems, err = s.Store.Problems(c.UserContext()); err != nil {
		return fmt.Errorf("list problems: %w", err)
	}
	view.Problems = site.Visible(site.ViewerOf(c), view.Problems)
	if view.Round != nil {
		if view.Problems, err = s.problemsOf(c.UserContext(), view.Round); err != nil {
			return err
		}
	}
	if view.Offers, err = s.Catalog.Languages(c.UserContext()); err != nil {
		return err
	}
	var names map[string]string
	if view.Authors {
		names = s.Names(c.UserContext(), authors(rows)...)
	}
	for i := range rows {
		view.Unfinished = view.Unfinished || !rows[i].Status.Terminal()
		view.Rows = append(view.Rows, submissionCells(&rows[i], view.Authors, names[rows[i].Author], v))
	}
	if view.Home = "/"; view.Space != nil {
		view.Home = view.Space.URL()
	}
	if view.Round != nil {
		view.Home = site.RoundURL(view.Round.Code) + "/problems"
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
	f.Unveiled = f.Unveiled || v.Staff()
	if f.Before == 0 && view.Space == nil && view.Round == nil {
		if err := s.picturesOf(c.UserContext(), f, site.ViewerOf(c), &view); err != nil {
			return err
		}
	}
	return s.Page(c, fiber.StatusOK, "submissions", "Submissions", view)
}

// picturesOf adds pictures of the submissions that f chooses.
func (s *Room) picturesOf(ctx context.Context, f sql.Filter, v site.Viewer, view *SubmissionsView) error {
	days, err := s.Store.History(ctx, f, historyDays)
	if err != nil {
		return err
	}
	view.History = historyPicture(days, time.Now(), v)
	if f.Problem == "" || !v.Staff() {
		return nil
	}
	best, err := s.Store.BestScores(ctx, f.Problem)
	if err != nil {
		return err
	}
	view.Scores = scoresPicture(best, v)
	return nil
}

// seenSubmission returns a submission that the viewer may see, or [sql.ErrNotFound].
func (s *Room) seenSubmission(c *fiber.Ctx, id int64) (*judge.Submission, error) {
	sub, err := s.SubmissionSeen(c.UserContext(), site.ViewerOf(c), id)
	if err != nil {
		return nil, fmt.Errorf("look up submission: %w", err)
	}
	return sub, nil
}

// apiStatusOriginal handles GET /status/:id, the original contract.
func (s *Room) apiStatusOriginal(c *fiber.Ctx) error {
	sub, err := s.job.SubmissionFor(c)
	if err != nil {
		return err
	}
	p := job.PublicSubmission(sub, nil, site.ViewerOf(c))
	return c.JSON(fiber.Map{"job_id": p.JobID, "status": p.Status, "attempt_id": p.AttemptID, "result": p.Result, "error": p.Error})
}

// apiSubmission handles GET /api/v1/submissions/:id?wait=SECONDS.
func (s *Room) apiSubmission(c *fiber.Ctx) error {
	sub, err := s.job.SubmissionFor(c)
	if err != nil {
		return err
	}
	wait, err := job.WaitOf(c)
	if err != nil {
		return err
	}
	if wait > 0 {
		if sub, err = s.job.Settled(site.ViewerOf(c), sub.JobID, s.ClientAddress(c), wait); err != nil {
			return err
		}
		if err := s.job.StillAfter(c, wait); err != nil {
			return err
		}
	}
	place, err := s.job.PlaceOf(c.UserContext(), site.ViewerOf(c), sub.JobID, sub.Status)
	if err != nil && wait == 0 {
		return err
	}
	return c.JSON(job.PublicSubmission(sub, place, site.ViewerOf(c)))
}

// apiSubmissions handles GET /api/v1/submissions.
func (s *Room) apiSubmissions(c *fiber.Ctx) error {
	f, err := site.FilterOf(c)
	if err != nil {
		return err
	}
	return s.AnswerSubmissions(c, f)
}

// AnswerSubmissions answers with the submissions that f chooses.
func (s *Room) AnswerSubmissions(c *fiber.Ctx, f sql.Filter) error {
	rows, next, err := s.list(c, f)
	if err != nil {
		return err
	}
	page := struct {
		Submissions []job.SubmissionJSON `json:"submissions"`
		Next        *int64               `json:"next"` // the "before" of the next page
	}{Submissions: []job.SubmissionJSON{}}
	for i := range rows {
		page.Submissions = append(page.Submissions, job.PublicSubmission(&rows[i], nil, site.ViewerOf(c)))
	}
	if next > 0 {
		page.Next = &next
	}
	return c.JSON(page)
}

// authors returns who handed submissions in.
func authors(rows []judge.Submission) []string {
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].Author
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// submissionCells is a submission in the list, for staff with its author and what people call them.
func submissionCells(sub *judge.Submission, staff bool, called string, v site.Viewer) template.HTML {
	var c site.Cells
	c.Cell("num", site.Link(site.SubmissionURL(sub.JobID), strconv.FormatInt(sub.JobID, 10)))
	c.Cell("", verdictText(sub, v))
	c.Cell("", site.Link(problemOf(sub), sub.Title))
	c.Text("wide", sub.Language)
	if staff {
		who := site.Escape(sub.Team)
		if sub.Author != "" {
			who = site.Person(sub.Author, called)
		}
		if sub.Author != "" && sub.Team != "" && sub.Team != called {
			who += " · " + site.Escape(sub.Team)
		}
		c.Cell("", who)
	}
	used, memory := "", ""
	if r := sub.Result; r != nil && r.Usage != (judge.Usage{}) {
		used, memory = v.Locale.Took(r.Usage.CPU()), v.Locale.Used(r.Usage.MemoryKiB)
	}
	c.Text("num wide", used)
	c.Text("num wide", memory)
	c.Cell("", v.Locale.Moment(sub.Created))
	return c.Row()
}

// problemOf is the page of the problem of a submission, where it was handed in.
func problemOf(sub *judge.Submission) string {
	if sub.Round != "" {
		return site.RoundURL(sub.Round) + "/problems/" + url.PathEscape(sub.Problem)
	}
	return site.ProblemURL(sub.Space, sub.Problem)
}

// ownCells is a submission in the list of those that the viewer has handed in to a problem.
func ownCells(sub *judge.Submission, v site.Viewer) template.HTML {
	var c site.Cells
	c.Cell("num", site.Link(site.SubmissionURL(sub.JobID), strconv.FormatInt(sub.JobID, 10)))
	c.Cell("", verdictText(sub, v))
	c.Text("wide", sub.Language)
	c.Cell("", v.Locale.Moment(sub.Created))
	return c.Row()
}

// verdictText is the verdict of a submission with its score, and where it stands if it is not done.
func verdictText(sub *judge.Submission, v site.Viewer) (verdict template.HTML) {
	if r := sub.Result; r != nil {
		verdict = site.Badge(v.Locale, r.Verdict) + scoreText(r, v)
	}
	if sub.Result == nil || !sub.Status.Terminal() {
		verdict += ` <span class="state">` + site.Escape(shownText(sub, v)) + "</span>"
	}
	return verdict
}

// shownText says in a word or two where a submission stands.
func shownText(sub *judge.Submission, v site.Viewer) string {
	if sub.Status == judge.Dead {
		return v.Say("given up")
	}
	return v.Locale.Said(site.StateName(sub.Shown()))
}

// scoreText is the score of a result, of how much, if it has one.
func scoreText(r *judge.Result, v site.Viewer) template.HTML {
	if r.Score == nil && r.MaxScore == nil {
		return ""
	}
	text := site.Escape(v.Locale.Points(r.Score))
	if r.MaxScore != nil {
		text += `<span class="muted">/` + site.Escape(v.Locale.Points(r.MaxScore)) + "</span>"
	}
	return ` <span class="num">` + text + "</span>"
}

// SendSource answers with a file of the submission that the address names, as text to be saved: a browser runs nothing of it.
func SendSource(find func(*fiber.Ctx) (*judge.Submission, error)) fiber.Handler {
	return func(c *fiber.Ctx) error {
		sub, err := find(c)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(c.Params("n"))
		if err != nil || n < 1 || n > len(sub.Sources) {
			return site.Refuse(fiber.StatusNotFound, "not_found", "The submission has no file of this number.", "Its files are numbered from 1 on.")
		}
		c.Attachment(sub.Sources[n-1].Name)
		c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
		return c.SendString(sub.Sources[n-1].Text)
	}
}
