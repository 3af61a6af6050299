package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// companions are the columns that a status needs beside itself.
const companions = `
	lease_owner = CASE WHEN $2 = 'running' THEN 'w' END,
	lease_token = CASE WHEN $2 = 'running' THEN gen_random_uuid() END,
	lease_until = CASE WHEN $2 = 'running' THEN now() END,
	started_at = CASE WHEN $2 IN ('running', 'finished') THEN now() END,
	finished_at = CASE WHEN $2 IN ('finished', 'cancelled', 'dead') THEN now() END`

func TestGoAndSQLAgreeOnTheMovesOfAJob(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	for _, from := range judge.Statuses {
		for _, to := range judge.Statuses {
			id := sqltest.One[int64](t, s, `
				INSERT INTO jobs (queue, status, attempt_id, max_tries, lease_owner, lease_token, lease_until, started_at, finished_at)
				SELECT 'default', $1::text, 1, 5, CASE WHEN $1 = 'running' THEN 'w' END, CASE WHEN $1 = 'running' THEN gen_random_uuid() END,
					CASE WHEN $1 = 'running' THEN now() END, CASE WHEN $1 IN ('running', 'finished') THEN now() END,
					CASE WHEN $1 IN ('finished', 'cancelled', 'dead') THEN now() END
				RETURNING job_id`, string(from))
			err := s.TryExec(t.Context(), `UPDATE jobs SET status = $2::text, attempt_id = attempt_id + ($2 = 'running' AND status <> 'running')::integer,`+
				companions+` WHERE job_id = $1`, id, string(to))
			if want := from == to || from.CanBecome(to); (err == nil) != want {
				t.Errorf("%s to %s: the database says %v, Go says %t", from, to, err, want)
			}
		}
	}
}

func TestGoAndSQLAgreeOnStates(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	for _, st := range judge.Statuses {
		got := sqltest.One[string](t, s, `SELECT CASE $1::text WHEN 'pending' THEN 'queued' WHEN 'running' THEN 'processing' ELSE 'done' END`, string(st))
		if got != string(st.State()) {
			t.Errorf("%s is %s in SQL and %s in Go", st, got, st.State())
		}
	}
	def := sqltest.One[string](t, s, `SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
		WHERE d.adrelid = 'jobs'::regclass AND a.attname = 'state' AND a.attgenerated = 's'`)
	for _, st := range []judge.Status{judge.Pending, judge.Running} {
		if !strings.Contains(def, fmt.Sprintf("'%s'::text THEN '%s'", st, st.State())) {
			t.Errorf("the generated column is %s", def)
		}
	}
}

func TestGoAndSQLAgreeOnWords(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	// The words of a CHECK constraint, in order.
	words := func(constraint string) []string {
		return sqltest.All[string](t, s, `SELECT m[1] FROM pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), '''(\w+)''::text', 'g') m
			WHERE c.conname = $1 ORDER BY 1`, constraint)
	}
	tests := map[string][]string{
		"jobs_status":     texts(judge.Statuses),
		"jobs_kind":       texts(judge.Kinds),
		"results_verdict": texts(slices.DeleteFunc(slices.Clone(judge.Verdicts), func(v judge.Verdict) bool { return !v.Final() })),
		"users_role":      texts(judge.Roles),
	}
	for constraint, want := range tests {
		slices.Sort(want)
		if got := words(constraint); !slices.Equal(got, want) {
			t.Errorf("%s allows %v, Go knows %v", constraint, got, want)
		}
	}
}

func TestTheFenceOnlyGrows(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 1).Attempt, judge.AC)
	for _, change := range []string{
		"attempt_id = 0", "generation = 0", "attempt_id = attempt_id - 1", "tries = -1", "tries = max_tries + 1",
		"lease_owner = 'w'", "finished_at = NULL",
		"status = 'running', lease_owner = 'w', lease_token = gen_random_uuid(), lease_until = now(), finished_at = NULL",
	} {
		if err := s.TryExec(t.Context(), "UPDATE jobs SET "+change+" WHERE job_id = $1", id); err == nil {
			t.Errorf("the database accepted %s of a finished job", change)
		}
	}
	if err := s.TryExec(t.Context(), "INSERT INTO results SELECT * FROM results"); err == nil {
		t.Error("the database accepted a second result of a generation (INV-1)")
	}
}

func TestNoIndexOnJobsKeepsATransitionFromBeingHeapOnly(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	for _, def := range sqltest.All[string](t, s, "SELECT indexdef FROM pg_indexes WHERE tablename = 'jobs'") {
		for _, column := range []string{"status", "state", "lease_", "attempt_id", "generation", "tries", "not_before", "_at"} {
			if strings.Contains(def, column) {
				t.Errorf("%s mentions %s", def, column)
			}
		}
	}
}

func TestTransitionsAreHeapOnlyUpdates(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	worker := sqltest.Open(t, dsn)
	sqltest.Must(t, worker.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Version: "sha256:00"}, "test"))
	const jobs = 5 // so few that every version has room on their page
	for n, id := range sqltest.SubmitMany(t, worker, jobs) {
		sqltest.Finalize(t, worker, sqltest.Claim(t, worker, id, "w1", n).Attempt, judge.AC)
	}
	worker.Close() // a backend reports its figures when it ends
	s := sqltest.Open(t, dsn)
	for deadline := time.After(30 * time.Second); ; {
		if sqltest.One[int64](t, s, "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'jobs'") >= 2*jobs {
			break
		}
		select {
		case <-deadline:
			t.Fatal("the figures did not arrive")
		case <-time.After(10 * time.Millisecond):
		}
	}
	if n := sqltest.One[int64](t, s, "SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'jobs'"); n > 0 {
		t.Errorf("%d updates of jobs were not heap-only", n)
	}
}

func texts[T ~string](vs []T) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = string(v)
	}
	return out
}
