package sql_test

import (
	"errors"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// ownRun is a run without a problem.
func ownRun(group, token string) sql.NewJob {
	return sql.NewJob{
		Kind: judge.KindRun, Author: group, GroupKey: group, Language: "cpp", IdempotencyKey: token,
		Payload: []byte(`{"schema_version": 1, "content_type": "` + judge.RunType + `", "language": "cpp", "tests": [{"input": "MQ=="}]}`),
	}
}

func TestARunIsFoundByItsIDAndItsToken(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ctx := t.Context()
	ann, bob := sqltest.Submit(t, s, ownRun("ann", "x:1")), sqltest.Submit(t, s, ownRun("bob", "x:1"))
	other := sqltest.Submit(t, s, ownRun("ann", "y:1"))
	counted := sqltest.Submit(t, s, sqltest.Sub("ann"))
	job := sqltest.Claim(t, s, ann, "w1", 1)
	r := judge.Result{Verdict: judge.AC, Report: []byte(`{"outputs": [{"stdout": "/w=="}]}`)}
	if err := s.Finalize(ctx, job.Attempt, r); err != nil {
		t.Fatal(err)
	}
	run, err := s.Run(ctx, ann)
	if err != nil || run.Author != "ann" || run.Token != "x:1" || string(run.Asked.Tests[0].Input) != "1" ||
		run.Status != judge.Finished || string(run.Report.Outputs[0].Stdout) != "\xff" {
		t.Errorf("the run: %+v, %v", run, err)
	}
	if _, err := s.Run(ctx, counted); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a submission is no run: %v", err)
	}
	if _, err := s.Submission(ctx, ann); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a run is no submission: %v", err)
	}
	keys, err := s.RunsOfTokens(ctx, "x:1", "z:1")
	if err != nil || len(keys) != 2 || keys[0] != (sql.RunKey{JobID: ann, Token: "x:1", Group: "ann"}) || keys[1].JobID != bob {
		t.Errorf("runs of a token: %+v, %v", keys, err)
	}
	statuses, err := s.JobStatuses(ctx, ann, bob, counted, 99)
	if err != nil || len(statuses) != 3 || statuses[ann] != judge.Finished || statuses[bob] != judge.Pending {
		t.Errorf("statuses: %v, %v", statuses, err)
	}
	page, total, err := s.RunPage(ctx, "x:", 1, 5)
	if err != nil || total != 2 || len(page) != 1 || page[0].JobID != ann {
		t.Errorf("the second page holds %v of %d, %v", page, total, err)
	}
	if runs, err := s.Runs(ctx, other, 99, ann); err != nil || runs[0].JobID != other || runs[1] != nil || runs[2].JobID != ann {
		t.Errorf("several runs: %v, %v", runs, err)
	}
}

func TestACallbackIsDueWhenItsRunHasEnded(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ctx := t.Context()
	due := func() []sql.Callback {
		t.Helper()
		cs, err := s.DueCallbacks(ctx, 10)
		if err != nil {
			t.Fatal(err)
		}
		return cs
	}
	if err := s.SaveCallback(ctx, "x:1", "ann", "http://192.0.2.1/"); err != nil {
		t.Fatal(err)
	}
	if got := due(); len(got) > 0 {
		t.Errorf("without a run: %v", got)
	}
	id := sqltest.Submit(t, s, ownRun("ann", "x:1"))
	submitted := due()
	sqltest.Finalize(t, s, sqltest.Claim(t, s, sqltest.Submit(t, s, ownRun("bob", "x:1")), "w1", 1).Attempt, judge.AC)
	if foreign := due(); len(submitted)+len(foreign) > 0 {
		t.Errorf("before the end of the run: %v, and at that of another's with its token: %v", submitted, foreign)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 1).Attempt, judge.AC)
	if got := due(); len(got) != 1 || got[0] != (sql.Callback{Token: "x:1", JobID: id, URL: "http://192.0.2.1/", Tries: 1}) {
		t.Fatalf("at the end of the run: %v", got)
	}
	if got := due(); len(got) > 0 {
		t.Errorf("while somebody has it: %v", got)
	}
	s.Exec(t, "UPDATE callbacks SET not_before = now()")
	if got := due(); len(got) != 1 || got[0].Tries != 2 {
		t.Errorf("after a lost try: %v", got)
	}
	if err := s.CallbackAgain(ctx, "x:1"); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE callbacks SET not_before = not_before - interval '2 s'")
	if got := due(); len(got) != 1 || got[0].Tries != 3 {
		t.Errorf("after a failed try: %v", got)
	}
	if err := s.CallbackDone(ctx, "x:1"); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "UPDATE callbacks SET not_before = now()")
	if got := due(); len(got) > 0 {
		t.Errorf("after it was told: %v", got)
	}
}
