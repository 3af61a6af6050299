package web

import (
	"encoding/json"
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/web/drafts"
	"deepoj/web/job"
	"deepoj/web/plugins"
	"deepoj/web/setters"
	"deepoj/web/site"
	"deepoj/web/solve"
)

// kindsOfJobs returns a job of each kind that people see, all at the same point.
func kindsOfJobs(at judge.Job) map[judge.Kind]job.Job {
	out := map[judge.Kind]job.Job{}
	for _, kind := range judge.Kinds {
		j := at
		j.Kind = kind
		switch kind {
		case judge.KindSubmission, judge.KindDraft:
			out[kind] = &judge.Submission{Job: j, Problem: "aplusb", Title: "A + B", Language: "cpp"}
		case judge.KindRun:
			out[kind] = &judge.Run{Job: j, Asked: judge.RunPayload{Language: "cpp"}}
		case judge.KindPluginBuild, judge.KindPluginTest:
			out[kind] = &judge.SetterJob{Job: j, About: judge.PluginPayload{Op: judge.PluginUpload, Name: "org.example.tokens"}}
		case judge.KindImport, judge.KindVerify:
			out[kind] = &judge.SetterJob{Job: j, Package: judge.PackagePayload{Problem: "aplusb"}}
		case judge.KindRender:
			out[kind] = &judge.SetterJob{Job: j, Render: &judge.RenderPayload{}}
		}
	}
	return out
}

// shownJob returns what the API and the page show of a job.
func shownJob(one job.Job, events []judge.Event, place *judge.Place, v site.Viewer) (api any, page job.Page, template string) {
	switch one := one.(type) {
	case *judge.Run:
		return solve.PublicRun(one, place, v), solve.ShowRun(one, events, place, v), "run"
	case *judge.SetterJob:
		if one.About.Op != "" {
			return job.PublicJob(one, place, v), plugins.ShowJob(one, events, place, nil, nil, v), "pluginjob"
		}
		return job.PublicJob(one, place, v), setters.ShowJob(one, events, place, v), "import"
	case *judge.Submission:
		if one.Kind == judge.KindDraft {
			return drafts.Public(one, place, v), solve.ShowSubmission(one, nil, events, place, nil, v), "submission"
		}
		return job.PublicSubmission(one, place, v), solve.ShowSubmission(one, nil, events, place, nil, v), "submission"
	}
	return nil, nil, ""
}

var ann = site.Viewer{Name: "ann", Role: judge.RoleSetter}

func TestJobsOfAllKindsTellWhereTheyStandInTheSameFields(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := judge.Job{
		JobID: 7, Author: "ann", Status: judge.Cancelled, Generation: 2, AttemptID: 3, Tries: 1, MaxTries: 5, Created: now,
		Started: &now, Finished: &now, LastError: "ann\nwrong file",
	}
	place := &judge.Place{Position: 2, Most: 2, Why: "paused"}
	want := map[string]any{
		"job_id": 7.0, "author": "ann", "status": "CANCELLED", "generation": 2.0, "attempt_id": 3.0, "tries": 1.0, "max_tries": 5.0,
		"created_at": "2026-01-02T03:04:05Z", "started_at": "2026-01-02T03:04:05Z", "finished_at": "2026-01-02T03:04:05Z",
	}
	for kind, one := range kindsOfJobs(at) {
		api, _, _ := shownJob(one, nil, place, ann)
		b, err := json.Marshal(api)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if got["kind"] != string(kind) || got["url"] != job.PageOf(one) || !strings.HasSuffix(got["url"].(string), "/7") {
			t.Errorf("a job of kind %s is of kind %v, at %v", kind, got["kind"], got["url"])
		}
		if text, _ := got["error"].(string); !strings.HasSuffix(text, " was cancelled by you: wrong file") {
			t.Errorf("a job of kind %s says %q", kind, text)
		}
		if where, _ := got["place"].(map[string]any); where["position"] != 2.0 || where["why"] != "paused" {
			t.Errorf("the place of a job of kind %s is %v", kind, got["place"])
		}
		if _, there := got["result"]; !there {
			t.Errorf("a job of kind %s has no member result", kind)
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got[name] != want[name] {
				t.Errorf("%s of a job of kind %s is %v, want %v", name, kind, got[name], want[name])
			}
		}
	}
}

// A try that failed on our side is told in the same words, with what happened, whatever
// the kind; only a submission counts against somebody, and says that this does not.
func TestAJobOfAnyKindThatIsTriedAgainSaysSoWithItsHistory(t *testing.T) {
	t.Parallel()
	shared, err := site.New(site.Config{Store: new(sql.Site), Rounds: new(rounds.Store)}, siteFiles, roomsWords())
	if err != nil {
		t.Fatal(err)
	}
	at := judge.Job{JobID: 7, Author: "ann", Status: judge.Pending, QueueState: "S", Generation: 1, AttemptID: 2, Tries: 2, MaxTries: 5}
	events := []judge.Event{
		{ID: 1, Kind: judge.EventSubmitted},
		{ID: 2, Kind: judge.EventClaimed, AttemptID: 1},
		{ID: 3, Kind: judge.EventRetry, AttemptID: 1},
		{ID: 4, Kind: judge.EventClaimed, AttemptID: 2},
		{ID: 5, Kind: judge.EventRetry, AttemptID: 2},
	}
	place := &judge.Place{Position: 1, Most: 1, Why: "not_before"}
	for kind, one := range kindsOfJobs(at) {
		_, page, name := shownJob(one, events, place, ann)
		view := page.Live()
		besides := ""
		if kind == judge.KindSubmission || kind == judge.KindDraft {
			besides = "; this does not count against you"
		}
		want := "Try 2 of 5 failed on our side" + besides + ". 1st in the queue; waits before it is tried again."
		if view.Headline != "Waiting for another try" || view.Detail != want || view.Announce() != view.Headline || !view.Moving || view.Refresh() == 0 {
			t.Errorf("a job of kind %s says %q, %q; want %q", kind, view.Headline, view.Detail, want)
		}
		app := fiber.New()
		app.Get("/", func(c *fiber.Ctx) error { return shared.Render(c, fiber.StatusOK, name, "live", page) })
		resp, err := app.Test(httptest.NewRequest(fiber.MethodGet, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if _, err := io.Copy(&out, resp.Body); err != nil || resp.Body.Close() != nil {
			t.Fatal(err)
		}
		for _, told := range []string{
			"Waiting for another try", want, `<details id="history" open>`, "attempt 1: failed on our side; it is tried again",
			"attempt 2: failed on our side; it is tried again", `data-announce="Waiting for another try"`,
		} {
			if !strings.Contains(out.String(), told) {
				t.Errorf("the page of a job of kind %s does not say %q:\n%s", kind, told, out.String())
			}
		}
	}
}
