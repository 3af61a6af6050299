package sql_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// judged makes n submissions with verdict WA, and one that waits.
func judged(t *testing.T, s *sqltest.Store, n int) (ids []int64, waiting int64) {
	t.Helper()
	ids = sqltest.SubmitMany(t, s, n)
	for i, id := range ids {
		sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", i).Attempt, judge.WA)
	}
	return ids, sqltest.Submit(t, s, sqltest.Sub("late"))
}

func TestASetIsJudgedBesideWhatIsShownAndAppliedAtOnce(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids, waiting := judged(t, s, 3)
	r := sql.RejudgeRequest{Key: "k", Reason: "wrong tests", By: "prof", Problem: "aplusb"}
	set, err := s.StartRejudge(t.Context(), r)
	if err != nil || set.Total != 3 || set.Waiting != 3 || set.Skipped != 1 || set.CreatedBy != "prof" || set.Reason != "wrong tests" {
		t.Fatalf("set = %+v, %v", set, err)
	}
	sqltest.Order(t, s, append([]int64{waiting}, ids...)...) // the set is judged last
	for i, id := range ids[:2] {
		sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 10+i).Attempt, []judge.Verdict{judge.AC, judge.WA}[i])
	}
	for _, id := range ids {
		if v := sqltest.Status(t, s, id, judge.Finished); v.Result.Verdict != judge.WA {
			t.Errorf("job %d shows %s before the set is applied", id, v.Result.Verdict)
		}
	}
	err = s.ApplyRejudge(t.Context(), set.ID, "prof")
	if e, ok := errors.AsType[*judge.FieldError](err); !ok || e.Reason != "unfinished" {
		t.Fatalf("applied while one was judged: %v", err)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, ids[2], "w1", 20).Attempt, judge.AC)
	if set, err = s.RejudgeSet(t.Context(), set.ID); err != nil || set.Judged != 3 || set.Changed != 2 || !set.Done() {
		t.Errorf("set = %+v, %v", set, err)
	}
	changes, err := s.RejudgeChanges(t.Context(), set.ID, 0, 0)
	if err != nil || len(changes) != 2 || changes[0].JobID != ids[0] || changes[0].Before != judge.WA || changes[0].After != judge.AC ||
		changes[0].Author == "" || changes[0].Problem != "aplusb" || changes[0].Title == "" {
		t.Errorf("changes = %+v, %v", changes, err)
	}
	turns, err := s.RejudgeMatrix(t.Context(), set.ID)
	if want := []sql.RejudgeTurn{{Before: judge.WA, After: judge.AC, Count: 2}, {Before: judge.WA, After: judge.WA, Count: 1}}; err != nil || !slices.Equal(turns, want) {
		t.Errorf("matrix = %+v, %v, want %+v", turns, err, want)
	}
	sqltest.Must(t, s.ApplyRejudge(t.Context(), set.ID, "prof"))
	sqltest.Must(t, s.ApplyRejudge(t.Context(), set.ID, "prof"))
	for i, id := range ids {
		if v := sqltest.Status(t, s, id, judge.Finished); v.Result.Verdict != []judge.Verdict{judge.AC, judge.WA, judge.AC}[i] || v.Generation != 2 {
			t.Errorf("job %d shows %s of generation %d", id, v.Result.Verdict, v.Generation)
		}
		if k := sqltest.Kinds(t, s, id); k[len(k)-1] != "applied" {
			t.Errorf("events = %v", k)
		}
	}
	if err := s.CancelRejudge(t.Context(), set.ID, "prof"); err == nil {
		t.Error("an applied set was cancelled")
	}
}

func TestACancelledSetStopsItsJudgingsAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids, _ := judged(t, s, 3)
	set, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof", JobIDs: ids})
	sqltest.Must(t, err)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, ids[0], "w1", 10).Attempt, judge.AC)
	running := sqltest.Claim(t, s, ids[1], "w1", 11)
	sqltest.Must(t, s.CancelRejudge(t.Context(), set.ID, "prof"))
	sqltest.Must(t, s.CancelRejudge(t.Context(), set.ID, "prof"))
	sqltest.Rejected(t, s.Finalize(t.Context(), running.Attempt, judge.Result{Verdict: judge.AC}), judge.ReasonCancelled)
	for _, id := range ids {
		if v := sqltest.Status(t, s, id, judge.Finished); v.Result.Verdict != judge.WA || v.QueueState != "" {
			t.Errorf("job %d shows %s, queue row %q", id, v.Result.Verdict, v.QueueState)
		}
	}
	if err := s.ApplyRejudge(t.Context(), set.ID, "prof"); err == nil {
		t.Error("a cancelled set was applied")
	}
	// Such a submission can be rejudged like any other.
	if gens, err := s.Rejudge(t.Context(), ids[1:2], judge.LaneRejudge, "prof"); err != nil || gens[ids[1]] != 3 {
		t.Fatalf("rejudge = %v, %v", gens, err)
	}
	sqltest.Status(t, s, ids[1], judge.Pending)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, ids[1], "w1", 12).Attempt, judge.TLE)
	if v := sqltest.Status(t, s, ids[1], judge.Finished); v.Result.Verdict != judge.TLE {
		t.Errorf("shows %s, want TLE", v.Result.Verdict)
	}
}

func TestASubmissionRejudgedOnItsOwnLeavesItsSet(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids, _ := judged(t, s, 2)
	set, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof", JobIDs: ids})
	sqltest.Must(t, err)
	if gens, err := s.Rejudge(t.Context(), ids[:1], judge.LaneRejudge, "prof"); err != nil || gens[ids[0]] != 3 {
		t.Fatalf("rejudge of a job that waits in a set = %v, %v, want a generation of its own", gens, err)
	}
	sqltest.Finalize(t, s, sqltest.Claim(t, s, ids[0], "w1", 10).Attempt, judge.RE)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, ids[1], "w1", 11).Attempt, judge.AC)
	sqltest.Must(t, s.ApplyRejudge(t.Context(), set.ID, "prof"))
	if v := sqltest.Status(t, s, ids[0], judge.Finished); v.Result.Verdict != judge.RE {
		t.Errorf("the job that left shows %s, want RE", v.Result.Verdict)
	}
	if set, err = s.RejudgeSet(t.Context(), set.ID); err != nil || set.Left != 1 || set.Judged != 1 || set.Resolution != "applied" {
		t.Errorf("set = %+v, %v", set, err)
	}
}

func TestTheSameRequestMakesOneSet(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	judged(t, s, 3)
	r := sql.RejudgeRequest{Key: "once", By: "prof", Verdict: judge.WA}
	found := make([]int64, 8)
	var asking sync.WaitGroup
	for i := range found {
		asking.Go(func() {
			set, err := s.StartRejudge(t.Context(), r)
			if err != nil || set.Total != 3 {
				t.Errorf("set = %+v, %v", set, err)
			}
			found[i] = set.ID
		})
	}
	asking.Wait()
	if slices.Min(found) != slices.Max(found) {
		t.Errorf("eight requests of one key made sets %v", found)
	}
	r.Verdict = judge.TLE
	if _, err := s.StartRejudge(t.Context(), r); err == nil {
		t.Error("a key was used for two requests")
	}
	if _, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof"}); err == nil {
		t.Error("a set of everything was made")
	}
	if sets, err := s.RejudgeSets(t.Context(), 0, 0); err != nil || len(sets) != 1 || time.Since(sets[0].Created) < 0 {
		t.Errorf("sets = %+v, %v", sets, err)
	}
	if _, err := s.RejudgeSet(t.Context(), 99); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("set 99: %v", err)
	}
}

func TestASetJudgesTheNewVersionBesideWhatTheOldOneGave(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids, _ := judged(t, s, 2)
	p, err := s.Problem(t.Context(), "aplusb")
	sqltest.Must(t, err)
	old := p.Version
	p.Version = "sha256:11"
	sqltest.Must(t, s.SaveProblem(t.Context(), *p, "prof"))
	set, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof", JobIDs: ids})
	sqltest.Must(t, err)
	for i, id := range ids {
		job := sqltest.Claim(t, s, id, "w1", 10+i)
		if job.ProblemVersion != "sha256:11" {
			t.Errorf("job %d is judged again by version %s, want the new one", id, job.ProblemVersion)
		}
		sqltest.Must(t, s.Finalize(t.Context(), job.Attempt, judge.Result{Verdict: judge.AC, ProblemVersion: job.ProblemVersion}))
		if v := sqltest.Status(t, s, id, judge.Finished); v.Result.Verdict != judge.WA || v.Result.ProblemVersion == "sha256:11" {
			t.Errorf("before the set is applied job %d shows %s of version %s", id, v.Result.Verdict, v.Result.ProblemVersion)
		}
	}
	turns, err := s.RejudgeMatrix(t.Context(), set.ID)
	if want := []sql.RejudgeTurn{{Before: judge.WA, After: judge.AC, Count: 2}}; err != nil || !slices.Equal(turns, want) {
		t.Errorf("what changes from version %s is %+v, %v, want %+v", old, turns, err, want)
	}
	sqltest.Must(t, s.ApplyRejudge(t.Context(), set.ID, "prof"))
	for _, id := range ids {
		if v := sqltest.Status(t, s, id, judge.Finished); v.Result.Verdict != judge.AC || v.Result.ProblemVersion != "sha256:11" {
			t.Errorf("after the set is applied job %d shows %s of version %s", id, v.Result.Verdict, v.Result.ProblemVersion)
		}
	}
}

func TestTheAuditLogHasOneRowForEachRejudging(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	ids, _ := judged(t, s, 3)
	log := func() string {
		return sqltest.One[string](t, s, "SELECT coalesce(string_agg(concat_ws(' ', action, subject, detail ->> 'jobs'), ', ' ORDER BY id), '') FROM audit_log WHERE actor = 'prof'")
	}
	_, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{Reason: "wrong tests", By: "prof", Problem: "aplusb"})
	sqltest.Must(t, err)
	if got := log(); got != "rejudge_set rejudge:1" {
		t.Errorf("of a set the log has %s", got)
	}
	_, err = s.Rejudge(t.Context(), ids[1:], judge.LaneRejudge, "prof")
	sqltest.Must(t, err)
	_, err = s.Rejudge(t.Context(), ids[:1], judge.LaneRejudge, "prof")
	sqltest.Must(t, err)
	_, err = s.Rejudge(t.Context(), ids, judge.LaneRejudge, "prof") // they wait already
	sqltest.Must(t, err)
	if got, want := log(), fmt.Sprintf("rejudge_set rejudge:1, rejudge jobs:2 [%d, %d], rejudge job:%d", ids[1], ids[2], ids[0]); got != want {
		t.Errorf("the log has %s, want %s", got, want)
	}
	for _, id := range ids {
		sqltest.Must(t, s.Bury(t.Context(), sqltest.Claim(t, s, id, "w1", int(30+id)).Attempt, judge.ReasonPayload, "x"))
	}
	n, err := s.ReplayAll(t.Context(), "", "prof")
	if got := log(); err != nil || n != 3 || !strings.HasSuffix(got, fmt.Sprintf("job:%d, replay_all dlq: 3", ids[0])) {
		t.Errorf("%d dead letters were replayed, %v; the log has %s", n, err, got)
	}
}
