package solve

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// runView is everything that the page of a run shows.
type runView struct {
	job.StandingView

	Run          *judge.Run
	Title        string // of the problem, or "Run"
	AuthorName   string // what people call the author; "" = by their name
	LanguageName string
	Tests        []runTestView
}

func (view *runView) PageTitle() string {
	return view.Titled(view.Say("Run %s", locale.ID(view.Run.JobID)))
}

// runTestView is what a program did on a test.
type runTestView struct {
	Title, Message string
	Differ         string        // where the output differs first from a right answer
	Verdict        judge.Verdict // "" where any output is right
	Usage          judge.Usage
	Ended          string // how the program ended, unless well
	Listings       []site.Listing
}

// runForm handles POST /problems/:slug/runs: the program of the form on its own input, or on the samples.
func (s *Room) runForm(c *fiber.Ctx) error {
	given, err := s.formProgram(c)
	if err != nil {
		return err
	}
	in := newRun{Program: given}
	in.Key = "" // that of the form is for the submission
	if in.payload.Samples = c.FormValue("samples") != ""; !in.payload.Samples {
		input := strings.ReplaceAll(c.FormValue("stdin"), "\r\n", "\n")
		in.payload.Tests = []judge.RunTest{{Input: []byte(input)}}
	}
	receipt, err := s.acceptRun(c.UserContext(), site.ViewerOf(c), in)
	var f *site.Fault
	if errors.As(err, &f) && f.Field != "" && f.Field != formFields.Problem {
		return s.problemAgain(c, given, *f)
	}
	if err != nil {
		return err
	}
	return c.Redirect(site.RunURL(receipt.JobID), fiber.StatusSeeOther)
}

// runPage is what the page shows, of which the live part is less.
func (s *Room) runPage(c *fiber.Ctx) (*runView, error) {
	view, err := s.runView(c)
	if err == nil {
		view.AuthorName = s.Names(c.UserContext(), view.Run.Author)[view.Run.Author]
	}
	return view, err
}

func (s *Room) runView(c *fiber.Ctx) (*runView, error) {
	run, err := s.job.RunFor(c)
	if err != nil {
		return nil, err
	}
	ctx, v := c.UserContext(), site.ViewerOf(c)
	events, place, err := s.job.Stands(ctx, v, &run.Job)
	if err != nil {
		return nil, err
	}
	offers, err := s.Catalog.Languages(ctx)
	if err != nil {
		return nil, err
	}
	view := ShowRun(run, events, place, v)
	view.Title, view.LanguageName = v.Say("Run"), languageName(offers, run.Asked.Language)
	if run.Asked.Problem != "" {
		view.Title = run.Asked.Problem
		if p, err := s.Store.Problem(ctx, run.Asked.Problem); err == nil {
			view.Title = p.Title
			view.compareSamples(p.Samples, v)
		}
	}
	return view, nil
}

// ShowRun puts together what a page shows of a run. Place may be nil.
func ShowRun(run *judge.Run, events []judge.Event, place *judge.Place, v site.Viewer) *runView {
	view := &runView{StandingView: job.ShowStanding(run, events, place, v), Run: run}
	view.Trial = true
	switch r := job.PublicResult(run.Result, v, run.Told); {
	case run.Status == judge.Running:
		view.Headline = v.Say("Running")
	case run.Status == judge.Finished && r != nil:
		view.Compile = r.Compile
		compared := run.Asked.Samples
		for _, t := range run.Asked.Tests {
			compared = compared || t.Expected != nil
		}
		view.Verdict, view.Headline = r.Verdict, runHeadline(r.Verdict, run.Asked.Samples, compared, v)
		if r.Verdict != judge.CE {
			view.Message = r.Message
		}
		view.Tests = showRunTests(run, r.Tests, compared, v)
	}
	return view
}

// runHeadline says what came of a run, so that nobody takes it for a submission.
func runHeadline(verdict judge.Verdict, samples, compared bool, v site.Viewer) string {
	switch {
	case samples && verdict == judge.AC:
		return v.Say("Samples pass; not submitted")
	case samples:
		return v.Say("Samples: %s; not submitted", site.VerdictName(verdict))
	case verdict == judge.AC && !compared:
		return v.Say("Ran; not submitted")
	}
	return v.Say("%s; not submitted", site.VerdictName(verdict))
}

// compareSamples adds the right answers of samples that the program did not pass.
func (view *runView) compareSamples(samples []judge.Sample, v site.Viewer) {
	if !view.Run.Asked.Samples {
		return
	}
	for i := range view.Tests {
		for _, s := range samples {
			if strings.TrimPrefix(s.Name, "sample/") == strings.TrimPrefix(view.Tests[i].Title, "sample/") {
				view.Tests[i].compare(s.Output, i, v)
			}
		}
	}
}

// compare adds the right answer, and marks where the output differs from it, if it was judged to be wrong.
func (t *runTestView) compare(answer string, n int, v site.Viewer) {
	if len(t.Listings) == 0 || t.Verdict != judge.WA && t.Verdict != judge.PE {
		return
	}
	want := site.Listing{Title: v.Say("A right answer"), ID: fmt.Sprintf("run-want-%d", n+1), Text: answer}
	t.Differ = differ(&want, &t.Listings[0], v)
	t.Listings = slices.Insert(t.Listings, 0, want)
}

func showRunTests(run *judge.Run, tests []judge.TestResult, compared bool, v site.Viewer) []runTestView {
	var out []runTestView
	for i, t := range tests {
		one := runTestView{Title: v.Say("Input %s", t.Name), Usage: t.Usage, Message: t.Message, Verdict: t.Verdict}
		if run.Asked.Samples {
			one.Title = t.Name
		}
		if len(tests) == 1 && !run.Asked.Samples {
			one.Title = v.Say("Output")
		}
		if !compared && t.Verdict == judge.AC {
			one.Verdict = ""
		}
		switch {
		case t.ExitSignal != 0:
			one.Ended = v.Say("signal %d", t.ExitSignal)
		case t.ExitCode != 0:
			one.Ended = v.Say("exit status %d", t.ExitCode)
		}
		if i < len(run.Report.Outputs) {
			o, n := run.Report.Outputs[i], strconv.Itoa(i+1)
			one.Listings = append(one.Listings, site.Listing{Title: v.Say("Standard output"), ID: "run-out-" + n, Text: shownOutput(o.Stdout, o.StdoutCut, v)})
			if len(o.Stderr) > 0 {
				one.Listings = append(one.Listings, site.Listing{Title: v.Say("Standard error"), ID: "run-err-" + n, Text: shownOutput(o.Stderr, o.StderrCut, v)})
			}
		}
		if i < len(run.Asked.Tests) && run.Asked.Tests[i].Expected != nil {
			one.compare(shownOutput(*run.Asked.Tests[i].Expected, false, v), i, v)
		}
		out = append(out, one)
	}
	return out
}

// maxShownOutput bounds an output on a page, in bytes; the API has more.
const maxShownOutput = 64 << 10

func shownOutput(b []byte, cut bool, v site.Viewer) string {
	if len(b) > maxShownOutput {
		b, cut = b[:maxShownOutput], true
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(string(b), "\x00", "\uFFFD"), "\uFFFD")
	if cut {
		text += "\n" + v.Say("… only the first %s are shown.", locale.Bytes(len(b)))
	}
	return text
}
