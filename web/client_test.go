package web

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

var clientFilter = client.Filter{}

func TestTheClientSubmitsAndWaits(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	receipt, err := s.client.Submit(ctx, client.NewSubmission{
		Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "good.cpp", Text: "int main() {}"}},
	})
	s.must(err)
	sub, err := s.client.Get(ctx, receipt.JobID)
	s.must(err)
	if sub.Status != "PENDING" || sub.Place == nil || sub.Place.Position != 1 || sub.Sources[0].Name != "good.cpp" {
		t.Errorf("a waiting submission: %+v", sub)
	}
	waited := make(chan *client.Submission, 1)
	go func() {
		sub, err := s.client.Wait(ctx, receipt.JobID)
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		waited <- sub
	}()
	s.finish(receipt.JobID, judge.Result{Verdict: judge.WA, Tests: []judge.TestResult{{Index: 1, Name: "secret/01-evil", Verdict: judge.WA}}})
	select {
	case sub := <-waited:
		if sub == nil || sub.Result == nil || sub.Result.Verdict != judge.WA || sub.Status != "FINISHED" {
			t.Errorf("after the wait: %+v", sub)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("Wait did not return")
	}
	problems, err := s.client.Problems(ctx)
	s.must(err)
	languages, err := s.client.Languages(ctx)
	s.must(err)
	workers, err := s.client.Workers(ctx, false)
	s.must(err)
	if len(problems) != 2 || len(languages) != 4 || len(workers) != 1 {
		t.Errorf("%d problems, %d languages, %d workers", len(problems), len(languages), len(workers))
	}
	for _, l := range languages {
		if l.Available != (l.ID != "rust") || l.Available == (l.Unavailable != "") {
			t.Errorf("language %s: available %t, %q", l.ID, l.Available, l.Unavailable)
		}
	}
}

func TestTheClientReturnsProblemDocuments(t *testing.T) {
	s := newStage(t)
	_, err := s.client.Submit(t.Context(), client.NewSubmission{Problem: "nosuch", Language: "cpp", Sources: []judge.Source{{Text: "x"}}})
	var p *client.Problem
	if !errors.As(err, &p) || p.Status != 422 || p.Field != "problem" || p.Reason != "unknown" {
		t.Errorf("submit: %v", err)
	}
	if _, err := s.client.Get(t.Context(), 7); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Errorf("get: %v", err)
	}
	if _, err := s.client.Wait(t.Context(), 7); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Errorf("wait: %v", err)
	}
	if _, err := client.New("ftp://x"); err == nil {
		t.Error("an address of another scheme is taken")
	}
}

func TestAListIsPagedByItsCursor(t *testing.T) {
	s := newStage(t)
	for range 7 {
		s.submit("aplusb", "cpp", "x")
	}
	var seen []int64
	for before, pages := int64(0), 0; pages < 10; pages++ {
		subs, next, err := s.client.List(t.Context(), client.Filter{Before: before, Limit: 3})
		s.must(err)
		for _, sub := range subs {
			seen = append(seen, sub.JobID)
		}
		if next == 0 {
			break
		}
		before = next
	}
	for i, id := range []int64{7, 6, 5, 4, 3, 2, 1} {
		if i >= len(seen) || seen[i] != id {
			t.Fatalf("pages showed %v", seen)
		}
	}
}

func TestStaffCancelAndRejudge(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "x")
	var p *client.Problem
	if _, err := s.client.Rejudge(t.Context(), id); !errors.As(err, &p) || p.Status != http.StatusForbidden {
		t.Errorf("a guest has it judged again: %v", err)
	}
	staff := s.as(s.user("root", "correct horse", judge.RoleStaff))
	s.must(staff.Cancel(t.Context(), id))
	if err := staff.Cancel(t.Context(), id); !errors.As(err, &p) || p.Status != http.StatusConflict {
		t.Errorf("cancelled twice: %v", err)
	}
	sub, err := s.client.Wait(t.Context(), id)
	s.must(err)
	if sub.Status != "CANCELLED" || sub.Error == nil {
		t.Errorf("after cancel: %+v", sub)
	}
	generation, err := staff.Rejudge(t.Context(), id)
	s.must(err)
	if generation != 2 {
		t.Errorf("generation %d after a rejudge, want 2", generation)
	}
}

func TestTheClientTakesAPluginIn(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	sue := s.as(s.user("sue", "correct horse", judge.RoleSetter))
	s.own("sue", "aplusb")
	var p *client.Problem
	if _, err := s.client.UploadPlugin(ctx, client.Upload{}); !errors.As(err, &p) || p.Status != http.StatusForbidden {
		t.Errorf("an upload of the guest: %v", err)
	}
	if _, err := sue.UploadPlugin(ctx, client.Upload{Files: []judge.PluginFile{file("pair.c", "x")}}); !errors.As(err, &p) || p.Field != "name" {
		t.Errorf("an upload without a name: %v", err)
	}
	up := client.Upload{Name: "org.example.pair", Version: "1.0.0", Problem: "aplusb", Key: "k", Files: []judge.PluginFile{file("pair.c", "int main;"), file("pair.h", "")}}
	receipt, err := sue.UploadPlugin(ctx, up)
	s.must(err)
	if again, err := sue.UploadPlugin(ctx, up); err != nil || again.JobID != receipt.JobID || !again.Existing {
		t.Errorf("the same upload again: %+v, %v", again, err)
	}
	job, err := sue.Job(ctx, receipt.JobID)
	s.must(err)
	if job.Status != "PENDING" || job.Place == nil || job.About.Name != up.Name || job.About.Protocol != "testlib/1" || job.URL != receipt.URL || job.Done() {
		t.Errorf("a waiting job: %+v", job)
	}
	var kinds []string
	ended := make(chan error, 1)
	go func() {
		ended <- sue.JobEvents(ctx, receipt.JobID, 0, func(e judge.Event) error {
			kinds = append(kinds, string(e.Kind))
			return nil
		})
	}()
	a := s.claim(receipt.JobID)
	s.tell(a, "finding", aWarning)
	version := s.addPlugin(1, "1.0.0", true)
	s.must(s.store.Finalize(ctx, a, judge.Result{Verdict: judge.AC, Report: []byte(`{"op": "upload"}`)}))
	s.must(<-ended)
	if got := strings.Join(kinds, " "); got != "submitted dispatched claimed finding finished" {
		t.Errorf("events: %s", got)
	}
	if job, err = sue.WaitJob(ctx, receipt.JobID); err != nil || !job.Done() || job.Result == nil || len(job.Result.Report) == 0 {
		t.Errorf("a finished job: %+v, %v", job, err)
	}
	next := s.addPlugin(2, "2.0.0", true)
	s.must(sue.ActivatePlugin(ctx, version.Digest))
	s.must(sue.ActivatePlugin(ctx, next.Digest))
	if got, err := sue.RollBackPlugin(ctx, "checker", version.Name); err != nil || got != version.Digest {
		t.Errorf("rolled back to %s, %v", got, err)
	}
	if got, err := sue.GetPlugin(ctx, version.Digest); err != nil || !got.Active {
		t.Errorf("plugin: %+v, %v", got, err)
	}
	if list, err := sue.Plugins(ctx, "", version.Name); err != nil || len(list) != 2 {
		t.Errorf("plugins: %+v, %v", list, err)
	}
	for what, start := range map[string]func() (client.Receipt, error){
		"preview": func() (client.Receipt, error) {
			return sue.PostPluginPreview(ctx, next.Digest, client.PostPluginPreviewRequest{Problem: "aplusb", Limit: 5}, client.WithKey(""))
		},
		"bind": func() (client.Receipt, error) {
			return sue.PostPluginBind(ctx, next.Digest, client.PostPluginBindRequest{Problem: "aplusb"}, client.WithKey(""))
		},
		"test": func() (client.Receipt, error) {
			return sue.PostPluginTest(ctx, next.Digest, client.PostPluginTestRequest{}, client.WithKey(""))
		},
	} {
		receipt, err := start()
		s.must(err)
		if job, err := sue.Job(ctx, receipt.JobID); err != nil || string(job.About.Op) != what || job.About.Digest != next.Digest {
			t.Errorf("%s: %+v, %v", what, job, err)
		}
	}
}
