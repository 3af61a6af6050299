package sql_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// earlier returns the first n steps of this program.
func earlier(t *testing.T, n int) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	steps, err := fs.Glob(os.DirFS("."), "migrations/*.sql")
	sqltest.Must(t, err)
	for _, name := range steps[:n] {
		data, err := os.ReadFile(name)
		sqltest.Must(t, err)
		out[name] = &fstest.MapFile{Data: data}
	}
	return out
}

func TestResultsFromBeforeAreNamedByTheirPointsAndOpenSetsAreHidden(t *testing.T) {
	t.Parallel()
	s := sqltest.Open(t, sqltest.Empty(t))
	sqltest.Must(t, s.MigrateFiles(t.Context(), earlier(t, 17)))
	s.Exec(t, `INSERT INTO problems (slug, version) VALUES ('stairs', 'v2')`)
	s.Exec(t, `INSERT INTO problem_versions (slug, version, title, problem, created_by) VALUES
	  ('stairs', 'v1', 'Stairs', '{"slug": "stairs", "max_score": 100}', 'x'), ('stairs', 'v2', 'Stairs', '{"slug": "stairs", "max_score": 10}', 'x')`)
	for id, tt := range []struct {
		what, verdict, score, result string
		want                         judge.Verdict
	}{
		{"half of the points", "AC", "50", `{"verdict": "AC", "score": 50, "max_score": 100, "problem_version": "v1"}`, judge.PA},
		{"all points", "AC", "100", `{"verdict": "AC", "score": 100, "max_score": 100, "problem_version": "v1"}`, judge.AC},
		{"half of the points of its version, which a later one gives less of", "AC", "50", `{"verdict": "AC", "score": 50, "problem_version": "v1"}`, judge.PA},
		{"points without a highest", "AC", "50", `{"verdict": "AC", "score": 50, "problem_version": "v0"}`, judge.AC},
		{"no points at all", "AC", "NULL", `{"verdict": "AC", "problem_version": "v1"}`, judge.AC},
		{"a wrong answer with points", "WA", "50", `{"verdict": "WA", "score": 50, "max_score": 100, "problem_version": "v1"}`, judge.WA},
		{"all points, and a group with some", "AC", "100", `{"verdict": "AC", "score": 100, "max_score": 100, "groups": [{"name": "secret/1", "verdict": "AC", "score": 1, "max_score": 2}]}`, judge.AC},
	} {
		for _, statement := range []string{
			`INSERT INTO jobs (job_id, queue, language, max_tries, status, attempt_id, started_at, finished_at, live_generation, verdict, score)
			 VALUES (%[1]d, 'default', 'cpp', 5, 'finished', 1, '2026-01-02', '2026-01-03', 1, '%[2]s', %[3]s)`,
			`INSERT INTO job_payloads (job_id, payload, problem, author) VALUES (%[1]d, '{}', 'stairs', 'ann')`,
			`INSERT INTO results (job_id, generation, attempt_id, verdict, score, result, worker, token, started_at, created_at)
			 VALUES (%[1]d, 1, 1, '%[2]s', %[3]s, '%[4]s', 'w', gen_random_uuid(), '2026-01-02', '2026-01-03')`,
			`INSERT INTO event_batches (kind, at, job_ids, generations, attempts, verdicts, scores)
			 VALUES ('finished', '2026-01-03', '{%[1]d,999}', '{1,1}', '{1,1}', '{%[2]s,RE}', '{%[3]s,NULL}')`,
			`INSERT INTO single_events (job_id, generation, attempt, kind, data) VALUES (%[1]d, 1, 1, 'applied', '{"verdict": "%[2]s"}')`,
		} {
			s.Exec(t, fmt.Sprintf(statement+" -- %[1]d %[2]s %[3]s %[4]s", id+1, tt.verdict, tt.score, tt.result))
		}
		defer func() { // once everything is migrated
			v, err := s.Submission(t.Context(), int64(id+1))
			sqltest.Must(t, err)
			found, err := s.Submissions(t.Context(), sql.Filter{Verdict: tt.want})
			sqltest.Must(t, err)
			in := false
			for _, f := range found {
				in = in || f.JobID == v.JobID && f.Result.Verdict == tt.want
			}
			if v.Result.Verdict != tt.want || !in {
				t.Errorf("%s: %s, in the list %t, want %s", tt.what, v.Result.Verdict, in, tt.want)
			}
			for _, g := range v.Result.Groups {
				if g.Verdict != judge.PA {
					t.Errorf("%s: the group is %s", tt.what, g.Verdict)
				}
			}
			events, err := s.Events(t.Context(), v.JobID, 0, 0)
			sqltest.Must(t, err)
			if len(events) != 2 {
				t.Errorf("%s: events %v", tt.what, events)
			}
			for _, e := range events {
				var d struct{ Verdict judge.Verdict }
				sqltest.Must(t, json.Unmarshal(e.Data, &d))
				if d.Verdict != tt.want {
					t.Errorf("%s: the event %s says %s, want %s", tt.what, e.Kind, d.Verdict, tt.want)
				}
			}
		}()
	}
	// Two are in a set that is open, one of them judged.
	s.Exec(t, `INSERT INTO rejudge_sets (reason, request, skipped, created_by) VALUES ('', '{}', 0, 'prof')`)
	s.Exec(t, `INSERT INTO rejudge_set_jobs (set_id, job_id, generation, before) VALUES (1, 5, 2, 1), (1, 6, 2, 1)`)
	s.Exec(t, `UPDATE jobs SET generation = 2, status = 'pending', finished_at = NULL, rejudge_set = 1 WHERE job_id = 5`)
	s.Exec(t, `INSERT INTO outbox_events (job_id, queue, pool, group_key, language, lane, priority, rank_at, state, generation, attempt_id, not_before)
	  VALUES (5, 'default', 'default', '', 'cpp', 4, 0, now(), 'R', 2, 1, now())`)
	s.Exec(t, `UPDATE jobs SET generation = 2, attempt_id = 2, started_at = now(), finished_at = now(), rejudge_set = 1 WHERE job_id = 6`)
	s.Exec(t, `INSERT INTO results (job_id, generation, attempt_id, verdict, result, worker, token, started_at) VALUES (6, 2, 2, 'TLE', '{"verdict": "TLE"}', 'w', gen_random_uuid(), now())`)
	s.Exec(t, `INSERT INTO single_events (job_id, generation, attempt, kind) VALUES (5, 2, 1, 'rejudge'), (6, 2, 1, 'rejudge')`)

	sqltest.Must(t, s.Migrate(t.Context()))
	for _, id := range []int64{5, 6} {
		v, err := s.For(false).Submission(t.Context(), id)
		sqltest.Must(t, err)
		if v.Status != judge.Finished || v.QueueState != "" || v.Generation != 1 || v.AttemptID != 1 || v.Finished == nil || v.Finished.Year() != 2026 || v.Finished.Month() != 1 || v.Started.Day() != 2 {
			t.Errorf("submission %d is seen as %+v", id, v)
		}
		events, err := s.For(false).Events(t.Context(), id, 0, 0)
		sqltest.Must(t, err)
		if len(events) != 2 {
			t.Errorf("events of %d: %v", id, events)
		}
		s.Exec(t, "DELETE FROM single_events WHERE job_id = $1 AND kind = 'rejudge'", id) // for those who look at all events
	}
	if stats, err := s.For(false).QueueStats(t.Context()); err != nil || stats.Pending != 0 {
		t.Errorf("everybody counts %+v, %v", stats, err)
	}
}
