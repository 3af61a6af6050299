package plugins

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/job"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// jobView is everything that the page of a job about a plugin shows.
type jobView struct {
	job.StandingView

	About    judge.PluginPayload
	Title    string
	Stages   []stageView
	Findings []judge.ConformanceFinding
	Figures  []figure
	Changes  []judge.VerdictChange
	Links    bool // whether the viewer may open the submissions of Changes
	Acts     *actsView
}

func (view *jobView) PageTitle() string { return view.Titled(view.Title) }

// actsView is what can be done with a version of a plugin.
type actsView struct {
	Plugin    judge.Plugin
	Problems  []judge.Problem
	Problem   string // chosen already, or ""
	Limit     int    // submissions that a preview judges, unless another number is given
	Most      int
	CSRF, Key string
}

// Previews reports whether it can be tried on past submissions and used for problems.
func (a actsView) Previews() bool { return a.Plugin.Conforms && a.Plugin.Kind == "checker" }

func newActs(p judge.Plugin, problems []judge.Problem, v site.Viewer) actsView {
	return actsView{Plugin: p, Problems: problems, Limit: defaultPreview, Most: maxPreview, CSRF: v.CSRF(), Key: people.NewToken(16)}
}

func (s *Room) jobPage(c *fiber.Ctx) (job.Page, error) {
	ctx, v := c.UserContext(), site.ViewerOf(c)
	j, err := s.job.JobFor(c, judge.KindPluginBuild, judge.KindPluginTest)
	if err != nil {
		return nil, err
	}
	events, place, err := s.job.Stands(ctx, v, &j.Job)
	if err != nil {
		return nil, err
	}
	plugins, err := s.Store.Plugins(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	problems, err := s.Store.Problems(ctx)
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	return ShowJob(j, events, place, plugins, problems, v), nil
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
func jobTitle(about judge.PluginPayload, p *judge.Plugin) locale.Sentence {
	name := strings.TrimSpace(about.Name + " " + about.Version)
	if p != nil {
		name = p.Name + " " + p.Version
	}
	named := func(other locale.Word) any {
		if name == "" {
			return other
		}
		return name
	}
	switch about.Op {
	case judge.PluginTest:
		return locale.Sentence{Key: "Proof of %s", Args: []any{named("a plugin")}}
	case judge.PluginPreview:
		return locale.Sentence{Key: "Preview of %s on %s", Args: []any{named("a checker"), about.Problem}}
	case judge.PluginBind:
		return locale.Sentence{Key: "Use of %s for %s", Args: []any{named("a checker"), about.Problem}}
	case judge.PluginUpload:
	}
	return locale.Sentence{Key: "Upload of %s", Args: []any{named("a module")}}
}

// ShowJob puts together what the page of a job about a plugin shows. Place may be nil.
func ShowJob(j *judge.SetterJob, events []judge.Event, place *judge.Place, plugins []judge.Plugin, problems []judge.Problem, v site.Viewer) job.Page {
	view := &jobView{StandingView: job.ShowStanding(j, events, place, v), About: j.About, Links: v.Staff()}
	run := job.LatestRun(events)
	var r judge.PluginReport
	switch {
	case j.Result != nil && !view.Moving:
		r = readReport(j.Result.Report)
		view.Compile = j.Result.Compile
	case run != nil:
		r = reportSoFar(run.Told)
		view.Compile = run.Compile
	}
	if r.Conformance != nil {
		view.Stages, view.Findings, view.Figures = showStages(r.Conformance.Stages), r.Conformance.Findings, figures(r.Conformance.Cost, v.Locale)
	}
	view.Changes = r.Changes
	kept := pluginOf(j.About, j.JobID, plugins)
	if kept == nil && r.Plugin != nil {
		for i := range plugins { // a newer report is about it
			if plugins[i].Digest == r.Plugin.Digest {
				kept = &plugins[i]
			}
		}
	}
	view.Title = v.Locale.Said(jobTitle(j.About, kept))
	switch {
	case j.Status == judge.Running:
		view.showRunning(run, r)
	case j.Status == judge.Finished && j.Result != nil:
		view.showOutcome(r, v)
	}
	if kept != nil && !view.Moving {
		acts := newActs(*kept, problems, v)
		acts.Problem = j.About.Problem
		view.Acts = &acts
	}
	return view
}

// showRunning says what a job does that is under way.
func (view *jobView) showRunning(run *job.Run, r judge.PluginReport) {
	op := view.About.Op
	errs, warnings := r.Conformance.Count()
	switch {
	case op == judge.PluginPreview:
		view.Headline, view.Detail = view.Say("Judging past submissions"), view.Say("%d verdicts change so far.", len(r.Changes))
	case op == judge.PluginBind:
		view.Headline = view.Say("Making a version of the problem")
	case view.Job.Kind == judge.KindPluginBuild && (run == nil || run.Compile == nil):
		view.Headline = view.Say("Compiling")
	default:
		view.Headline = view.Say("Being proved")
		view.Detail = view.Say("%s and %s so far.", found(errs, warnings)...)
	}
}

// found says how many findings a proof has, to be filled into a sentence.
func found(errs, warnings int) []any {
	return []any{locale.Sentence{Key: "%d errors", Args: []any{errs}}, locale.Sentence{Key: "%d warnings", Args: []any{warnings}}}
}

// outcome says in a few words how a job about a plugin ended.
func outcome(op judge.PluginOp, verdict judge.Verdict) locale.Word {
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

func (view *jobView) showOutcome(r judge.PluginReport, v site.Viewer) {
	op, result := view.About.Op, view.Job.Result
	view.Verdict, view.Headline = result.Verdict, view.Say(outcome(op, result.Verdict))
	view.Message = site.OrElse(r.Error, result.Message)
	if v.Staff() {
		view.Note = result.JudgeNote
	}
	errs, warnings := r.Conformance.Count()
	switch {
	case result.Verdict == judge.JE:
		view.Detail = view.Say("It could not be carried out.")
	case result.Verdict == judge.CE:
		view.Detail = view.Say("The compiler's words are below.")
	case op == judge.PluginPreview:
		view.Detail = view.SayAll(
			locale.Sentence{Key: "%d past submissions were judged again.", Args: []any{r.Checked}},
			locale.Sentence{Key: "%d verdicts would change.", Args: []any{len(r.Changes)}},
			locale.Sentence{Key: "What contestants see stays as it is."})
	case op == judge.PluginBind && result.Verdict != judge.AC:
		view.Detail = view.Say("The version that it would check is on the page of the problem's package, with its report; staff can make it live there.")
	case op == judge.PluginBind && r.Binding == "name":
		view.Detail = view.Say("The problem has a new version, which follows whatever version of this name is active.")
	case op == judge.PluginBind:
		view.Detail = view.Say("The problem has a new version, which stays with exactly this version of the checker, because it is not active.")
	default:
		view.Detail = view.Say("%s and %s.", found(errs, warnings)...)
	}
}
