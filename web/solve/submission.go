package solve

import (
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/job"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// SubmissionView is everything that a submission's page shows.
type SubmissionView struct {
	job.StandingView

	Sub          *judge.Submission
	Desk         string // address of the problem that it is for
	Again        string // of that, with the program in its form
	AuthorName   string // what people call the author; "" = by their name
	LanguageName string
	Editor       string // mode in which the source is coloured

	Score, MaxScore *float64
	Usage           *usageView
	Groups          []groupView
	Judged, Total   int
	Arithmetic      []groupView
	Failures        []failureView
	Rows            []testView
	Times           template.HTML // a picture of the rows
	Sources         []sourceView
}

// PageTitle is the title of the page.
func (view *SubmissionView) PageTitle() string {
	if view.Sub.Kind == judge.KindDraft {
		return view.Titled(view.Say("Draft submission %s", locale.ID(view.Sub.JobID)))
	}
	return view.Titled(view.Say("Submission %s", locale.ID(view.Sub.JobID)))
}

// submissionPage is what the page shows, of which the live part is less. Of what was handed in just now it shows the
// first test, and reads everything else before that is there.
func (s *Room) submissionPage(c *fiber.Ctx) (*SubmissionView, error) {
	sub, problem, offers, err := s.found(c)
	if err != nil {
		return nil, err
	}
	name := s.Names(c.UserContext(), sub.Author)[sub.Author]
	v := site.ViewerOf(c)
	events, err := s.job.Begun(c.UserContext(), v, &sub.Job, s.ClientAddress(c))
	if err != nil {
		return nil, err
	}
	var view *SubmissionView
	switch status := judge.StatusAfter(events); {
	case status == "":
		view, err = s.viewOf(c, sub, problem, offers)
	case status.Terminal():
		if sub, err = s.job.SubmissionFor(c); err == nil {
			view = ShowSubmission(sub, problem, events, nil, offers, v)
		}
	default: // also where more has happened meanwhile, of which the page hears
		sub.Status = status
		view = ShowSubmission(sub, problem, events, nil, offers, v)
	}
	if err == nil {
		view.AuthorName = name
	}
	return view, err
}

func (s *Room) submissionView(c *fiber.Ctx) (*SubmissionView, error) {
	sub, problem, offers, err := s.found(c)
	if err != nil {
		return nil, err
	}
	return s.viewOf(c, sub, problem, offers)
}

// found reads the submission that the address names, and what a page shows besides, which does not change while it is
// judged. Problem may be nil.
func (s *Room) found(c *fiber.Ctx) (sub *judge.Submission, problem *judge.Problem, offers []site.Offer, err error) {
	if sub, err = s.job.SubmissionFor(c); err != nil {
		return nil, nil, nil, err
	}
	problem, err = s.Store.Problem(c.UserContext(), sub.Problem)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, nil, nil, fmt.Errorf("look up problem: %w", err)
	}
	offers, err = s.Catalog.Languages(c.UserContext())
	return sub, problem, offers, err
}

func (s *Room) viewOf(c *fiber.Ctx, sub *judge.Submission, problem *judge.Problem, offers []site.Offer) (*SubmissionView, error) {
	v := site.ViewerOf(c)
	events, place, err := s.job.Stands(c.UserContext(), v, &sub.Job)
	if err != nil {
		return nil, err
	}
	return ShowSubmission(sub, problem, events, place, offers, v), nil
}

// ShowSubmission puts together what a page shows, from what the database holds. Problem and place may be nil.
func ShowSubmission(sub *judge.Submission, problem *judge.Problem, events []judge.Event, place *judge.Place, offers []site.Offer, v site.Viewer) *SubmissionView {
	view := &SubmissionView{
		StandingView: job.ShowStanding(sub, events, place, v), Sub: sub, Desk: problemOf(sub), LanguageName: languageName(offers, sub.Language),
	}
	view.Again = view.Desk + "?from=" + strconv.FormatInt(sub.JobID, 10)
	view.Editor = editorOf(offers, sub.Language)
	view.Coded = true
	if problem == nil {
		problem = &judge.Problem{}
	}
	run := job.LatestRun(events)
	result := job.PublicResult(sub.Result, v, sub.Told)
	ended := view.StandingView
	switch {
	case view.Moving && run != nil:
		view.Compile = run.Compile
		view.showTests(run.Tests, run.Total, nil, problem, v)
	case !view.Moving && result != nil:
		view.showResult(result, problem, v)
	case !view.Moving && sub.Veiled:
		view.showVeiled(problem, v)
	}
	switch {
	case view.Moving:
		view.showMoving(run)
	case sub.Status != judge.Finished:
		view.Coded = false // SE is no verdict
		view.Verdict, view.Headline, view.Detail = ended.Verdict, ended.Headline, ended.Detail
	}
	view.Sources = showSources(sub.Sources, view.Compile)
	for _, source := range view.Sources {
		view.HasMarks = view.HasMarks || source.marked
	}
	return view
}

// details say of a verdict what its name does not.
var details = map[judge.Verdict]locale.Word{
	judge.AC:  "The program passed every test.",
	judge.PA:  "The program got a part of the points.",
	judge.WA:  "The program answered wrongly on a test.",
	judge.PE:  "The answer is right, but its layout is not.",
	judge.TLE: "The program used more time than the problem allows.",
	judge.MLE: "The program used more memory than the problem allows.",
	judge.OLE: "The program wrote more than the problem allows.",
	judge.RE:  "The program ended with an error.",
	judge.CE:  "The program could not be compiled. The compiler's words are below.",
	judge.JE:  "A checker or the problem itself failed. This is not your program's fault: the submission does not count against you, and staff can have it judged again.",
}

func (view *SubmissionView) showResult(r *judge.Result, problem *judge.Problem, v site.Viewer) {
	view.Verdict, view.Headline = r.Verdict, v.Locale.Said(site.VerdictName(r.Verdict))
	view.Detail = v.Say(details[r.Verdict])
	if r.Verdict == judge.PA {
		view.Headline = partlyText(r.Score, r.MaxScore, v)
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
	if view.Sub.Veiled {
		view.Detail = strings.TrimSpace(view.Detail + " " + v.Say(toldNow[view.Sub.Feedback]))
	}
	view.Score, view.MaxScore = r.Score, r.MaxScore
	if r.Usage != (judge.Usage{}) && r.Verdict != judge.CE {
		view.Usage = showUsage(r.Usage, problem, v)
	}
	view.Compile = r.Compile
	view.showTests(r.Tests, len(r.Tests), r.Groups, problem, v)
	for _, g := range r.Groups {
		if g.Score != nil {
			view.Arithmetic = append(view.Arithmetic, groupView{
				Name: g.Name, Title: groupTitle(g.Name, v), Verdict: g.Verdict, Score: g.Score, Max: worth(g.MaxScore), Formula: g.Formula,
			})
		}
	}
	if len(view.Arithmetic) < 2 { // one sum of nothing explains nothing
		view.Arithmetic = nil
	}
	view.Provenance = provenance(r, v)
}

// toldNow says what of a result is told while a round hides the rest.
var toldNow = map[judge.Feedback]locale.Word{
	judge.FeedbackGroups: "Single tests but the samples are shown when the round hides nothing any more.",
	judge.FeedbackPublic: "The samples are below. What became of the other tests is shown when the round hides nothing any more.",
	judge.FeedbackNone:   "What became of it is shown when the round hides nothing any more.",
}

// showVeiled says that a submission is judged, and what of the result is told.
func (view *SubmissionView) showVeiled(problem *judge.Problem, v site.Viewer) {
	view.Coded = false // there is no verdict to tell
	view.Headline, view.Detail = v.Say("Judged"), v.Say(toldNow[view.Sub.Feedback])
	samples := job.PublicSamples(view.Sub, v)
	view.showTests(samples, len(samples), nil, problem, v)
}

// showMoving says where a submission stands that is not done.
func (view *SubmissionView) showMoving(run *job.Run) {
	sub := view.Sub
	switch {
	case sub.Status == judge.Running && run != nil && run.Compile == nil:
		view.Headline = view.Say("Compiling")
	case sub.Status == judge.Running && run != nil:
		view.Headline = view.Say("Running")
		done := 0
		for _, t := range run.Tests {
			if t.Verdict != "" {
				done++
			}
		}
		if run.Total > 0 {
			view.Detail = view.Say("%d of %d tests are judged.", done, run.Total)
		}
	case sub.Status == judge.Running:
		view.Headline = view.Say("Compiling")
	}
	if sub.Result != nil {
		view.Detail = strings.TrimSpace(view.Detail + " " + view.Say("It is judged again; before, it was %s.", sub.Result.Verdict))
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
func partlyText(score, highest *float64, v site.Viewer) string {
	if score == nil || highest == nil {
		return v.Locale.Said(site.VerdictName(judge.PA))
	}
	if *score <= 0 {
		return v.Say("No points, %s of %s", v.Locale.Number(score), v.Locale.Number(highest))
	}
	return v.Say("%s, %s of %s", site.VerdictName(judge.PA), v.Locale.Number(score), v.Locale.Number(highest))
}

// editorOf is how a language is coloured; "" = not at all.
func editorOf(offers []site.Offer, id string) string {
	for _, o := range offers {
		if o.ID == id {
			return o.Editor
		}
	}
	return ""
}

func languageName(offers []site.Offer, id string) string {
	for _, o := range offers {
		if o.ID == id {
			return o.Name
		}
	}
	return id
}

// provenance says what judged a submission.
func provenance(r *judge.Result, v site.Viewer) string {
	var parts []string
	if r.Tool != "" {
		parts = append(parts, v.Say("Tool: %s", r.Tool))
	}
	for _, d := range []struct {
		name   locale.Word
		digest string
	}{{locale.Word("problem %s"), r.ProblemVersion}, {locale.Word("adapter %s"), r.Adapter}, {locale.Word("checker %s"), r.Checker}} {
		if _, hex, _ := strings.Cut(d.digest, ":"); len(hex) >= 12 {
			parts = append(parts, v.Say(d.name, hex[:12]))
		} else if d.digest != "" {
			parts = append(parts, v.Say(d.name, d.digest))
		}
	}
	if v.Staff() && r.Worker != "" {
		parts = append(parts, v.Say("worker %s", r.Worker))
	}
	return strings.Join(parts, " · ")
}
