package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
}

// packageProof is what the submissions of a package got.
type packageProof struct {
	LimitMillis     int64      `json:"limit_ms"`
	LimitFrom       string     `json:"limit_from"`
	SlowestMillis   int64      `json:"slowest_ms"`
	SuggestedMillis int64      `json:"suggested_ms"`
	Checked         int        `json:"checked"`
	Faults          []string   `json:"faults"`
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
	Problem  string              `json:"problem"` // what is wrong; "" = nothing
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

// packageSoFar puts together what the events of a running job tell: the step it is
// at, of how many things that consists, and the rows.
func packageSoFar(told []json.RawMessage) (r packageReport, step string, total int) {
	r.Proof = &packageProof{}
	for _, raw := range told {
		var one struct {
			Step  string
			Total int
			Row   *proofRow
		}
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		if one.Row != nil {
			r.Proof.Rows = append(r.Proof.Rows, *one.Row)
		} else {
			step, total = one.Step, one.Total
		}
	}
	return r, step, total
}

// importView is what the page of a job about a package shows.
type importView struct {
	Job       *judge.JobView
	Title     string
	LastEvent int64 // the stream continues after it
	Moving    bool  // not done yet

	Verdict  judge.Verdict // whose colour and shape it has; "" while there is none
	Headline string
	Detail   string
	Message  string // why it came to nothing
	Announce string // what a screen reader is told when it changes
	Report   packageReport
	History  []historyLine // "" unless something went wrong
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
	job, events, place, err := s.standing(c, judge.KindImport, judge.KindVerify)
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
	var step string
	var total int
	if run != nil {
		view.Report, step, total = packageSoFar(run.told)
	}
	switch {
	case job.Status == judge.Running && step == "verify":
		view.Headline = "Being proved"
		view.Detail = fmt.Sprintf("%d of %s judged.", len(view.Report.Proof.Rows), plural(total, "submission", "submissions"))
	case job.Status == judge.Running && step == "finish":
		view.Headline, view.Detail = "Being completed", "Its own programs make tests, or show what time limit it needs."
	case job.Status == judge.Running:
		view.Headline = "Being read"
	case job.Tries > 0:
		view.Headline = "Waiting for another try"
		view.Detail = fmt.Sprintf("Try %d of %d failed on our side.", job.Tries, job.MaxTries)
	case job.QueueState == "D":
		view.Headline, view.Detail = "Next", "A worker is about to take it."
	default:
		view.Headline = "Waiting"
	}
	if place != nil && job.QueueState != "D" {
		view.Detail = strings.TrimSpace(view.Detail + " " + waitSentence(*place))
	}
}

func (view *importView) showOutcome() {
	result := view.Job.Result
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
