package setters

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// report is what a job about a package found.
type report struct {
	judge.PackageReport

	Rendering *judge.RenderReport `json:"-"` // of a job of kind render
}

// readReport reads a report. What cannot be read is left empty.
func readReport(raw json.RawMessage) (r report) {
	if json.Unmarshal(raw, &r) != nil {
		return report{}
	}
	return r
}

// stage is the step that a running job is at, and how far it is.
type stage struct {
	Step        string
	Done, Total int
	What        string // was done last
}

// soFar puts together what the events of a running job tell: the step it is at, and the rows.
func soFar(told []json.RawMessage) (r report, at stage) {
	r.Proof = &judge.Proof{}
	for _, raw := range told {
		var one struct {
			stage
			Row *judge.ProofRow
		}
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		switch {
		case one.Row != nil:
			r.Proof.Rows = append(r.Proof.Rows, *one.Row)
		default:
			at = one.stage
		}
	}
	return r, at
}

// words says what a step is, and how far it is.
func (at stage) words() (headline locale.Word, detail locale.Sentence) {
	far := []any{at.Done, at.Total}
	if at.What != "" {
		far = append(far, at.What)
	}
	switch at.Step {
	case "make":
		if at.What != "" {
			return "Tests are made", locale.Sentence{Key: "Its own programs make the tests that it does not hold: %d of %d, last %s.", Args: far}
		}
		return "Tests are made", locale.Sentence{Key: "Its own programs make the tests that it does not hold: %d of %d.", Args: far}
	case "measure":
		if at.What != "" {
			return "The time limit is found", locale.Sentence{Key: "It states none, so its programs are measured: %d of %d, last %s.", Args: far}
		}
		return "The time limit is found", locale.Sentence{Key: "It states none, so its programs are measured: %d of %d.", Args: far}
	case "inspect":
		return "Inputs are checked", locale.Sentence{Key: "Validators and checkers are asked: %d of %d.", Args: far[:2]}
	case "verify":
		return "Being proved", locale.Sentence{Key: "%d of %d submissions judged.", Args: far[:2]}
	case "draw":
		return "Being drawn", locale.Sentence{Key: "Its pictures and documents are made ready for pages."}
	case "render":
		return "Being rendered", locale.Sentence{Key: "%d of %d versions done.", Args: far[:2]}
	case "finish": // workers of a version before this one
		return "Being completed", locale.Sentence{Key: "Its own programs make tests, or show what time limit it needs."}
	}
	return "Being read", locale.Sentence{}
}

// jobView is what the page of a job about a package shows.
type jobView struct {
	job.StandingView

	Title   string
	Problem string // short name
	Stage   stage
	Report  report
}

func (view *jobView) PageTitle() string { return view.Titled(view.Title) }

func (s *Room) jobPage(c *fiber.Ctx) (job.Page, error) {
	j, err := s.job.JobFor(c, judge.KindImport, judge.KindVerify, judge.KindRender)
	if err != nil {
		return nil, err
	}
	events, place, err := s.job.Stands(c.UserContext(), site.ViewerOf(c), &j.Job)
	if err != nil {
		return nil, err
	}
	return ShowJob(j, events, place, site.ViewerOf(c)), nil
}

// jobTitle says what a job about a package does.
func jobTitle(j *judge.SetterJob) locale.Sentence {
	//exhaustive:ignore
	switch j.Kind {
	case judge.KindRender:
		return renderingTitle(j.Render)
	case judge.KindVerify:
		return locale.Sentence{Key: "Proof of %s", Args: []any{j.Package.Problem}}
	}
	return locale.Sentence{Key: "Import of %s", Args: []any{j.Package.Problem}}
}

// outcome says in a few words how a job about a package ended.
func outcome(kind judge.Kind, v judge.Verdict) locale.Word {
	switch {
	case v == "":
		return ""
	case kind == judge.KindRender && v == judge.AC:
		return "Rendered"
	case kind == judge.KindRender && v == judge.WA:
		return "Not all rendered"
	case kind == judge.KindRender:
		return ""
	case v == judge.AC:
		return "Proved"
	case v == judge.JE:
		return "Refused"
	}
	return "Proof failed"
}

// ShowJob puts together what the page of a job about a package shows. Place may be nil.
func ShowJob(j *judge.SetterJob, events []judge.Event, place *judge.Place, v site.Viewer) job.Page {
	view := &jobView{StandingView: job.ShowStanding(j, events, place, v), Title: v.Locale.Said(jobTitle(j)), Problem: j.Package.Problem}
	switch {
	case view.Moving:
		view.showMoving(job.LatestRun(events))
	case j.Status == judge.Finished && j.Result != nil:
		view.showOutcome()
	}
	return view
}

// showMoving says where a job stands that is not done.
func (view *jobView) showMoving(run *job.Run) {
	if run != nil {
		view.Report, view.Stage = soFar(run.Told)
		view.Stage.Done = max(view.Stage.Done, len(view.Report.Proof.Rows))
	}
	if view.Job.Status == judge.Running {
		headline, detail := view.Stage.words()
		view.Headline, view.Detail = view.Say(headline), view.SayAll(detail)
	}
}

func (view *jobView) showOutcome() {
	result := view.Job.Result
	if view.Job.Kind == judge.KindRender {
		view.showRendering(result)
		return
	}
	view.Report = readReport(result.Report)
	view.Verdict, view.Headline = result.Verdict, view.Say(outcome(view.Job.Kind, result.Verdict))
	view.Message = site.OrElse(view.Report.Error, result.Message)
	proof := view.Report.Proof
	switch {
	case view.Verdict == judge.JE:
		view.Detail = view.Say("There is no new version.")
	case proof == nil:
	case view.Verdict == judge.WA:
		view.Detail = view.SayAll(
			locale.Sentence{Key: "%d submissions got what they should not.", Args: []any{proof.Wrong()}},
			locale.Sentence{Key: "%d faults were found with tests and checkers.", Args: []any{len(proof.Faults)}},
			locale.Sentence{Key: "The version is kept, and is not live."})
	case view.Report.Live:
		view.Detail = view.Say("Every submission got what its place allows. The version is live.")
	default:
		view.Detail = view.Say("Every submission got what its place allows. The version is kept, and goes live when somebody activates it.")
	}
}

// showRendering says how a job of kind render ended.
func (view *jobView) showRendering(result *judge.Result) {
	var r judge.RenderReport
	if json.Unmarshal(result.Report, &r) != nil {
		r = judge.RenderReport{}
	}
	view.Report.Rendering, view.Verdict = &r, result.Verdict
	done := locale.Sentence{Key: "%d versions have new pages; versions and proofs are what they were.", Args: []any{r.Rendered}}
	if len(r.Failed) == 0 {
		view.Headline, view.Detail = view.Say("Rendered"), view.SayAll(done)
		return
	}
	view.Headline = view.Say("Not all could be rendered")
	view.Detail = view.SayAll(done, locale.Sentence{Key: "%d versions keep their pages from before.", Args: []any{r.Versions - r.Rendered}})
}
