package sql_test

import (
	"slices"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

func TestPicturesCountWhatIsThere(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ctx := t.Context()
	submit := func(author string, daysAgo, minutesAgo int) int64 {
		t.Helper()
		r, err := s.Submit(ctx, sql.NewJob{Problem: "aplusb", Language: "cpp", Author: author, Sources: []judge.Source{{Name: "main.cpp", Text: "x"}}})
		sqltest.Must(t, err)
		for _, table := range []string{"jobs", "outbox_events"} {
			s.Exec(t, "UPDATE "+table+" SET created_at = now() - make_interval(days => $2, mins => $3) WHERE job_id = $1", r.JobID, daysAgo, minutesAgo)
		}
		return r.JobID
	}
	judged := func(id int64, verdict string, score float64) {
		t.Helper()
		s.Exec(t, "UPDATE jobs SET live_generation = 1, verdict = $2, score = $3 WHERE job_id = $1", id, verdict, score)
	}
	judged(submit("ann", 3, 0), "AC", 100)
	judged(submit("ann", 3, 0), "WA", 20)
	judged(submit("bob", 1, 0), "WA", 20)
	judged(submit("cat", 1, 0), "AC", 100)
	submit("dan", 40, 0) // too long ago
	submit("eve", 0, 5)
	sqltest.Must(t, s.Cancel(ctx, submit("eve", 0, 5), "eve", ""))

	days, err := s.History(ctx, sql.Filter{}, 30)
	sqltest.Must(t, err)
	if i := slices.IndexFunc(days, func(d sql.Day) bool { return d.Ago == 3 }); i < 0 || days[i] != (sql.Day{Ago: 3, Submitted: 2, Accepted: 1}) {
		t.Errorf("days = %v", days)
	}
	var all int64
	for _, d := range days {
		all += d.Submitted
	}
	if all != 6 {
		t.Errorf("%d submissions in 30 days, want 6: %v", all, days)
	}
	if days, err := s.History(ctx, sql.Filter{Author: "bob"}, 30); err != nil || len(days) != 1 || days[0].Submitted != 1 || days[0].Accepted != 0 {
		t.Errorf("bob's days = %v, %v", days, err)
	}
	best, err := s.BestScores(ctx, "aplusb")
	sqltest.Must(t, err)
	if want := []sql.Best{{Score: 20, Authors: 1}, {Score: 100, Authors: 2}}; !slices.Equal(best, want) {
		t.Errorf("best scores = %v, want %v", best, want)
	}
	flow, err := s.QueueFlow(ctx)
	sqltest.Must(t, err)
	var came, went int64
	for _, f := range flow {
		came, went = came+f.Came, went+f.Went
	}
	if came != 2 || went != 1 {
		t.Errorf("with one that waits and one withdrawn the flow is %v", flow)
	}
}
