package solve

import (
	"html/template"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/site"
	"deepoj/web/site/sitetest"
)

func FuzzRows(f *testing.F) {
	sitetest.Rows(f, func(text string) map[string]template.HTML {
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		sub := judge.Submission{
			Job: judge.Job{
				JobID: 7, Author: text, Status: judge.Finished, Created: at,
				Result: &judge.Result{Verdict: judge.Verdict(text), Score: new(5.0), MaxScore: new(10.0), Usage: judge.Usage{CPUMillis: 5, MemoryKiB: 5}},
			},
			Problem: text, Title: text, Language: text,
		}
		return map[string]template.HTML{"a submission": submissionCells(&sub, false, "", site.Viewer{}), "a submission for staff": submissionCells(&sub, true, text, site.Viewer{})}
	})
}

func TestARowSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	sub := judge.Submission{
		Job:     judge.Job{JobID: 7, Author: "ann", Status: judge.Pending, Created: time.Now()},
		Problem: "boxes", Title: "Boxes", Language: "cpp",
	}
	_, waiting := sitetest.Row(t, submissionCells(&sub, false, "", site.Viewer{}))
	if waiting != "7 pendingBoxescppjust now" {
		t.Errorf("one that waits is %q", waiting)
	}
	sub.Status, sub.Result = judge.Finished, &judge.Result{Verdict: judge.AC, Score: new(2.5), Usage: judge.Usage{CPUMillis: 1200, MemoryKiB: 2048}}
	if row := string(submissionCells(&sub, true, "", site.Viewer{})); strings.Contains(row, "state") {
		t.Errorf("one that is judged has a state: %s", row)
	}
	_, judged := sitetest.Row(t, submissionCells(&sub, true, "", site.Viewer{}))
	if judged != "7AC 2.5Boxescppann1.2 s2 MiBjust now" {
		t.Errorf("one that is judged is %q", judged)
	}
	for used, want := range map[judge.Usage]string{
		{CPUMillis: 1, WallMillis: 2}: "1 ms–", {WallMillis: 1}: "0 ms–", judge.UsageOf(1_340_000, 2_000_000, 112): "1.3 ms112 KiB", {}: "",
	} {
		sub.Result.Usage = used
		if _, row := sitetest.Row(t, submissionCells(&sub, false, "", site.Viewer{})); row != "7AC 2.5Boxescpp"+want+"just now" {
			t.Errorf("one that used %+v is %q, want %q", used, row, want)
		}
	}
}
