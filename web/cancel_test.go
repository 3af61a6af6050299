package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
)

// TestAJobOfEveryKindIsCancelledByItsAuthorAndByStaff asks as each kind of person for
// each kind of job, on pages and over the API, and reads who did it and why.
func TestAJobOfEveryKindIsCancelledByItsAuthorAndByStaff(t *testing.T) {
	s := newStage(t)
	for name, role := range map[string]judge.Role{"ann": judge.RoleSetter, "bob": judge.RoleSetter, "con": judge.RoleContestant, "sam": judge.RoleStaff} {
		s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	}
	kinds := map[string]struct {
		kind    judge.Kind
		payload any
		page    string
		api     string
	}{
		"a submission":  {judge.KindSubmission, nil, "/submissions/%d", "/api/v1/submissions/%d"},
		"a run":         {judge.KindRun, judge.RunPayload{Language: "cpp"}, "/runs/%d", "/api/v1/runs/%d"},
		"an import":     {judge.KindImport, judge.PackagePayload{Problem: "aplusb"}, "/imports/%d", "/api/v1/jobs/%d"},
		"a proof":       {judge.KindVerify, judge.PackagePayload{Problem: "aplusb"}, "/imports/%d", "/api/v1/jobs/%d"},
		"an upload":     {judge.KindPluginBuild, judge.PluginPayload{Op: judge.PluginUpload}, "/checkers/jobs/%d", "/api/v1/jobs/%d"},
		"a plugin test": {judge.KindPluginTest, judge.PluginPayload{Op: judge.PluginTest}, "/checkers/jobs/%d", "/api/v1/jobs/%d"},
	}
	people := []struct {
		who string
		may bool
	}{{"con", false}, {"bob", false}, {"ann", true}, {"sam", true}}
	for name, k := range kinds {
		store := func() int64 {
			t.Helper()
			n := sql.NewJob{Author: "ann", Kind: k.kind, Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "a.cpp", Text: "int x;"}}}
			if k.payload != nil {
				payload, err := json.Marshal(k.payload)
				s.must(err)
				n = sql.NewJob{Author: "ann", Kind: k.kind, Payload: payload}
			}
			r, err := s.store.Submit(t.Context(), n)
			s.must(err)
			return r.JobID
		}
		for _, running := range []bool{false, true} {
			for _, p := range people {
				for _, path := range []string{k.api, "/api/v1/jobs/%d", k.page} {
					id := store()
					if running {
						s.claim(id)
					}
					what := fmt.Sprintf("%s (running: %t) by %s at %s", name, running, p.who, path)
					headers := []string{"Authorization: Bearer " + s.session(p.who), "Content-Type: application/json"}
					body, done := `{"why": "the wrong <file>"}`, http.StatusOK
					if path == k.page {
						headers[1] = "Content-Type: application/x-www-form-urlencoded"
						body, done = "why=the+wrong+<file>", http.StatusSeeOther
					}
					r := s.do(http.MethodPost, fmt.Sprintf(path, id)+"/cancel", body, headers...)
					job, err := s.store.Job(t.Context(), id)
					s.must(err)
					if p.may != (job.Status == judge.Cancelled) || p.may != (r.status == done) || !p.may && r.status != http.StatusForbidden && r.status != http.StatusNotFound {
						t.Errorf("%s: %d, and the job is %s: %.300s", what, r.status, job.Status, r.body)
					}
					if !p.may {
						s.must(s.store.Cancel(t.Context(), id, "sam", ""))
						continue
					}
					by := map[string]string{"ann": "by you", "sam": "by staff"}[p.who]
					ann := "Authorization: Bearer " + s.session("ann")
					if r := s.do(http.MethodGet, fmt.Sprintf(k.api, id), "", ann); !strings.Contains(r.body, by+": the wrong \\u003cfile\\u003e") && !strings.Contains(r.body, by+": the wrong <file>") {
						t.Errorf("%s: its author reads %.600s", what, r.body)
					}
					if r := s.do(http.MethodGet, fmt.Sprintf(k.page, id), "", ann); !strings.Contains(r.body, by+": the wrong &lt;file&gt;") || strings.Contains(r.body, "/cancel") {
						t.Errorf("%s: the page says %s", what, r.body)
					}
					if r := s.do(http.MethodPost, fmt.Sprintf(k.api, id)+"/cancel", "", "Authorization: Bearer "+s.session("sam")); r.status != http.StatusConflict {
						t.Errorf("%s, once more: %d %s", what, r.status, r.body)
					}
				}
			}
		}
		id := store()
		if r := s.do(http.MethodGet, fmt.Sprintf(k.page, id), "", "Authorization: Bearer "+s.session("ann")); !strings.Contains(r.body, fmt.Sprintf(k.page, id)+"/cancel") {
			t.Errorf("%s: its page has no button to cancel it", name)
		}
		long := s.do(http.MethodPost, fmt.Sprintf(k.api, id)+"/cancel", `{"why": "`+strings.Repeat("x", 501)+`"}`, "Authorization: Bearer "+s.session("ann"), "Content-Type: application/json")
		if long.status != http.StatusRequestEntityTooLarge || !strings.Contains(long.body, `"why"`) {
			t.Errorf("%s: a reason without an end: %d %s", name, long.status, long.body)
		}
	}
}

// In a space, whoever sees a test fail may not take the attempt back.
func TestInASpaceAnAuthorCancelsOnlyWhatWaits(t *testing.T) {
	s := newStage(t)
	for name, role := range map[string]judge.Role{"con": judge.RoleContestant, "sta": judge.RoleContestant} {
		s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	}
	here := s.space("here")
	s.member(here, judge.SpaceContestant, "con")
	s.member(here, judge.SpaceStaff, "sta")
	for _, tt := range []struct {
		who     string
		running bool
		status  int
	}{{"con", false, http.StatusOK}, {"con", true, http.StatusConflict}, {"sta", false, http.StatusOK}, {"sta", true, http.StatusOK}} {
		r, err := s.store.Submit(t.Context(), sql.NewJob{Problem: "aplusb", Language: "cpp", Author: "con", Space: here.ID, Sources: []judge.Source{{Name: "a.cpp", Text: "int x;"}}})
		s.must(err)
		if tt.running {
			s.claim(r.JobID)
		}
		got := s.do(http.MethodPost, fmt.Sprintf("/api/v1/submissions/%d/cancel", r.JobID), "", "Authorization: Bearer "+s.session(tt.who))
		if got.status != tt.status {
			t.Errorf("%s cancels (running: %t): %d %s", tt.who, tt.running, got.status, got.body)
		}
		if got.status == http.StatusConflict {
			s.must(s.store.Cancel(t.Context(), r.JobID, "sam", ""))
		}
	}
}
