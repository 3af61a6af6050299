package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/host/restore"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
)

func TestTheCommandLineRunsAContestAndWritesItsPackage(t *testing.T) {
	t.Parallel()
	store, call := site(t)
	must := func(err error) { t.Helper(); sqltest.Must(t, err) }
	for name, role := range map[string]judge.Role{"prof": judge.RoleStaff, "ann": judge.RoleContestant} {
		must(store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	}
	must(store.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:01"}, "prof"))
	must(store.CreateSpace(t.Context(), judge.Space{Slug: "cup", Title: "Cup", Listed: true}, "prof"))
	must(store.Rounds.Create(t.Context(), judge.Round{
		Space: "cup", Code: "final", Title: "Final", Kind: judge.RoundContest, Format: "icpc", Start: new(time.Now().Add(time.Hour)), Duration: new(time.Hour), Freeze: new(50 * time.Minute),
	}, "prof"))
	_, err := store.Rounds.ChangeProblems(t.Context(), "final", "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}}, nil
	})
	must(err)
	must(store.Rounds.PutParticipants(t.Context(), "cup", []judge.Participant{{Code: "red", Name: "Red", Ranked: true}}, "prof"))
	must(store.Rounds.Enter(t.Context(), "final", []string{"red"}, "prof"))

	call("ann", "contest list", 0, "final  cup    before")
	call("ann", "contest show nosuch", 1, "There is no round")
	call("ann", "contest start final", 1, "Only staff of the space")
	call("prof", "contest pause final", 0, "final has no start")
	call("prof", "contest resume final", 0, "final counts down again")
	call("prof", "contest start final", 0, "final has begun")
	call("prof", "contest extend final soon", 1, "want a length of time")
	call("prof", "contest extend final 30m", 0, "final ends 30m0s later")
	call("prof", "contest freeze final", 0, "final is frozen")
	call("ann", "contest show final", 0, "frozen")
	call("prof", "contest unfreeze final", 0, "final hides nothing")
	call("prof", "contest finalize final", 1, "The round is not over.")
	must(store.TryExec(t.Context(), "UPDATE rounds SET starts_at = starts_at - interval '3 hours'"))
	r, err := recorder.New(recorder.Config{}, store.Rounds)
	must(err)
	look := func() { t.Helper(); sqltest.UpToNow(t, store, func() error { return r.Look(t.Context()) }) }
	call("prof", "contest finalize final --b 2", 0, "the result of final stands")
	look()
	file := filepath.Join(t.TempDir(), "final.zip")
	call("prof", "contest export final -o "+file, 0, "exported final to")
	call("prof", "contest check "+file, 0, "0 findings")
	call("prof", "contest export nosuch -o "+file, 1, "export nosuch")
	call("prof", "contest check "+filepath.Join(t.TempDir(), "none.zip"), 1, "no such file")
	if out := call("prof", "contest check --json "+file, 0, `"findings": []`); !strings.HasPrefix(out, "{") {
		t.Errorf("as JSON: %q", out)
	}
	// Brought back by another name, it is the same.
	call("prof", "contest import "+file, 1, "There is a round of this short name")
	call("ann", "contest import "+file+" --code second --space cup", 1, "403")
	call("prof", "contest import "+file+" --code second --space nosuch", 1, "There is no space")
	call("prof", "contest import "+file+" --code second --preview --space cup", 0, "would import second into cup")
	call("prof", "contest import "+file+" --code second", 0, "imported second into second: 1 problems, 1 participants, 0 submissions")
	call("prof", "contest show second", 0, "second  second  over")
	unpacked := t.TempDir()
	must(os.WriteFile(filepath.Join(unpacked, "contest.json"), []byte(`{"id": "folder", "name": "F", "duration": "1:00:00"}`), 0o600))
	must(os.WriteFile(filepath.Join(unpacked, "problems.json"), []byte(`[]`), 0o600))
	call("prof", "contest import "+unpacked, 3, "teams.json    it is missing")
	must(os.WriteFile(filepath.Join(unpacked, "teams.json"), []byte(`[{"id": "x", "name": "X"}]`), 0o600))
	call("prof", "contest import "+unpacked, 0, "imported folder into folder: 0 problems, 1 participants")
	feed := filepath.Join(unpacked, "feed.ndjson")
	must(os.WriteFile(feed, []byte("hello\n"), 0o600))
	call("prof", "contest import "+feed, 1, "no event feed")
	call("ann", "contest recount second", 1, "There is no round")
	call("ann", "contest recount final", 1, "only staff of the space of final recounts it")
	call("prof", "contest recount nosuch", 1, "There is no round")
	call("prof", "contest recount second", 0, "1 rows, 0 findings")
	call("prof", "audit", 0, "contest_counted_otherwise")
	// A board that was shown as something else, as by a version that counted otherwise.
	must(store.TryExec(t.Context(), `INSERT INTO contest_snapshots (round_id, view, seq, digest) SELECT r.id, 'staff', max(l.seq), sha256('other')
		FROM rounds r JOIN contest_log l ON l.round_id = r.id WHERE r.code = 'second' GROUP BY r.id
		ON CONFLICT (round_id, view) DO UPDATE SET seq = excluded.seq, digest = excluded.digest`))
	call("ann", "contest show second", 1, "There is no round")
	call("prof", "contest recount second", 3, "was another than what the log gives")
	call("prof", "contest recount final", 0, "0 findings")
	call("prof", "audit", 1, "contest_shown_otherwise    1")
	must(store.TryExec(t.Context(), "UPDATE contest_snapshots SET seq = seq + 1"))
	call("prof", "audit", 1, "the board was shown at line 5, and the log has 4")
}

func TestTheCommandLineHandsAContestInAgain(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	store := sqltest.Open(t, dsn)
	feed := filepath.Join(t.TempDir(), "feed.ndjson")
	lines := []string{
		`{"type":"contest","data":{"id":"wf_x","name":"X","start_time":"2024-05-04T09:00:00Z","duration":"0:10:00"}}`,
		`{"type":"judgement-types","id":"AC","data":{"id":"AC","solved":true}}`, `{"type":"languages","id":"cpp","data":{"id":"cpp"}}`,
		`{"type":"problems","id":"adding","data":{"id":"adding","label":"A","name":"Adding"}}`, `{"type":"teams","id":"red","data":{"id":"red","name":"Red"}}`,
		`{"type":"submissions","id":"1","data":{"id":"1","team_id":"red","problem_id":"adding","language_id":"cpp","time":"2024-05-04T09:03:00Z","contest_time":"0:03:00"}}`,
		`{"type":"judgements","id":"1","data":{"id":"1","submission_id":"1","judgement_type_id":"AC","start_time":"2024-05-04T09:03:00Z","end_time":"2024-05-04T09:03:01Z"}}`,
	}
	sqltest.Must(t, os.WriteFile(feed, []byte(strings.Join(lines, "\n")), 0o600))
	replay := func(args string, status int, want string) {
		t.Helper()
		got, out, errs := call(t, map[string]string{"DATABASE_URL": dsn}, strings.Fields("contest replay "+feed+" "+args)...)
		if got != status || !strings.Contains(out+errs, want) {
			t.Errorf("deepoj contest replay %s: status %d, want %d and %q\n%s%s", args, got, status, want, out, errs)
		}
	}
	replay("--speed 0", 1, "--speed is from 1 to 1000")
	replay("--judge", 1, "there is no problem adding to judge by")
	replay("--speed 1000 --in 0s", 0, "wf_x is replayed: 1 handed in, 1 judged")
	replay("--speed 1000 --in 0s", 1, "there is a round wf_x; give it another name with --code")
	if v := sqltest.One[string](t, store, "SELECT verdict FROM jobs"); v != "AC" {
		t.Errorf("the verdict is %s", v)
	}
}

func TestARecountFindsRowsThatAreOthers(t *testing.T) {
	t.Parallel()
	lines, err := restore.ReadLines([]byte(`{"at":"2024-05-04T09:00:00Z","kind":"round","object":"x","audience":27,"data":{"code":"x","title":"X","kind":"contest","format":"icpc","start":"2024-05-04T09:00:00Z","duration_ms":600000}}
		{"at":"2024-05-04T09:00:00Z","kind":"participant","object":"red","audience":27,"data":{"code":"red","name":"Red","ranked":true}}
		{"at":"2024-05-04T09:00:00Z","kind":"problem","object":"adding","audience":27,"data":{"label":"A","name":"Adding","ordinal":0}}
		{"at":"2024-05-04T09:03:00Z","kind":"submission","object":"1","audience":27,"data":{"number":1,"participant":0,"team":"red","problem":"adding","language":"cpp","time":"2024-05-04T09:03:00Z"}}
		{"at":"2024-05-04T09:03:00Z","kind":"judgement","object":"1-1","audience":24,"data":{"submission":1,"generation":1,"verdict":"AC","current":true,"start":"2024-05-04T09:03:00Z","end":"2024-05-04T09:03:00Z"}}`))
	sqltest.Must(t, err)
	row := func(solved int, total int64) map[string]client.BoardRow {
		return map[string]client.BoardRow{"red": {Participant: "red", Rank: new(1), Solved: solved, Total: total}}
	}
	for name, tt := range map[string]struct {
		public, staff map[string]client.BoardRow
		want          int
	}{
		"as it is":              {row(0, 0), row(1, 3), 0},
		"a verdict that leaked": {row(1, 3), row(1, 3), 1},
		"another total":         {row(0, 0), row(1, 4), 1},
		"a row is missing":      {row(0, 0), nil, 2},
	} {
		found, err := recounted(lines, map[string]map[string]client.BoardRow{"public": tt.public, "staff": tt.staff})
		if err != nil || len(found) != tt.want {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
}
