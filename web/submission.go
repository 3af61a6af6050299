package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// maxHistory bounds the events that a page reads.
const maxHistory = 20 * eventPage

// submissionView is everything that a submission's page shows. The part that
// changes while it is judged is the template "live".
type submissionView struct {
	Sub          *judge.Submission
	At           string // address of the page
	Desk         string // of the problem that it is for
	Again        string // of that, with the program in its form
	Version      string // that it was handed in to as a draft; "" = it is a submission
	LanguageName string
	LastEvent    int64 // the stream continues after it
	Moving       bool  // not done yet

	Verdict  judge.Verdict // "" while there is none
	Headline string
	Detail   string
	Message  string // of the checker or the judge, to the contestant
	Note     string // for staff
	Announce string // what a screen reader is told when it changes

	Score, MaxScore *float64
	Usage           *usageView
	Compile         *judge.Compile
	HasMarks        bool // the source shows where the compiler complains
	Groups          []groupView
	Judged, Total   int
	Arithmetic      []groupView
	Failures        []failureView
	Rows            []testView
	Times           template.HTML // a picture of the rows
	Sources         []sourceView
	History         []historyLine
	Eventful        bool
	Provenance      string
}

func (view *submissionView) refresh() int {
	if view.Moving {
		return 2
	}
	return 0
}

func (s *Server) submissionPage(c *fiber.Ctx) error {
	view, err := s.submissionView(c)
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "submission", fmt.Sprintf("Submission %d", view.Sub.JobID), view)
}

// submissionFragment is the live part of the page alone, which the page fetches
// whenever something happened.
func (s *Server) submissionFragment(c *fiber.Ctx) error {
	view, err := s.submissionView(c)
	if err != nil {
		return err
	}
	return s.render(c, fiber.StatusOK, "submission", "live", view)
}

func (s *Server) submissionView(c *fiber.Ctx) (*submissionView, error) {
	sub, err := s.submissionFor(c)
	if err != nil {
		return nil, err
	}
	ctx, v := c.UserContext(), viewerOf(c)
	events, err := s.pastEvents(ctx, v, sub.JobID)
	if err != nil {
		return nil, err
	}
	problem, err := s.store.Problem(ctx, sub.Problem)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, fmt.Errorf("look up problem: %w", err)
	}
	offers, err := s.catalog.languages(ctx)
	if err != nil {
		return nil, err
	}
	place, err := s.placeOf(ctx, v, sub.JobID, sub.Status)
	if err != nil {
		return nil, err
	}
	return showSubmission(sub, problem, events, place, offers, v), nil
}

// pastEvents returns the events of a job that somebody may see, as many as a page
// shows.
func (s *Server) pastEvents(ctx context.Context, v viewer, jobID int64) (events []judge.Event, err error) {
	for after := int64(0); len(events) < maxHistory; after = events[len(events)-1].ID {
		page, err := s.seenEvents(ctx, v, jobID, after)
		if err != nil {
			return nil, err
		}
		events = append(events, page...)
		if len(page) < eventPage {
			break
		}
	}
	return events, nil
}

// showSubmission puts together what a page shows, from what the database holds.
// Problem and place may be nil.
func showSubmission(sub *judge.Submission, problem *judge.Problem, events []judge.Event, place *judge.Place, offers []offer, v viewer) *submissionView {
	view := &submissionView{Sub: sub, At: submissionURL(sub.JobID), Desk: problemURL(sub.Space, sub.Problem), Again: problemURL(sub.Space, sub.Problem) + "?from=" + strconv.FormatInt(sub.JobID, 10), LanguageName: languageName(offers, sub.Language), Moving: !sub.Status.Terminal()}
	if problem == nil {
		problem = &judge.Problem{}
	}
	if len(events) > 0 {
		view.LastEvent = events[len(events)-1].ID
	}
	run := latestRun(events)
	result := publicResult(sub.Result, v, sub.Told)
	if view.Moving {
		view.showMoving(place, run, v)
	}
	switch {
	case view.Moving && run != nil:
		view.Compile = run.compile
		view.showTests(run.tests, run.total, nil, problem, v)
	case result != nil:
		view.showResult(result, problem, v)
	}
	if !view.Moving && sub.Status != judge.Finished {
		view.Verdict, view.Headline, view.Detail = "", headlines[sub.Status], endedWithout(sub, v)
		if sub.Status == judge.Dead {
			view.Verdict = judge.SE
		}
	}
	view.Sources = showSources(sub.Sources, view.Compile)
	for _, source := range view.Sources {
		view.HasMarks = view.HasMarks || source.marked
	}
	view.History, view.Eventful = history(events, v)
	view.Announce = strings.TrimSpace(view.Headline + " " + string(view.Verdict))
	return view
}

var headlines = map[judge.Status]string{judge.Cancelled: "Cancelled", judge.Dead: "Not judged"}

// details say of a verdict what its name does not.
var details = map[judge.Verdict]string{
	judge.AC:  "The program passed every test.",
	judge.PA:  "The program got a part of the points.",
	judge.WA:  "The program answered wrongly on a test.",
	judge.PE:  "The answer is right, but its layout is not.",
	judge.TLE: "The program used more time than the problem allows.",
	judge.MLE: "The program used more memory than the problem allows.",
	judge.OLE: "The program wrote more than the problem allows.",
	judge.RE:  "The program ended with an error.",
	judge.CE:  "The program could not be compiled. The compiler's words are below.",
	judge.JE: "A checker or the problem itself failed. This is not your program's fault: the submission does not count against you, " +
		"and staff can have it judged again.",
}

func (view *submissionView) showResult(r *judge.Result, problem *judge.Problem, v viewer) {
	view.Verdict, view.Headline = r.Verdict, r.Verdict.Name()
	view.Detail = details[r.Verdict]
	if r.Verdict == judge.PA {
		view.Headline = partlyText(r.Score, r.MaxScore)
	}
	if r.Verdict == judge.AC && problem.Scoring {
		view.Detail = ""
	}
	if r.Verdict != judge.CE || r.Compile == nil { // the compiler's own words say more
		view.Message = r.Message
	}
	if v.Staff() {
		view.Note = r.JudgeNote
	}
	view.Score, view.MaxScore = r.Score, r.MaxScore
	if r.Usage != (judge.Usage{}) && r.Verdict != judge.CE {
		view.Usage = showUsage(r.Usage, problem)
	}
	view.Compile = r.Compile
	view.showTests(r.Tests, len(r.Tests), r.Groups, problem, v)
	for _, g := range r.Groups {
		if g.Score != nil {
			view.Arithmetic = append(view.Arithmetic, groupView{
				Name: g.Name, Title: groupTitle(g.Name), Verdict: g.Verdict, Score: g.Score, Max: worth(g.MaxScore), Formula: g.Formula,
			})
		}
	}
	if len(view.Arithmetic) < 2 { // one sum of nothing explains nothing
		view.Arithmetic = nil
	}
	view.Provenance = provenance(r, v)
}

// showMoving says where a submission stands that is not done.
func (view *submissionView) showMoving(place *judge.Place, run *run, v viewer) {
	sub := view.Sub
	switch {
	case sub.Status == judge.Running && run != nil && run.compile == nil:
		view.Headline = "Compiling"
	case sub.Status == judge.Running && run != nil:
		view.Headline = "Running"
		done := 0
		for _, t := range run.tests {
			if t.Verdict != "" {
				done++
			}
		}
		if run.total > 0 {
			view.Detail = fmt.Sprintf("%d of %d tests are judged.", done, run.total)
		}
	case sub.Status == judge.Running:
		view.Headline = "Compiling"
	default:
		view.Headline, view.Detail = waitingText(sub.QueueState, sub.Tries, sub.MaxTries, place, "; this does not count against you")
	}
	if sub.Result != nil {
		view.Detail = strings.TrimSpace(view.Detail + " It is judged again; before, it was " + string(sub.Result.Verdict) + ".")
	}
}

// worth is the highest score of a group, nil if it is for nothing.
func worth(highest *float64) *float64 {
	if highest == nil || *highest == 0 {
		return nil
	}
	return highest
}

// partlyText says that a program got less than all points.
func partlyText(score, highest *float64) string {
	if score == nil || highest == nil {
		return judge.PA.Name()
	}
	what := judge.PA.Name()
	if *score <= 0 {
		what = "No points"
	}
	return what + ", " + pointsText(score) + " of " + pointsText(highest)
}

func languageName(offers []offer, id string) string {
	for _, o := range offers {
		if o.ID == id {
			return o.Name
		}
	}
	return id
}

// provenance says what judged a submission.
func provenance(r *judge.Result, v viewer) string {
	var parts []string
	if r.Tool != "" {
		parts = append(parts, "Tool: "+r.Tool)
	}
	for _, d := range []struct{ name, digest string }{{"problem", r.ProblemVersion}, {"adapter", r.Adapter}, {"checker", r.Checker}} {
		if _, hex, _ := strings.Cut(d.digest, ":"); len(hex) >= 12 {
			parts = append(parts, d.name+" "+hex[:12])
		} else if d.digest != "" {
			parts = append(parts, d.name+" "+d.digest)
		}
	}
	if v.Staff() && r.Worker != "" {
		parts = append(parts, "worker "+r.Worker)
	}
	return strings.Join(parts, " · ")
}
