package clics_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

var start = time.Date(2030, 2, 14, 9, 0, 0, 0, time.UTC)

func at(d time.Duration) *time.Time { return new(start.Add(d)) }

func ms(d time.Duration) *int64 { return new(d.Milliseconds()) }

func config(t testing.TB, f contest.Format, settings string) contest.Config {
	t.Helper()
	c, err := contest.ParseConfig(f, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLengthsOfTimeAreWrittenAsTheAPIHasThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0:00:00.000", time.Millisecond: "0:00:00.001", 5 * time.Hour: "5:00:00.000", 123*time.Hour + 4*time.Minute + 5*time.Second + 6*time.Millisecond: "123:04:05.006",
		-90 * time.Second: "-0:01:30.000", -time.Millisecond: "-0:00:00.001",
	} {
		if got := clics.RelTime(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
	if got := clics.AbsTime(start.Add(1500 * time.Millisecond).In(time.FixedZone("x", 3600))); got != "2030-02-14T09:00:01.500Z" {
		t.Errorf("a moment is written %s", got)
	}
}

func FuzzRelTime(f *testing.F) {
	f.Add(int64(0))
	f.Add(int64(-3_599_999))
	f.Add(int64(360_000_000))
	pattern := regexp.MustCompile(`^-?([1-9][0-9]*)?[0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}$`)
	f.Fuzz(func(t *testing.T, n int64) {
		n %= 1 << 50
		text := clics.RelTime(time.Duration(n) * time.Millisecond / 1024)
		if !pattern.MatchString(text) {
			t.Fatalf("%d is written %s", n, text)
		}
		var h, m, s, u int64
		if _, err := fmt.Sscanf(strings.TrimPrefix(text, "-"), "%d:%d:%d.%d", &h, &m, &s, &u); err != nil {
			t.Fatal(err)
		}
		back := ((h*60+m)*60+s)*1000 + u
		if strings.HasPrefix(text, "-") {
			back = -back
		}
		if want := (time.Duration(n) * time.Millisecond / 1024).Milliseconds(); back != want {
			t.Fatalf("%s means %d, want %d", text, back, want)
		}
	})
}

// all are objects of every endpoint, in a contest with everything that they can have.
func all(t testing.TB, f clics.Form, format contest.Format) map[string]any {
	t.Helper()
	cfg := config(t, format, "")
	round := contest.RoundData{
		Code: "wf", Title: "Finals", FormalName: "The Finals", Kind: judge.RoundContest, Format: string(format), Start: &start, Duration: ms(5 * time.Hour),
		Freeze: ms(4 * time.Hour), Removed: []contest.RemovedData{{ID: 1, From: *at(time.Hour), To: *at(time.Hour + 10*time.Minute)}}, Thaw: at(6 * time.Hour),
		Started: &start, Frozen: at(4*time.Hour + 10*time.Minute),
	}
	clock := round.Clock()
	object, err := f.ContestOf(round, cfg)
	if err != nil {
		t.Fatal(err)
	}
	score := 41.5
	problem := contest.ProblemData{
		Label: "A", Name: "Adding", RGB: "#ff0000", Color: "red", Points: &score, Statement: []judge.ProblemFile{{Name: "problem.pdf", Bytes: 9, Statement: true}},
		Attachments: []judge.ProblemFile{{Name: "tools/tester.py", Bytes: 9}},
	}
	judged := contest.JudgementData{
		Submission: 7, Generation: 2, Verdict: judge.RE, Current: true, Score: &score, Start: *at(2 * time.Hour), End: *at(2*time.Hour + time.Second), CPU: 412_345,
	}
	s := contest.New(cfg)
	for _, e := range []contest.Entry{
		contest.Round{Start: start, Duration: 5 * time.Hour},
		contest.Problem{ID: "adding", Label: "A", Points: new(100.0)},
		contest.Participant{ID: 1, Name: "Red", Ranked: true},
		contest.Participant{ID: 2, Name: "Blue", Ranked: true},
		contest.Participant{ID: 3, Name: "Judges", Hidden: true},
		contest.Submission{ID: 1, Participant: 1, Problem: "adding", Time: *at(31 * time.Minute)},
		contest.Judgement{Submission: 1, Generation: 1, Current: true, Verdict: judge.WA, Score: new(0.0)},
		contest.Submission{ID: 2, Participant: 1, Problem: "adding", Time: *at(97*time.Minute + 59*time.Second)},
		contest.Judgement{Submission: 2, Generation: 1, Current: true, Verdict: judge.AC, Score: &score, Groups: []contest.GroupScore{{Group: "1", Score: score}}},
	} {
		if _, err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]any{
		"contest": object, "state": clics.StateOf(round), "judgement-types": clics.JudgementTypes(cfg),
		"group": clics.GroupOf("uni", contest.GroupData{ICPCID: "12", Name: "Universities", Type: "site"}),
		"organization": f.OrganizationOf("wf", "mit", contest.OrganizationData{
			Name: "MIT", Country: "USA", Subdivision: "US-MA", Twitter: "mit",
			Logos: []judge.Logo{{Name: "logo.56x56.png", Media: "image/png", Width: 56, Height: 56, Hash: "d41d8cd98f00b204e9800998ecf8427e"}},
		}),
		"team":    clics.TeamOf(contest.ParticipantData{Code: "red", Name: "Red", Organization: "mit", Groups: []string{"uni"}}),
		"problem": f.ProblemOf("final", "adding", problem, cfg, clics.Facts{CPU: 1500 * time.Millisecond, MemoryMiB: 256, Tests: 12}),
		"submission": clics.SubmissionOf(contest.SubmissionData{Number: 7, Participant: 1, Team: "red", Problem: "adding", Language: "python", Time: *at(2 * time.Hour)}, clock,
			&clics.Source{EntryPoint: "main.py", Href: "contests/wf/submissions/7/files"}),
		"submission-cpp": clics.SubmissionOf(contest.SubmissionData{Number: 8, Team: "red", Problem: "adding", Language: "cpp", Time: *at(2 * time.Hour)}, clock, &clics.Source{Href: "contests/wf/submissions/8/files"}),
		"judgement":      f.JudgementOf("7-2", judged, cfg, clock),
		"judgement-new":  f.JudgementOf("7-3", contest.JudgementData{Submission: 7, Generation: 3, Start: *at(2 * time.Hour)}, cfg, clock),
		"scoreboard": f.ScoreboardOf(s.Board(contest.Query{}), round, cfg, clock, *at(4 * time.Hour), func(id int64) string {
			return []string{"", "red", "blue", "judges"}[id]
		}),
		"award": clics.Award{"winner", "Contest winner", []string{"red"}},
	}
}

// What the releases want of objects, and what strict ones may have: facts of their JSON schemas.
var (
	required = map[string]string{
		"contest": "id name duration scoreboard_type", "state": "started ended finalized end_of_updates", "group": "id name", "organization": "id name",
		"team": "id name label", "problem": "id label name ordinal test_data_count", "submission": "id language_id problem_id team_id time contest_time files",
		"judgement": "id submission_id start_time start_contest_time", "scoreboard": "time contest_time state rows", "award": "id citation",
	}
	known = map[string]string{
		"contest":      "id name formal_name start_time countdown_pause_time duration scoreboard_freeze_duration scoreboard_type penalty_time banner logo location",
		"state":        "started frozen ended thawed finalized end_of_updates",
		"group":        "id icpc_id name type location",
		"organization": "id icpc_id name formal_name country country_flag url twitter_hashtag twitter_account location logo",
		"team":         "id icpc_id name label display_name organization_id group_ids hidden location photo video backup key_log tool_data desktop webcam audio",
		"problem":      "id uuid label name ordinal rgb color time_limit test_data_count max_score package statement",
		"submission":   "id language_id problem_id team_id time contest_time entry_point files reaction",
		"judgement":    "id submission_id judgement_type_id score start_time start_contest_time end_time end_contest_time max_run_time",
		"scoreboard":   "time contest_time state rows", "award": "id citation team_ids",
	}
	newer = map[string]string{"contest": " scoreboard_thaw_time", "problem": " memory_limit output_limit code_limit attachments", "judgement": " current", "organization": " country_subdivision country_subdivision_flag"}
)

func TestObjectsHaveWhatTheirReleaseWantsAndNothingElse(t *testing.T) {
	for _, version := range clics.Versions {
		for _, format := range []contest.Format{contest.ICPC, contest.IOI} {
			f := clics.Form{Version: version, Strict: true}
			for name, object := range all(t, f, format) {
				text, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				keep(t, fmt.Sprintf("%s-%s-%s", version, format, name), text)
				kind, _, _ := strings.Cut(name, "-")
				if known[kind] == "" || name == "judgement-types" {
					continue
				}
				var fields map[string]any
				if err := json.Unmarshal(text, &fields); err != nil {
					t.Fatal(err)
				}
				may := strings.Fields(known[kind])
				if version == clics.V202601 {
					may = append(may, strings.Fields(newer[kind])...)
				}
				for want := range strings.FieldsSeq(required[kind]) {
					if _, ok := fields[want]; !ok {
						t.Errorf("%s, %s: %s lacks %s: %s", version, format, name, want, text)
					}
				}
				for _, field := range slices.Sorted(maps.Keys(fields)) {
					if !slices.Contains(may, field) {
						t.Errorf("%s, %s: %s has %s, which its schema does not know", version, format, name, field)
					}
				}
			}
		}
	}
}

// keep writes an object into the folder of DEEPOJ_ARTIFACTS, if there is one, for a validator of the published schemas.
func keep(t testing.TB, name string, text []byte) {
	t.Helper()
	if dir := os.Getenv("DEEPOJ_ARTIFACTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestObjectsSayWhatHappenedInTheWordsOfTheirRelease(t *testing.T) {
	for _, tt := range []struct {
		form   clics.Form
		format contest.Format
		object string
		want   string
	}{
		{clics.Form{Version: clics.V202601}, contest.ICPC, "contest", `{"id":"wf","name":"Finals","formal_name":"The Finals","start_time":"2030-02-14T09:00:00.000Z","duration":"5:00:00.000","scoreboard_freeze_duration":"1:00:00.000","scoreboard_thaw_time":"2030-02-14T15:00:00.000Z","scoreboard_type":"pass-fail","penalty_time":"0:20:00.000"}`},
		{clics.Form{Version: clics.V202306}, contest.ICPC, "contest", `{"id":"wf","name":"Finals","formal_name":"The Finals","start_time":"2030-02-14T09:00:00.000Z","duration":"5:00:00.000","scoreboard_freeze_duration":"1:00:00.000","scoreboard_type":"pass-fail","penalty_time":20}`},
		{clics.Form{Version: clics.V202601}, contest.ICPC, "state", `{"started":"2030-02-14T09:00:00.000Z","frozen":"2030-02-14T13:10:00.000Z","ended":null,"thawed":null,"finalized":null,"end_of_updates":null}`},
		{clics.Form{Version: clics.V202601}, contest.ICPC, "submission", `{"id":"7","language_id":"python3","problem_id":"adding","team_id":"red","time":"2030-02-14T11:00:00.000Z","contest_time":"1:50:00.000","entry_point":"main.py","files":[{"href":"contests/wf/submissions/7/files","filename":"files.zip","mime":"application/zip"}]}`},
		{clics.Form{Version: clics.V202601}, contest.ICPC, "judgement", `{"id":"7-2","submission_id":"7","judgement_type_id":"RTE","current":true,"start_time":"2030-02-14T11:00:00.000Z","start_contest_time":"1:50:00.000","end_time":"2030-02-14T11:00:01.000Z","end_contest_time":"1:50:01.000","max_run_time":0.412}`},
		{clics.Form{Version: clics.V202306}, contest.IOI, "judgement-new", `{"id":"7-3","submission_id":"7","judgement_type_id":null,"start_time":"2030-02-14T11:00:00.000Z","start_contest_time":"1:50:00.000","end_time":null,"end_contest_time":null}`},
		{clics.Form{Version: clics.V202601}, contest.ICPC, "scoreboard", `"rows":[{"rank":1,"team_id":"red","score":{"num_solved":1,"total_time":"1:57:00.000","time":"1:37:59.000"},"problems":[{"problem_id":"adding","num_judged":2,"num_pending":0,"solved":true,"time":"1:37:59.000","first_to_solve":true}]},{"rank":2,"team_id":"blue","score":{"num_solved":0,"total_time":"0:00:00.000","time":null},"problems":[{"problem_id":"adding","num_judged":0,"num_pending":0,"solved":false}]}]`},
		{clics.Form{Version: clics.V202306, Strict: true}, contest.ICPC, "scoreboard", `{"num_solved":1,"total_time":117,"time":97},"problems":[{"problem_id":"adding","num_judged":2,"num_pending":0,"solved":true,"time":97}]},{"rank":2,"team_id":"blue","score":{"num_solved":0,"total_time":0},"problems"`},
		{clics.Form{Version: clics.V202601}, contest.IOI, "scoreboard", `{"rank":2,"team_id":"blue","score":{"score":0,"time":"0:00:00.000"},"problems":[{"problem_id":"adding","num_judged":0,"num_pending":0,"score":0}]}`},
	} {
		text, err := json.Marshal(all(t, tt.form, tt.format)[tt.object])
		if err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s %s of %s is (%v)\n%s\nwant\n%s", tt.form.Version, tt.object, tt.format, err, text, tt.want)
		}
	}
	if _, err := (clics.Form{Version: clics.V202601}).ContestOf(contest.RoundData{Code: "x"}, config(t, contest.ICPC, "")); err != clics.ErrEndless { //nolint:errorlint // it is returned as it is
		t.Errorf("a round without an end is %v", err)
	}
	penalties := map[string]bool{}
	for _, j := range clics.JudgementTypes(config(t, contest.ICPC, `{"penalise_ce": true}`)) {
		penalties[j.ID] = *j.Penalty
	}
	if want := map[string]bool{"AC": false, "WA": true, "PE": true, "TLE": true, "MLE": true, "OLE": true, "RTE": true, "CE": true, "JE": false}; !maps.Equal(penalties, want) {
		t.Errorf("penalties are %v, want %v", penalties, want)
	}
}
