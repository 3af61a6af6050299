package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// TestWhatIsCancelledLeavesItsSlotAndNothingHalfDone cancels jobs that would go on for
// ten minutes, on a worker with one slot, and has something judged after each.
func TestWhatIsCancelledLeavesItsSlotAndNothingHalfDone(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	p, url, _ := up(t, data, []string{"WORKER_SLOTS=1"})
	c, token, _ := firstAdmin(t, p, url)
	env := []string{"DEEPOJ_URL=" + url, "DEEPOJ_KEY=" + token}
	const endless = "while True: pass\n"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	upload := func(slug string, more map[string]string) int64 {
		t.Helper()
		files := map[string]string{"problem.yaml": "name: Sum of two\nlimits:\n  time_limit: 600\n"}
		maps.Copy(files, more)
		archive := sumPackage(t, files)
		r, err := c.UploadPackage(ctx, client.NewPackage{Problem: slug}, bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		return r.JobID
	}
	submit := func(text string) int64 {
		t.Helper()
		r, err := c.Submit(ctx, client.NewSubmission{Problem: "sumoftwo", Language: "python", Sources: []judge.Source{{Name: "a.py", Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.JobID
	}
	if j, err := c.WaitJob(ctx, upload("sumoftwo", nil)); err != nil || j.Result == nil || j.Result.Verdict != judge.AC {
		t.Fatalf("the import of the problem: %+v, %v", j, err)
	}
	version, err := c.ProblemVersions(ctx, "sumoftwo")
	if err != nil || len(version) != 1 {
		t.Fatalf("versions %+v, %v", version, err)
	}
	slow := map[string]string{"submissions/accepted/slow.py": endless}
	jobs := map[string]func() int64{
		"a submission": func() int64 { return submit(endless) },
		"an import":    func() int64 { return upload("slowsum", slow) },
	}
	for name, start := range jobs {
		id := start()
		begun := errors.New("it runs")
		follow := c.JobEvents
		if name == "a submission" {
			follow = c.Events
		}
		if err := follow(ctx, id, 0, func(e judge.Event) error {
			if e.Kind == judge.EventClaimed {
				return begun
			}
			return nil
		}); !errors.Is(err, begun) {
			t.Fatalf("%s: %v", name, err)
		}
		if out, errs, status := deepoj(t, env, "cancel", fmt.Sprint(id), "--why", "it was a mistake"); status != 0 || !strings.Contains(out, "cancelled") {
			t.Fatalf("%s is not cancelled: %d\n%s%s", name, status, out, errs)
		}
		after := submit("print(sum(map(int, input().split())))\n")
		if s, err := c.Wait(ctx, after); err != nil || s.Result == nil || s.Result.Verdict != judge.AC {
			t.Fatalf("after %s was cancelled: %+v, %v\n%s", name, s, err, tail(p.log.String(), 40))
		}
	}
	if v, err := c.ProblemVersions(ctx, "slowsum"); err == nil && len(v) > 0 && (v[0].Live || v[0].Proved != nil) {
		t.Errorf("the cancelled import left %+v", v)
	}
	if out, errs, status := deepoj(t, nil, "blob", "fsck", "--data", data); status != 0 {
		t.Errorf("after the cancelled import the store holds: %d\n%s%s", status, out, errs)
	}
}
