package commentary_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"deepoj/host/commentary"
	"deepoj/host/contest"
	"deepoj/host/judge"
	"deepoj/host/recorder"
	"deepoj/sql"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Main(m)) }

// stage is a round that has gone on for two hours, with one medal and three teams, of which the last is hidden.
type stage struct {
	t     *testing.T
	s     *sqltest.Store
	round *judge.Round
	teams []int64
	n     int
}

func newStage(t *testing.T, settings string) *stage {
	t.Helper()
	g := &stage{t: t, s: sqltest.WithProblem(t)}
	must := func(err error) { t.Helper(); sqltest.Must(t, err) }
	must(g.s.CreateSpace(t.Context(), judge.Space{Slug: "s", Title: "S"}, "prof"))
	now := sqltest.One[time.Time](t, g.s, "SELECT now()").Truncate(time.Millisecond)
	must(g.s.Rounds.Create(t.Context(), judge.Round{
		Space: "s", Code: "day1", Title: "Day 1", Kind: judge.RoundContest, Format: "icpc", Settings: []byte(settings),
		Start: new(now.Add(-2 * time.Hour)), Duration: new(5 * time.Hour), Freeze: new(4 * time.Hour),
	}, "prof"))
	_, err := g.s.Rounds.ChangeProblems(t.Context(), "day1", "prof", func(judge.Round, []judge.RoundProblem) ([]judge.RoundProblem, error) {
		return []judge.RoundProblem{{Problem: "aplusb", Label: "A"}}, nil
	})
	must(err)
	for i, name := range []string{`Curly {red} \`, "Blue", "Hidden"} {
		team := fmt.Sprintf("t%d", i+1)
		must(g.s.Rounds.PutParticipants(t.Context(), "s", []judge.Participant{{Code: team, Name: name, Ranked: true, Hidden: i == 2}}, "prof"))
		must(g.s.Rounds.Enter(t.Context(), "day1", []string{team}, "prof"))
		p, err := g.s.Rounds.Participant(t.Context(), "s", team)
		must(err)
		g.teams = append(g.teams, p.ID)
	}
	g.round, err = g.s.Rounds.Round(t.Context(), "day1")
	must(err)
	return g
}

// hands hands in for a team, and judges it, unless there is no verdict.
func (g *stage) hands(team int, v judge.Verdict) int64 {
	g.t.Helper()
	g.n++
	id := sqltest.Submit(g.t, g.s, sqltest.Sub("", func(n *sql.NewJob) {
		n.Round, n.Participant, n.Problem, n.Author, n.IdempotencyKey = g.round.ID, g.teams[team], "aplusb", "ann", fmt.Sprint("k", g.n)
	}))
	g.judge(id, v)
	return id
}

func (g *stage) judge(id int64, v judge.Verdict) {
	g.t.Helper()
	if v != "" {
		g.n++
		sqltest.Finalize(g.t, g.s, sqltest.Claim(g.t, g.s, id, "w", g.n).Attempt, v)
	}
}

// record has everything written that has happened.
func (g *stage) record() {
	g.t.Helper()
	r, err := recorder.New(recorder.Config{}, g.s.Rounds)
	sqltest.Must(g.t, err)
	sqltest.UpToNow(g.t, g.s, func() error { return r.Look(g.t.Context()) })
}

func (g *stage) commentator() *commentary.Commentator {
	return commentary.New(g.s.Rounds, slog.New(slog.NewTextHandler(g.t.Output(), nil)))
}

// said is what everybody is told in comments, as the log has it, in order.
func (g *stage) said() string {
	g.t.Helper()
	log, err := g.s.Rounds.Log(context.WithoutCancel(g.t.Context()), g.round.ID, 0, 100_000)
	sqltest.Must(g.t, err)
	var out []string
	for i, l := range log {
		if l.Seq != int64(i+1) {
			g.t.Errorf("line %d of the log has the number %d", i+1, l.Seq)
		}
		if contest.Kind(l.Kind) != contest.KindCommentary {
			continue
		}
		var d contest.CommentaryData
		sqltest.Must(g.t, json.Unmarshal(l.Data, &d))
		out = append(out, fmt.Sprint(l.Object.Object, ": ", d.Message, " ", d.Tags, d.Participants, d.Problems, d.Submissions, " to ", l.Audience))
	}
	return strings.Join(out, "\n")
}

const told = `at-stake-1: Curly \{red} \\ hands in a program for A A + B. If it is accepted, Curly \{red} \\ takes the lead. ` +
	`[submission submission-winner submission-medal submission-gold-medal] [t1] [aplusb] [1] to 27
accepted-1: Curly \{red} \\ solves A A + B and takes the lead with 1 problem. [accepted accepted-winner accepted-medal accepted-gold-medal] [t1] [aplusb] [1] to 27`

func TestWhatIsWorthSayingIsSaidOnce(t *testing.T) {
	g := newStage(t, `{"medals": {"gold": 1, "silver": 0, "bronze": 0}}`)
	c := g.commentator()
	first := g.hands(0, "")
	g.hands(2, judge.AC) // of which nobody knows
	g.hands(1, judge.WA)
	g.record()
	c.Look(t.Context())
	g.judge(first, judge.AC)
	g.record()
	c.Look(t.Context())
	g.hands(1, judge.AC) // later, which does not matter
	g.record()
	c.Look(t.Context())
	if got := g.said(); got != told {
		t.Fatalf("it is said\n%s\nwant\n%s", got, told)
	}
	c.Look(t.Context())
	g.commentator().Look(t.Context()) // which knows nothing of the other
	_, err := g.s.Rounds.Change(t.Context(), "day1", "prof", "round_update", func(r judge.Round) (judge.Round, error) {
		r.Title = "Day one"
		return r, nil
	})
	sqltest.Must(t, err)
	g.record() // everything of the round is looked at
	if got := g.said(); got != told {
		t.Errorf("looked at again, it is said\n%s", got)
	}
}

func TestNothingIsSaidInAFreezeNorWhereNobodyWants(t *testing.T) {
	for name, settings := range map[string]string{"a freeze": "{}", "without commentary": `{"commentary": false}`} {
		t.Run(name, func(t *testing.T) {
			g := newStage(t, settings)
			if name == "a freeze" {
				g.hands(1, judge.AC)
				_, err := g.s.Rounds.Change(t.Context(), "day1", "prof", "round_freeze", func(r judge.Round) (judge.Round, error) {
					r.Freeze = new(time.Hour)
					return r, nil
				})
				sqltest.Must(t, err)
			}
			g.hands(0, judge.AC)
			g.hands(0, "")
			g.record()
			g.commentator().Look(t.Context())
			if got := g.said(); got != "" {
				t.Errorf("it is said\n%s", got)
			}
		})
	}
}

func TestACommentatorHearsOfRoundsByItself(t *testing.T) {
	g := newStage(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.commentator().Run(ctx) }()
	g.hands(0, judge.AC)
	g.record()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(g.said(), "takes the lead") && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if got := g.said(); strings.Count(got, "\n") != 0 || !strings.Contains(got, "takes the lead with 1 problem") {
		t.Errorf("it is said\n%s", got)
	}
}

var _ commentary.Store = (*rounds.Store)(nil)
