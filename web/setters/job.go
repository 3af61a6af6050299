package setters

import (
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
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
func (at stage) words() (headline, detail string) {
	far := fmt.Sprintf("%d of %d", at.Done, at.Total)
	if at.What != "" {
		far += ", last " + at.What
	}
	switch at.Step {
	case "make":
		return "Tests are made", "Its own programs make the tests that it does not hold: " + far + "."
	case "measure":
		return "The time limit is found", "It states none, so its programs are measured: " + far + "."
	case "inspect":
		return "Inputs are checked", fmt.Sprintf("Validators and checkers are asked: %d of %d.", at.Done, at.Total)
	case "verify":
		return "Being proved", fmt.Sprintf("%d of %s judged.", at.Done, site.Plural(at.Total, "submission", "submissions"))
	case "draw":
		return "Being drawn", "Its pictures and documents are made ready for pages."
	case "render":
		return "Being rendered", fmt.Sprintf("%d of %s done.", at.Done, site.Plural(at.Total, "version", "versions"))
	case "finish": // workers of a version before this one
		return "Being completed", "Its own programs make tests, or show what time limit it needs."
	}
	return "Being read", ""
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

func jobTitle(kind judge.Kind, p judge.PackagePayload) string {
	if kind == judge.KindVerify {
		return "Proof of " + p.Problem
	}
	return "Import of " + p.Problem
}

// outcome says in a few words how a job about a package ended.
func outcome(v judge.Verdict) string {
	known, ok := map[judge.Verdict]string{"": "", judge.AC: "Proved", judge.JE: "Refused"}[v]
	if !ok {
		return "Proof failed"
	}
	return known
}

// ShowJob puts together what the page of a job about a package shows. Place may be nil.
func ShowJob(j *judge.SetterJob, events []judge.Event, place *judge.Place, v site.Viewer) job.Page {
	view := &jobView{StandingView: job.ShowStanding(j, events, place, v), Title: jobTitle(j.Kind, j.Package), Problem: j.Package.Problem}
	if j.Kind == judge.KindRender {
		view.Title = renderingTitle(j.Render)
	}
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
		view.Headline, view.Detail = view.Stage.words()
	}
}

func (view *jobView) showOutcome() {
	result := view.Job.Result
	if view.Job.Kind == judge.KindRender {
		view.showRendering(result)
		return
	}
	view.Report = readReport(result.Report)
	view.Verdict, view.Headline = result.Verdict, outcome(result.Verdict)
	view.Message = site.OrElse(view.Report.Error, result.Message)
	proof := view.Report.Proof
	switch {
	case view.Verdict == judge.JE:
		view.Detail = "There is no new version."
	case proof == nil:
	case view.Verdict == judge.WA:
		view.Detail = fmt.Sprintf("%s what it should not, and %s found with tests and checkers. The version is kept, and is not live.",
			site.Plural(proof.Wrong(), "submission got", "submissions got"), site.Plural(len(proof.Faults), "fault was", "faults were"))
	case view.Report.Live:
		view.Detail = "Every submission got what its place allows. The version is live."
	default:
		view.Detail = "Every submission got what its place allows. The version is kept, and goes live when somebody activates it."
	}
}

// showRendering says how a job of kind render ended.
func (view *jobView) showRendering(result *judge.Result) {
	var r judge.RenderReport
	if json.Unmarshal(result.Report, &r) != nil {
		r = judge.RenderReport{}
	}
	view.Report.Rendering, view.Verdict = &r, result.Verdict
	view.Headline = "Rendered"
	view.Detail = site.Plural(r.Rendered, "version has", "versions have") + " new pages; versions and proofs are what they were."
	if len(r.Failed) > 0 {
		view.Headline = "Not all could be rendered"
		view.Detail += " " + site.Plural(r.Versions-r.Rendered, "version keeps its", "versions keep their") + " pages from before."
	}
}
