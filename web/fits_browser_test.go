package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/gofiber/fiber/v2"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/samples"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

// noPages are addresses, for GET, that answer without a page: machines ask them, or they
// are part of a page, a file, or lead elsewhere.
func noPage(pattern string) bool {
	for _, prefix := range []string{"/api/v1", "/api/openapi.json", "/static/", "/healthz", "/readyz", "/metrics", "/favicon.ico", "/status/", site.Judge0Path, site.OIDCPath, "/clics"} {
		if strings.HasPrefix(pattern, prefix) {
			return true
		}
	}
	if slices.Contains(loggedOut, pattern) {
		return true
	}
	return slices.Contains([]string{"live", "events", "*", "package"}, path.Base(pattern)) || strings.HasSuffix(pattern, "/pictures/:name") || strings.HasSuffix(pattern, "/documents/:name") || strings.HasSuffix(pattern, "/sources/:n") ||
		slices.Contains([]string{".csv", ".tsv", ".json"}, path.Ext(pattern)) || strings.HasSuffix(pattern, "/certificates/:code")
}

// loggedOut are pages that somebody who is logged in is led away from. The tests that register and log in with a
// second factor in a browser look at them.
var loggedOut = []string{"/login/link", "/login/reset", "/login/second", "/register"}

// aLongProof is a proof of eight groups with everything that its table can show.
func aLongProof() []byte {
	groups, columns := []judge.GroupResult{}, []string{"AC", "WA", "TLE", "MLE", "RE", "OLE", "JE", "PA"}
	for i, v := range columns {
		groups = append(groups, judge.GroupResult{Name: fmt.Sprintf("secret/group%d", i+1), Verdict: judge.Verdict(v), Score: new(12.5), MaxScore: new(100.0)})
	}
	row := map[string]any{
		"path": "time_limit_exceeded/brute_force_with_three_loops_and_no_idea_at_all.py", "language": "python", "allowed": columns[:3], "verdict": "WA", "score": 12.5, "max_score": 100.0,
		"usage": judge.Usage{CPUMillis: 1_234, MemoryKiB: 262_144}, "groups": groups, "slack": 1.25, "problem": "WA on secret/017-the-largest-numbers-with-a-name-that-nobody-wanted-to-shorten", "warning": "it is longer than 64 KiB",
	}
	report, err := json.Marshal(map[string]any{
		"slug": "a", "limit_ms": 2000, "limit_from": "domjudge-problem.ini", "slowest_ms": 12, "suggested_ms": 1000, "checked": 77, "rows": []any{row, row},
		"faults": []string{"input_validators/validator.py rejects secret/017-the-largest-numbers-with-a-name-that-nobody-wanted-to-shorten"}, "notes": []string{"output_validators/check.cpp runs as a program"},
	})
	if err != nil {
		panic(err)
	}
	return report
}

// setterScene fills the database with a problem that has versions of every kind, drafts and
// jobs, all with names that are as long as they come, and returns the pages that show them.
func (s *stage) setterScene(blobs blob.Store) map[string]string {
	s.Helper()
	ctx := s.Context()
	const name = "a-problem-whose-short-name-is-rather-long"
	files := maps.Clone(tripleFiles)
	files["data/secret/017-the-largest-numbers-with-a-name-that-nobody-wanted-to-shorten.in"] = "4\n"
	files["data/secret/017-the-largest-numbers-with-a-name-that-nobody-wanted-to-shorten.ans"] = "12\n"
	files["submissions/time_limit_exceeded/brute_force_with_three_loops_and_no_idea_at_all.py"] = "while True: pass\n"
	files["attachments/AVeryLongNameOfAFileWithoutAnyPlaceToBreakItWhatsoeverSoThatItIsHard.txt"] = "notes\n"
	first := s.keep(blobs, name, "root", files)
	files["data/secret/02.in"], files["data/secret/02.ans"] = "7\n", "21\n"
	files["problem.yaml"] = strings.Replace(files["problem.yaml"], "256 # plenty", "64", 1)
	second := s.keep(blobs, name, "root", files)
	report := aLongProof()
	upload := func() int64 {
		s.Helper()
		r, err := s.as(s.session("root")).UploadPackage(ctx, client.NewPackage{Problem: name}, strings.NewReader(pk), int64(len(pk)))
		s.must(err)
		return r.JobID
	}
	proof, faulty, moving := upload(), upload(), upload()
	s.must(s.store.ProveVersion(ctx, name, first, true, report, proof))
	s.must(s.store.ActivateVersion(ctx, sql.Activation{Problem: name, Version: first, By: "root"}))
	s.must(s.store.ProveVersion(ctx, name, second, false, report, proof))
	s.must(s.store.SetProblemOwner(ctx, name, "root", "root"))
	s.must(s.store.AddProblemAuthor(ctx, name, "sue", "root"))
	s.must(s.store.AddProblemAuthor(ctx, name, "a-contestant-with-a-long-name@example.org", "root"))
	told := fmt.Sprintf(`{"problem": %q, "version": %q, "proof": %s, "refused": [{"file": "data/secret/017-the-largest-numbers-with-a-name-that-nobody-wanted-to-shorten.in", "key": "limits.validation_passes", "reason": "has no answer"}]}`, name, first, report)
	s.must(s.store.Finalize(ctx, s.claim(faulty), judge.Result{Verdict: judge.JE, Report: []byte(told)}))
	s.must(s.store.Progress(ctx, s.claim(moving), []judge.Progress{{Kind: judge.EventStage, Finding: []byte(`{"step":"generate","done":12,"total":40,"what":"secret/017-the-largest-numbers-with-a-name-that-nobody-wanted-to-shorten"}`)}}))
	draft, err := s.store.SubmitDraft(ctx, sql.NewJob{Problem: name, Language: "cpp", Author: "root", Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}}, second)
	s.must(err)
	s.finish(draft.JobID, mixed())
	s.finish(s.submit(name, "cpp", "x"), judge.Result{Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 3}})
	edit := func(part string) string { return site.EditURL(name, second, part) }
	pages := map[string]string{
		"packages": "/packages", "package": "/packages/" + name, "edit-statement": edit("statement"), "edit-settings": edit("settings"), "edit-tests": edit("tests"),
		"edit-submissions": edit("submissions"), "edit-checker": edit("checker"), "edit-files": edit("files") + "&file=problem.yaml", "try": site.TryURL(name, second), "draft": site.DraftURL(name, draft.JobID),
		"compare": "/packages/" + name + "/compare", "preview": "/packages/" + name + "/versions/" + second, "statistics": "/problems/" + name + "/statistics",
		"import": site.ImportURL(moving), "import-faulty": site.ImportURL(faulty), "problems-found": "/?q=problem",
	}
	for _, slug := range samples.Slugs() { // generators, groups, interactors
		fsys, err := samples.FS(slug)
		s.must(err)
		pkg, _, err := importing.Read(fsys)
		s.must(err)
		pkg.Slug = "copy-of-" + slug
		_, err = pkg.Save(ctx, blobs)
		s.must(err)
		s.must(s.store.KeepVersion(ctx, pkg.Judge(), "root", 0))
		for _, part := range []string{"tests", "submissions", "checker"} {
			pages["copy-"+slug+"-"+part] = site.EditURL(pkg.Slug, string(pkg.Version), part)
		}
		pages["copy-"+slug] = "/packages/" + pkg.Slug + "/versions/" + string(pkg.Version)
	}
	return pages
}

// TestEveryPageFitsAPhone looks at every page that there is, as an administrator who sees
// all of them with much on them, on the narrowest screens: nothing scrolls sideways but
// tables, and no button, link or field is cut off. A page that nobody told the test of
// makes it fail.
func TestEveryPageFitsAPhone(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option, func(c *site.Config) { c.PublicURL = "https://oj.example.org" })
	s.user("root", "correct horse", judge.RoleAdmin)
	pages := s.siteScene()
	s.user("staff", "correct horse", judge.RoleStaff)
	s.space("final")
	for _, scene := range []map[string]string{s.setterScene(blobs), s.checkerScene(), s.spaceScene(), s.queueScene(), s.scene()} {
		for name, at := range scene {
			if pages[name] != "" && pages[name] != at {
				t.Fatalf("two scenes have a page %s: %s and %s", name, pages[name], at)
			}
			pages[name] = at
		}
	}
	delete(pages, "missing") // the console says that it is, rightly
	pages["problems-own-address"] = "/problems"
	pages["print"] = "/spaces/final/print"
	pages["space-settings"] = "/spaces/final/settings"
	invitation, err := s.as(s.session("root")).PostSpaceInvitations(t.Context(), "final", client.PostSpaceInvitationsRequest{Label: "everybody of the second year"})
	s.must(err)
	_, token, _ := strings.Cut(invitation.URL, "?")
	pages["join"] = "/join?" + token
	pages["space-import"], pages["users-import"] = "/spaces/final/import", "/users/import"

	seen := map[string]bool{}
	for _, r := range s.server.app.GetRoutes(true) {
		if r.Method != fiber.MethodGet || noPage(r.Path) {
			continue
		}
		seen[r.Path] = false
	}
	ctx, console := browser(t)
	s.signInAs(func(a ...chromedp.Action[chromedp.Void]) error { return chromedp.Do(ctx, a...) }, "root", "/users")
	s.must(see(ctx, "h1", "Users"))
	for pattern := range seen {
		for _, at := range pages {
			path, _, _ := strings.Cut(at, "?")
			if fiber.RoutePatternMatch(path, pattern) {
				seen[pattern] = true
			}
		}
		if !seen[pattern] {
			t.Errorf("no scene shows %s: add a page of it", pattern)
		}
	}
	s.examineAll(ctx, t, console, map[string]look{"390-light": looks["phone-light"]}, pages)
}
