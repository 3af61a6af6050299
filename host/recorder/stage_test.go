package recorder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// stage is a round of five hours that has gone on for two, with three teams, of which the last is hidden.
type stage struct {
	t     testing.TB
	s     *sqltest.Store
	round *judge.Round
	teams []int64
	jobs  []int64
	n     int // of tokens
}

const code = "day1"

func newStage(t testing.TB) *stage {
	t.Helper()
	g := &stage{t: t, s: sqltest.WithProblem(t)}
	must := func(err error) { t.Helper(); sqltest.Must(t, err) }
	must(g.s.SaveProblem(t.Context(), judge.Problem{Slug: "other", Title: "Other", Version: "sha256:01", CPUMillis: 1000}, "test"))
	must(g.s.CreateSpace(t.Context(), judge.Space{Slug: "s", Title: "S"}, "prof"))
	now := sqltest.One[time.Time](t, g.s, "SELECT now()").Truncate(time.Millisecond)
	must(g.s.Rounds.Create(t.Context(), judge.Round{
		Space: "s", Code: code, Title: "Day 1", Kind: judge.RoundContest, Format: "icpc", PublicRuns: true,
		Start: new(now.Add(-2 * time.Hour)), Duration: new(5 * time.Hour), Freeze: new(4 * time.Hour),
	}, "prof"))
	_, err := g.s.Rounds.ChangeProblems(t.Context(), code, "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}, {Problem: "other", Label: "B"}}, nil
	})
	must(err)
	must(g.s.Rounds.PutOrganizations(t.Context(), "s", []judge.Organization{{Code: "uni", Name: "University"}}, "prof"))
	must(g.s.Rounds.PutGroups(t.Context(), "s", []judge.TeamGroup{{Code: "all", Name: "All", Ranked: true}}, "prof"))
	for i := range 3 {
		code := fmt.Sprintf("t%d", i+1)
		must(g.s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{
			Code: code, Name: "Team " + code, Organization: "uni", Groups: []string{"all"}, Ranked: true, Hidden: i == 2,
		}}, "prof"))
		must(g.s.Rounds.Enter(t.Context(), "day1", []string{code}, "prof"))
		p, err := g.s.Rounds.Participant(t.Context(), "s", code)
		must(err)
		g.teams = append(g.teams, p.ID)
	}
	g.round, err = g.s.Rounds.Round(t.Context(), code)
	must(err)
	return g
}

// submit hands in for a team.
func (g *stage) submit(team int, problem string) int64 {
	g.t.Helper()
	id := sqltest.Submit(g.t, g.s, sqltest.Sub("", func(n *sql.NewJob) {
		n.Round, n.Participant, n.Problem, n.Author = g.round.ID, g.teams[team], problem, "ann"
		n.IdempotencyKey = fmt.Sprint("k", len(g.jobs))
	}))
	g.jobs = append(g.jobs, id)
	return id
}

// judge gives a verdict to what waits.
func (g *stage) judge(id int64, v judge.Verdict) {
	g.t.Helper()
	g.n++
	sqltest.Finalize(g.t, g.s, sqltest.Claim(g.t, g.s, id, "w", g.n).Attempt, v)
}

// again judges something anew.
func (g *stage) again(id int64, v judge.Verdict) {
	g.t.Helper()
	_, err := g.s.Rejudge(g.t.Context(), []int64{id}, judge.LaneRejudge, "prof")
	sqltest.Must(g.t, err)
	g.judge(id, v)
}

// act changes the time of the round.
func (g *stage) act(name string, do func(judge.Round, time.Time) (judge.Round, error)) {
	g.t.Helper()
	_, err := g.s.Rounds.Change(g.t.Context(), code, "prof", "round_"+name, func(r judge.Round) (judge.Round, error) { return do(r, r.Now) })
	sqltest.Must(g.t, err)
}

// hide hides a team, or shows it.
func (g *stage) hide(team int, hidden bool) {
	g.t.Helper()
	p, err := g.s.Rounds.Participant(g.t.Context(), "s", fmt.Sprintf("t%d", team+1))
	sqltest.Must(g.t, err)
	p.Hidden = hidden
	sqltest.Must(g.t, g.s.Rounds.PutParticipants(g.t.Context(), "s", []judge.Participant{*p}, "prof"))
}

// record has everything written that has happened.
func (g *stage) record() {
	g.t.Helper()
	r, err := recorder.New(recorder.Config{}, g.s.Rounds)
	sqltest.Must(g.t, err)
	sqltest.UpToNow(g.t, g.s, func() error { return r.Look(g.t.Context()) })
}

func (g *stage) log() []rounds.Logged {
	g.t.Helper()
	log, err := g.s.Rounds.Log(context.WithoutCancel(g.t.Context()), g.round.ID, 0, 100_000)
	sqltest.Must(g.t, err)
	return log
}

// sees is what a viewer is told, line by line, with its numbers and without the times of judging.
func sees(t testing.TB, log []rounds.Logged, v contest.Viewer) []string {
	t.Helper()
	var out []string
	for _, l := range log {
		if !v.Sees(contest.Record{Audience: contest.Audience(l.Audience), Only: l.Only}) {
			continue
		}
		what := "gone"
		if !l.Gone {
			var m map[string]any
			sqltest.Must(t, json.Unmarshal(l.Data, &m))
			for _, name := range []string{"start", "end", "time", "started", "frozen", "ended", "thawed", "freeze_ms", "cpu_us"} {
				delete(m, name)
			}
			text, err := json.Marshal(m)
			sqltest.Must(t, err)
			what = string(text)
		}
		n := ""
		if v.Audience&contest.Public != 0 {
			n = fmt.Sprint("p", l.Public)
		} else if v.Audience&contest.Teams != 0 {
			n = fmt.Sprint("t", l.Teams, ".o", l.Own)
		}
		out = append(out, strings.TrimSpace(n+" "+l.Kind+" "+l.Object.Object+" "+what))
	}
	return out
}

var (
	public = contest.Viewer{Audience: contest.Public}
	jury   = contest.Viewer{Audience: contest.Jury}
	staff  = contest.Viewer{Audience: contest.Staff}
)

func team(id int64) contest.Viewer { return contest.Viewer{Audience: contest.Teams, Participant: id} }

// last is what a viewer was told last of each thing.
func last(log []rounds.Logged, v contest.Viewer) map[string]string {
	out := map[string]string{}
	for _, l := range log {
		switch {
		case !v.Sees(contest.Record{Audience: contest.Audience(l.Audience), Only: l.Only}):
		case l.Gone:
			delete(out, l.Kind+" "+l.Object.Object)
		default:
			out[l.Kind+" "+l.Object.Object] = string(l.Data)
		}
	}
	return out
}

// whole checks that the numbers of a log have no gaps, that nothing is told twice in a row, and that nothing refers to what
// was not told.
func whole(t testing.TB, log []rounds.Logged, teams []int64) {
	t.Helper()
	var seq, public, all int64
	own := map[int64]int64{}
	for _, l := range log {
		seq++
		if l.Seq != seq {
			t.Fatalf("line %d has the number %d", seq, l.Seq)
		}
		if l.Audience&uint8(contest.Public) != 0 {
			public++
		} else if l.Public != 0 {
			t.Errorf("line %d has a number for everybody", l.Seq)
		}
		if l.Audience&uint8(contest.Public) != 0 && l.Public != public || l.Audience&uint8(contest.Public) != 0 && l.Audience&uint8(contest.Teams) == 0 {
			t.Errorf("line %d, %d for everybody, want %d, and for teams too", l.Seq, l.Public, public)
		}
		if l.Audience&uint8(contest.Teams) != 0 {
			all++
			if l.Teams != all {
				t.Errorf("line %d is %d for teams, want %d", l.Seq, l.Teams, all)
			}
		} else if l.Audience&uint8(contest.Own) != 0 {
			own[l.Only]++
			if l.Own != own[l.Only] {
				t.Errorf("line %d is %d for participant %d, want %d", l.Seq, l.Own, l.Only, own[l.Only])
			}
		}
	}
	viewers := []contest.Viewer{everybody, jury, staff}
	for _, id := range teams {
		viewers = append(viewers, team(id))
	}
	for _, v := range viewers {
		told := map[string]string{}
		for _, l := range log {
			if !v.Sees(contest.Record{Audience: contest.Audience(l.Audience), Only: l.Only}) {
				continue
			}
			name := l.Kind + " " + l.Object.Object
			if !l.Gone && told[name] == string(l.Data) && l.Audience&uint8(contest.Jury) != 0 {
				t.Errorf("viewer %v: line %d tells of %s again", v, l.Seq, name)
			}
			told[name] = string(l.Data)
			if contest.Kind(l.Kind) == contest.KindJudgement && told["submission "+strings.Split(l.Object.Object, "-")[0]] == "" {
				t.Errorf("viewer %v: line %d is of a submission that was not told of", v, l.Seq)
			}
			if contest.Kind(l.Kind) == contest.KindSubmission && !l.Gone {
				var d contest.SubmissionData
				sqltest.Must(t, json.Unmarshal(l.Data, &d))
				if told[fmt.Sprint("participant ", d.Participant)] == "" || told["problem "+d.Problem] == "" {
					t.Errorf("viewer %v: line %d refers to what was not told of", v, l.Seq)
				}
			}
		}
	}
}

var everybody = public // by a name that whole does not use for a number

// anew is what a log would tell last if it began now.
func (g *stage) anew() map[string]string {
	g.t.Helper()
	var seen rounds.Seen
	g.s.Exec(g.t, "INSERT INTO contest_due (round_id, job_id) VALUES ($1, 0) ON CONFLICT DO NOTHING", g.round.ID)
	_, err := g.s.Rounds.Record(g.t.Context(), []int64{}, func(s rounds.Seen) (rounds.Written, error) {
		seen = s
		return rounds.Written{}, context.Canceled
	})
	if err == nil {
		g.t.Fatal("a plan that fails was written")
	}
	seen.Told = nil
	w, err := recorder.Plan(seen)
	sqltest.Must(g.t, err)
	out := map[string]string{}
	for _, l := range w.Lines {
		out[l.Kind+" "+l.Object.Object] = string(l.Data)
	}
	return out
}

// same compares what was told last with what would be told now. Judgings that count no more are told of in the first alone.
func same(t testing.TB, told, now map[string]string) {
	t.Helper()
	for name, data := range told {
		if _, ok := now[name]; !ok && strings.HasPrefix(name, "judgement ") && strings.Contains(data, `"current":false`) {
			continue
		}
		if now[name] != data {
			t.Errorf("%s is %s, and was told as %s", name, now[name], data)
		}
	}
	for name := range now {
		if _, ok := told[name]; !ok {
			t.Errorf("%s was not told of", name)
		}
	}
}

// kinds are the kinds and objects of lines.
func names(lines []string) (out []string) {
	for _, l := range lines {
		f := strings.Fields(l)
		out = append(out, strings.Join(f[:3], " "))
	}
	return slices.Clip(out)
}
