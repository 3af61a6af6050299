package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"deepoj/host/judge"
)

func TestAPersonTriesAProgramInPlace(t *testing.T) {
	s := newStage(t)
	ctx, console := browser(t)
	do := func(actions ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, actions...) }
	}
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	editor := chromedp.CSS(".cm-content")
	steps(s,
		do(chromedp.Navigate(s.url+"/problems/aplusb"), chromedp.WaitVisible(editor)),
		do(chromedp.SetValue(chromedp.CSS("#language"), "python"), chromedp.Focus(editor), chromedp.SendKeys(editor, "print(9)")),
		do(chromedp.KeyEvent("'", chromedp.KeyModifiers(kb.ModifierCtrl))),
		see("#run-result .headline", "Waiting"),
	)
	s.finish(1, ran(judge.WA, judge.RunOutput{Stdout: []byte("nine")}))
	steps(s, see("#run-result .headline", "Samples: Wrong answer; not submitted"), see("#run-result pre mark", "nine"), see("#run-result pre mark", "3"), see("#run-announce", "Wrong answer"))

	// A refusal is said in place, and the next run takes the place of the first.
	steps(s,
		do(chromedp.SetValue(chromedp.CSS("#stdin"), "own input"), chromedp.SetValue(chromedp.CSS("#language"), "")),
		do(chromedp.Evaluate[chromedp.Void](`document.getElementById("submit").noValidate = true`), chromedp.Click(chromedp.CSS("#run"))),
		see("#run-result .alert", "Choose a language."),
		do(chromedp.SetValue(chromedp.CSS("#language"), "cpp"), chromedp.Click(chromedp.CSS("#run"))),
		see("#run-result .headline", "Waiting"),
	)
	s.finish(2, ran(judge.AC, judge.RunOutput{Stdout: []byte("ten")}))
	steps(s, see("#run-result .headline", "Ran; not submitted"), see("#run-result pre", "ten"), see("h1", "A plus B"))
	if said := console.take(); len(said) > 0 && !strings.Contains(strings.Join(said, ""), "422") {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}
