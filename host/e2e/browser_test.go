package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// css names an element of a page.
type css = chromedp.CSS

// step is something done in the browser.
type step = chromedp.Action[chromedp.Void]

// tab is a tab of a headless Chromium.
type tab struct {
	t   testing.TB
	ctx context.Context
}

func browser(t testing.TB) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal("chromium is not installed")
		}
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancelTime := context.WithTimeout(context.Background(), 9*time.Minute)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // closes the browser and waits for it
		cancelTab()
		cancelAllocator()
		cancelTime()
	})
	return &tab{t: t, ctx: ctx}
}

// do takes steps; what says them in words.
func (b *tab) do(what string, steps ...step) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		page, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
		b.t.Fatalf("%s: %v; the page says:\n%s", what, err, tail(page, 60))
	}
}

// text returns the visible text of an element, as soon as it is seen. Both are looked at within the page at once: one that
// a live page replaces between finding and reading it has no text any more.
func (b *tab) text(element css) string {
	b.t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Poll[string](fmt.Sprintf("(e => e && e.offsetParent !== null && e.innerText)(document.querySelector(%q))", string(element))))
	if err != nil {
		b.t.Fatalf("read %s: %v", element, err)
	}
	return s
}

// holds evaluates a condition in the page.
func (b *tab) holds(expression string) bool {
	b.t.Helper()
	ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return ok
}

// script runs JavaScript for its effect.
func script(source string) step {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[bool]("(() => { "+source+"; return true })()")(ctx, t)
		return chromedp.Void{}, err
	}
}

// picture stores a screenshot where DEEPOJ_PICTURES says, if it says so.
func (b *tab) picture(name string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("take a picture: %v", err)
	}
	if len(png) < 10_000 {
		b.t.Errorf("the picture %s has only %d bytes", name, len(png))
	}
	if dir := os.Getenv("DEEPOJ_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// write replaces the editor's text by typing.
func write(text string) step {
	return chromedp.Steps(
		chromedp.Click(css(".cm-content")),
		chromedp.KeyEvent("a", chromedp.KeyModifiers(kb.ModifierCtrl)),
		chromedp.KeyEvent(kb.Backspace),
		chromedp.SendKeys(css(".cm-content"), strings.ReplaceAll(text, "\n", "\r")))
}

// TestABrowserSubmissionBecomesAVerdictLive drives the pages as a contestant
// would: choose a problem, type a program, submit, watch it being judged, and
// read what the compiler says about a broken one.
func TestABrowserSubmissionBecomesAVerdictLive(t *testing.T) {
	needRoot(t)
	_, url, _ := up(t, filepath.Join(folder(t), "data"), nil)
	b := browser(t)

	b.do("open the list of problems", chromedp.Navigate(url), chromedp.WaitVisible(css(`a[href="/problems/aplusb"]`)))
	b.picture("problems")
	b.do("open the problem", chromedp.Click(css(`a[href="/problems/aplusb"]`)), chromedp.WaitVisible(css("#send")), chromedp.WaitVisible(css(".cm-content")))
	b.do("choose C++", script(`const s = document.querySelector("#language"); s.value = "cpp"; s.dispatchEvent(new Event("change", {bubbles: true}))`))
	// Brackets that the editor closes by itself are typed over.
	b.do("type a program", write(verdictPrograms[0].text))
	b.picture("problem")
	b.do("submit with Ctrl+Enter", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)), chromedp.WaitVisible(css("#live")))
	b.do("watch the verdict arrive", script(`window.untouched = true`), chromedp.WaitVisible(css(".verdict-card.v-ac[data-done]")))
	if !b.holds(`window.untouched === true`) {
		t.Error("the page was loaded again instead of being updated live")
	}
	if headline, cells := b.text(".verdict-card .headline"), b.text(".cells"); !strings.Contains(headline, "Accepted") || !strings.Contains(cells, "AC") {
		t.Errorf("headline %q, cells %q: want Accepted in words", headline, cells)
	}
	b.do("show the submission", script(`window.scrollTo(0, 0)`))
	b.picture("submission")

	b.do("edit and submit a broken program", chromedp.Click(css(`a[href^="/problems/aplusb?from="]`)), chromedp.WaitVisible(css(".cm-content")),
		write("int main() { return undeclared; }"), chromedp.Click(css("#send")),
		chromedp.WaitVisible(css(".verdict-card.v-ce[data-done]")))
	if said := b.text(".diagnostics"); !strings.Contains(said, "line 1") || !strings.Contains(said, "undeclared") {
		t.Errorf("the diagnostics say %q: want line 1 and the name", said)
	}
	if marked := b.text("tr.marked"); !strings.Contains(marked, "return undeclared") {
		t.Errorf("the marked line is %q", marked)
	}
	b.picture("compile-error")

	b.do("look at the list on a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulatePortrait, chromedp.EmulateScale(2)),
		chromedp.Navigate(url+"/submissions"), chromedp.WaitVisible(css("main")))
	if b.holds(`document.documentElement.scrollWidth > 390`) {
		t.Error("the list of submissions is wider than a phone")
	}
	b.picture("submissions-phone")
}

// TestAFormWithoutJavaScriptSubmits uses the plain page.
func TestAFormWithoutJavaScriptSubmits(t *testing.T) {
	needRoot(t)
	_, url, _ := up(t, filepath.Join(folder(t), "data"), nil)
	b := browser(t)
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.do("submit the plain form",
		chromedp.Navigate(url+"/problems/aplusb"),
		chromedp.WaitVisible(css("#source")),
		chromedp.SendKeys(css("#language"), "Python"),
		chromedp.SendKeys(css("#source"), languagePrograms[3].text),
		chromedp.Click(css("#send")),
		chromedp.WaitVisible(css(".verdict-card")))
	for deadline := time.Now().Add(time.Minute); ; {
		headline := b.text(".verdict-card .headline")
		if strings.Contains(headline, "Accepted") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the plain page still says %q", headline)
		}
		pause(b.ctx, t, 200*time.Millisecond)
		b.do("load the page again", chromedp.Reload())
	}
}
