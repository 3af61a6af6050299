package web

import (
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
)

// TestABoardThatIsClosedIsToldOfNowhere has two rounds whose boards are for staff: what they are made of is told to nobody else
// before the end, by no address, and each team may know its own rank where the settings say so.
func TestABoardThatIsClosedIsToldOfNowhere(t *testing.T) {
	s := newStage(t)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, bob, carl := s.cup()
	prof.ask("PATCH", "/api/v1/rounds/final", `{"format": "ioi", "settings": {"mode": "max", "board": "none", "min_interval_s": 0}, "freeze_ms": null}`, 200)
	ann.hands("aplusb", judge.AC)
	bob.hands("aplusb", judge.WA)
	s.record()
	const api = "/clics/2026-01/contests/final/"
	verdicts := func(c caller) int {
		t.Helper()
		return strings.Count(c.reads(api+"judgements", 200).body, `"judgement_type_id"`)
	}
	if a, b, c, p := verdicts(ann), verdicts(bob), verdicts(carl), verdicts(prof); a != 1 || b != 1 || c != 0 || p != 2 {
		t.Errorf("verdicts that ann, bob, carl and staff are told: %d, %d, %d, %d", a, b, c, p)
	}
	for _, feed := range []caller{bob, carl, {s, ""}} {
		for _, e := range feed.tells(api[:len(api)-1], "") {
			if strings.Contains(string(e.Data), `"judgement_type_id":"AC"`) {
				t.Errorf("the feed tells of %s", e.Data)
			}
		}
	}
	for _, path := range []string{"/api/v1/rounds/final/board", "/api/v1/rounds/final/explain/red", api + "scoreboard"} {
		ann.reads(path, 403)
	}
	rank := func() bool { return strings.Contains(ann.page("/rounds/final/problems", 200), "<dt>Rank</dt>") }
	if rank() {
		t.Error("a team sees its rank on a closed board")
	}
	prof.ask("PATCH", "/api/v1/rounds/final", `{"settings": {"mode": "max", "board": "own_rank", "min_interval_s": 0}}`, 200)
	s.record()
	if !rank() || verdicts(carl) != 0 {
		t.Errorf("a team sees its own rank: %t; somebody else is told %d verdicts", rank(), verdicts(carl))
	}
	s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1"))
	prof.ask("PATCH", "/api/v1/rounds/final", `{"title": "Over"}`, 200)
	time.Sleep(5 * time.Millisecond)
	s.record()
	if n := verdicts(carl); n != 2 {
		t.Errorf("after the end somebody is told %d verdicts", n)
	}
	carl.reads("/api/v1/rounds/final/board", 200)
	// What was shown stays so where the round goes on after all.
	prof.ask("POST", "/api/v1/rounds/final/extend", `{"by_ms": 3600000}`, 200)
	s.record()
	bob.hands("stairs", judge.AC)
	s.record()
	if n := verdicts(carl); n != 2 {
		t.Errorf("extended, somebody is told %d verdicts", n)
	}
	if n := verdicts(bob); n != 3 {
		t.Errorf("extended, a team is told %d verdicts", n)
	}
}
