package sql_test

import (
	"io/fs"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"deepoj/sql/sqltest"
)

// Step 15 moved what submissions held: what was handed in to the payload's row,
// what is shown to the job's.
func TestSubmissionsOfAnOlderSchemaAreKept(t *testing.T) {
	t.Parallel()
	s := sqltest.Open(t, sqltest.Empty(t))
	old := fstest.MapFS{}
	steps, err := fs.Glob(os.DirFS("."), "migrations/*.sql")
	sqltest.Must(t, err)
	for _, name := range steps[:14] {
		data, err := os.ReadFile(name)
		sqltest.Must(t, err)
		old[name] = &fstest.MapFile{Data: data}
	}
	sqltest.Must(t, s.MigrateFiles(t.Context(), old))
	s.Exec(t, `INSERT INTO jobs (job_id, kind, queue, group_key, language, status, generation, attempt_id, max_tries, started_at, finished_at, created_at)
		VALUES (1, 'submission', 'default', 'team', 'cpp', 'finished', 2, 3, 5, now(), now(), '2026-01-02'), (2, 'submission', 'default', 'ann', 'rust', 'cancelled', 1, 0, 5, NULL, now(), now()),
		(3, 'run', 'default', 'ann', 'cpp', 'cancelled', 1, 0, 5, NULL, now(), now()), (4, 'verify', 'default', 'ann', '', 'cancelled', 1, 0, 5, NULL, now(), now())`)
	s.Exec(t, `INSERT INTO job_payloads (job_id, payload) SELECT n, '{"schema_version": 1, "sources": [{"name": "a.cpp", "text": "x"}]}' FROM generate_series(1, 4) n`)
	s.Exec(t, `INSERT INTO results (job_id, generation, attempt_id, verdict, score, result, worker, token, started_at)
		VALUES (1, 1, 1, 'WA', 5, '{"verdict": "WA"}', 'w', gen_random_uuid(), now()), (1, 2, 3, 'AC', 9, '{"verdict": "AC"}', 'w', gen_random_uuid(), now())`)
	s.Exec(t, `INSERT INTO submissions (job_id, problem, language, author, code_bytes, live_generation, verdict, score, space_id, unofficial)
		VALUES (1, 'aplusb', 'cpp', 'ann', 7, 1, 'WA', 5, 4, true), (2, 'pairs', 'rust', 'bob', 8, NULL, NULL, NULL, NULL, false), (3, '', 'cpp', 'ann', 9, NULL, NULL, NULL, NULL, false)`)
	s.Exec(t, `INSERT INTO events (job_id, generation, attempt, kind) VALUES (1, 1, 0, 'submitted'), (1, 2, 3, 'finished')`)
	const what = `SELECT job_id || ' ' || problem || ' ' || language || ' ' || author || ' ' || code_bytes || ' ' || coalesce(live_generation || verdict || score, '-')
		|| ' ' || coalesce(space_id::text, '-') || ' ' || unofficial FROM submissions ORDER BY job_id`
	before := sqltest.All[string](t, s, what)

	sqltest.Must(t, s.Migrate(t.Context()))
	after := sqltest.All[string](t, s, what)
	if len(before) != 3 || len(after) != len(before) {
		t.Fatalf("before %q, after %q", before, after)
	}
	for i := range before {
		if after[i] != before[i] {
			t.Errorf("%q became %q", before[i], after[i])
		}
	}
	v, err := s.Submission(t.Context(), 1)
	sqltest.Must(t, err)
	if v.Result == nil || v.Result.Verdict != "WA" || v.Author != "ann" || len(v.Sources) != 1 {
		t.Errorf("the submission is shown as %+v", v)
	}
	if got := sqltest.Kinds(t, s, 1); !slices.Equal(got, []string{"submitted", "finished"}) { // step 16 made events a view
		t.Errorf("the events of before are %v", got)
	}
	if _, err := s.Submission(t.Context(), 4); err == nil {
		t.Error("a proof is shown as a submission")
	}
}
