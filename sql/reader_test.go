package sql_test

import (
	"encoding/json"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// figures are all that people who are not staff can learn of the queue, as JSON.
func figures(t *testing.T, s *sqltest.Store, waiting int64, group string) string {
	t.Helper()
	seen := s.For(false)
	stats, err := seen.QueueStats(t.Context())
	sqltest.Must(t, err)
	stats.Oldest = 0 // a clock
	flow, err := seen.QueueFlow(t.Context())
	sqltest.Must(t, err)
	place, err := seen.Place(t.Context(), waiting)
	sqltest.Must(t, err)
	of, err := s.QueueOf(t.Context(), group, 0)
	sqltest.Must(t, err)
	list, err := seen.Waiting(t.Context(), "", group, judge.Waiting{}, 0)
	sqltest.Must(t, err)
	ready, err := seen.Ready(t.Context())
	sqltest.Must(t, err)
	text, err := json.Marshal([]any{stats, flow, place, of, list, ready})
	sqltest.Must(t, err)
	return string(text)
}

func TestTheFiguresOfTheQueueTellNothingOfARejudgeSet(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids, waiting := judged(t, s, 6)
	// All of that was hours ago, so that whatever counts what was lately counts sets alone.
	for _, statement := range []string{
		"UPDATE jobs SET created_at = created_at - interval '5 h', started_at = started_at - interval '5 h', finished_at = finished_at - interval '5 h'",
		"UPDATE results SET created_at = created_at - interval '5 h', started_at = started_at - interval '5 h'",
		"UPDATE event_batches SET at = at - interval '5 h'",
		"UPDATE outbox_events SET created_at = created_at - interval '5 h'",
	} {
		s.Exec(t, statement)
	}
	group := sqltest.Sub("x").Author
	before := figures(t, s, waiting, group)
	same := func(when string) {
		t.Helper()
		if now := figures(t, s, waiting, group); now != before {
			t.Errorf("%s:\n  was %s\n  is  %s", when, before, now)
		}
	}
	set, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof", JobIDs: ids})
	sqltest.Must(t, err)
	same("while a set waits")
	whole, err := s.QueueStats(t.Context())
	sqltest.Must(t, err)
	if whole.Pending != 7 {
		t.Errorf("staff count %d that wait, want those of the set too", whole.Pending)
	}
	sqltest.Must(t, s.Release(t.Context(), ids[5], "prof")) // before the one that waits
	same("when staff put a judging of a set first")
	sqltest.Finalize(t, s, sqltest.Claim(t, s, ids[0], "w1", 20).Attempt, judge.AC)
	running := sqltest.Claim(t, s, ids[1], "w1", 21).Attempt
	same("while a judging of a set runs, and one is done")
	_, err = s.Fail(t.Context(), running, "the disk was full", true)
	sqltest.Must(t, err)
	same("when one is to be tried again") // in the lane before that of others
	sqltest.Must(t, s.Bury(t.Context(), sqltest.Claim(t, s, ids[2], "w1", 22).Attempt, judge.ReasonPayload, "no"))
	sqltest.Must(t, s.Cancel(t.Context(), ids[3], "prof", ""))
	same("when one was given up, and one withdrawn")
	sqltest.Must(t, s.Restore(t.Context(), ids[3], "prof"))
	same("when that was taken back")
	sqltest.Must(t, s.CancelRejudge(t.Context(), set.ID, "prof"))
	same("when the set was cancelled")
}

func TestTheNumbersOfJudgingsHaveNoGapWhereASetWasCancelled(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ids, _ := judged(t, s, 1)
	id := ids[0]
	set, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{By: "prof", JobIDs: ids})
	sqltest.Must(t, err)
	_, err = s.Fail(t.Context(), sqltest.Claim(t, s, id, "w1", 10).Attempt, "the disk was full", false)
	sqltest.Must(t, err)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 11).Attempt, judge.AC)
	sqltest.Must(t, s.CancelRejudge(t.Context(), set.ID, "prof"))
	_, err = s.Rejudge(t.Context(), ids, judge.LaneRejudge, "prof")
	sqltest.Must(t, err)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 12).Attempt, judge.TLE)
	for staff, want := range map[bool][2]int32{true: {3, 4}, false: {2, 2}} {
		v, err := s.For(staff).Submission(t.Context(), id)
		sqltest.Must(t, err)
		if got := [2]int32{v.Generation, v.AttemptID}; got != want || v.Result.Verdict != judge.TLE {
			t.Errorf("staff %t: judging and attempt %v, want %v", staff, got, want)
		}
		events, err := s.For(staff).Events(t.Context(), id, 0, 0)
		sqltest.Must(t, err)
		last := events[len(events)-1]
		if got := [2]int32{last.Generation, last.AttemptID}; got != want {
			t.Errorf("staff %t: the last event is of judging and attempt %v, want %v", staff, got, want)
		}
	}
}

// Streams of other processes look at stamps to hear of events.
func TestEveryEventOfAJobGivesItAnotherStamp(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	stamp := func() string {
		t.Helper()
		all, err := s.Stamps(t.Context(), []int64{id, 1 << 40})
		sqltest.Must(t, err)
		if len(all) != 1 {
			t.Fatalf("stamps of a job and of none: %v", all)
		}
		return all[id]
	}
	last, events := stamp(), len(sqltest.Kinds(t, s, id))
	moved := func(what string) {
		t.Helper()
		now, n := stamp(), len(sqltest.Kinds(t, s, id))
		if n == events {
			t.Fatalf("%s has no event", what)
		}
		if now == last {
			t.Errorf("%s left the stamp at %q", what, now)
		}
		last, events = now, n
	}
	sqltest.Pick(t, s, 1)
	moved("a delivery")
	first := sqltest.Claim(t, s, id, "w1", 1)
	moved("a claim")
	for range 2 {
		sqltest.Must(t, s.Progress(t.Context(), first.Attempt, []judge.Progress{{Kind: judge.EventTest, Test: &judge.TestResult{Verdict: judge.AC}, Total: 3}}))
		moved("a test")
	}
	_, err := s.Fail(t.Context(), first.Attempt, "given back", false)
	sqltest.Must(t, err)
	moved("a job that is given back")
	second := sqltest.Claim(t, s, id, "w1", 2)
	moved("another claim")
	sqltest.Finalize(t, s, second.Attempt, judge.AC)
	moved("a result")
	_, err = s.Rejudge(t.Context(), []int64{id}, judge.LaneNormal, "staff")
	sqltest.Must(t, err)
	moved("a rejudging")
}
