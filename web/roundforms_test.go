package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
)

// organiser is staff with a browser.
func (s *stage) organiser() (cookie string) {
	s.Helper()
	s.someone("prof", judge.RoleStaff)
	s.must(s.store.CreateSpace(s.Context(), judge.Space{Slug: "cup", Title: "Cup", Listed: true}, "prof"))
	return "Cookie: " + peopleroom.SessionCookie + "=" + s.session("prof")
}

func TestAnOrganiserMakesAContestInTheBrowserAlone(t *testing.T) {
	s := newStage(t)
	cookie := s.organiser()
	for _, name := range []string{"ann", "bob"} {
		s.someone(name, judge.RoleContestant)
	}
	s.says(s.show(cookie, "/spaces/cup/rounds"), "The space has no round yet.", `value="5:00"`, `value="1:00"`)

	// Teams come from a list, of which a preview is shown.
	list := "code,name,members,organization,country,groups\nred,Red,ann,TU Delft,NLD,Universities\nblue,Blue,nobody,,,\n"
	if r := s.post(cookie, "/spaces/cup/participants", url.Values{"text": {list}}); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "There is no account &#34;nobody&#34;.") {
		t.Errorf("a list with a mistake: %d %s", r.status, r.body)
	}
	list = strings.Replace(list, "nobody", "bob", 1)
	preview := s.post(cookie, "/spaces/cup/participants", url.Values{"text": {list}})
	s.says(preview.body, "4 are new, 0 change, 0 stay as they are.", "TU-Delft", "What would happen")
	if strings.Contains(s.show(cookie, "/spaces/cup/participants"), "Red") {
		t.Error("a preview has made something")
	}
	_, page := s.posted(cookie, "/spaces/cup/participants", url.Values{"text": {list}, "step": {"import"}})
	s.says(page, "Red", "Blue", "TU-Delft", "Universities", "ann")
	again := s.post(cookie, "/spaces/cup/participants", url.Values{"text": {list}})
	s.says(again.body, "0 are new, 0 change, 2 stay as they are.")

	// The round.
	form := func(more ...string) url.Values {
		f := url.Values{"code": {"final"}, "title": {"Final"}, "kind": {"contest"}, "format": {"icpc"}, "duration_ms": {"5:00"}, "freeze_ms": {"1:00"}, "zone": {"UTC"}, "public_runs": {"1"}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	for field, value := range map[string]string{"duration_ms": "five hours", "freeze_ms": "6:00", "settings": "{penalty", "code": "no good", "title": "", "starts_at": "2019-01-01T00:00x", "format": "golf"} {
		r := s.post(cookie, "/spaces/cup/rounds", form(field, value))
		if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "<strong>"+field+"</strong>") {
			t.Errorf("%s = %q is answered with %d %s", field, value, r.status, between(r.body, `id="fault"`, "</div>"))
		}
		if field != "format" && value != "" && !strings.Contains(r.body, strings.ReplaceAll(value, "x", "")) {
			t.Errorf("%s = %q is not there any more", field, value)
		}
	}
	to, page := s.posted(cookie, "/spaces/cup/rounds", form("settings", `{"penalty_minutes": 10}`))
	if to != "/rounds/final/staff" {
		t.Errorf("a round made leads to %s", to)
	}
	s.says(page, "without a time yet", "penalty_minutes", "Begin now", "The round has no problem yet.")
	s.posted(cookie, "/rounds/final/problems", url.Values{"problem": {"aplusb"}})
	_, page = s.posted(cookie, "/rounds/final/problems", url.Values{"problem": {"stairs"}, "label": {"Z"}, "color": {"red"}, "rgb": {"#ff0000"}})
	s.says(page, "<td>A</td>", "<td>Z</td>", "#ff0000")
	r := s.post(cookie, "/rounds/final/problems", url.Values{"problem": {"stairs"}, "rgb": {"red"}})
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, `value="red"`) {
		t.Errorf("a colour that is none: %d", r.status)
	}
	_, page = s.posted(cookie, "/rounds/final/entries", url.Values{"all": {"1"}})
	s.says(page, `<span class="name">red</span>`, `<span class="name">blue</span>`)
	if r := s.post(cookie, "/rounds/final/entries", url.Values{"participants": {"green"}}); r.status != http.StatusUnprocessableEntity {
		t.Errorf("a team that there is not: %d", r.status)
	}
	_, page = s.posted(cookie, "/rounds/final/entries/blue/remove", url.Values{})
	if strings.Contains(page, `<span class="name">blue</span>`) {
		t.Error("blue still takes part")
	}
	s.posted(cookie, "/rounds/final/entries", url.Values{"participants": {"blue, red"}})

	// Its time.
	s.posted(cookie, "/rounds/final/settings", form("starts_at", "2039-01-02T03:04"))
	round := func() *judge.Round {
		t.Helper()
		v, err := s.store.Rounds.Round(t.Context(), "final")
		s.must(err)
		return v
	}
	if v := round(); v.Start == nil || !v.Start.Equal(time.Date(2039, 1, 2, 3, 4, 0, 0, time.UTC)) {
		t.Errorf("it begins at %v", v.Start)
	}
	s.posted(cookie, "/rounds/final/pause", url.Values{})
	_, page = s.posted(cookie, "/rounds/final/resume", url.Values{})
	start := round().Start
	s.posted(cookie, "/rounds/final/settings", form("title", "Grand Final", "starts_at", attribute(page, "starts_at")))
	if v := round(); v.Title != "Grand Final" || !v.Start.Equal(*start) {
		t.Errorf("another title moves the start from %v to %v", start, v.Start)
	}
	s.posted(cookie, "/rounds/final/start", url.Values{})
	page = s.show(cookie, "/rounds/final/staff")
	s.says(page, "Freeze now", "Have it end later")
	if r := s.post(cookie, "/rounds/final/extend", url.Values{"minutes": {"-3"}}); r.status != http.StatusUnprocessableEntity {
		t.Errorf("an extension by -3 minutes: %d", r.status)
	}
	s.posted(cookie, "/rounds/final/extend", url.Values{"minutes": {"30"}})
	if v := round(); *v.Duration != 5*time.Hour+30*time.Minute || *v.Freeze != 4*time.Hour+30*time.Minute {
		t.Errorf("extended, it lasts %v and freezes at %v", *v.Duration, *v.Freeze)
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = starts_at - interval '2 hours'"))
	from := round().Start.Add(time.Hour).UTC()
	_, page = s.posted(cookie, "/rounds/final/removed", url.Values{
		"from": {from.Format("2006-01-02T15:04:05")}, "to": {from.Add(10 * time.Minute).Format("2006-01-02T15:04:05")}, "zone": {"UTC"}, "reason": {"no power"},
	})
	s.says(page, "no power", "Give back")
	if r := s.post(cookie, "/rounds/final/removed", url.Values{"from": {""}, "to": {""}, "zone": {"UTC"}}); r.status != http.StatusUnprocessableEntity {
		t.Errorf("an interval without times: %d", r.status)
	}
	if r := s.post(cookie, "/rounds/final/removed", url.Values{
		"from": {from.Format("2006-01-02T15:04:05")}, "to": {from.Add(time.Minute).Format("2006-01-02T15:04:05")}, "zone": {"UTC"},
	}); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "was removed already") {
		t.Errorf("an interval that is removed: %d", r.status)
	}
	undo := regexp.MustCompile(`/rounds/final/removed/[0-9]+/undo`).FindString(page)
	s.posted(cookie, undo, url.Values{})
	s.posted(cookie, "/rounds/final/freeze", url.Values{})
	s.says(s.show(cookie, "/rounds/final/staff"), "frozen", "Show what is hidden")
	s.posted(cookie, "/rounds/final/unfreeze", url.Values{})
	if r := s.post(cookie, "/rounds/final/finalize", url.Values{"b": {"1"}}); r.status != http.StatusConflict || !strings.Contains(r.body, "The round is not over.") {
		t.Errorf("a result that cannot stand: %d %s", r.status, between(r.body, `id="fault"`, "</div>"))
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET starts_at = starts_at - interval '10 hours'"))
	_, page = s.posted(cookie, "/rounds/final/finalize", url.Values{"b": {"1"}})
	s.says(page, "The result stands, by prof.")
	if r := s.post(cookie, "/rounds/final/settings", form("title", "Other")); r.status != http.StatusUnprocessableEntity {
		t.Errorf("another title of what is final: %d", r.status)
	}
	if r := s.post(cookie, "/rounds/final/reopen", url.Values{"reason": {"x"}}); r.status != http.StatusForbidden {
		t.Errorf("staff opens what is final: %d", r.status)
	}
	s.someone("root", judge.RoleAdmin)
	root := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("root")
	if r := s.post(root, "/rounds/final/reopen", url.Values{"reason": {" "}}); r.status != http.StatusUnprocessableEntity {
		t.Errorf("opened without a reason: %d", r.status)
	}
	s.posted(root, "/rounds/final/reopen", url.Values{"reason": {"a wrong test"}})
	if round().Finalized != nil {
		t.Error("it is still final")
	}
	s.posted(cookie, "/rounds/final/problems/stairs/remove", url.Values{})
	if to, _ := s.posted(cookie, "/rounds/final/delete", url.Values{}); to != "/spaces/cup/rounds" {
		t.Errorf("a round deleted leads to %s", to)
	}
}

// attribute is the value of a field of a form.
func attribute(page, field string) string {
	_, page, _ = strings.Cut(page, `name="`+field+`"`)
	return between(page, `value="`, `"`)
}
