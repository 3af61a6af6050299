package web

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// packageReport is what a job about a package found.
type packageReport struct {
	Version  string            `json:"version"`
	Live     bool              `json:"live"`
	Refused  []problem.Finding `json:"refused"`
	Warnings []problem.Finding `json:"warnings"`
	Proof    *packageProof     `json:"proof"`
	Error    string            `json:"error"`

	Rendering *judge.RenderReport `json:"-"` // of a job of kind render
}

// packageProof is what the submissions of a package got.
type packageProof struct {
	LimitMillis     int64      `json:"limit_ms"`
	LimitFrom       string     `json:"limit_from"`
	SlowestMillis   int64      `json:"slowest_ms"`
	SuggestedMillis int64      `json:"suggested_ms"`
	Checked         int        `json:"checked"`
	Faults          []string   `json:"faults"`
	Warnings        []string   `json:"warnings"`
	Notes           []string   `json:"notes"` // of the checkers, and no faults
	Rows            []proofRow `json:"rows"`
}

// proofRow is what one submission got.
type proofRow struct {
	Path     string              `json:"path"`
	Language string              `json:"language"`
	Allowed  []judge.Verdict     `json:"allowed"` // empty = anything
	Verdict  judge.Verdict       `json:"verdict"` // "" = it was not judged
	Score    *float64            `json:"score"`
	Usage    judge.Usage         `json:"usage"`
	Groups   []judge.GroupResult `json:"groups"`
	Slack    float64             `json:"slack"`
	Skipped  string              `json:"skipped"` // why it was not judged, where that is nothing wrong
	Problem  string              `json:"problem"` // what is wrong; "" = nothing
	Warning  string              `json:"warning"` // what a setter should know; "" = nothing
}

// SlackText is the time limit divided by what the slowest test took.
func (r proofRow) SlackText() string {
	if r.Slack == 0 {
		return ""
	}
	return fmt.Sprintf("×%.1f", r.Slack)
}

// Groups returns the names of the groups of tests, in order.
func (p *packageProof) Groups() []string {
	var names []string
	for _, row := range p.Rows {
		for _, g := range row.Groups {
			if g.Name != "" && !slices.Contains(names, g.Name) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}

// In returns what the submission got in a group; nil if that was not judged.
func (r proofRow) In(group string) *judge.GroupResult {
	for i, g := range r.Groups {
		if g.Name == group && g.Verdict != "" {
			return &r.Groups[i]
		}
	}
	return nil
}

// wrong returns how many rows got what they should not.
func (p *packageProof) wrong() (n int) {
	for _, row := range p.Rows {
		if row.Problem != "" {
			n++
		}
	}
	return n
}

// readPackageReport reads a report. What cannot be read is left empty.
func readPackageReport(raw json.RawMessage) (r packageReport) {
	if json.Unmarshal(raw, &r) != nil {
		return packageReport{}
	}
	return r
}

// packageStage is the step that a running job is at, and how far it is.
type packageStage struct {
	Step        string
	Done, Total int
	What        string // was done last
}

// packageSoFar puts together what the events of a running job tell: the step it is
// at, and the rows.
func packageSoFar(told []json.RawMessage) (r packageReport, at packageStage) {
	r.Proof = &packageProof{}
	for _, raw := range told {
		var one struct {
			packageStage
			Row *proofRow
		}
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		switch {
		case one.Row != nil:
			r.Proof.Rows = append(r.Proof.Rows, *one.Row)
		default:
			at = one.packageStage
		}
	}
	return r, at
}

// words says what a step is, and how far it is.
func (at packageStage) words() (headline, detail string) {
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
		return "Being proved", fmt.Sprintf("%d of %s judged.", at.Done, plural(at.Total, "submission", "submissions"))
	case "draw":
		return "Being drawn", "Its pictures and documents are made ready for pages."
	case "render":
		return "Being rendered", fmt.Sprintf("%d of %s done.", at.Done, plural(at.Total, "version", "versions"))
	case "finish": // workers of a version before this one
		return "Being completed", "Its own programs make tests, or show what time limit it needs."
	}
	return "Being read", ""
}

// importView is what the page of a job about a package shows.
type importView struct {
	Job       *judge.JobView
	Title     string
	LastEvent int64 // the stream continues after it
	Moving    bool  // not done yet
	Stage     packageStage

	Verdict  judge.Verdict // whose colour and shape it has; "" while there is none
	Headline string
	Detail   string
	Message  string // why it came to nothing
	Announce string // what a screen reader is told when it changes
	Report   packageReport
	History  []historyLine // nil unless something went wrong
}

func (view *importView) refresh() int {
	if view.Moving {
		return 2
	}
	return 0
}

func (s *Server) importPage(c *fiber.Ctx) error {
	view, err := s.importView(c)
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "import", view.Title, view)
}

// importFragment is the live part of the page alone.
func (s *Server) importFragment(c *fiber.Ctx) error {
	view, err := s.importView(c)
	if err != nil {
		return err
	}
	return s.render(c, fiber.StatusOK, "import", "live", view)
}

func (s *Server) importView(c *fiber.Ctx) (*importView, error) {
	job, events, place, err := s.standing(c, judge.KindImport, judge.KindVerify, judge.KindRender)
	if err != nil {
		return nil, err
	}
	return showImport(job, events, place, viewerOf(c)), nil
}

func packageTitle(kind judge.Kind, p judge.PackagePayload) string {
	if kind == judge.KindVerify {
		return "Proof of " + p.Problem
	}
	return "Import of " + p.Problem
}

// packageOutcome says in a few words how a job about a package ended.
func packageOutcome(v judge.Verdict) string {
	known, ok := map[judge.Verdict]string{"": "", judge.AC: "Proved", judge.JE: "Refused"}[v]
	if !ok {
		return "Proof failed"
	}
	return known
}

// showImport puts together what a page shows. Place may be nil.
func showImport(job *judge.JobView, events []judge.Event, place *judge.Place, v viewer) *importView {
	view := &importView{Job: job, Moving: !job.Status.Terminal(), Title: packageTitle(job.Kind, job.Package)}
	if job.Kind == judge.KindRender {
		view.Title = renderingTitle(job.Render)
	}
	if len(events) > 0 {
		view.LastEvent = events[len(events)-1].ID
	}
	switch {
	case view.Moving:
		view.showMoving(place, latestRun(events))
	case job.Result != nil:
		view.showOutcome()
	default:
		view.Headline, view.Detail = "Cancelled", jobEndedWithout(job, v)
		if job.Status == judge.Dead {
			view.Verdict, view.Headline = judge.SE, "Not done"
		}
	}
	if lines, eventful := history(events, v); eventful {
		view.History = lines
	}
	view.Announce = view.Headline
	return view
}

// showMoving says where a job stands that is not done.
func (view *importView) showMoving(place *judge.Place, run *run) {
	job := view.Job
	if run != nil {
		view.Report, view.Stage = packageSoFar(run.told)
		view.Stage.Done = max(view.Stage.Done, len(view.Report.Proof.Rows))
	}
	if job.Status == judge.Running {
		view.Headline, view.Detail = view.Stage.words()
	} else {
		view.Headline, view.Detail = waitingText(job.QueueState, job.Tries, job.MaxTries, place, "")
	}
}

func (view *importView) showOutcome() {
	result := view.Job.Result
	if view.Job.Kind == judge.KindRender {
		view.showRendering(result)
		return
	}
	view.Report = readPackageReport(result.Report)
	view.Verdict, view.Headline = result.Verdict, packageOutcome(result.Verdict)
	view.Message = orElse(view.Report.Error, result.Message)
	proof := view.Report.Proof
	switch {
	case view.Verdict == judge.JE:
		view.Detail = "There is no new version."
	case proof == nil:
	case view.Verdict == judge.WA:
		view.Detail = fmt.Sprintf("%s what it should not, and %s found with tests and checkers. The version is kept, and is not live.",
			plural(proof.wrong(), "submission got", "submissions got"), plural(len(proof.Faults), "fault was", "faults were"))
	case view.Report.Live:
		view.Detail = "Every submission got what its place allows. The version is live."
	default:
		view.Detail = "Every submission got what its place allows. The version is kept, and goes live when somebody activates it."
	}
}

// showRendering says how a job of kind render ended.
func (view *importView) showRendering(result *judge.Result) {
	var r judge.RenderReport
	if json.Unmarshal(result.Report, &r) != nil {
		r = judge.RenderReport{}
	}
	view.Report.Rendering, view.Verdict = &r, result.Verdict
	view.Headline = "Rendered"
	view.Detail = plural(r.Rendered, "version has", "versions have") + " new pages; versions and proofs are what they were."
	if len(r.Failed) > 0 {
		view.Headline = "Not all could be rendered"
		view.Detail += " " + plural(r.Versions-r.Rendered, "version keeps its", "versions keep their") + " pages from before."
	}
}
