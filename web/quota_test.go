package web

import (
	"net/http"
	"strings"
	"testing"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/site"
)

func TestASetterSendsNoMoreVersionsADayThanTheyMay(t *testing.T) {
	blobs, option := withBlobs(t)
	s := newStage(t, option, func(c *site.Config) { c.SetterVersions = 3 })
	sue := s.setter()
	send := func(name, who string) reply {
		return s.do(http.MethodPost, "/api/v1/problems?problem="+name, pk+"package "+name, asZIP, who, "Idempotency-Key: "+name)
	}
	for _, name := range []string{"one", "two", "two", "three"} { // what is sent again is not another
		if r := send(name, sue); r.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
	}
	if r := s.do(http.MethodPost, "/api/v1/problems?problem=bad", "no archive", asZIP, sue); r.status != http.StatusTooManyRequests {
		t.Errorf("refused before its content is looked at: %d %s", r.status, r.body)
	}
	r := send("four", sue)
	if f := document(t, r); f.Status != http.StatusTooManyRequests || f.Reason != "too_many_versions" || r.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s, Retry-After %q", r.status, r.body, r.header.Get("Retry-After"))
	}
	var stored []string
	s.must(blobs.List(t.Context(), func(d blob.Digest, _ int64) error { stored = append(stored, string(d)); return nil }))
	if len(stored) != 3 {
		t.Errorf("%d archives are stored, want 3", len(stored))
	}
	one := s.addPlugin(1, "1.0.0", true)
	if r := s.do(http.MethodPost, "/api/v1/plugins/"+one.Digest+"/bind", `{"problem": "aplusb"}`, asJSON, sue); r.status != http.StatusTooManyRequests {
		t.Errorf("a version by another checker: %d %s", r.status, r.body)
	}
	s.someone("stan", judge.RoleStaff)
	if r := send("five", "Authorization: Bearer "+s.session("stan")); r.status != http.StatusAccepted {
		t.Errorf("staff: %d %s", r.status, r.body)
	}
	// What was refused for its fields or its content is none of them.
	s.someone("tom", judge.RoleSetter)
	tom := "Authorization: Bearer " + s.session("tom")
	for range 5 {
		if r := s.do(http.MethodPost, "/api/v1/problems?problem=tom", "no archive", asZIP, tom); r.status != http.StatusUnprocessableEntity {
			t.Fatalf("no archive: %d %s", r.status, r.body)
		}
	}
	if r := send("six", tom); r.status != http.StatusAccepted {
		t.Errorf("after what was refused: %d %s", r.status, r.body)
	}
}

func TestASetterSeesAndKeepsTheirQuota(t *testing.T) {
	_, option := withBlobs(t)
	s := newStage(t, option, func(c *site.Config) { c.SetterQuota = 4 << 20 })
	sue := s.setter()
	quota := func(who string) string { return s.do(http.MethodGet, "/api/v1/quota", "", who).body }
	if got, want := quota(sue), `{"used_bytes":0,"allowed_bytes":4194304,"versions_today":0,"versions_a_day":50,"saves_today":0,"saves_a_day":500,"sent_bytes":0}`; got != want {
		t.Errorf("at first %s, want %s", got, want)
	}
	archive := pk + strings.Repeat("x", 3<<20-4)
	send := func(name string) reply {
		return s.do(http.MethodPost, "/api/v1/problems?problem="+name, archive, asZIP, sue)
	}
	if r := send("one"); r.status != http.StatusAccepted {
		t.Fatalf("what fits: %d %s", r.status, r.body)
	}
	if f := document(t, send("two")); f.Status != http.StatusTooManyRequests || f.Reason != "sent_too_much" {
		t.Errorf("more than may be sent on a day: %+v", f)
	}
	s.must(s.store.KeepVersion(t.Context(), judge.Problem{Slug: "one", Version: "sha256:01", Title: "One"}, "sue", 0))
	s.must(s.store.KeepFiles(t.Context(), "one", "sha256:01", []sql.StoredFile{{Digest: digest(1), Bytes: 5 << 20}}))
	if f := document(t, send("two")); f.Status != http.StatusRequestEntityTooLarge || f.Reason != "quota" || !strings.Contains(f.Detail, "5 MiB, and may take 4 MiB") {
		t.Errorf("more than packages may take: %+v", f)
	}
	page := s.do(http.MethodGet, "/packages", "", s.login("sue", "correct horse")).body
	if !strings.Contains(page, "Your packages take 5 MiB of 4 MiB.") || !strings.Contains(page, "you have sent 1 of 50 versions, and 0 of 500 further saves. Together they had 3 MiB of 4 MiB.") || strings.Contains(page, "Room that packages take") {
		t.Errorf("the page does not say so:\n%s", page)
	}
	s.someone("stan", judge.RoleStaff)
	stan := "Authorization: Bearer " + s.session("stan")
	if got := quota(stan); !strings.Contains(got, `"allowed_bytes":0`) || !strings.Contains(got, `"setters":[{"name":"sue","bytes":5242880}]`) {
		t.Errorf("staff see %s", got)
	}
	if page := s.do(http.MethodGet, "/packages", "", stan, "Accept: text/html").body; !strings.Contains(page, "Room that packages take") {
		t.Error("staff do not see who takes room")
	}
}
