package sql_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

var retrying = sql.Retrying{Tries: 3, Shortest: time.Second, Longest: time.Minute, Patience: time.Hour}

// hook makes a webhook of somebody with an account.
func hook(t *testing.T, s *sqltest.Store, owner string, change func(*judge.Webhook)) judge.Webhook {
	t.Helper()
	if err := s.CreateUser(t.Context(), sql.NewUser{Name: owner, PasswordHash: "x", Role: judge.RoleContestant}); err != nil && !errors.Is(err, sql.ErrExists) {
		t.Fatal(err)
	}
	w := judge.Webhook{Owner: owner, URL: "http://receiver.example/", Kinds: judge.WebhookKinds}
	if change != nil {
		change(&w)
	}
	w, err := s.CreateWebhook(t.Context(), w, []byte("secret"), owner)
	sqltest.Must(t, err)
	return w
}

// feed goes on until every event that was there is read. Transactions of other
// tests on the same server hold the feed up for a while.
func feed(t *testing.T, s *sqltest.Store) (made int64) {
	t.Helper()
	const left = `SELECT count(*) FROM events e, feed_cursors c WHERE c.sink = 'webhooks' AND (e.xid, e.id) > (c.xid, c.id)`
	for deadline := time.Now().Add(2 * time.Minute); ; {
		fed, err := s.FeedWebhooks(t.Context(), 3)
		sqltest.Must(t, err)
		made += fed.Made
		if !fed.More && sqltest.One[int64](t, s, left) == 0 {
			return made
		}
		if time.Now().After(deadline) {
			t.Fatal("the feed does not come to its end")
		}
	}
}

// told lists what is to be sent to a webhook as "kind job", oldest first.
func told(t *testing.T, s *sqltest.Store, w judge.Webhook) []string {
	t.Helper()
	found, err := s.WebhookDeliveries(t.Context(), w.ID, 0, 200)
	sqltest.Must(t, err)
	out := make([]string, len(found))
	for i, d := range found {
		out[len(out)-1-i] = fmt.Sprint(strings.TrimPrefix(d.Kind, "submission."), " ", d.JobID)
	}
	return out
}

// finalizeTogether finalizes attempts in one statement. Others hold the two that go
// at once until all of them wait.
func finalizeTogether(t *testing.T, s *sqltest.Store, v judge.Verdict, attempts ...judge.Attempt) {
	t.Helper()
	ended := make(chan error, len(attempts)+2)
	finalize := func(a judge.Attempt) {
		s.FinalizeThen(t.Context(), a, &judge.Result{Verdict: v}, nil, func(err error) { ended <- err })
	}
	others := sqltest.SubmitMany(t, s, 2)
	held := []judge.Attempt{sqltest.Claim(t, s, others[0], "w2", 2).Attempt, sqltest.Claim(t, s, others[1], "w2", 2).Attempt}
	tx, err := s.Main.Begin(t.Context())
	sqltest.Must(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM jobs WHERE job_id = ANY($1) FOR UPDATE", others)
	sqltest.Must(t, err)
	for _, a := range append(held, attempts...) {
		finalize(a)
	}
	sqltest.Must(t, tx.Rollback(t.Context()))
	for range cap(ended) {
		sqltest.Must(t, <-ended)
	}
	ids := make([]int64, len(attempts))
	for i, a := range attempts {
		ids[i] = a.JobID
	}
	if n := sqltest.One[int](t, s, "SELECT count(*) FROM event_batches WHERE kind = 'finished' AND job_ids @> $1", ids); n != 1 {
		t.Fatal("they were not finalized together")
	}
}

func TestAWebhookIsToldOfEachJobOfABatch(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ctx := t.Context()
	own := hook(t, s, "ann", nil)
	n := 7 // more than the feed looks at in one go
	rs, err := s.SubmitMany(ctx, slices.Repeat([]sql.NewJob{sqltest.Sub("ann")}, n))
	sqltest.Must(t, err)
	ids := make([]int64, n)
	for i, r := range rs {
		ids[i] = r.JobID
	}
	jobs, _, err := s.Claim(ctx, ids, "w1", sqltest.Token(1), time.Minute)
	sqltest.Must(t, err)
	attempts := make([]judge.Attempt, n)
	var want []string
	for i, j := range jobs {
		attempts[i] = j.Attempt
		want = append(want, fmt.Sprint("submitted ", j.JobID))
	}
	finalizeTogether(t, s, judge.WA, attempts...)
	for _, id := range ids {
		want = append(want, fmt.Sprint("finished ", id))
	}
	feed(t, s)
	if got := told(t, s, own); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	due, err := s.DueDeliveries(ctx, 100, 100, time.Minute)
	sqltest.Must(t, err)
	if body := due[len(due)-1].Body; !strings.Contains(body, `"verdict":"WA"`) && !strings.Contains(body, `"verdict" : "WA"`) {
		t.Errorf("the verdict is missing in %s", body)
	}
}

func TestAWebhookIsToldOfWhatItsOwnerMaySeeAndAskedFor(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	before := sqltest.Submit(t, s, sqltest.Sub("ann"))
	own := hook(t, s, "ann", nil)
	some := hook(t, s, "ann", func(w *judge.Webhook) { w.Kinds = []string{"submission.finished"} })
	elsewhere := hook(t, s, "ann", func(w *judge.Webhook) { w.Problem = "stairs" })
	greedy := hook(t, s, "bob", func(w *judge.Webhook) { w.Everyone = true }) // who is not staff
	off := hook(t, s, "ann", nil)
	sqltest.Must(t, s.DisableWebhook(t.Context(), off.ID, true, "ann"))
	sqltest.Must(t, s.CreateUser(t.Context(), sql.NewUser{Name: "prof", PasswordHash: "x", Role: judge.RoleStaff}))
	all := hook(t, s, "prof", func(w *judge.Webhook) { w.Everyone = true })

	mine, other := sqltest.Submit(t, s, sqltest.Sub("ann")), sqltest.Submit(t, s, sqltest.Sub("carl"))
	run := sqltest.Submit(t, s, sqltest.Sub("ann", func(n *sql.NewJob) { n.Kind = judge.KindRun }))
	for i, id := range []int64{before, mine, run} {
		sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", i).Attempt, judge.WA)
	}
	sqltest.Must(t, s.Cancel(t.Context(), other, "prof", ""))
	feed(t, s)

	want := map[string]struct {
		hook judge.Webhook
		told []string
	}{
		"their own":         {own, []string{fmt.Sprint("submitted ", mine), fmt.Sprint("finished ", before), fmt.Sprint("finished ", mine)}},
		"one kind":          {some, []string{fmt.Sprint("finished ", before), fmt.Sprint("finished ", mine)}},
		"another problem":   {elsewhere, nil},
		"one that is off":   {off, nil},
		"all, of no staff":  {greedy, nil},
		"all, of the staff": {all, []string{fmt.Sprint("submitted ", mine), fmt.Sprint("submitted ", other), fmt.Sprint("finished ", before), fmt.Sprint("finished ", mine), fmt.Sprint("cancelled ", other)}},
	}
	for name, tt := range want {
		got := told(t, s, tt.hook)
		slices.Sort(got)
		slices.Sort(tt.told)
		if !slices.Equal(got, tt.told) {
			t.Errorf("%s: told %v, want %v", name, got, tt.told)
		}
	}
	due, err := s.DueDeliveries(t.Context(), 100, 100, time.Minute)
	sqltest.Must(t, err)
	for _, d := range due {
		if d.Webhook != some.ID {
			continue
		}
		var body map[string]any
		sqltest.Must(t, json.Unmarshal([]byte(d.Body), &body))
		data, _ := body["data"].(map[string]any)
		if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(body["timestamp"])); err != nil || time.Since(at) > time.Hour || body["type"] != "submission.finished" ||
			data["problem"] != "aplusb" || data["author"] != "ann" || data["verdict"] != "WA" || string(d.Secret) != "secret" || d.URL != some.URL || d.Tries != 1 {
			t.Errorf("message %+v: %v", d, err)
		}
	}
	if again, err := s.DueDeliveries(t.Context(), 100, 100, time.Minute); err != nil || len(again) != 0 || len(due) != 10 {
		t.Errorf("%d messages were due, then %d more, %v", len(due), len(again), err)
	}
	// Who is no longer staff, or disabled, is told nothing that waits.
	s.Exec(t, "UPDATE webhook_deliveries SET next_at = now(), leased_until = NULL")
	sqltest.Must(t, s.SetRole(t.Context(), "prof", judge.RoleSetter, "root"))
	sqltest.Must(t, s.Disable(t.Context(), "ann", true, "root"))
	if due, err := s.DueDeliveries(t.Context(), 100, 100, time.Minute); err != nil || len(due) != 0 {
		t.Errorf("due for people who may not be told: %+v, %v", due, err)
	}
}

func TestAJudgingOfARejudgeSetIsToldWhenItIsApplied(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("ann"))
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 1).Attempt, judge.WA)
	w := hook(t, s, "ann", nil)
	set, err := s.StartRejudge(t.Context(), sql.RejudgeRequest{JobIDs: []int64{id}, Reason: "a wrong answer file", By: "prof"})
	sqltest.Must(t, err)
	sqltest.Finalize(t, s, sqltest.Claim(t, s, id, "w1", 2).Attempt, judge.AC)
	feed(t, s)
	if got := told(t, s, w); len(got) != 0 {
		t.Errorf("before the set is applied: %v", got)
	}
	sqltest.Must(t, s.ApplyRejudge(t.Context(), set.ID, "prof"))
	feed(t, s)
	if got := told(t, s, w); !slices.Equal(got, []string{fmt.Sprint("applied ", id)}) {
		t.Errorf("after it: %v", got)
	}
}

func TestAnEventIsStoredOnceForEachWebhookWhoeverReadsTheFeed(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	ws := []judge.Webhook{hook(t, s, "user0", nil), hook(t, s, "user0", nil)}
	ids := sqltest.SubmitMany(t, s, 1)
	for range 9 {
		ids = append(ids, sqltest.Submit(t, s, sqltest.Sub("user0")))
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() { feed(t, s) })
	}
	readers.Wait()
	// A cursor that was restored from a backup finds what it has stored before.
	s.Exec(t, "UPDATE feed_cursors SET xid = '0', id = 0")
	feed(t, s)
	for _, w := range ws {
		if got := told(t, s, w); len(got) != len(ids) {
			t.Errorf("%d messages for %d events: %v", len(got), len(ids), got)
		}
	}
	// In a database that was restored elsewhere transactions are numbered anew.
	s.Exec(t, "UPDATE feed_cursors SET system_identifier = '1', xid = '9223372036854775807'")
	if fed, err := s.FeedWebhooks(t.Context(), 10); err != nil || !fed.Skipped || fed.Made != 0 {
		t.Errorf("after a restore: %+v, %v", fed, err)
	}
	sqltest.Submit(t, s, sqltest.Sub("user0"))
	if n := feed(t, s); n != 2 {
		t.Errorf("%d messages for what came after the restore, want 2", n)
	}
}

func TestTheFeedOfWebhooksEndsWithTheLastOfThem(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	first, second := hook(t, s, "ann", nil), hook(t, s, "ann", nil)
	cursors := func() int64 { return sqltest.One[int64](t, s, "SELECT count(*) FROM feed_cursors") }
	sqltest.Must(t, s.DeleteWebhook(t.Context(), first.ID, "ann"))
	if cursors() != 1 {
		t.Error("the feed ended while there was a webhook")
	}
	if err := s.DeleteWebhook(t.Context(), first.ID, "ann"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	sqltest.Must(t, s.DeleteWebhook(t.Context(), second.ID, "ann"))
	if cursors() != 0 {
		t.Error("without webhooks the feed keeps events from being retired")
	}
}

func TestAFailureIsTriedAgainLaterAndLaterUntilItIsGivenUp(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	w := hook(t, s, "ann", nil)
	_, err := s.TryWebhook(t.Context(), w.ID)
	sqltest.Must(t, err)
	take := func() sql.DueDelivery {
		t.Helper()
		s.Exec(t, "UPDATE webhook_deliveries SET next_at = now() WHERE leased_until IS NULL OR leased_until < now()")
		due, err := s.DueDeliveries(t.Context(), 10, 4, time.Minute)
		if err != nil || len(due) != 1 {
			t.Fatalf("due: %+v, %v", due, err)
		}
		return due[0]
	}
	settle := func(d sql.DueDelivery, sent sql.Sent) (again, off bool) {
		t.Helper()
		again, off, err := s.SettleDelivery(t.Context(), d, sent, retrying)
		sqltest.Must(t, err)
		return again, off
	}
	stored := func() judge.WebhookDelivery {
		t.Helper()
		found, err := s.WebhookDeliveries(t.Context(), w.ID, 0, 0)
		if err != nil || len(found) != 1 {
			t.Fatalf("stored: %+v, %v", found, err)
		}
		return found[0]
	}
	const wait = "SELECT extract(epoch FROM next_at - tried_at)::float8 FROM webhook_deliveries"
	one := take()
	if again, _ := settle(one, sql.Sent{Status: 503}); !again {
		t.Error("a first failure is not tried again")
	}
	if d := stored(); d.Status != 503 || d.Tries != 1 || d.Done != nil || d.Tried == nil {
		t.Errorf("after a failure: %+v", d)
	}
	if got := sqltest.One[float64](t, s, wait); got < 0.7 || got > 1.3 {
		t.Errorf("the second try comes after %v s, want about 1", got)
	}
	two := take()
	if two.Message != one.Message || two.Body != one.Body || two.Tries != 2 {
		t.Errorf("another message: %+v, was %+v", two, one)
	}
	if again, _ := settle(one, sql.Sent{Taken: true}); again || stored().Done != nil {
		t.Error("a try that somebody has repeated since was recorded")
	}
	settle(two, sql.Sent{Error: "timeout", Wait: 30 * time.Second})
	if got := sqltest.One[float64](t, s, wait); got < 29.9 || got > 30.1 {
		t.Errorf("the receiver asked for 30 s, and gets %v", got)
	}
	if again, _ := settle(take(), sql.Sent{Status: 500}); again {
		t.Error("the bound of tries does not hold")
	}
	if d := stored(); d.Done == nil || d.Taken || d.Tries != 3 || d.Error != "" {
		t.Errorf("given up: %+v", d)
	}
	sqltest.Must(t, s.SendAgain(t.Context(), w.ID, one.ID))
	last := take()
	if again, _ := settle(last, sql.Sent{Status: 500}); !again || last.Message != one.Message {
		t.Error("what was sent again has no tries of its own, or another id")
	}
	if err := s.SendAgain(t.Context(), w.ID+1, one.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("sent again to another webhook: %v", err)
	}
	if got, err := s.Webhook(t.Context(), w.ID); err != nil || got.Failing == nil || got.Disabled != nil {
		t.Errorf("a webhook that fails: %+v, %v", got, err)
	}
	settle(take(), sql.Sent{Taken: true, Status: 204})
	if got, err := s.Webhook(t.Context(), w.ID); err != nil || got.Failing != nil || !stored().Taken {
		t.Errorf("after a success: %+v, %v", got, err)
	}
	// One that has failed for long is disabled, and one whose receiver is gone.
	for name, sent := range map[string]sql.Sent{"failing": {Status: 500}, "gone": {Status: 410, Final: true, Gone: true}} {
		sqltest.Must(t, s.DisableWebhook(t.Context(), w.ID, false, "ann"))
		sqltest.Must(t, s.SendAgain(t.Context(), w.ID, one.ID))
		if name == "failing" {
			s.Exec(t, "UPDATE webhooks SET failing_since = now() - interval '2 h'")
		}
		if _, off := settle(take(), sent); !off {
			t.Errorf("%s: still on", name)
		}
		if n := sqltest.One[int64](t, s, "SELECT count(*) FROM audit_log WHERE action = 'webhook_disable' AND detail ->> 'reason' = $1", name); n != 1 {
			t.Errorf("%s: %d entries in the audit log", name, n)
		}
	}
}

func TestASlowWebhookDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	slow, quick := hook(t, s, "ann", nil), hook(t, s, "bob", nil)
	for range 10 {
		_, err := s.TryWebhook(t.Context(), slow.ID)
		sqltest.Must(t, err)
	}
	_, err := s.TryWebhook(t.Context(), quick.ID)
	sqltest.Must(t, err)
	count := func(limit, each int) (ofSlow, ofQuick int, first sql.DueDelivery) {
		t.Helper()
		due, err := s.DueDeliveries(t.Context(), limit, each, time.Minute)
		sqltest.Must(t, err)
		for _, d := range due {
			if d.Webhook == slow.ID {
				ofSlow, first = ofSlow+1, d
			} else {
				ofQuick++
			}
		}
		return ofSlow, ofQuick, first
	}
	a, b, first := count(10, 4)
	if a != 4 || b != 1 {
		t.Errorf("%d and %d are sent, want 4 and 1", a, b)
	}
	if a, _, _ = count(10, 4); a != 0 {
		t.Errorf("%d more are sent while 4 are under way", a)
	}
	_, _, err = s.SettleDelivery(t.Context(), first, sql.Sent{Status: 500}, retrying)
	sqltest.Must(t, err)
	s.Exec(t, "UPDATE webhook_deliveries SET leased_until = NULL, next_at = now()") // their leases are over
	if a, _, _ = count(10, 4); a != 1 {
		t.Errorf("%d are sent to a webhook that fails, want 1", a)
	}
}

func TestOldMessagesGoUnlessTheyAreStillTried(t *testing.T) {
	t.Parallel()
	s := sqltest.WithProblem(t)
	w := hook(t, s, "ann", nil)
	for range 3 {
		_, err := s.TryWebhook(t.Context(), w.ID)
		sqltest.Must(t, err)
	}
	due, err := s.DueDeliveries(t.Context(), 2, 4, time.Minute)
	sqltest.Must(t, err)
	for _, d := range due {
		_, _, err := s.SettleDelivery(t.Context(), d, sql.Sent{Taken: true}, retrying)
		sqltest.Must(t, err)
	}
	s.Exec(t, "UPDATE webhook_deliveries SET created_at = now() - interval '2 h' WHERE id <> $1", due[1].ID)
	retire := func() int64 {
		return sqltest.RetireAll(t, func(jobs.RetireCursor) (jobs.Retired, error) { return s.RetireDeliveries(t.Context(), time.Hour, 1) })
	}
	if n := retire(); n != 1 {
		t.Errorf("%d messages went, want the one that is old and taken", n)
	}
	sqltest.Must(t, s.DisableWebhook(t.Context(), w.ID, true, "ann"))
	if n := retire(); n != 1 {
		t.Errorf("%d messages went, want the one that waits for a webhook that is off", n)
	}
}
