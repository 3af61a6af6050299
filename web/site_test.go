package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

func TestTheAuditLogTellsWhoDidWhat(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	root := s.admin()
	prof := s.someone("prof", judge.RoleStaff)
	id := s.submit("aplusb", "cpp", "int main() {}")
	s.must(prof.Cancel(ctx, id))
	s.must(root.DisableUser(ctx, "prof", true))
	s.must(root.DisableUser(ctx, "prof", false))
	s.must(root.SetRole(ctx, "prof", "setter"))
	acts := func(f client.AuditFilter) string {
		t.Helper()
		var out []string
		for {
			entries, next, err := root.AuditLog(ctx, f)
			s.must(err)
			for _, e := range entries {
				out = append(out, e.Actor+" "+e.Action+" "+e.Subject)
			}
			if f.Before = next; next == 0 {
				return strings.Join(out, ", ")
			}
		}
	}
	const changes = "root user_role user:prof, root user_enable user:prof, root user_disable user:prof"
	if got := acts(client.AuditFilter{Subject: "user:prof", Actor: "root", Limit: 2}); got != changes {
		t.Errorf("the log has %s, want %s", got, changes)
	}
	if got, want := acts(client.AuditFilter{Action: "cancel"}), fmt.Sprint("prof cancel job:", id); got != want {
		t.Errorf("the log has %s, want %s", got, want)
	}
	_, _, err := s.someone("sue", judge.RoleStaff).AuditLog(ctx, client.AuditFilter{})
	problemOf(t, err, 403, "forbidden")
	_, _, err = root.AuditLog(ctx, client.AuditFilter{Actor: "a\x00"})
	problemOf(t, err, 422, "invalid")

	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("root")
	page := s.do(http.MethodGet, "/audit?subject=user:prof&limit=2", "", cookie).body
	for _, want := range []string{"role: setter; was: staff", `href="/users/prof"`, "before=", "user enable"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(page, "user disable") {
		t.Error("the page has more than its length")
	}
}

func TestStaffSeeWorkersThatAreSilentAndWhatTheyRun(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	s.must(s.store.WorkerBeat(ctx, judge.WorkerInfo{Name: "gone-1", Pool: "default", Slots: 4, Languages: []judge.Language{{ID: "ada", Name: "Ada", Version: "gnat 13", Available: true}}}))
	prof := s.someone("prof", judge.RoleStaff)
	id := s.submit("aplusb", "cpp", "int main() {}")
	s.claim(id)
	workers, err := prof.Workers(ctx, true)
	s.must(err)
	if len(workers) != 2 || workers[0].Name != "gone-1" || !workers[1].Alive || len(workers[1].Jobs) != 1 || workers[1].Jobs[0].JobID != id || workers[1].Jobs[0].URL != site.SubmissionURL(id) {
		t.Errorf("workers: %+v", workers)
	}
	seen, err := s.client.Workers(ctx, true)
	s.must(err)
	for _, w := range seen {
		if strings.HasPrefix(w.Name, "gone") || strings.HasPrefix(w.Name, "judge1") || len(w.Jobs) > 0 || w.Sandbox != "" {
			t.Errorf("the guest sees %+v", w)
		}
	}
	if r := s.do(http.MethodGet, "/workers", ""); r.status != http.StatusForbidden {
		t.Errorf("the guest sees the page of workers: %d", r.status)
	}
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("prof")
	page := s.do(http.MethodGet, "/workers", "", cookie).body
	if strings.Contains(page, "silent</span>") {
		t.Error("a worker that was seen just now counts as silent")
	}
	for _, want := range []string{"judge1-5f3a", site.SubmissionURL(id), "1 of 2", "rustc was not found", "gnat 13"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}

	// A server for which everything is long ago.
	s.start(func(c *site.Config) { c.WorkerAge = time.Microsecond })
	if workers, err := s.as(s.key(prof, judge.ScopeStaff)).Workers(ctx, true); err != nil || len(workers) != 2 || workers[0].Alive || workers[1].Alive {
		t.Errorf("workers that are silent: %+v, %v", workers, err)
	}
	if page := s.do(http.MethodGet, "/workers", "", cookie).body; strings.Count(page, "silent</span>") != 2 || strings.Contains(page, ">alive<") {
		t.Error("the page does not say that both workers are silent")
	}
}

func TestThePageOfWorkersTellsHowFastEachIs(t *testing.T) {
	s := newStage(t)
	s.someone("prof", judge.RoleStaff)
	for name, speed := range map[string]float64{"fast-1": 1200.4, "slow-1": 900, "elsewhere-1": 5000} {
		w := judge.WorkerInfo{Name: name, Pool: "default", Slots: 3, Version: "v-" + name, Calibration: speed, Languages: languages[:1]}
		if name == "elsewhere-1" {
			w.Pool = "other"
		}
		s.must(s.store.WorkerBeat(t.Context(), w))
	}
	page := s.do(http.MethodGet, "/workers", "", "Cookie: "+peopleroom.SessionCookie+"="+s.session("prof")).body
	for name, want := range map[string][]string{
		"fast-1": {"1,200/s", "<small>100 % of the fastest</small>", "0 of 3", "v-fast-1", "C&#43;&#43;: g&#43;&#43; 12.2.0"}, "slow-1": {"900/s", `<small class="slow">75 % of the fastest</small>`}, "elsewhere-1": {"5,000/s"}, "judge1-5f3a": {"not measured"},
	} {
		_, row, _ := strings.Cut(page, ">"+name+"<")
		row, _, _ = strings.Cut(row, "</tr>")
		for _, text := range want {
			if !strings.Contains(row, text) {
				t.Errorf("%s is shown as %s, want %s in it", name, row, text)
			}
		}
		if (name == "elsewhere-1" || name == "judge1-5f3a") && strings.Contains(row, "fastest") {
			t.Errorf("%s is compared with others: %s", name, row)
		}
	}
	workers, err := s.client.Workers(t.Context(), true)
	s.must(err)
	var speeds []float64
	for _, w := range workers {
		speeds = append(speeds, w.Calibration)
	}
	if slices.Sort(speeds); !slices.Equal(speeds, []float64{0, 900, 1200.4, 5000}) {
		t.Errorf("the API has the speeds %v", speeds)
	}
}
