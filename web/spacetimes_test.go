package web

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

var chosenOffset = regexp.MustCompile(`<option value="([^"]+)" selected>`)

// TestTimesOfASpaceAreReadAndWrittenByTheClockBesideTheField fills in forms by clocks that are set in different ways.
func TestTimesOfASpaceAreReadAndWrittenByTheClockBesideTheField(t *testing.T) {
	s := newStage(t)
	s.space("final")
	s.user("prof", "correct horse", judge.RoleStaff)
	cookie := s.login("prof", "correct horse")
	read := func(zone string) {
		t.Helper()
		if to, _ := s.posted(cookie, "/account/reading", url.Values{"zone": {zone}}); to == "" {
			t.Fatalf("the clock of %s is not taken", zone)
		}
	}
	save := func(form url.Values) reply {
		form.Set("title", "The Final")
		return s.post(cookie, "/spaces/final/settings", form)
	}
	kept := func() string {
		v, err := s.store.Space(t.Context(), "final", "")
		s.must(err)
		if v.Opens == nil {
			return ""
		}
		return v.Opens.UTC().Format(time.RFC3339)
	}
	for _, tt := range []struct {
		zone, text, offset string
		want               string   // the moment by UTC; "" = it is refused
		says               []string // when it is refused
	}{
		{"Asia/Shanghai", "2030-06-01T09:00", "", "2030-06-01T01:00:00Z", nil},
		{"UTC", "2030-06-01T09:00:05", "", "2030-06-01T09:00:05Z", nil},
		{"Europe/Berlin", "2030-06-01T09:00", "+05:00", "2030-06-01T07:00:00Z", nil}, // an offset that nobody asked for
		{"Europe/Berlin", "2026-03-29T02:30", "", "", []string{"never show this time", "2026-03-29 02:00 UTC+1", "2026-03-29 03:00 UTC+2"}},
		{"Europe/Berlin", "2026-10-25T02:30", "", "", []string{"this time twice, by UTC+2 and again by UTC+1", "the earlier one, UTC+2", "the later one, UTC+1"}},
		{"Europe/Berlin", "2026-10-25T02:30", "+09:00", "", []string{"this time twice"}},
		{"Europe/Berlin", "2026-10-25T02:30", "+02:00", "2026-10-25T00:30:00Z", nil},
		{"Europe/Berlin", "2026-10-25T02:30", "+01:00", "2026-10-25T01:30:00Z", nil},
		{"America/New_York", "2027-03-14T02:00", "", "", []string{"2027-03-14 02:00 UTC−5", "2027-03-14 03:00 UTC−4"}},
		{"America/New_York", "2026-11-01T01:30", "-05:00", "2026-11-01T06:30:00Z", nil},
		{"Australia/Lord_Howe", "2026-10-04T02:15", "", "", []string{"2026-10-04 02:00 UTC+10:30", "2026-10-04 02:30 UTC+11"}},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "", "", []string{"by UTC+11 and again by UTC+10:30"}},
		{"Australia/Lord_Howe", "2026-04-05T01:45", "+10:30", "2026-04-04T15:15:00Z", nil},
		{"Asia/Shanghai", "next week", "", "", []string{"has to be like 2030-01-31T12:00"}},
		{"Mars/Olympus", "2030-06-01T09:00", "", "", []string{"There is no time zone"}},
	} {
		before := kept()
		r := save(url.Values{"zone": {tt.zone}, "opens_at": {tt.text}, "opens_at_offset": {tt.offset}})
		page := html.UnescapeString(r.body)
		if refused := r.status == http.StatusUnprocessableEntity; refused != (tt.want == "") {
			t.Errorf("%s in %s is answered with %d: %s", tt.text, tt.zone, r.status, page)
			continue
		}
		want := tt.want
		if want == "" {
			want = before
			for _, text := range append(tt.says, `value="`+tt.text+`"`) {
				if !strings.Contains(page, text) {
					t.Errorf("%s in %s is refused without the words %q: %s", tt.text, tt.zone, text, page)
				}
			}
		}
		if got := kept(); got != want {
			t.Errorf("%s in %s by %q makes it %s, want %s", tt.text, tt.zone, tt.offset, got, want)
		}
	}

	t.Run("what was not touched stays, also the second of two that look alike", func(t *testing.T) {
		for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "UTC"} {
			read(zone)
			for _, at := range []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-11-01T06:30:00Z", "2026-04-04T15:15:00Z", "2026-04-04T14:45:00Z"} {
				moment, err := time.Parse(time.RFC3339, at)
				s.must(err)
				v, err := s.store.Space(t.Context(), "final", "")
				s.must(err)
				v.Opens = &moment
				s.must(s.store.UpdateSpace(t.Context(), *v, "prof"))
				page := html.UnescapeString(s.show(cookie, "/spaces/final/settings"))
				s.says(page, "Opens, "+zone, "Closes, "+zone, `name="zone" value="`+zone+`"`)
				form := url.Values{"zone": {zone}, "opens_at": {between(page, `name="opens_at" type="datetime-local" value="`, `"`)}}
				if chosen := chosenOffset.FindStringSubmatch(between(page, `name="opens_at_offset"`, "</select>")); chosen != nil {
					form.Set("opens_at_offset", chosen[1])
				}
				if r := save(form); r.status != http.StatusSeeOther || kept() != at {
					t.Errorf("%s in %s became %s (%d) by %v", at, zone, kept(), r.status, form)
				}
			}
		}
	})
	t.Run("a form means the clock that it was opened by", func(t *testing.T) {
		read("Asia/Shanghai")
		page := s.show(cookie, "/spaces/final/settings")
		form := url.Values{"zone": {between(page, `name="zone" value="`, `"`)}, "opens_at": {"2030-06-01T09:00"}}
		read("America/New_York")
		if r := save(form); r.status != http.StatusSeeOther || kept() != "2030-06-01T01:00:00Z" {
			t.Errorf("it opens at %s (%d)", kept(), r.status)
		}
		s.says(s.show(cookie, "/spaces/final/settings"), "Opens, America/New_York", `value="2030-05-31T21:00"`)
		s.says(s.show(cookie, "/spaces/final"), "31 May 2030 21:00:00 UTC−4")
		r := s.do(http.MethodGet, "/api/v1/spaces/final", "", "Authorization: Bearer "+s.session("prof"))
		if !strings.Contains(r.body, `"opens_at":"2030-06-01T01:00:00Z"`) {
			t.Errorf("the API says %s", r.body)
		}
	})
}
