package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
)

// Results that end together share a statement: each must get its own.
func TestResultsThatEndTogetherAreNotMixedUp(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids := sqltest.SubmitMany(t, s, 300)
	type ended struct {
		job    judge.Claim
		result judge.Result
		err    error
	}
	all := make([]ended, len(ids))
	verdicts := []judge.Verdict{judge.AC, judge.WA, judge.TLE, judge.RE}
	for i, id := range ids {
		e := &all[i]
		e.job = sqltest.Claim(t, s, id, fmt.Sprint("w", i%3), i%7) // claims of three owners
		e.result = judge.Result{Verdict: verdicts[i%4], Message: fmt.Sprint(id, strings.Repeat("ü→", i%50))}
		if i%5 != 0 {
			score := float64(i % 11)
			e.result.Score = &score
		}
		if i%29 == 0 {
			e.job.Token = sqltest.Token(99) // somebody else's
		}
	}
	told := make(chan int)
	for i := range all {
		e := &all[i]
		var last []judge.Progress
		for k := range i % 4 {
			last = append(last, judge.Progress{Kind: judge.EventTest, Test: &judge.TestResult{Index: 10*i + k}, Total: 3})
		}
		s.FinalizeThen(t.Context(), e.job.Attempt, &e.result, last, func(err error) {
			e.err = err
			go func() { told <- i }()
		})
	}
	for range all {
		<-told
	}
	for i, e := range all {
		if i%29 == 0 {
			sqltest.Rejected(t, e.err, judge.ReasonOwnerMismatch)
			sqltest.Status(t, s, ids[i], judge.Running)
			if got := sqltest.Kinds(t, s, ids[i]); slices.Contains(got, string(judge.EventTest)) {
				t.Errorf("job %d has events of whoever does not hold it: %v", ids[i], got)
			}
			continue
		}
		if e.err != nil {
			t.Fatal(e.err)
		}
		got := sqltest.Status(t, s, ids[i], judge.Finished).Result
		if got.Verdict != e.result.Verdict || got.Message != e.result.Message || (got.Score == nil) != (e.result.Score == nil) ||
			got.Score != nil && *got.Score != *e.result.Score {
			t.Errorf("job %d has %+v, want %+v", ids[i], got, e.result)
		}
		es, err := s.Events(t.Context(), ids[i], 0, 0)
		sqltest.Must(t, err)
		if tests := es[len(es)-1-i%4 : len(es)-1]; es[len(es)-2-i%4].Kind != judge.EventClaimed || slices.ContainsFunc(tests, func(e judge.Event) bool {
			return e.Kind != judge.EventTest || !strings.Contains(string(e.Data), fmt.Sprintf(`"index": %d`, 10*i+slices.IndexFunc(tests, func(o judge.Event) bool { return o.ID == e.ID })))
		}) {
			t.Errorf("job %d has events %v, want its last %d tests before its result", ids[i], es, i%4)
		}
		if last := string(es[len(es)-1].Data); !strings.Contains(last, fmt.Sprintf(`"verdict": "%s"`, e.result.Verdict)) || strings.Contains(last, "score") != (e.result.Score != nil) {
			t.Errorf("the last event of job %d says %s", ids[i], last)
		}
	}
	// The invalid is refused at once, and nobody waits.
	s.FinalizeThen(t.Context(), all[0].job.Attempt, &judge.Result{Verdict: judge.SE}, nil, func(err error) { all[0].err = err })
	if all[0].err == nil {
		t.Error("SE was accepted as the verdict of a result")
	}
}
