package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"deepoj/host/judge"
)

// Whoever submits is shown what comes of it without a new document, and finds in it what a new one would have.
func TestThePageTurnsToWhatWasHandedIn(t *testing.T) {
	s := newStage(t)
	ctx, console := browser(t)
	do := func(actions ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, actions...) }
	}
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	until := func(condition string) func() error {
		return func() error {
			for {
				if _, err := chromedp.Run(ctx, chromedp.Poll[bool](condition)); !moved(err) || ctx.Err() != nil {
					return err
				}
			}
		}
	}
	editor := chromedp.CSS(".cm-content")
	steps(s,
		do(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(editor)),
		do(chromedp.SetValue(chromedp.CSS("#language"), "python"), chromedp.SendKeys(editor, "print(1)")),
		do(chromedp.Evaluate[chromedp.Void](`void (window.kept = true)`), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl))), see(".headline", "Waiting"),
		func() error { return picture(ctx, "turned") },
		until(`window.kept && location.pathname === "/submissions/1" && document.title.includes("Submission 1") && document.body.className === "page-submission"`),
		until(`document.activeElement.id === "main" && getComputedStyle(document.activeElement).outlineStyle === "none" && scrollY === 0`),
	)

	// It is as live and as pleasant as if it had been loaded.
	a := s.claim(1)
	s.compiled(a, 2)
	s.test(a, 2, judge.TestResult{Index: 1, Verdict: judge.AC})
	steps(s, see(".headline", "Running"), see(".cell", "AC"))
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.WA, Tests: []judge.TestResult{{Index: 1, Verdict: judge.AC}, {Index: 2, Verdict: judge.WA}}}))
	steps(s, see(".headline", "Wrong answer"), see("#announce", "Wrong answer"),
		until(`window.kept && document.querySelector(".lt span") !== null`), // in colours
		click("#theme"), until(`document.documentElement.dataset.theme === "light"`),
		do(chromedp.Evaluate[chromedp.Void](`void document.dispatchEvent(new KeyboardEvent("keydown", { key: "'", ctrlKey: true, bubbles: true }))`)), // of the form that is gone
		do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "tests")`)), until(`window.kept && location.hash === "#tests"`),
	)

	// Back and forth are pages, and so is the same again.
	steps(s,
		do(chromedp.Evaluate[chromedp.Void](`history.go(-2)`)), until(`!window.kept && location.pathname === "/problems/aplusb"`),
		do(chromedp.WaitVisible(editor)), see(".cm-content", "print(1)"),
		do(chromedp.Evaluate[chromedp.Void](`history.forward()`)), see(".headline", "Wrong answer"),
		do(chromedp.Reload()), see(".headline", "Wrong answer"), see(".cell", "WA"),
	)
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}

	// What is refused is said on a page, with the program in it.
	steps(s,
		do(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(editor)), see(".cm-content", "print(1)"),
		do(chromedp.Evaluate[chromedp.Void](`void (window.kept = true, document.getElementById("submit").noValidate = true)`), chromedp.SetValue(chromedp.CSS("#language"), "")),
		click("#send"), see("#fault", "Choose a language."), do(chromedp.WaitVisible(editor)), see(".cm-content", "print(1)"), until(`!window.kept`),
	)
	if sub, err := s.client.Get(t.Context(), 2); err == nil {
		t.Errorf("what was refused is stored: %+v", sub)
	}
}

// A form whose answer does not arrive is sent again, and counts once.
func TestAnAnswerThatIsLostCostsNothing(t *testing.T) {
	s := newStage(t)
	ctx, _ := browser(t)
	s.must(chromedp.Do(ctx, chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(chromedp.CSS(".cm-content")),
		chromedp.SetValue(chromedp.CSS("#language"), "python"), chromedp.SendKeys(chromedp.CSS(".cm-content"), "print(1)"),
		chromedp.Evaluate[chromedp.Void](`void (window.fetch = ((fetch) => async (...args) => { await fetch(...args); throw new TypeError("the network is away"); })(window.fetch))`)))
	s.must(click(ctx, "#send"))
	s.must(see(ctx, ".headline", "Waiting"))
	if _, err := s.client.Get(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if sub, err := s.client.Get(t.Context(), 2); err == nil {
		t.Errorf("it is there twice: %+v", sub)
	}
}
