package web

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
)

// pluginJobView is everything that the page of a job about a plugin shows. The
// part that changes while it works is the template "live".
type pluginJobView struct {
	Job       *judge.JobView
	Title     string
	LastEvent int64 // the stream continues after it
	Moving    bool  // not done yet

	Verdict  judge.Verdict // whose colour and shape it has; "" while there is none
	Headline string
	Detail   string
	Message  string // why it came to nothing
	Note     string // for staff
	Announce string // what a screen reader is told when it changes

	Compile  *judge.Compile
	Stages   []stageView
	Findings []finding
	Figures  []figure
	Changes  []change
	Links    bool // whether the viewer may open the submissions of Changes
	Acts     *actsView
	History  []historyLine // nil unless something went wrong
}

func (view *pluginJobView) refresh() int {
	if view.Moving {
		return 2
	}
	return 0
}

// actsView is what can be done with a version of a plugin.
type actsView struct {
	Plugin    judge.Plugin
	Problems  []judge.Problem
	Problem   string // chosen already, or ""
	Limit     int    // submissions that a preview judges, unless another number is given
	Most      int
	CSRF, Key string
}

// Previews reports whether it can be tried on past submissions and used for
// problems.
func (a actsView) Previews() bool { return a.Plugin.Conforms && a.Plugin.Kind == "checker" }

func newActs(p judge.Plugin, problems []judge.Problem, v viewer) actsView {
	return actsView{Plugin: p, Problems: problems, Limit: defaultPreview, Most: maxPreview, CSRF: v.CSRF(), Key: randomHex(16)}
}

func (s *Server) pluginJobPage(c *fiber.Ctx) error {
	view, err := s.pluginJobView(c)
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "checkerjob", view.Title, view)
}

// pluginJobFragment is the live part of the page alone.
func (s *Server) pluginJobFragment(c *fiber.Ctx) error {
	view, err := s.pluginJobView(c)
	if err != nil {
		return err
	}
	return s.render(c, fiber.StatusOK, "checkerjob", "live", view)
}

func (s *Server) pluginJobView(c *fiber.Ctx) (*pluginJobView, error) {
	ctx, v := c.UserContext(), viewerOf(c)
	job, events, place, err := s.standing(c, judge.KindPluginBuild, judge.KindPluginTest)
	if err != nil {
		return nil, err
	}
	plugins, err := s.store.Plugins(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	problems, err := s.store.Problems(ctx)
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	return showPluginJob(job, events, place, plugins, problems, v), nil
}

// pluginOf returns the plugin that a job is about as it is kept now, or nil.
func pluginOf(about judge.PluginPayload, jobID int64, plugins []judge.Plugin) *judge.Plugin {
	for i, p := range plugins {
		if about.Digest != "" && p.Digest == about.Digest || about.Digest == "" && p.JobID == jobID {
			return &plugins[i]
		}
	}
	return nil
}

// jobTitle says what a job about a plugin does. The plugin may be nil.
func jobTitle(about judge.PluginPayload, p *judge.Plugin) string {
	name := strings.TrimSpace(about.Name + " " + about.Version)
	if p != nil {
		name = p.Name + " " + p.Version
	}
	switch about.Op {
	case judge.PluginTest:
		return "Proof of " + orElse(name, "a plugin")
	case judge.PluginPreview:
		return "Preview of " + orElse(name, "a checker") + " on " + about.Problem
	case judge.PluginBind:
		return "Use of " + orElse(name, "a checker") + " for " + about.Problem
	case judge.PluginUpload:
	}
	return "Upload of " + orElse(name, "a module")
}

// showPluginJob puts together what a page shows. Place may be nil.
func showPluginJob(job *judge.JobView, events []judge.Event, place *judge.Place, plugins []judge.Plugin, problems []judge.Problem, v viewer) *pluginJobView {
	view := &pluginJobView{Job: job, Moving: !job.Status.Terminal(), Links: v.Staff()}
	if len(events) > 0 {
		view.LastEvent = events[len(events)-1].ID
	}
	run := latestRun(events)
	var r report
	switch {
	case job.Result != nil && !view.Moving:
		r = readReport(job.Result.Report)
		view.Compile = job.Result.Compile
	case run != nil:
		r = reportSoFar(run.told)
		view.Compile = run.compile
	}
	if r.Proof != nil {
		view.Stages, view.Findings, view.Figures = showStages(r.Proof.Stages), r.Proof.Findings, r.Proof.Cost.figures()
	}
	view.Changes = r.Changes
	kept := pluginOf(job.About, job.JobID, plugins)
	if kept == nil && r.Plugin != nil {
		for i := range plugins { // a newer report is about it
			if plugins[i].Digest == r.Plugin.Digest {
				kept = &plugins[i]
			}
		}
	}
	view.Title = jobTitle(job.About, kept)
	switch {
	case view.Moving:
		view.showMoving(place, run, r)
	case job.Result != nil:
		view.showOutcome(r, v)
	default:
		view.Headline, view.Detail = "Cancelled", jobEndedWithout(job, v)
		if job.Status == judge.Dead {
			view.Verdict, view.Headline = judge.SE, "Not done"
		}
	}
	if kept != nil && !view.Moving {
		acts := newActs(*kept, problems, v)
		acts.Problem = job.About.Problem
		view.Acts = &acts
	}
	if lines, eventful := history(events, v); eventful {
		view.History = lines
	}
	view.Announce = view.Headline
	return view
}

// showMoving says where a job stands that is not done.
func (view *pluginJobView) showMoving(place *judge.Place, run *run, r report) {
	job := view.Job
	errs, warnings := r.Proof.count()
	switch {
	case job.Status == judge.Running && job.About.Op == judge.PluginPreview:
		view.Headline, view.Detail = "Judging past submissions", plural(len(r.Changes), "verdict changes", "verdicts change")+" so far."
	case job.Status == judge.Running && job.About.Op == judge.PluginBind:
		view.Headline = "Making a version of the problem"
	case job.Status == judge.Running && job.Kind == judge.KindPluginBuild && (run == nil || run.compile == nil):
		view.Headline = "Compiling"
	case job.Status == judge.Running:
		view.Headline = "Being proved"
		view.Detail = plural(errs, "error", "errors") + " and " + plural(warnings, "warning", "warnings") + " so far."
	default:
		view.Headline, view.Detail = waitingText(job.QueueState, job.Tries, job.MaxTries, place, "")
	}
}

// outcome says in a few words how a job about a plugin ended.
func outcome(op judge.PluginOp, verdict judge.Verdict) string {
	switch {
	case verdict == judge.CE:
		return "Does not compile"
	case verdict == judge.JE:
		return "Not done"
	case op == judge.PluginPreview && verdict == judge.AC:
		return "Nothing changes"
	case op == judge.PluginPreview:
		return "Verdicts change"
	case op == judge.PluginBind && verdict == judge.AC:
		return "In use"
	case op == judge.PluginBind:
		return "Not in use"
	case verdict == judge.AC:
		return "Conforms"
	}
	return "Does not conform"
}

func (view *pluginJobView) showOutcome(r report, v viewer) {
	op, result := view.Job.About.Op, view.Job.Result
	view.Verdict, view.Headline = result.Verdict, outcome(op, result.Verdict)
	view.Message = orElse(r.Error, result.Message)
	if v.Staff() {
		view.Note = result.JudgeNote
	}
	errs, warnings := r.Proof.count()
	switch {
	case result.Verdict == judge.JE:
		view.Detail = "It could not be carried out."
	case result.Verdict == judge.CE:
		view.Detail = "The compiler's words are below."
	case op == judge.PluginPreview:
		view.Detail = fmt.Sprintf("%s judged again; %s. What contestants see stays as it is.",
			plural(r.Checked, "past submission was", "past submissions were"), plural(len(r.Changes), "verdict would change", "verdicts would change"))
	case op == judge.PluginBind && result.Verdict != judge.AC:
		view.Detail = "The version that it would check is on the page of the problem's package, with its report; staff can make it live there."
	case op == judge.PluginBind && r.Binding == "name":
		view.Detail = "The problem has a new version, which follows whatever version of this name is active."
	case op == judge.PluginBind:
		view.Detail = "The problem has a new version, which stays with exactly this version of the checker, because it is not active."
	default:
		view.Detail = plural(errs, "error", "errors") + ", " + plural(warnings, "warning", "warnings") + "."
	}
}
