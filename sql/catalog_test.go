package sql_test

import (
	"fmt"
	"slices"
	"testing"

	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// manyTries fills the database with submissions by 400 people to problems p0, p1 …, a third
// of them to the first ten: finished with every verdict, unfinished, runs, drafts, outside
// of spaces and in some that are closed, open or have no end, official and not.
func manyTries(t *testing.T, s *sqltest.Store, problems, tries int) {
	t.Helper()
	s.Exec(t, `INSERT INTO spaces (slug, title, closes_at, created_by) VALUES
		('closed', 'x', now() - interval '1 hour', 'test'), ('open', 'x', now() + interval '1 hour', 'test'), ('endless', 'x', NULL, 'test')`)
	s.Exec(t, `INSERT INTO jobs (job_id, kind, queue, language, max_tries, status, attempt_id, started_at, finished_at, live_generation, verdict)
		SELECT 1000000 + n, CASE n % 23 WHEN 0 THEN 'run' WHEN 1 THEN 'draft' ELSE 'submission' END, 'default', 'cpp', 5,
			CASE WHEN n % 19 = 0 THEN 'pending' ELSE 'finished' END, CASE WHEN n % 19 = 0 THEN 0 ELSE 1 END,
			CASE WHEN n % 19 <> 0 THEN now() END, CASE WHEN n % 19 <> 0 THEN now() END, CASE WHEN n % 19 <> 0 THEN 1 END,
			CASE WHEN n % 19 <> 0 THEN (ARRAY['AC', 'WA', 'PA', 'TLE', 'JE', 'SE', 'CE', 'WA'])[1 + (hashint4(n) & 7)] END
		FROM generate_series(1, $1::integer) AS n`, tries)
	s.Exec(t, `INSERT INTO job_payloads (job_id, payload, problem, author, space_id, unofficial)
		SELECT 1000000 + n, '{}', 'p' || CASE WHEN n % 3 = 0 THEN (hashint4(n * 7) & 2147483647) % 10 ELSE (hashint4(n * 7) & 2147483647) % $2::integer END,
			'user' || (hashint4(n * 13) & 2147483647) % 400, c.id, n % 11 = 0
		FROM generate_series(1, $1::integer) AS n LEFT JOIN spaces c ON c.slug = (ARRAY['closed', 'open', 'endless', 'none', 'none', 'none'])[1 + n % 6]`, tries, problems)
	s.Exec(t, "ANALYZE jobs, job_payloads, spaces")
}

func TestTalliesAgreeWithACountByHand(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	const problems = 60
	manyTries(t, s, problems, 8000)
	want, people, solvers := map[string]sql.Tally{}, map[[2]string]bool{}, map[[2]string]bool{}
	for _, row := range sqltest.All[[]string](t, s, `SELECT ARRAY[p.problem, p.author, j.kind, coalesce(j.verdict, ''), coalesce(c.slug, ''), p.unofficial::text]
		FROM job_payloads p JOIN jobs j USING (job_id) LEFT JOIN spaces c ON c.id = p.space_id WHERE p.problem LIKE 'p%'`) {
		problem, author, kind, verdict, space, unofficial := row[0], row[1], row[2], row[3], row[4], row[5]
		if kind != "submission" || slices.Contains([]string{"", "JE", "SE"}, verdict) || unofficial == "true" || !slices.Contains([]string{"", "closed"}, space) {
			continue
		}
		tally, who := want[problem], [2]string{problem, author}
		tally.Tries++
		if !people[who] {
			people[who] = true
			tally.Tried++
		}
		if verdict == "AC" && !solvers[who] {
			solvers[who] = true
			tally.Solved++
		}
		want[problem] = tally
	}
	slugs := []string{"nobody-tried-it"}
	for i := range problems {
		slugs = append(slugs, fmt.Sprint("p", i))
	}
	got, err := s.Tallies(t.Context(), append(slugs, "p1")) // asked for twice, it is counted once
	sqltest.Must(t, err)
	if len(got) != len(want) || len(want) != problems {
		t.Errorf("%d problems were tried, want %d of %d", len(got), len(want), problems)
	}
	for slug, w := range want {
		if got[slug] != w || w.Solved >= w.Tried {
			t.Errorf("%s has %+v, want %+v", slug, got[slug], w)
		}
	}
}
