package rehearsal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/host/rehearsal"
	"deepoj/host/restore"
	"deepoj/host/standings"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// recorded is a package of a contest of half an hour, frozen for its last third, with so many teams and submissions.
func recorded(t *testing.T, teams, submissions int) clics.Package {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	start := time.Date(2024, 5, 4, 9, 0, 0, 0, time.UTC)
	type object = map[string]any
	var all, people, judged []object
	for i := range teams {
		people = append(people, object{"id": fmt.Sprintf("t%d", i+1), "name": fmt.Sprintf("Team %d", i+1)})
	}
	for i := range submissions {
		at := time.Duration(random.IntN(29*60_000)) * time.Millisecond
		if i == 0 {
			at = 30*time.Minute - time.Millisecond // the last moment that counts
		}
		id, end := fmt.Sprint(i+1), at+time.Duration(100+random.IntN(20_000))*time.Millisecond
		all = append(all, object{
			"id": id, "team_id": people[random.IntN(teams)]["id"], "problem_id": []string{"adding", "stairs", "ferry"}[random.IntN(3)], "language_id": "cpp",
			"time": clics.AbsTime(start.Add(at)), "contest_time": clics.RelTime(at),
		})
		if i == 1 {
			continue // nobody has judged it
		}
		judged = append(judged, object{
			"id": id + "-1", "submission_id": id, "judgement_type_id": []string{"AC", "WA", "CE", "TLE"}[random.IntN(4)],
			"start_time": clics.AbsTime(start.Add(at)), "end_time": clics.AbsTime(start.Add(end)),
		})
	}
	p := clics.Package{
		"contest.json":         []byte(`{"id":"half","name":"Half","start_time":"2024-05-04T09:00:00Z","duration":"0:30:00.000","scoreboard_freeze_duration":"0:10:00.000","penalty_time":"0:20:00.000"}`),
		"judgement-types.json": []byte(`[{"id":"AC","solved":true},{"id":"WA","solved":false,"penalty":true},{"id":"TLE","solved":false,"penalty":true},{"id":"CE","solved":false,"penalty":false}]`),
		"languages.json":       []byte(`[{"id":"cpp"}]`),
		"problems.json":        []byte(`[{"id":"adding","label":"A","name":"Adding"},{"id":"stairs","label":"B","name":"Stairs"},{"id":"ferry","label":"C","name":"Ferry"}]`),
	}
	for name, list := range map[string][]object{"teams": people, "submissions": all, "judgements": judged} {
		raw, err := json.Marshal(list)
		sqltest.Must(t, err)
		p[name+".json"] = raw
	}
	return p
}

func read(t *testing.T, p clics.Package, code string) *restore.Contest {
	t.Helper()
	c, found := restore.Read(p, restore.Options{Space: "s", Code: code, Now: time.Now()})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if _, err := c.Settle(nil, time.Now(), func(string) (bool, error) { return true, nil }); err != nil {
		t.Fatal(err)
	}
	return c
}

// board is a board in few words.
func board(t *testing.T, s *sqltest.Store, code string, of standings.View) string {
	t.Helper()
	r, err := recorder.New(recorder.Config{}, s.Rounds)
	sqltest.Must(t, err)
	sqltest.UpToNow(t, s, func() error { return r.Look(t.Context()) })
	round, err := s.Rounds.Round(t.Context(), code)
	sqltest.Must(t, err)
	var out strings.Builder
	sqltest.Must(t, standings.New(standings.Config{}, s.Rounds).Look(t.Context(), round.ID, of, func(v *standings.Standings) {
		for _, row := range v.State.Board(contest.Query{}).Rows {
			fmt.Fprintf(&out, "%d %s %d/%d", row.Rank, v.Participants[row.Participant].Code, row.Solved, row.Total)
			for _, c := range row.Cells {
				fmt.Fprintf(&out, " %d+%d", c.Judged, c.Pending)
			}
			out.WriteByte('\n')
		}
	}))
	return out.String()
}

// afresh makes the round in which a contest is handed in again.
func afresh(t *testing.T, s *sqltest.Store, c *restore.Contest, speed int) *judge.Round {
	t.Helper()
	sqltest.Must(t, s.Rounds.Import(t.Context(), c.Afresh(time.Now().Truncate(time.Millisecond), speed), "prof"))
	r, err := s.Rounds.Round(t.Context(), c.Past.Round.Code)
	sqltest.Must(t, err)
	return r
}

func TestAContestThatIsHandedInAgainHasTheSameBoard(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	sqltest.Must(t, s.CreateSpace(t.Context(), judge.Space{Slug: "s", Title: "S"}, "prof"))
	p := recorded(t, 8, 120)
	sqltest.Must(t, s.Rounds.Import(t.Context(), read(t, p, "then").Past, "prof"))
	const speed = 600 // three seconds
	again := read(t, p, "again")
	var last rehearsal.Progress
	done, err := rehearsal.Run(t.Context(), s.DB, again, rehearsal.Config{Round: afresh(t, s, again, speed), Tell: func(p rehearsal.Progress) { last = p }})
	sqltest.Must(t, err)
	if done.HandedIn != 120 || done.Judged != 119 || last.HandedIn != done.HandedIn {
		t.Errorf("handed in and judged: %+v, told: %+v", done, last)
	}
	for _, view := range []standings.View{standings.Staff, standings.Public} {
		if then, now := board(t, s, "then", view), board(t, s, "again", view); then != now {
			t.Errorf("as %s it was\n%sand is\n%s", view, then, now)
		}
	}
	if staff, public := board(t, s, "again", standings.Staff), board(t, s, "again", standings.Public); staff == public {
		t.Error("nothing is hidden in the freeze")
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')"); n != 0 {
		t.Errorf("%d jobs wait still", n)
	}
	// Of what was handed in, each has the very millisecond of the record.
	if n := sqltest.One[int](t, s, `SELECT count(*) FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id JOIN rounds r ON r.id = p.round_id AND r.code = 'again'
		JOIN contest_submissions c ON c.job_id = p.job_id WHERE round_time(r.id, j.created_at) IN (SELECT round_time(o.id, k.created_at)
		FROM job_payloads q JOIN jobs k ON k.job_id = q.job_id JOIN rounds o ON o.id = q.round_id AND o.code = 'then' WHERE q.problem = p.problem)`); n != 120 {
		t.Errorf("%d of 120 submissions have the times of the record", n)
	}
}

func TestARehearsalThatIsStoppedLeavesNothingWaiting(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	sqltest.Must(t, s.CreateSpace(t.Context(), judge.Space{Slug: "s", Title: "S"}, "prof"))
	c := read(t, recorded(t, 3, 60), "half")
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		for sqltest.One[int](t, s, "SELECT count(*) FROM jobs") < 10 {
			time.Sleep(5 * time.Millisecond)
		}
		stop(enough)
	}()
	if _, err := rehearsal.Run(ctx, s.DB, c, rehearsal.Config{Round: afresh(t, s, c, 300)}); !errors.Is(err, enough) {
		t.Errorf("it ends with %v", err)
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')"); n != 0 {
		t.Errorf("%d jobs wait still", n)
	}
}
