package web

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
)

// runView is everything that the page of a run shows. The part that changes while
// it is executed is the template "live".
type runView struct {
	Run          *judge.Run
	Title        string // of the problem, or "Run"
	LanguageName string
	LastEvent    int64 // the stream continues after it
	Moving       bool  // not done yet

	Verdict  judge.Verdict // whose colour and shape it has; "" while there is none
	Headline string
	Detail   string
	Message  string
	Announce string // what a screen reader is told when it changes

	Compile *judge.Compile
	Tests   []runTestView
	History []historyLine // nil unless there is more to tell than the usual
}

// runTestView is what a program did on a test.
type runTestView struct {
	Title, Message string
	Verdict        judge.Verdict // "" where any output is right
	Usage          judge.Usage
	Ended          string // how the program ended, unless well
	Listings       []listing
}

func (view *runView) refresh() int {
	if view.Moving {
		return 2
	}
	return 0
}

// runForm handles POST /problems/:slug/runs: the program of the form on its own
// input, or on the samples.
func (s *Server) runForm(c *fiber.Ctx) error {
	given, err := formHandIn(c)
	if err != nil {
		return err
	}
	in := newRun{handIn: given}
	in.Key = "" // that of the form is for the submission
	if in.payload.Samples = c.FormValue("samples") != ""; !in.payload.Samples {
		input := strings.ReplaceAll(c.FormValue("stdin"), "\r\n", "\n")
		in.payload.Tests = []judge.RunTest{{Input: []byte(input)}}
	}
	receipt, err := s.acceptRun(c.UserContext(), viewerOf(c), in)
	var f *fault
	if errors.As(err, &f) && f.Field != "" && f.Field != formFields.problem {
		return s.problemAgain(c, given, *f)
	}
	if err != nil {
		return err
	}
	return c.Redirect(runURL(receipt.JobID), fiber.StatusSeeOther)
}

func (s *Server) runPage(c *fiber.Ctx) error {
	view, err := s.runView(c)
	if err != nil {
		return err
	}
	return s.page(c, fiber.StatusOK, "run", "Run "+strconv.FormatInt(view.Run.JobID, 10), view)
}

// runFragment is the live part of the page alone, after ?wait= seconds at most.
func (s *Server) runFragment(c *fiber.Ctx) error {
	run, err := s.runFor(c)
	if err != nil {
		return err
	}
	wait, err := waitOf(c)
	if err != nil {
		return err
	}
	if wait = min(wait, requestTime/2); wait > 0 && !run.Status.Terminal() {
		if err := s.runsSettled(c, wait, run.JobID); err != nil {
			return err
		}
	}
	view, err := s.runView(c)
	if err != nil {
		return err
	}
	return s.render(c, fiber.StatusOK, "run", "live", view)
}

func (s *Server) runView(c *fiber.Ctx) (*runView, error) {
	run, err := s.runFor(c)
	if err != nil {
		return nil, err
	}
	ctx, v := c.UserContext(), viewerOf(c)
	events, err := s.pastEvents(ctx, v, run.JobID)
	if err != nil {
		return nil, err
	}
	offers, err := s.catalog.languages(ctx)
	if err != nil {
		return nil, err
	}
	place, err := s.placeOf(ctx, v, run.JobID, run.Status)
	if err != nil {
		return nil, err
	}
	view := showRun(run, events, place, v)
	view.Title, view.LanguageName = "Run", languageName(offers, run.Asked.Language)
	if len(events) > 0 {
		view.LastEvent = events[len(events)-1].ID
	}
	if run.Asked.Problem != "" {
		view.Title = run.Asked.Problem
		if p, err := s.store.Problem(ctx, run.Asked.Problem); err == nil {
			view.Title = p.Title
		}
	}
	return view, nil
}

// showRun puts together what a page shows of a run. Place may be nil.
func showRun(run *judge.Run, events []judge.Event, place *judge.Place, v viewer) *runView {
	view := &runView{Run: run, Moving: !run.Status.Terminal()}
	result := publicResult(run.Result, v, run.Told)
	switch r := result; {
	case view.Moving && run.Status == judge.Running:
		view.Headline = "Running"
	case view.Moving:
		view.Headline, view.Detail = waitingText(run.QueueState, run.Tries, run.MaxTries, place, "")
	case r == nil:
		view.Headline, view.Detail = headlines[run.Status], runEndedWithout(run, v)
		if run.Status == judge.Dead {
			view.Verdict = judge.SE
		}
	default:
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
		view.Tests = showRunTests(run, result.Tests, compared)
	}
	if lines, eventful := history(events, v); eventful {
		view.History = lines
	}
	view.Announce = view.Headline
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
			one.Listings = append(one.Listings, listing{"Standard output", "run-out-" + n, shownOutput(o.Stdout, o.StdoutCut)})
			if len(o.Stderr) > 0 {
				one.Listings = append(one.Listings, listing{"Standard error", "run-err-" + n, shownOutput(o.Stderr, o.StderrCut)})
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
		text += fmt.Sprintf("\n… only the first %s are shown.", plural(int64(len(b)), "byte", "bytes"))
	}
	return text
}
