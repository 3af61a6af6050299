package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

// TestASetterWorksInTheBrowser tells how a problem comes into being, and looks at every
// page on the way: the server and the browser are started once. The imports are played.
func TestASetterWorksInTheBrowser(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option)
	s.user("sue", "correct horse", judge.RoleSetter)
	ctx, console := browser(t)
	do := func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }
	at := func(path string) func() error { return func() error { return do(chromedp.Navigate(s.url + path)) } }
	there := func(selector string) func() error {
		return func() error { return do(chromedp.WaitVisible(chromedp.CSS(selector))) }
	}
	click := func(selector string) func() error { return func() error { return click(ctx, selector) } }
	// follow clicks what leads to another page, and waits for that one.
	follow := func(selector string) func() error {
		return func() error {
			if err := do(chromedp.Evaluate[chromedp.Void](`window.before = true; undefined`)); err != nil {
				return err
			}
			if err := click(selector)(); err != nil {
				return err
			}
			s.eventually("a click on "+selector+" leads to another page", func() bool {
				there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`!window.before && document.readyState === "complete"`))
				return err == nil && there
			})
			return nil
		}
	}
	fill := func(id, value string) func() error {
		return func() error { return do(chromedp.SetValue(chromedp.CSS("#"+id), value)) }
	}
	says := func(selector, want string) {
		t.Helper()
		if got, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector))); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s says %q, %v, want %q", selector, got, err, want)
		}
	}
	// taken plays the import that the browser waits for, and returns the version.
	taken := func(proved bool) *problem.Package {
		t.Helper()
		s.must(there("#live")())
		path, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.pathname"))
		s.must(err)
		var id int64
		_, err = fmt.Sscanf(path, "/imports/%d", &id)
		s.must(err)
		pkg, _ := s.imported(blobs, fmt.Sprintf(`{"job_id": %d}`, id))
		s.must(s.store.ProveVersion(t.Context(), pkg.Slug, string(pkg.Version), proved, []byte(`{"rows":[]}`), id))
		return pkg
	}

	s.signInAs(do, "sue", "/packages")
	steps(s, there("#template-name"), fill("template-name", "sum"), fill("template-of", "aplusb"), click(`[aria-labelledby="template"] button`))
	first := taken(true)
	steps(s, at(site.EditURL("sum", string(first.Version), "statement")), there("#text"), fill("text", "Write $\\sum_{i=1}^{n} \\frac{a_i}{2}$.\n\n| a | b |\n|--|--|\n| 1 | 2 |\n"), click(`[value="preview"]`), there("#preview"))
	says(".statement.panel .prose", "Write")
	if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll(".statement math mfrac").length`)); err != nil || n == 0 {
		t.Errorf("the preview has %d fractions, %v", n, err)
	}
	for name, l := range twoLooks {
		s.must(l.set(ctx))
		t.Run(name+" preview", func(t *testing.T) {
			examine(ctx, t, name, console, false)
			s.must(picture(ctx, "setter-preview-"+name))
		})
	}
	s.must(twoLooks["wide-light"].set(ctx))
	steps(s, click(`[value="put"]`))
	second := taken(true)
	steps(s, at(site.EditURL("sum", string(second.Version), "settings")), there("#memory"), fill("memory", "64"), fill("time", "1.5"), click(`[value="put"]`))
	third := taken(true)
	steps(s, at(site.EditURL("sum", string(third.Version), "tests")), there("#input"), fill("name", "secret/77"), fill("input", "7 8\n"), fill("answer", "15\n"), click(`[value="put"]`))
	fourth := taken(true)
	steps(s, at(site.EditURL("sum", string(fourth.Version), "submissions")), there("#place"), fill("name", "zero.py"), fill("text", "print(0)\n"), fill("place", "wrong_answer"), click(`[value="put"]`))
	last := taken(false)
	if last.Limits.MemoryMiB != 64 || last.Limits.CPU != 1500*time.Millisecond || len(last.Tests()) != len(first.Tests())+1 || len(last.Submissions) != len(first.Submissions)+1 || !strings.Contains(last.Statement, "<math") {
		t.Errorf("the last version has %+v, %d tests, %d submissions: %.100s", last.Limits, len(last.Tests()), len(last.Submissions), last.Statement)
	}

	// She tries a program, and only what is proved can go live.
	steps(s, at(site.TryURL("sum", string(last.Version))), there("#send"), fill("language", "cpp"))
	editor := "#source"
	if s.server.HasEditor() {
		editor = ".cm-content"
	}
	steps(s, there(editor), func() error { return do(chromedp.SendKeys(chromedp.CSS(editor), "int main() {}")) }, click("#send"), there(".verdict-card"))
	drafts, err := s.store.Drafts(t.Context(), "sum", string(last.Version), 0, 10)
	if err != nil || len(drafts) != 1 {
		t.Fatalf("drafts: %+v, %v", drafts, err)
	}
	r := drafts[0]
	s.finish(r.JobID, judge.Result{Verdict: judge.WA, ProblemVersion: string(last.Version), Tests: []judge.TestResult{{Index: 1, Name: "secret/77", Group: "secret", Verdict: judge.WA}}})
	live := func(version string) string {
		return fmt.Sprintf(`document.querySelectorAll('form[action$="/activate"] input[value=%q]').length`, version)
	}
	steps(s, at("/packages/sum"), there("#versions, #version-0"))
	for version, want := range map[string]int{string(last.Version): 0, string(fourth.Version): 1} {
		if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](live(version))); err != nil || n != want {
			t.Errorf("%d buttons make %s live, %v, want %d", n, version, err, want)
		}
	}
	steps(s, follow(`form:has(input[value="`+string(fourth.Version)+`"]) .primary`))
	s.eventually("the version is live", func() bool {
		p, err := s.store.Problem(t.Context(), "sum")
		return err == nil && p.Version == string(fourth.Version)
	})
	// What the last version changed is on a page, found from the page of the package.
	steps(s, at("/packages/sum"), click(`a[href*="/compare?"][href$="`+strings.TrimPrefix(string(third.Version), "sha256:")+`"]`), there("#values"))
	says("#values + .table-scroll", "memory")
	if n, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll("#tests").length`)); err != nil || n != 0 {
		t.Errorf("new limits are shown as %d changes of tests, %v", n, err)
	}
	steps(s, there("#from"), fill("from", string(first.Version)), fill("to", string(last.Version)), click(`main .panel button`), there("#tests"))
	says("#tests + dl", "secret/77")
	for what, want := range map[string]string{
		"#values + .table-scroll tbody tr": "memory\t128 MiB\t64 MiB", ".diff .removed": "-  memory: 128", ".diff .added": "+print(0)", "details summary strong": "submissions/wrong_answer/zero.py",
	} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.innerText).join("\n")`, what)))
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s of the comparison: %q, %v, want %q", what, got, err, want)
		}
	}

	// A copy is a problem of its own: the same package, not live, and hers.
	steps(s, at("/packages/sum"), there(".version.active"), func() error {
		return do(chromedp.SendKeys(chromedp.CSS(`form[action$="/clone"] [name="name"]`), "sum-again"))
	}, click(`form[action$="/clone"] button`))
	copied := taken(true)
	if copied.Slug != "sum-again" || len(copied.Tests()) != len(fourth.Tests()) || copied.Limits != fourth.Limits {
		t.Errorf("the copy is %s with %d tests and %+v", copied.Slug, len(copied.Tests()), copied.Limits)
	}
	if rights, err := s.store.ProblemRights(t.Context(), "sum-again", "sue"); err != nil || !rights.Owns {
		t.Errorf("of her copy she has the rights %+v, %v", rights, err)
	}
	if p, err := s.store.Problem(t.Context(), "sum-again"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the copy is live by itself: %+v, %v", p, err)
	}
	steps(s, at("/packages/sum"), there(".version.active"), func() error {
		return do(chromedp.SendKeys(chromedp.CSS(`form[action$="/clone"] [name="name"]`), "sum-again"))
	}, follow(`form[action$="/clone"] button`))
	says("main", "There is a problem sum-again already.")

	steps(s, at("/packages/sum"), there(".version.active"), there("#tags"), fill("tags", "sums, easy"), fill("difficulty", "800"), follow(`[aria-labelledby="labels"] button`))
	s.eventually("the problem has a difficulty", func() bool {
		p, err := s.store.Problem(t.Context(), "sum")
		return err == nil && p.Difficulty == 800
	})
	if p, err := s.store.Problem(t.Context(), "sum"); err != nil || p.Version != string(fourth.Version) || len(p.Tags) != 2 {
		t.Errorf("live is %+v, %v", p, err)
	}
	s.finish(s.submit("sum", "cpp", "x"), judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 3}})
	upload := func() *client.Receipt {
		t.Helper()
		r, err := s.as(s.session("sue")).UploadPackage(t.Context(), client.NewPackage{Problem: "sum"}, strings.NewReader(pk), int64(len(pk)))
		s.must(err)
		return &r
	}
	faulty, moving := upload(), upload()
	files := fstest.MapFS{"problem.yaml": {Data: []byte("name: a\ntype: quiz\n")}}
	for i := range 27 {
		files[fmt.Sprintf("data/secret/a-test-with-a-name-that-is-rather-long-%02d.in", i)] = &fstest.MapFile{}
	}
	_, report, err := importing.Read(files)
	told, err := json.Marshal(map[string]any{"problem": "sum", "refused": problem.Findings(err), "warnings": report.Warnings, "error": "the package is refused"})
	s.must(err)
	s.must(s.store.Finalize(t.Context(), s.claim(faulty.JobID), judge.Result{Verdict: judge.JE, Report: told}))
	s.must(s.store.Progress(t.Context(), s.claim(moving.JobID), []judge.Progress{{Kind: judge.EventStage, Finding: []byte(`{"step":"generate","done":12,"total":40,"what":"secret/12"}`)}}))
	console.take()
	s.examineAll(ctx, t, console, twoLooks, map[string]string{
		"setter-packages": "/packages", "setter-package": "/packages/sum", "setter-statement": site.EditURL("sum", string(last.Version), "statement"),
		"setter-settings": site.EditURL("sum", string(last.Version), "settings"), "setter-tests": site.EditURL("sum", string(last.Version), "tests") + "&test=secret/77",
		"setter-submissions": site.EditURL("sum", string(last.Version), "submissions"), "setter-checker": site.EditURL("sum", string(last.Version), "checker"),
		"setter-files": site.EditURL("sum", string(last.Version), "files") + "&file=problem.yaml", "setter-try": site.TryURL("sum", string(last.Version)), "setter-draft": site.DraftURL("sum", r.JobID),
		"setter-compare": "/packages/sum/compare?from=" + string(first.Version) + "&to=" + string(last.Version), "setter-statistics": "/problems/sum/statistics", "setter-list": "/?q=sum",
		"setter-import": site.ImportURL(moving.JobID), "setter-faulty": site.ImportURL(faulty.JobID),
	})
}
