package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/web/site"
)

// checkerScene fills the database with plugins and with jobs in every state, and
// returns the pages that show them.
func (s *stage) checkerScene() map[string]string {
	s.Helper()
	ctx := s.Context()
	bad, one, two := s.addPlugin(1, "0.9.0", false), s.addPlugin(2, "1.0.0", true), s.addPlugin(3, "1.1.0-beta+with.a.long.name.of.a.version", true)
	s.must(s.store.ActivatePlugin(ctx, two.Digest, "sue"))
	s.must(s.store.ActivatePlugin(ctx, one.Digest, "sam"))
	s.must(s.store.SavePlugin(ctx, judge.Plugin{
		Digest: digest(4), Kind: "toolchain", Name: "org.example.languages.with-a-rather-long-name.pascal", Version: "3", Protocol: "plan/1", Bytes: 3_400_000,
		Manifest: []byte(`{}`), Conforms: true, JobID: 9, By: "sue",
	}))
	s.use("aplusb", one.Name)
	s.use("stairs", two.Digest)
	pages := map[string]string{}
	end := func(name string, kind judge.Kind, p judge.PluginPayload, r judge.Result) {
		id := s.ask(kind, p)
		s.must(s.store.Finalize(ctx, s.claim(id), r))
		pages[name] = site.JobURL(id)
	}
	end("checker-wrong", judge.KindPluginBuild, pairUpload, judge.Result{Verdict: judge.WA, Compile: &judge.Compile{OK: true}, Report: []byte(theReport)})
	end("checker-good", judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginTest, Digest: two.Digest}, judge.Result{Verdict: judge.AC, Report: []byte(strings.Replace(strings.Replace(
		theReport, aFinding+", ", "", 1), `"stage": "hostile", "outcome": "failed"`, `"stage": "hostile", "outcome": "warned"`, 1))})
	end("checker-broken", judge.KindPluginBuild, pairUpload, judge.Result{Verdict: judge.CE, Compile: &judge.Compile{
		Command: "clang --target=wasm32-wasi -Wl,--strip-all -Wl,--stack-first -std=gnu17 -O2 -I . -Wl,-z,stack-size=8388608 -o plugin.wasm pair.c",
		Output:  "pair.c:3:5: error: use of undeclared identifier 'oops'\n    oops();\n    ^\n1 error generated.\n",
		Diagnostics: []judge.Diagnostic{
			{File: "pair.c", Line: 3, Column: 5, Severity: "error", Message: "use of undeclared identifier 'oops'"}, {File: "pair.c", Line: 1, Severity: "warning", Message: "unused variable 'x'"},
		},
	}})
	end("checker-preview", judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginPreview, Digest: two.Digest, Problem: "aplusb"}, judge.Result{Verdict: judge.WA, Report: []byte(
		`{"checked": 50, "changes": [{"job_id": 4711, "author": "ann", "before": "AC", "after": "WA", "before_score": 100, "after_score": 33.25, "test": "secret/group2/07-a-long-name-of-a-test", "message": "the tokens differ at line 3: expected 5, got 6"},
		{"job_id": 4712, "author": "bob", "before": "WA", "after": "AC"}]}`)})
	end("checker-refused", judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginBind, Digest: bad.Digest, Problem: "aplusb"}, judge.Result{
		Verdict: judge.JE, Message: "version 0.9.0 of org.example.pair does not conform: mend what its report says, and upload it again",
	})
	running := s.ask(judge.KindPluginBuild, pairUpload)
	a := s.claim(running)
	s.compiled(a, 0)
	s.tell(a, "stage", aStage)
	s.tell(a, "finding", aFinding)
	pages["checker-running"] = site.JobURL(running)
	pages["checker-waiting"] = site.JobURL(s.ask(judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginUpload}))
	pages["checkers"], pages["checker"] = "/checkers", site.PluginURL("checker", one.Name)
	return pages
}

// signIn gives the browser the session of a new setter.
func (s *stage) signIn(t *testing.T, do func(...chromedp.Action[chromedp.Void]) error) {
	t.Helper()
	s.setter()
	steps(s,
		func() error { return do(chromedp.Navigate(s.url + "/login?next=/checkers")) },
		func() error {
			return do(chromedp.SendKeys(chromedp.CSS(`[name="name"]`), "sue"), chromedp.SendKeys(chromedp.CSS(`[name="password"]`), "correct horse\r"))
		},
	)
}

func TestPagesOfCheckersFitTheScreen(t *testing.T) {
	s := newStage(t)
	pages := s.checkerScene()
	ctx, console := browser(t)
	s.signIn(t, func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) })
	s.must(see(ctx, "h1", "Checkers"))
	s.examineAll(ctx, t, console, looks, pages)
}

func TestASetterTakesACheckerInWithTheKeyboard(t *testing.T) {
	s := newStage(t)
	ctx, console := browser(t)
	do := func(actions ...chromedp.Action[chromedp.Void]) func() error {
		return func() error { return chromedp.Do(ctx, actions...) }
	}
	see := func(selector, text string) func() error { return func() error { return see(ctx, selector, text) } }
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	s.signIn(t, func(a ...chromedp.Action[chromedp.Void]) error { return do(a...)() })
	source := filepath.Join(t.TempDir(), "pair.c")
	s.must(os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o644))
	steps(s, see("h1", "Checkers"),
		do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{source}), chromedp.SendKeys(chromedp.CSS("#version"), "1.0.0\r")),
		see("#fault", "name"), see("#fault", "Sources need a name"),
	)
	if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("version").value`)); err != nil || got != "1.0.0" {
		t.Errorf("the refused form has the version %q, %v", got, err)
	}
	steps(s,
		do(chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{source}), chromedp.SendKeys(chromedp.CSS("#name"), "org.example.pair\r")),
		see("h1", "Upload of org.example.pair 1.0.0"), see(".headline", "Waiting"),
	)
	a := s.claim(1)
	steps(s, see(".headline", "Compiling"))
	s.compiled(a, 0)
	s.tell(a, "finding", strings.ReplaceAll(aWarning, "a swapped line", "<script>document.title = 1</script> a swapped line"))
	steps(s, see(".headline", "Being proved"), see(".diagnostics li", "<script>document.title = 1</script> a swapped line is accepted"))
	s.must(s.store.SavePlugin(t.Context(), judge.Plugin{
		Digest: digest(1), Kind: "checker", Name: "org.example.pair", Version: "1.0.0", Protocol: "testlib/1", Manifest: []byte(`{}`), Conforms: true, JobID: 1, By: "sue",
	}))
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC, Report: []byte(`{"op": "upload", "report": {"conforms": true, "findings": [` + aWarning + `]}}`)}))
	steps(s, see(".headline", "Conforms"), see("#announce", "Conforms"), see(".acts", "Activate"),
		click(`.acts form[action$="/activate"] button`), see("h1", "org.example.pair"), see(".version.active", "active"),
		do(chromedp.SetValue(chromedp.CSS(`.choices select[name="problem"]`), "aplusb")),
		click(`.choices button:not([formaction])`), see("h1", "Preview of org.example.pair 1.0.0 on aplusb"),
	)
	if p := s.payload(2); p.Op != judge.PluginPreview || p.Limit != 50 {
		t.Errorf("the preview carries %+v", p)
	}
	if said := console.take(); len(said) > 0 && !strings.Contains(fmt.Sprint(said), "422") {
		t.Errorf("the console complains: %s", strings.Join(said, "; "))
	}
}

func TestACheckerIsTakenInWithoutJavaScript(t *testing.T) {
	s := newStage(t)
	ctx, _ := browser(t)
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	s.must(err)
	do := func(actions ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, actions...) }
	text := func(selector string) string {
		t.Helper()
		got, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
		s.must(err)
		return got
	}
	s.signIn(t, do)
	source := filepath.Join(t.TempDir(), "pair.c")
	s.must(os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o644))
	s.must(do(chromedp.WaitVisible(chromedp.CSS("#files")), chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{source}),
		chromedp.SendKeys(chromedp.CSS("#name"), "org.example.pair"), chromedp.SendKeys(chromedp.CSS("#version"), "1.0.0\r"),
		chromedp.WaitVisible(chromedp.CSS(".headline"))))
	if got := text(".headline"); got != "Waiting" {
		t.Errorf("the page says %q", got)
	}
	a := s.claim(1)
	s.must(s.store.SavePlugin(t.Context(), judge.Plugin{
		Digest: digest(1), Kind: "checker", Name: "org.example.pair", Version: "1.0.0", Protocol: "testlib/1", Manifest: []byte(`{}`), Conforms: true, JobID: 1, By: "sue",
	}))
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC, Report: []byte(`{"op": "upload"}`)}))
	// The page loads itself again until the job is done.
	s.must(do(chromedp.WaitVisible(chromedp.CSS("[data-done]"))))
	if got := text(".headline"); got != "Conforms" {
		t.Errorf("the finished page says %q", got)
	}
	s.must(click(ctx, `.acts form[action$="/activate"] button`))
	s.must(do(chromedp.WaitVisible(chromedp.CSS(".version.active"))))
	p, err := s.store.Plugin(t.Context(), digest(1))
	if err != nil || !p.Active {
		t.Errorf("after the button the plugin is %+v, %v", p, err)
	}
}
