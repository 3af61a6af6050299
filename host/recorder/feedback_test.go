package recorder_test

import (
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// What a round's feedback hides from participants their log does not have, until its end; single tests are told nobody then who is
// told of groups alone, not even where the board is public.
func TestFeedbackIsToldAsFarAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		settings string
		own      bool // the team is told of its judgement before the end
		public   bool // everybody is
	}{
		{`{"mode": "max", "feedback": "none", "board": "none"}`, false, false},
		{`{"mode": "max", "feedback": "public", "board": "none"}`, false, false},
		{`{"mode": "max", "feedback": "groups", "board": "none"}`, true, false},
		{`{"mode": "max", "feedback": "groups"}`, true, true},
	} {
		g := newStage(t)
		g.s.Exec(t, "UPDATE rounds SET format = 'ioi', settings = $1::jsonb, freeze_ms = NULL, thaw_at = NULL", tt.settings)
		judged, failed := g.submit(0, "aplusb"), g.submit(0, "other")
		g.judge(judged, judge.AC)
		g.judge(failed, judge.CE)
		g.s.Exec(t, `UPDATE results SET result = (result::jsonb || '{"tests": [{"index": 1, "verdict": "AC", "usage": {"cpu_us": 1000, "wall_ms": 2}}]}')::json WHERE job_id = $1`, judged)
		g.record()
		has := func(v contest.Viewer, object string) bool { return last(g.log(), v)[object] != "" }
		mine := team(g.teams[0])
		if !has(mine, "judgement 2-1") {
			t.Errorf("%s: a team is not told that something did not compile", tt.settings)
		}
		if has(mine, "judgement 1-1") != tt.own || has(public, "judgement 1-1") != tt.public || !has(jury, "judgement 1-1") {
			t.Errorf("%s: of a judgement are told the team: %t, everybody: %t, the jury: %t", tt.settings, has(mine, "judgement 1-1"), has(public, "judgement 1-1"), has(jury, "judgement 1-1"))
		}
		if has(mine, "run 1-1-1") || has(public, "run 1-1-1") || !has(jury, "run 1-1-1") {
			t.Errorf("%s: of a test are told the team: %t, everybody: %t, the jury: %t", tt.settings, has(mine, "run 1-1-1"), has(public, "run 1-1-1"), has(jury, "run 1-1-1"))
		}
		g.act("shorten", func(r judge.Round, now time.Time) (judge.Round, error) {
			return contest.SetDuration(r, now, new(contest.ClockOf(&r).At(now)+2*time.Millisecond))
		})
		time.Sleep(5 * time.Millisecond)
		g.record()
		for _, v := range []contest.Viewer{mine, public} {
			if !has(v, "judgement 1-1") || !has(v, "run 1-1-1") {
				t.Errorf("%s: in the end not everything is told", tt.settings)
			}
		}
		whole(t, g.log(), g.teams)
	}
}

// Beside a later version, what that tells of stays told, and boards go on.
func TestWhatALaterVersionTellsIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.record()
	seq := sqltest.One[int64](t, g.s, "SELECT max(seq) FROM contest_log")
	g.s.Exec(t, "INSERT INTO contest_objects (round_id, kind, object, data, audience) SELECT id, 'weather', 'w1', '{}', 27 FROM rounds")
	g.s.Exec(t, "INSERT INTO contest_due (round_id, job_id) SELECT id, 0 FROM rounds")
	g.record()
	if n := sqltest.One[int64](t, g.s, "SELECT max(seq) FROM contest_log"); n != seq {
		t.Errorf("the recorder wrote %d lines", n-seq)
	}
	if got, err := contest.Read("weather", "w1", []byte(`{"rain": true}`)); err != nil || len(got) > 0 {
		t.Errorf("a board takes it for %v, %v", got, err)
	}
}
