package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/config"
	"deepoj/host/feed/wal"
	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

type verdict = judge.Verdict

// problem makes the problem that programs are handed in for.
func (h *house) problem() {
	h.t.Helper()
	sqltest.Must(h.t, h.store.SaveProblem(h.t.Context(), judge.Problem{Slug: "aplusb", Title: "A + B", Version: "sha256:00", CPUMillis: 1000}, "test"))
}

// write inserts one event in a transaction of its own.
func (h *house) write(ctx context.Context, job int64, kind string) error {
	return h.store.TryExec(ctx, "INSERT INTO single_events (job_id, generation, attempt, kind, data) VALUES ($1, 1, 1, $2, $3)",
		job, kind, `{"worker": "w1"}`)
}

func TestASnapshotAndTheStreamLeaveNoHoleWhileOthersWrite(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.problem()
	h.src.o.Readers = 3
	for range 5 {
		h.live("alice", "AC")
	}
	h.store.Exec(t, `INSERT INTO single_events (job_id, generation, attempt, kind) SELECT n % 500 + 1000, 1, 0, 'dispatched' FROM generate_series(1, 60000) n`)
	h.pg.Exec(t, "ANALYZE")
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for n := 0; ctx.Err() == nil; n++ {
				var err error
				if random.IntN(3) == 0 { // many in one row
					err = h.store.TryExec(ctx, `INSERT INTO event_batches (kind, job_ids, generations, attempts, verdicts, scores)
SELECT 'finished', array_agg(j), array_agg(1), array_agg(2), array_agg('AC'::text), array_agg(CASE WHEN j % 2 = 0 THEN 0.5::float8 END) FROM generate_series($1::bigint, $1 + 9) j`, int64(10000+w*100+random.IntN(80)))
				} else {
					err = h.write(ctx, int64(10000+w*100+random.IntN(80)), "claimed")
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	r := h.run()
	if p := r.Plan(); !p.Snapshot || p.Why != "the slot is missing" {
		t.Errorf("the plan of a first start is %+v", p)
	}
	h.until("events after the snapshot", func([]told) bool { return h.streamed > 200 && h.over })
	stop()
	writers.Wait()
	all := h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	for _, e := range all {
		if e.Type == "finished" && e.Submission >= 10000 {
			if want := fmt.Sprintf(`{"verdict":"AC"%s}`, map[bool]string{true: `,"score":0.5`}[e.Submission%2 == 0]); string(e.Body) != want {
				t.Fatalf("the verdict of %s is told as %s, want %s", e.name(), e.Body, want)
			}
		}
	}
}

func TestWhatIsToldIsWhatTheAPIShowsStaff(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.problem()
	r := h.run()
	id := h.live("alice", "WA")
	all := h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	events, err := h.store.Events(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		got := all[i]
		if got.Type != string(e.Kind) || got.Seq != e.ID || got.Submission != id || got.Generation != e.Generation || got.Attempt != e.AttemptID || !got.At.Equal(e.At) {
			t.Errorf("event %+v was told as %+v", e, got)
		}
		if got.Audience != nil {
			t.Errorf("event %+v has an audience, and there are no rounds", got)
		}
	}
	if body := string(all[len(all)-1].Body); body != `{"verdict":"WA"}` {
		t.Errorf("the verdict was told as %s", body)
	}
}

func TestARolledBackTransactionIsNotTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	r := h.run()
	tx, err := h.store.Main.Begin(t.Context())
	sqltest.Must(t, err)
	_, err = tx.Exec(t.Context(), "INSERT INTO single_events (job_id, generation, attempt, kind) VALUES (7, 1, 1, 'claimed')")
	sqltest.Must(t, err)
	sqltest.Must(t, h.write(t.Context(), 8, "claimed"))
	sqltest.Must(t, tx.Rollback(t.Context()))
	sqltest.Must(t, h.write(t.Context(), 7, "released"))
	h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// largeEnv is how many MiB the large transaction has; 100 if it is not set.
const largeEnv = "FEED_LARGE_MIB"

func TestALargeTransactionIsToldWhole(t *testing.T) {
	t.Parallel()
	mib := 100
	if s := os.Getenv(largeEnv); s != "" {
		var err error
		if mib, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	h := newHouse(t, map[string]string{"max_wal_size": "4GB", "logical_decoding_work_mem": "1MB"})
	r := h.run()
	const row = 64 << 10
	n := mib << 20 / row
	h.store.Exec(t, `INSERT INTO single_events (job_id, generation, attempt, kind, data)
SELECT n, 1, 1, 'test', jsonb_build_object('error', repeat(md5(n::text), $2)) FROM generate_series(1, $1) n`, n, row/32)
	all := h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	lsns := map[string]bool{}
	for _, e := range all {
		at, _, _ := strings.Cut(e.ID, ":")
		lsns[at] = true
	}
	if len(lsns) != 1 {
		t.Errorf("one transaction was told under %d positions", len(lsns))
	}
}

// interrupted starts a feed, has something happen, does what interrupts it, and returns the session that was cut off.
func interrupted(t *testing.T, h *house, cut func()) error {
	t.Helper()
	r := h.run()
	for n := range 50 {
		sqltest.Must(t, h.write(t.Context(), int64(n%7+1), "claimed"))
	}
	h.complete()
	h.until("the end of the snapshot", func([]told) bool { return h.over }) // which comes after all of it
	cut()
	return r.fails(t)
}

// goesOn checks that a feed goes on without a snapshot, and tells what happened meanwhile once.
func goesOn(t *testing.T, h *house) {
	t.Helper()
	h.store = h.pg.Store(t) // the connections of the one before may be broken
	for n := range 20 {
		sqltest.Must(t, h.write(t.Context(), int64(n%7+1), "retry"))
	}
	r := h.run()
	if p := r.Plan(); p.Snapshot {
		t.Errorf("a snapshot was ordered: %s", p.Why)
	}
	sqltest.Must(t, h.write(t.Context(), 3, "finished"))
	h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

// startsOver checks that a new snapshot is ordered for a reason, and has everything.
func startsOver(t *testing.T, h *house, why string) {
	t.Helper()
	h.mu.Lock()
	h.all = nil
	h.mu.Unlock()
	r := h.run()
	if p := r.Plan(); !p.Snapshot || !strings.Contains(p.Why, why) {
		t.Errorf("the plan is %+v, want a snapshot because %q", p, why)
	}
	sqltest.Must(t, h.write(t.Context(), 3, "finished"))
	for _, e := range h.complete() {
		if e.Epoch != h.have.Epoch {
			t.Errorf("%s is of epoch %d, want %d", e.name(), e.Epoch, h.have.Epoch)
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func TestAfterACrashOfPostgreSQLTheStreamGoesOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"fsync": "on"})
	if err := interrupted(t, h, func() { h.pg.Kill(t) }); err == nil {
		t.Error("the session ended without an error")
	}
	if _, err := h.open(); err == nil || isFinal(err) {
		t.Errorf("a server that is down is %v, want an error after which the engine tries again", err)
	}
	h.pg.Start(t)
	goesOn(t, h)
}

func TestPostgreSQLStopsInOrderWhileItIsRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	if err := interrupted(t, h, func() {
		h.pg.Exec(t, "CREATE TABLE other (x text)") // which is not published, and has to be acknowledged all the same
		h.pg.Stop(t)                                // fails the test when the server has to be killed
	}); isFinal(err) {
		t.Error(err)
	}
	h.pg.Start(t)
	goesOn(t, h)
}

func TestAWalSenderThatIsTerminatedIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	err := interrupted(t, h, func() { h.pg.Exec(t, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots") })
	if err == nil || isFinal(err) {
		t.Errorf("the session ended with %v", err)
	}
	goesOn(t, h)
}

func TestADroppedSlotNeedsASnapshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	if err := interrupted(t, h, func() {
		h.pg.Exec(t, "SELECT pg_terminate_backend(active_pid, 10000) FROM pg_replication_slots", "SELECT pg_drop_replication_slot('deepoj_feed')")
	}); isFinal(err) {
		t.Error(err)
	}
	startsOver(t, h, "the slot is missing")
}

func TestAnInvalidatedSlotNeedsASnapshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"max_slot_wal_keep_size": "1MB", "min_wal_size": "32MB", "max_wal_size": "32MB"})
	r := h.run()
	sqltest.Must(t, h.write(t.Context(), 1, "claimed"))
	h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	for range 4 {
		h.pg.Exec(t, "SELECT pg_switch_wal()", "CREATE TABLE IF NOT EXISTS filler (x text)", "INSERT INTO filler SELECT repeat(md5(n::text), 30) FROM generate_series(1, 20000) n", "CHECKPOINT")
	}
	if got := h.pg.Ask(t, "SELECT wal_status FROM pg_replication_slots"); got != "lost" {
		t.Fatalf("the slot is %s, want lost", got)
	}
	startsOver(t, h, "wal_status is lost")
}

func TestADeletedLogNeedsASnapshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	_ = interrupted(t, h, func() { h.pg.Exec(t, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots") })
	sqltest.Must(t, os.RemoveAll(h.dir))
	// The checkpoint says less than what was acknowledged to PostgreSQL.
	h.have.Durable, h.have.Ack.Offset = wal.Point{}, h.have.Ack.Offset-1
	startsOver(t, h, "lies beyond")
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	h.have = feed.Have{Fresh: true, Epoch: h.have.Epoch}
	startsOver(t, h, "nothing of what it has sent")
}

func TestAnotherClusterAtTheAddressNeedsASnapshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	_ = interrupted(t, h, func() { h.pg.Exec(t, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots") })
	was := *h.have.System
	h.pg.Renew(t)
	prepare(t, h.pg)
	h.store = h.pg.Store(t)
	startsOver(t, h, "another system_identifier")
	if h.have.System.ID == was.ID {
		t.Error("the cluster is the same")
	}
}

func TestAnotherTimelineNeedsASnapshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	_ = interrupted(t, h, func() { h.pg.Exec(t, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots") })
	h.pg.Promote(t)
	h.store = h.pg.Store(t)
	if id := h.pg.Ask(t, "SELECT timeline_id FROM pg_control_checkpoint()"); id != "2" {
		t.Fatalf("the timeline is %s", id)
	}
	startsOver(t, h, "timeline 2 instead of 1")
}

func TestASecondFeedIsRefusedAndToldSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	r := h.run()
	other := h.source(Options{})
	_, err := other.Open(t.Context(), feed.Have{Fresh: true, Epoch: 1})
	if !isFinal(err) || !strings.Contains(err.Error(), `is in use by "deepoj-feed `) {
		t.Errorf("a second feed gets %v", err)
	}
	if _, err := other.DropSlot(t.Context()); !isFinal(err) {
		t.Errorf("to drop the slot of a feed that runs gives %v", err)
	}
	sqltest.Must(t, h.write(t.Context(), 1, "claimed"))
	h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if dropped, err := other.DropSlot(t.Context()); err != nil || !dropped {
		t.Errorf("to drop the slot afterwards gives %v, %v", dropped, err)
	}
	if dropped, err := other.DropSlot(t.Context()); err != nil || dropped {
		t.Errorf("to drop it again gives %v, %v", dropped, err)
	}
}

func TestAFeedBeginsWhereItIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	sqltest.Must(t, h.write(t.Context(), 1, "claimed"))
	h.have.Start = config.Start{FromMaster: true}
	r := h.run()
	if p := r.Plan(); p.Snapshot {
		t.Errorf("start_from_master orders a snapshot: %s", p.Why)
	}
	sqltest.Must(t, h.write(t.Context(), 2, "claimed"))
	all := h.until("an event", func(all []told) bool { return len(all) > 0 })
	if all[0].Submission != 2 {
		t.Errorf("it begins with %+v", all[0])
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	from, err := parseLSN(h.pg.Ask(t, "SELECT confirmed_flush_lsn FROM pg_replication_slots"))
	sqltest.Must(t, err)
	sqltest.Must(t, h.write(t.Context(), 3, "claimed"))
	middle, err := parseLSN(h.pg.Ask(t, "SELECT pg_current_wal_lsn()"))
	sqltest.Must(t, err)
	sqltest.Must(t, h.write(t.Context(), 4, "claimed"))

	begin := func(at uint64) (*running, error) {
		h.all, h.dir = nil, t.TempDir()
		h.have = feed.Have{Fresh: true, Epoch: h.have.Epoch, Start: config.Start{Given: true, Position: wal.Position{Offset: at}}}
		n, err := h.open()
		if err != nil {
			return nil, err
		}
		return h.begin(n), nil
	}
	if _, err := begin(1 << 60); !isFinal(err) || !strings.HasPrefix(err.Error(), "offset=10000000/0:") {
		t.Errorf("an LSN that is not there yet gives %v", err)
	}
	r, err = begin(middle)
	sqltest.Must(t, err)
	if p := r.Plan(); p.Snapshot || p.At.Offset != middle {
		t.Errorf("from %s the plan is %+v", lsn(middle), p)
	}
	all = h.until("an event", func(all []told) bool { return len(all) > 0 })
	if len(all) != 1 || all[0].Submission != 4 {
		t.Errorf("from %s it tells %+v", lsn(middle), all)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	r, err = begin(from - 1)
	sqltest.Must(t, err)
	if p := r.Plan(); !p.Snapshot || !strings.Contains(p.Why, "lies beyond") {
		t.Errorf("from an LSN that is gone the plan is %+v", p)
	}
	h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func TestASnapshotThatWasCutOffIsStartedOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for n := range 100 {
		sqltest.Must(t, h.write(t.Context(), int64(n), "claimed"))
	}
	n, err := h.open()
	sqltest.Must(t, err)
	stopped := errors.New("stopped")
	if err := n.Snapshot(t.Context(), func(feed.Out) error { return stopped }); !errors.Is(err, stopped) {
		t.Errorf("the snapshot ended with %v", err)
	}
	sqltest.Must(t, n.Close())
	h.have = feed.Have{Epoch: h.have.Epoch, Snapshot: checkpoint.Snapshot{State: checkpoint.Running}, Ack: checkpoint.Ack{Position: n.Plan().At}}
	startsOver(t, h, "was cut off")
}

// What an idle feed has not acknowledged, PostgreSQL keeps. Here others write much that is not published.
func TestWhatIsNotPublishedIsNotKeptForTheFeed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	r := h.run()
	for range 3 {
		h.pg.Exec(t, "CREATE TABLE IF NOT EXISTS other (x text)", "INSERT INTO other SELECT repeat(md5(n::text), 30) FROM generate_series(1, 20000) n")
	}
	end := h.pg.Ask(t, "SELECT pg_current_wal_lsn()")
	for stop := time.Now().Add(patience); h.pg.Ask(t, "SELECT confirmed_flush_lsn >= '"+end+"' FROM pg_replication_slots") != "true"; {
		if time.Now().After(stop) {
			t.Fatalf("the feed has acknowledged %s, and the server is at %s", h.pg.Ask(t, "SELECT confirmed_flush_lsn FROM pg_replication_slots"), end)
		}
	}
	if behind, unit, ok := r.Plan().Lag(); !ok || unit != "bytes" || behind > markBytes {
		t.Errorf("the lag is %d %s (%v)", behind, unit, ok)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	// What was acknowledged beyond the last event is no reason for a snapshot.
	goesOn(t, h)
}

func TestNoProgramAndNoSecretIsInTheLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.problem()
	r := h.run()
	const code, password, said = "int sekrit_in_the_program;", "hash-of-a-password", "sekrit_in_what_the_compiler_says"
	id := sqltest.Submit(t, h.store, sqltest.Sub("alice", func(n *sql.NewJob) { n.Sources = []judge.Source{{Name: "main.cpp", Text: code}} }))
	h.pg.Exec(t, "INSERT INTO users (name, password_hash, role) VALUES ('bob', '"+password+"', 'contestant')")
	sqltest.Pick(t, h.store, 100)
	c := sqltest.Claim(t, h.store, id, "w1", 1)
	h.store.Exec(t, "INSERT INTO single_events (job_id, generation, attempt, kind, data) VALUES ($1, 1, 1, 'compiled', $2)", id,
		`{"total": 3, "compile": {"ok": false, "tool": "g++ 12.2.0", "usage": {"cpu_ms": 5}, "output": "`+said+`", "diagnostics": [{"line": 1, "message": "`+said+`"}]}}`)
	sqltest.Finalize(t, h.store, c.Attempt, "CE")
	all := h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	files, err := filepath.Glob(filepath.Join(h.dir, "*"))
	sqltest.Must(t, err)
	found := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		sqltest.Must(t, err)
		for _, secret := range []string{code, "sekrit", password, said, c.Token} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s has %q", f, secret)
			}
		}
		found += strings.Count(string(b), "compiled")
	}
	if found != 1 {
		t.Errorf("the log has %d events of a compilation, want one", found)
	}
	for _, e := range all {
		if e.Type == "compiled" && string(e.Body) != `{"compile":{"ok":false,"tool":"g++ 12.2.0","usage":{"cpu_ms":5}},"total":3}` {
			t.Errorf("the compilation was told as %s", e.Body)
		}
	}
}

func TestOfARejudgeSetOnlyIsToldThatItWasApplied(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.problem()
	before, after := h.live("alice", "AC"), h.live("bob", "AC")
	set := func(id int64) int64 {
		s, err := h.store.StartRejudge(t.Context(), sql.RejudgeRequest{Reason: "test", By: "staff", JobIDs: []int64{id}})
		sqltest.Must(t, err)
		sqltest.Pick(t, h.store, 100)
		c := sqltest.Claim(t, h.store, id, "w1", 2)
		sqltest.Finalize(t, h.store, c.Attempt, "WA")
		return s.ID
	}
	open := set(before) // in the snapshot
	r := h.run()
	h.complete()
	applied := set(after) // in the stream
	alone, err := h.store.Rejudge(t.Context(), []int64{h.live("carol", "AC")}, judge.LaneBatch, "staff")
	sqltest.Must(t, err)
	if err := h.store.ApplyRejudge(t.Context(), applied, "staff"); err != nil {
		t.Fatal(err)
	}
	all := h.complete()
	kinds := map[int64][]string{}
	for _, e := range all {
		if e.Generation > 1 {
			kinds[e.Submission] = append(kinds[e.Submission], e.Type)
		}
	}
	if len(kinds[before]) != 0 || strings.Join(kinds[after], " ") != "applied" || len(alone) != 1 {
		t.Errorf("of set %d is told %v, of set %d %v", open, kinds[before], applied, kinds[after])
	}
	for id := range alone {
		if strings.Join(kinds[id], " ") != "rejudge" {
			t.Errorf("of a rejudge that is no set's is told %v", kinds[id])
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	// A set that began before the stream did is known, too.
	h.store.Exec(t, "INSERT INTO single_events (job_id, generation, attempt, kind) VALUES ($1, 2, 9, 'worker_lost'), ($2, 1, 9, 'worker_lost')", before, before)
	r = h.run()
	all = h.complete()
	if last := all[len(all)-1]; last.Generation != 1 || last.Type != "worker_lost" {
		t.Errorf("after a restart was told %+v", last)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

func isFinal(err error) bool {
	_, is := errors.AsType[*feed.FinalError](err)
	return is
}

func TestWhatAnAdministratorHasToDoIsNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	url := h.pg.DSN(t, published.Role)
	for name, tt := range map[string]struct {
		o      Options
		before []string
		after  []string
		want   []string // parts of the error
	}{
		"no role":            {o: Options{URL: h.pg.DSN(t, "nobody_there")}, want: []string{"postgres_url:", "deepoj feed --sql"}},
		"no database":        {o: Options{URL: strings.Replace(url, "/deepoj?", "/elsewhere?", 1)}, want: []string{"postgres_url:", "name the database"}},
		"another database":   {o: Options{URL: strings.Replace(url, "/deepoj?", "/postgres?", 1)}, want: []string{"the database postgres has no table"}},
		"no replication":     {o: Options{URL: h.pg.DSN(t, "")}, want: []string{"the role deepoj may not replicate", "ALTER ROLE"}},
		"no publication":     {before: []string{"DROP PUBLICATION deepoj_feed"}, after: []string{published.Create("deepoj_feed")}, want: []string{"postgres_publication=deepoj_feed: there is no such"}},
		"a column less":      {before: []string{"ALTER PUBLICATION deepoj_feed SET TABLE single_events (id, job_id), event_batches, rejudge_set_jobs"}, after: published.Mend("deepoj_feed"), want: []string{"is without single_events.generation"}},
		"all columns":        {before: []string{"ALTER PUBLICATION deepoj_feed SET TABLE single_events, event_batches, rejudge_set_jobs"}, after: published.Mend("deepoj_feed"), want: []string{"publishes single_events (", "no columns but"}},
		"a table too many":   {before: []string{"ALTER PUBLICATION deepoj_feed ADD TABLE users"}, after: published.Mend("deepoj_feed"), want: []string{"publishes users"}},
		"updates":            {before: []string{"ALTER PUBLICATION deepoj_feed SET (publish = 'insert, truncate')"}, after: published.Mend("deepoj_feed"), want: []string{"must publish inserts, and nothing else"}},
		"nothing to be read": {before: []string{"REVOKE SELECT (data) ON single_events FROM deepoj_feed"}, after: published.Grants("deepoj_feed"), want: []string{"may not read single_events.data"}},
		"another slot": {
			o: Options{Slot: "physical"}, before: []string{"SELECT pg_create_physical_replication_slot('physical')"},
			after: []string{"SELECT pg_drop_replication_slot('physical')"}, want: []string{"postgres_slot=physical: is a slot of something else"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h.pg.Exec(t, tt.before...)
			defer h.pg.Exec(t, tt.after...)
			_, err := h.source(tt.o).Open(t.Context(), feed.Have{Fresh: true, Epoch: 1})
			if !isFinal(err) {
				t.Fatalf("the error is %v, want one that ends the feed", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q has no %q", err, part)
				}
			}
		})
	}
	if r := h.run(); r.end() != nil {
		t.Error("afterwards something is wrong")
	}
	h.pg.Stop(t)
	h.pg.Set("wal_level", "replica")
	if _, err := h.open(); err == nil || isFinal(err) || !strings.HasPrefix(err.Error(), "postgres_url: connect: ") {
		t.Errorf("without a server the error is %v", err)
	}
}

func TestAServerWithoutLogicalWALIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"wal_level": "replica"})
	if _, err := h.open(); !isFinal(err) || !strings.Contains(err.Error(), "wal_level=replica") || !strings.Contains(err.Error(), "CHANGE_FEED=true") {
		t.Errorf("the error is %v", err)
	}
}
