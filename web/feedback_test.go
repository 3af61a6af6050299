package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// veiledResult is a result of three tests, of which the first is a sample.
func veiledResult(v judge.Verdict, score float64, secret ...judge.Verdict) judge.Result {
	most := 100.0
	r := judge.Result{
		Verdict: v, Score: &score, MaxScore: &most, Usage: judge.Usage{CPUMillis: int64(10 * len(secret)), CPUMicros: int64(10_000 * len(secret)), MemoryKiB: 2000}, Message: fmt.Sprintf("%s on test %d", v, len(secret)+1),
		Groups: []judge.GroupResult{{Name: "secret/group1", Verdict: v, Score: &score, MaxScore: &most}},
		Tests:  []judge.TestResult{{Index: 1, Group: "sample", Name: "1", Sample: true, Verdict: judge.AC, Usage: judge.Usage{CPUMillis: 3, MemoryKiB: 1000}}},
	}
	for i, one := range secret {
		r.Tests = append(r.Tests, judge.TestResult{Index: i + 2, Group: "secret/group1", Name: fmt.Sprint(i + 2), Verdict: one, Usage: judge.Usage{CPUMillis: int64(5 + i), MemoryKiB: 1500}})
	}
	return r
}

// TestWhatFeedbackHidesChangesNoAnswer has two rounds in which the same is handed in and something else comes of it, of which their
// settings tell participants nothing: they, those who hand in with them, and others get the same answers, byte by byte, but for
// times. In the end everything is told.
func TestWhatFeedbackHidesChangesNoAnswer(t *testing.T) {
	wrong, slow, right := judge.WA, judge.TLE, judge.AC
	for name, round := range map[string]struct {
		settings string
		freeze   bool
		worlds   [2][]judge.Result
		tells    string // to who handed in, of the first
	}{
		"ICPC, in the freeze": {
			`{"format": "icpc", "settings": {"own_verdicts_in_freeze": false}}`, true,
			[2][]judge.Result{{veiledResult(right, 100, right, right), veiledResult(wrong, 0, wrong)}, {veiledResult(slow, 0, slow), veiledResult(right, 100, right, right)}},
			`"feedback":"none"`,
		},
		"IOI, none": {
			`{"format": "ioi", "freeze_ms": null, "settings": {"mode": "max", "feedback": "none", "board": "none", "min_interval_s": 0}}`, false,
			[2][]judge.Result{{veiledResult(right, 100, right, right), veiledResult(wrong, 0, wrong)}, {veiledResult(judge.PA, 40, right, slow), veiledResult(right, 100, right, right)}},
			`"feedback":"none"`,
		},
		"IOI, the samples": {
			`{"format": "ioi", "freeze_ms": null, "settings": {"mode": "max_tokened_last", "feedback": "public", "board": "none", "min_interval_s": 0}}`, false,
			[2][]judge.Result{{veiledResult(right, 100, right, right), veiledResult(wrong, 0, wrong)}, {veiledResult(judge.PA, 40, right, slow), veiledResult(right, 100, right, right)}},
			`"samples":[{`,
		},
		"IOI, groups": {
			`{"format": "ioi", "freeze_ms": null, "settings": {"mode": "max_subtask", "feedback": "groups", "min_interval_s": 0}}`, false,
			[2][]judge.Result{{veiledResult(judge.PA, 40, right, wrong), veiledResult(wrong, 0, wrong)}, {veiledResult(judge.PA, 40, right, wrong, right), veiledResult(wrong, 0, right, wrong)}},
			`"score":40`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var worlds [2]map[string]string
			for w := range worlds {
				s := newStage(t)
				prof, ann, bob, _ := s.cup()
				amy := caller{s, s.session("amy")}
				prof.ask("PATCH", "/api/v1/rounds/final", round.settings, 200)
				hook := ann.ask("POST", "/api/v1/webhooks", `{"url": "https://example.org/hook", "kinds": ["submission.finished"]}`, 201)
				if hook["id"] == nil {
					t.Errorf("the webhook is %v", hook)
				}
				ann.hands("stairs", judge.CE)
				s.record()
				if round.freeze {
					prof.ask("POST", "/api/v1/rounds/final/freeze", "{}", 200)
					time.Sleep(5 * time.Millisecond)
				}
				var ids []string
				for _, r := range round.worlds[w] {
					out := ann.ask("POST", "/api/v1/submissions", fmt.Sprintf(`{"round": "final", "problem": "aplusb", "language": "cpp", "source": "int main() { return %d; }"}`, len(ids)), 201)
					id := int64(out["job_id"].(float64))
					a := s.claim(id)
					s.compiled(a, 4)
					for _, one := range r.Tests {
						s.test(a, 4, one)
					}
					s.must(s.store.Finalize(t.Context(), a, r))
					ids = append(ids, fmt.Sprint(id))
				}
				s.record()
				paths := append(roundPaths(), "/submissions", "/submissions?verdict=AC", "/rounds/final/submissions?verdict=AC", "/api/v1/submissions?verdict=AC&limit=1", "/api/v1/submissions?verdict=WA",
					"/api/v1/problems?solved=solved", "/api/v1/submissions/batch?ids="+strings.Join(ids, ","))
				for _, id := range ids {
					for _, path := range []string{"/submissions/%s", "/submissions/%s/live", "/submissions/%s/events", "/api/v1/submissions/%s", "/api/v1/submissions/%s?wait=1", "/api/v1/submissions/%s/events", "/api/v1/submissions/%s/events?after=2", "/status/%s", "/rounds/final/problems/aplusb?from=%s"} {
						paths = append(paths, fmt.Sprintf(path, id))
					}
				}
				worlds[w] = map[string]string{}
				for who, c := range map[string]caller{"ann": ann, "amy": amy, "bob": bob, "guest": {s, ""}} {
					for _, path := range paths {
						worlds[w][who+" "+path] = c.answer(path)
					}
				}
				s.agreesOfFeedback(t)
				if one := worlds[w]["ann /api/v1/submissions/"+ids[0]]; !strings.Contains(one, round.tells) || strings.Contains(one, `"index":2`) {
					t.Errorf("who handed in is told %s", one)
				}
				if n := strings.Count(ann.reads("/clics/2026-01/contests/final/judgements", 200).body, `"CE"`); n != 1 {
					t.Errorf("of a compile error a team is told %d times", n)
				}
				for _, path := range []string{"/api/v1/submissions/" + ids[0], "/submissions/" + ids[0]} {
					if seen := prof.answer(path); !strings.Contains(seen, fmt.Sprint(round.worlds[w][0].Verdict)) {
						t.Errorf("staff are answered %.1000s", seen)
					}
				}
				if on := ann.answer("/api/v1/submissions/" + ids[0] + "/events?after=4"); !strings.HasPrefix(strings.TrimSpace(strings.SplitN(on, "\n\n", 2)[1]), "id: 5\n") || !strings.Contains(on, "event: finished") {
					t.Errorf("behind the fourth event comes %s", on)
				}
				sqltest.Must(t, func() error { _, err := s.store.FeedWebhooks(t.Context(), 100); return err }())
				for i, body := range sqltest.All[string](t, s.store, "SELECT body FROM webhook_deliveries ORDER BY id") {
					worlds[w][fmt.Sprint("webhook ", i)] = changing.ReplaceAllString(body, "")
				}
				s.must(s.store.TryExec(t.Context(), "UPDATE rounds SET duration_ms = round_time(id, now()) + 1, thawed_at = CASE WHEN freeze_ms IS NOT NULL THEN now() END WHERE code = 'final'"))
				time.Sleep(10 * time.Millisecond)
				s.agreesOfFeedback(t)
				if now := ann.answer("/api/v1/submissions/" + ids[0]); !strings.Contains(now, `"index":2`) || strings.Contains(now, "feedback") {
					t.Errorf("in the end who handed in is told %s", now)
				}
			}
			alike(t, worlds)
		})
	}
}

// agreesOfFeedback reports submissions of the round final of which the database, by which pages go, tells participants otherwise than
// the settings, by which the recorder goes.
func (s *stage) agreesOfFeedback(t *testing.T) {
	t.Helper()
	r, err := s.store.Rounds.Round(t.Context(), "final")
	s.must(err)
	cfg, err := contest.ParseConfig(contest.Format(r.Format), r.Settings)
	s.must(err)
	for _, id := range sqltest.All[int64](t, s.store, "SELECT job_id FROM job_payloads WHERE round_id = $1", r.ID) {
		at := sqltest.One[time.Time](t, s.store, "SELECT created_at FROM jobs WHERE job_id = $1", id)
		token := sqltest.One[bool](t, s.store, "SELECT EXISTS (SELECT 1 FROM submission_tokens WHERE job_id = $1)", id)
		want := cfg.Feedback(contest.ClockOf(r), r.Now, at, token)
		if sqltest.One[bool](t, s.store, "SELECT verdict = 'CE' FROM jobs WHERE job_id = $1", id) {
			want = judge.FeedbackFull
		}
		if told := sqltest.One[string](t, s.store, "SELECT feedback_told($1)", id); told != string(want) {
			t.Errorf("of what was handed in at %v is told %s, want %s", at, told, want)
		}
	}
}

// TestATokenShowsWhatFeedbackHides has a participant spend a token, whereupon that submission is told whole, to them alone, and no other.
func TestATokenShowsWhatFeedbackHides(t *testing.T) {
	s := newStage(t)
	prof, ann, bob, _ := s.cup()
	prof.ask("PATCH", "/api/v1/rounds/final", `{"format": "ioi", "freeze_ms": null, "settings": {"mode": "max_tokened_last", "feedback": "public", "board": "none", "min_interval_s": 0,
		"tokens": {"round": {"initial": 1}}}}`, 200)
	first, second := ann.hands("aplusb", judge.WA), ann.hands("aplusb", judge.AC)
	s.record()
	told := func(c caller) int {
		return strings.Count(c.reads("/clics/2026-01/contests/final/judgements", 200).body, `"judgement_type_id"`)
	}
	page := func() string { return ann.page("/rounds/final/problems", 200) }
	if told(ann) != 0 || !strings.Contains(page(), "2 judged, told later") {
		t.Errorf("%d verdicts are told; the page says %s", told(ann), page())
	}
	ann.ask("POST", "/api/v1/rounds/final/tokens", fmt.Sprintf(`{"job_id": %d}`, first), 204)
	s.record()
	if a, b, p := told(ann), told(bob), told(prof); a != 1 || b != 0 || p != 2 {
		t.Errorf("verdicts that the team, another one and staff are told: %d, %d, %d", a, b, p)
	}
	if one := ann.answer(fmt.Sprintf("/api/v1/submissions/%d", first)); !strings.Contains(one, `"verdict":"WA"`) {
		t.Errorf("with a token: %s", one)
	}
	if one := ann.answer(fmt.Sprintf("/api/v1/submissions/%d", second)); !strings.Contains(one, `"result":null`) {
		t.Errorf("without: %s", one)
	}
	s.agreesOfFeedback(t)
}

// TestFeedbackThatRanksWouldTellIsRefused names the setting.
func TestFeedbackThatRanksWouldTellIsRefused(t *testing.T) {
	s := newStage(t)
	prof, _, _, _ := s.cup()
	for _, settings := range []string{`{"feedback": "none"}`, `{"feedback": "public", "board": "own_rank"}`} {
		prof.wrong("PATCH", "/api/v1/rounds/final", `{"format": "ioi", "freeze_ms": null, "settings": `+settings+`}`, "settings", "leaks")
	}
	prof.wrong("PATCH", "/api/v1/rounds/final", `{"format": "ioi", "freeze_ms": null, "settings": {"feedback": "some"}}`, "settings", "invalid")
}
