package web

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"deepoj/host/judge"
)

// moved reports whether an action failed because the page went elsewhere in its
// middle.
func moved(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "navigated or closed") || strings.Contains(text, "context") && !errors.Is(err, context.DeadlineExceeded)
}

// see waits until an element shows a text, also over a change of pages.
func see(ctx context.Context, selector, text string) error {
	for {
		_, err := chromedp.Run(ctx, chromedp.PollFunction[bool](
			`(selector, text) => [...document.querySelectorAll(selector)].some((e) => e.innerText.includes(text))`,
			chromedp.WithPollingArgs(selector, text), chromedp.WithPollingTimeout(2*time.Minute)))
		if !moved(err) || ctx.Err() != nil {
			return err
		}
	}
}

// click clicks on something that leads to another page.
func click(ctx context.Context, selector string) error {
	err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector)))
	if moved(err) {
		return nil
	}
	return err
}

// steps runs actions of a browser one by one.
func steps(s *stage, run ...func() error) {
	s.Helper()
	for i, step := range run {
		if err := step(); err != nil {
			s.Fatalf("step %d: %v", i+1, err)
		}
	}
}

func TestAPersonSolvesAProblem(t *testing.T) {
	s := newStage(t)
	if !s.server.HasEditor() {
		t.Fatal("the source editor is not built: run `make build`")
	}
	ctx, console := browser(t)
	do := func(actions ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, actions...) }
	}
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	value := func(expression string) string {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
		s.must(err)
		return v
	}
	editor := chromedp.CSS(".cm-content")

	// Choose a problem and a language, type, and send with the keyboard.
	steps(s,
		func() error { return looks["wide-light"].set(ctx) },
		do(chromedp.Navigate(s.url+"/")), click(`a[href="/problems/aplusb"]`), see("h1", "A plus B"),
		do(chromedp.WaitVisible(editor), chromedp.SetValue(chromedp.CSS("#language"), "python")),
		do(chromedp.Focus(editor), chromedp.SendKeys(editor, "print(oops")),
	)
	if got := value(`document.getElementById("source").value`); !strings.HasPrefix(got, "print(oops") {
		t.Errorf("the form's field has %q", got)
	}
	steps(s,
		do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape)),
	)
	if got := value(`document.activeElement.id`); got != "send" {
		t.Errorf("after Escape the focus is on %q, want the submit button", got)
	}
	steps(s,
		do(chromedp.Focus(editor), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl))),
		see(".headline", "Waiting"),
	)

	// Watch the verdict arrive without doing anything.
	a := s.claim(1)
	steps(s, see(".headline", "Compiling"))
	value(`String(document.querySelector(".actions .button").mine = "the same")`)
	s.compiled(a, 2)
	s.test(a, 2, judge.TestResult{Index: 1, Group: "sample", Sample: true, Verdict: judge.AC})
	steps(s, see(".headline", "Running"), see(".cell", "AC"))
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{
		Output:      "main.py, line 1: '(' was never closed",
		Diagnostics: []judge.Diagnostic{{File: "main.py", Line: 1, Column: 6, Severity: "error", Message: "'(' was never closed"}},
	}}))
	steps(s, see(".headline", "Compile error"), see("tr.marked .mark", "never closed"), see("#announce", "Compile error CE"))

	// What can be done is another now; what could be done before is the same thing still, so that no click is lost.
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelectorAll('.actions form[action$="/cancel"]').length === 0`)); err != nil {
		t.Fatal(err)
	}
	if got := value(`String(document.querySelector(".actions .button").mine)`); got != "the same" {
		t.Errorf("the link was replaced while somebody may be about to click on it: it is %s", got)
	}

	// Edit and resubmit: the program, the language and the marks are there.
	steps(s,
		click(".actions .button"), see("h1", "A plus B"), see(".work", "Submit"), do(chromedp.WaitVisible(chromedp.CSS(".cm-lint-marker-error"))),
	)
	if got := value(`document.getElementById("language").value`); got != "python" {
		t.Errorf("the language is %q", got)
	}
	steps(s,
		do(chromedp.Focus(editor), chromedp.KeyEvent(kb.End), chromedp.SendKeys(editor, "  # closed")),
		click("#send"),
		see(".headline", "Waiting"),
	)
	s.finish(2, judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 12, MemoryKiB: 9000}, Tests: []judge.TestResult{{Index: 1, Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 12, MemoryKiB: 9000}}}})
	steps(s, see(".headline", "Accepted"), see(".usage", "12 ms"))

	// The draft is remembered, and the list shows both.
	steps(s,
		do(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(editor)),
		see("#notice", "Your draft is back."), see(".cm-content", "closed"),
		do(chromedp.Navigate(s.url+"/submissions")), see("td", "AC"), see("td", "CE"),
	)
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}

func TestADroppedFileSuggestsItsLanguage(t *testing.T) {
	s := newStage(t)
	ctx, console := browser(t)
	drop := `(() => {
		const data = new DataTransfer();
		data.items.add(new File(["print(1)\n"], "solution.py"));
		const area = document.querySelector(".cm-content");
		area.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	})()`
	run := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		s.must(chromedp.Do(ctx, actions...))
	}
	run(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(chromedp.CSS(".cm-content")))
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](drop)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.getElementById("source").value === "print(1)\n" && document.getElementById("language").value === "python"`)); err != nil {
		t.Fatal(err)
	}
	run(chromedp.SetValue(chromedp.CSS("#language"), "cpp"))
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](drop)); err != nil {
		t.Fatal(err)
	}
	s.must(see(ctx, "#notice", "solution.py looks like Python 3."))
	if said := console.take(); len(said) > 0 {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}
