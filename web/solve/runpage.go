package solve

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/job"
	"deepoj/web/site"
)

// runView is everything that the page of a run shows.
type runView struct {
	job.StandingView

	Run          *judge.Run
	Title        string // of the problem, or "Run"
	LanguageName string
	Tests        []runTestView
}

func (view *runView) PageTitle() string { return "Run " + strconv.FormatInt(view.Run.JobID, 10) }

// runTestView is what a program did on a test.
type runTestView struct {
	Title, Message string
	Verdict        judge.Verdict // "" where any output is right
	Usage          judge.Usage
	Ended          string // how the program ended, unless well
	Listings       []site.Listing
}

// runForm handles POST /problems/:slug/runs: the program of the form on its own input, or on the samples.
func (s *Room) runForm(c *fiber.Ctx) error {
	given, err := FormProgram(c)
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
	view.Title, view.LanguageName = "Run", languageName(offers, run.Asked.Language)
	if run.Asked.Problem != "" {
		view.Title = run.Asked.Problem
		if p, err := s.Store.Problem(ctx, run.Asked.Problem); err == nil {
			view.Title = p.Title
		}
	}
	return view, nil
}

// ShowRun puts together what a page shows of a run. Place may be nil.
func ShowRun(run *judge.Run, events []judge.Event, place *judge.Place, v site.Viewer) *runView {
	view := &runView{StandingView: job.ShowStanding(run, events, place, v), Run: run}
	view.Coded = true
	switch r := job.PublicResult(run.Result, v, run.Told); {
	case run.Status == judge.Running:
		view.Headline = "Running"
	case run.Status == judge.Finished && r != nil:
		view.Compile = r.Compile
		view.Verdict, view.Headline = r.Verdict, r.Verdict.Name()
		compared := run.Asked.Samples
		for _, t := range run.Asked.Tests {
			compared = compared || t.Expected != nil
		}
		if r.Verdict == judge.AC && !compared {
			view.Headline = "Done"
		}
		if r.Verdict != judge.CE {
			view.Message = r.Message
		}
		view.Tests = showRunTests(run, r.Tests, compared)
	}
	return view
}

func showRunTests(run *judge.Run, tests []judge.TestResult, compared bool) []runTestView {
	var out []runTestView
	for i, t := range tests {
		one := runTestView{Title: "Input " + t.Name, Usage: t.Usage, Message: t.Message, Verdict: t.Verdict}
		if run.Asked.Samples {
			one.Title = t.Name
		}
		if len(tests) == 1 && !run.Asked.Samples {
			one.Title = "Output"
		}
		if !compared && t.Verdict == judge.AC {
			one.Verdict = ""
		}
		switch {
		case t.ExitSignal != 0:
			one.Ended = "signal " + strconv.Itoa(t.ExitSignal)
		case t.ExitCode != 0:
			one.Ended = "exit status " + strconv.Itoa(t.ExitCode)
		}
		if i < len(run.Report.Outputs) {
			o, n := run.Report.Outputs[i], strconv.Itoa(i+1)
			one.Listings = append(one.Listings, site.Listing{Title: "Standard output", ID: "run-out-" + n, Text: shownOutput(o.Stdout, o.StdoutCut)})
			if len(o.Stderr) > 0 {
				one.Listings = append(one.Listings, site.Listing{Title: "Standard error", ID: "run-err-" + n, Text: shownOutput(o.Stderr, o.StderrCut)})
			}
		}
		out = append(out, one)
	}
	return out
}

// maxShownOutput bounds an output on a page, in bytes; the API has more.
const maxShownOutput = 64 << 10

func shownOutput(b []byte, cut bool) string {
	if len(b) > maxShownOutput {
		b, cut = b[:maxShownOutput], true
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(string(b), "\x00", "\uFFFD"), "\uFFFD")
	if cut {
		text += fmt.Sprintf("\n… only the first %s are shown.", site.Plural(int64(len(b)), "byte", "bytes"))
	}
	return text
}
