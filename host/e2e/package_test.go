package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/client"
)

// sumPackage is a package with a slow accepted submission, so that there is time to
// look while it is proved, and perhaps one with a wrong verdict.
func sumPackage(t *testing.T, more map[string]string) []byte {
	t.Helper()
	files := map[string]string{
		"problem.yaml":                     "name: Sum of two\nlimits:\n  time_limit: 8\n",
		"problem_statement/problem.en.tex": "Write the sum.\n",
		"data/sample/1.in":                 "1 2\n",
		"data/sample/1.ans":                "3\n",
		"data/secret/2.in":                 "40 2\n",
		"data/secret/2.ans":                "42\n",
		"submissions/accepted/sum.py":      "print(sum(map(int, input().split())))\n",
		"submissions/wrong_answer/one.py":  "print(3)\n",
	}
	maps.Copy(files, more)
	return zipped(t, files)
}

// zipped returns a ZIP file of files.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAPackageThatIsUploadedInTheBrowserIsProvedAndGoesLive takes a package in as a
// setter would, by the page and by the command, and rolls it back.
func TestAPackageThatIsUploadedInTheBrowserIsProvedAndGoesLive(t *testing.T) {
	needRoot(t)
	p, url, _ := up(t, filepath.Join(folder(t), "data"), nil)
	c, token, password := firstAdmin(t, p, url)
	file := filepath.Join(t.TempDir(), "sumoftwo.zip")
	put := func(more map[string]string) {
		t.Helper()
		if err := os.WriteFile(file, sumPackage(t, more), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(nil)
	b := browser(t)
	b.do("log in", chromedp.Navigate(url+"/login?next=/packages"), chromedp.WaitVisible(css("form.stack")),
		chromedp.SendKeys(css(`[name="name"]`), "admin"), chromedp.SendKeys(css(`[name="password"]`), password+"\r"), chromedp.WaitVisible(css("#upload")))
	b.do("upload it", chromedp.SetUploadFiles(css("#package"), []string{file}), chromedp.Click(css(".panel button")),
		chromedp.WaitVisible(css("#live")), script(`window.untouched = true`), chromedp.WaitVisible(css("[data-done]")))
	if headline := b.text(".headline"); headline != "Proved" || !b.holds(`window.untouched === true`) {
		t.Fatalf("headline %q, the page says:\n%s", headline, b.text("main"))
	}
	if matrix := b.text(".matrix"); !strings.Contains(matrix, "accepted/sum.py") || !strings.Contains(matrix, "wrong_answer/one.py") || !strings.Contains(matrix, "secret") {
		t.Errorf("the matrix says %q", matrix)
	}
	b.picture("package-proved")
	live, err := c.ProblemVersions(t.Context(), "sumoftwo")
	if err != nil || len(live) != 1 || !live[0].Live || live[0].Proved == nil || !*live[0].Proved {
		t.Fatalf("versions %+v, %v", live, err)
	}
	receipt, err := c.Submit(t.Context(), client.NewSubmission{Problem: "sumoftwo", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: "print(sum(map(int, input().split())))\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Wait(t.Context(), receipt.JobID); err != nil || s.Result == nil || s.Result.Verdict != judge.AC || s.Result.ProblemVersion != live[0].Version {
		t.Errorf("judged on the version: %+v, %v", s, err)
	}

	// The command says by its status that a proof failed; staff make it live anyway,
	// and roll back.
	put(map[string]string{"submissions/wrong_answer/right.py": "print(sum(map(int, input().split())))\n"})
	env := []string{"DEEPOJ_URL=" + url, "DEEPOJ_KEY=" + token}
	out, errs, status := deepoj(t, env, "problem", "upload", file, "--wait")
	if status != 3 || !strings.Contains(out, "wrong_answer/right.py: got AC, may get WA") || !strings.Contains(out, "is kept, not live") || !strings.Contains(errs, "accepted/sum.py: AC") {
		t.Errorf("upload of what cannot be proved: %d\n%s%s", status, out, errs)
	}
	b.do("override", chromedp.Navigate(url+"/packages/sumoftwo"), chromedp.Click(css(`.version:not(.active) form[action$="/activate"] button`)),
		chromedp.WaitVisible(css(`form[action$="/rollback"]`)))
	b.picture("package-versions")
	b.do("roll back", chromedp.Click(css(`form[action$="/rollback"] button`)), chromedp.WaitVisible(css(`.version.active .digest[title="`+live[0].Version+`"]`)))
	// What is exported is the same version when it is imported again.
	out, errs, status = deepoj(t, env, "problem", "export", "sumoftwo", "-o", file)
	if status != 0 || !strings.Contains(out, "exported sumoftwo") {
		t.Errorf("export: %d\n%s%s", status, out, errs)
	}
	out, errs, status = deepoj(t, env, "problem", "upload", file, "--wait")
	if again, err := c.ProblemVersions(t.Context(), "sumoftwo"); err != nil || status != 0 || len(again) != 2 || !strings.Contains(out, "version "+live[0].Version) {
		t.Errorf("import of the export: %d, versions %+v, %v\n%s%s", status, again, err, out, errs)
	}
	if err := os.WriteFile(file, []byte("PK\x03\x04 is all"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, status = deepoj(t, env, "problem", "upload", file, "--wait", "--json")
	var report struct{ Error string }
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 3 || !strings.Contains(report.Error, "no ZIP archive") {
		t.Errorf("upload of no archive: %d %v\n%s%s", status, err, out, errs)
	}
}

// TestAnImportWhoseWorkerIsKilledMakesOneVersion kills the worker in the middle of
// the proof.
func TestAnImportWhoseWorkerIsKilledMakesOneVersion(t *testing.T) {
	c := newCluster(t)
	victim := c.worker(0)
	hash, err := people.HashPassword("correct horse")
	if err == nil {
		err = c.store.CreateUser(t.Context(), sql.NewUser{Name: "sue", PasswordHash: hash, Role: judge.RoleSetter})
	}
	if err != nil {
		t.Fatal(err)
	}
	token, err := c.client.Login(t.Context(), "sue", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	setter, err := client.New(c.url, client.WithToken(token))
	if err != nil {
		t.Fatal(err)
	}
	archive := sumPackage(t, map[string]string{
		"submissions/accepted/slow.py": "import time\nt = time.process_time()\nwhile time.process_time() < t + 1: pass\nprint(sum(map(int, input().split())))\n",
	})
	// A worker that has finished before it is killed proves nothing.
	for i := 1; ; i++ {
		slug := fmt.Sprintf("sumoftwo%d", i)
		receipt, err := setter.UploadPackage(t.Context(), client.NewPackage{Problem: slug}, bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		seen := errors.New("a row was told")
		err = setter.JobEvents(t.Context(), receipt.JobID, 0, func(e judge.Event) error {
			if e.Kind == judge.EventFinding {
				return seen
			}
			return nil
		})
		if err != nil && !errors.Is(err, seen) {
			t.Fatal(err)
		}
		if err := syscall.Kill(victim.inner(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-victim.done
		victim = c.worker(i)
		j, err := setter.WaitJob(t.Context(), receipt.JobID)
		if err != nil {
			t.Fatal(err)
		}
		versions, err := setter.ProblemVersions(t.Context(), slug)
		if err != nil || len(versions) != 1 || !versions[0].Live || j.Result == nil || j.Result.Verdict != judge.AC {
			t.Fatalf("the job ended as %+v with versions %+v, %v", j, versions, err)
		}
		if j.AttemptID >= 2 {
			break
		}
		if i == 10 {
			t.Fatal("no worker was killed in the middle")
		}
	}
	c.checkAudit(t.Context())
}
