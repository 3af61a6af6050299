package recorder_test

import (
	"reflect"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

func TestAnAuditFindsWhatALogLacks(t *testing.T) {
	g := newStage(t)
	g.judge(g.submit(0, "aplusb"), judge.WA)
	g.judge(g.submit(2, "aplusb"), judge.AC)
	g.record()
	count := func() jobs.Audit {
		t.Helper()
		a, err := g.s.Invariants(t.Context())
		sqltest.Must(t, err)
		return a
	}
	if a := count(); !a.Zero() {
		t.Fatalf("the audit of a log finds %+v", a)
	}
	g.s.Exec(t, "CREATE TABLE whole_log AS TABLE contest_log")
	g.s.Exec(t, "CREATE TABLE whole_numbers AS TABLE contest_submissions")
	for what, tt := range map[string]struct {
		damage string
		is     func(jobs.Audit) int64
	}{
		"a line is missing":            {"DELETE FROM contest_log WHERE seq = 3", func(a jobs.Audit) int64 { return a.ContestLogGap }},
		"the last line is missing":     {"DELETE FROM contest_log WHERE seq = (SELECT max(seq) FROM contest_log)", func(a jobs.Audit) int64 { return a.ContestLogGap }},
		"a line has no public number":  {"UPDATE contest_log SET public_seq = NULL WHERE public_seq = 2", func(a jobs.Audit) int64 { return a.ContestLogGap }},
		"a line for one has no number": {"UPDATE contest_log SET own_seq = own_seq + 1 WHERE own_seq IS NOT NULL AND seq = (SELECT max(seq) FROM contest_log WHERE own_seq IS NOT NULL)", func(a jobs.Audit) int64 { return a.ContestLogGap }},
		"a verdict was changed":        {`UPDATE contest_log SET data = replace(data::text, '"WA"', '"AC"')::json WHERE kind = 'judgement'`, func(a jobs.Audit) int64 { return a.ContestToldOtherwise }},
		"a number is of another round": {"UPDATE contest_submissions SET job_id = job_id + 1000", func(a jobs.Audit) int64 { return a.ContestNumberOfNothing }},
	} {
		g.s.Exec(t, tt.damage)
		if n := tt.is(count()); n == 0 {
			t.Errorf("%s, and the audit finds nothing", what)
		}
		g.s.Exec(t, "TRUNCATE contest_log, contest_submissions")
		g.s.Exec(t, "INSERT INTO contest_log TABLE whole_log")
		g.s.Exec(t, "INSERT INTO contest_submissions TABLE whole_numbers")
		if a := count(); !a.Zero() {
			t.Fatalf("mended, the audit finds %+v", a)
		}
	}
}

func TestALogKeepsWhatWasHandedInWhenTheSubmissionsAreRetired(t *testing.T) {
	g := newStage(t)
	g.judge(g.submit(0, "aplusb"), judge.AC)
	g.judge(g.submit(1, "aplusb"), judge.WA)
	g.record()
	before := fold(t, g.log(), public)
	g.s.Exec(t, "UPDATE jobs SET finished_at = now() - interval '2 years'")
	deleted := sqltest.RetireAll(t, func(from jobs.RetireCursor) (jobs.Retired, error) {
		return g.s.RetireJobs(t.Context(), true, 24*time.Hour, from, 10)
	})
	if deleted != 2 {
		t.Fatalf("%d submissions are gone, want 2", deleted)
	}
	sqltest.Must(t, g.s.Rounds.LookAtAll(t.Context()))
	g.record()
	if after := fold(t, g.log(), public); !reflect.DeepEqual(after, before) {
		t.Errorf("the board is\n%+v, was\n%+v", after, before)
	}
	if a, err := g.s.Invariants(t.Context()); err != nil || !a.Zero() {
		t.Errorf("the audit finds %+v, %v", a, err)
	}
}
