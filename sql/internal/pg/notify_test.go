package pg_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/jobs"
	"deepoj/sql/sqltest"
)

// listening returns what a listener on channel hears, from when it has begun.
func listening(t *testing.T, s *sqltest.Store, channel string) <-chan string {
	t.Helper()
	heard := make(chan string, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Listen(ctx, channel, func(p string) { heard <- p }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("listen: %v", err)
		}
	})
	// The first call says that it listens in this process, the second that it
	// is connected. They may come as one.
	waitFor(t, heard, "")
	sqltest.Must(t, s.Notify(t.Context(), channel, "begun"))
	waitFor(t, heard, "begun")
	for sqltest.One[int64](t, s, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'deepoj-listen' AND datname = current_database() AND query LIKE 'LISTEN%'") == 0 {
		select {
		case <-t.Context().Done():
			t.Fatal("not connected")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return heard
}

func waitFor(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case got := <-heard:
			if got == want {
				return
			}
		case <-deadline:
			t.Fatalf("%q was not heard", want)
		}
	}
}

func TestWorkWakesListenersHereAndElsewhere(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	here, there := sqltest.Open(t, dsn), sqltest.Open(t, dsn)
	sqltest.Must(t, here.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Version: "sha256:00"}, "test"))
	work, far := listening(t, here, jobs.ChannelOutbox), listening(t, there, jobs.ChannelOutbox)
	sqltest.Submit(t, here, sqltest.Sub("alice"))
	waitFor(t, work, "")
	waitFor(t, far, "")
}

// PostgreSQL wakes whoever listens to anything for each notification: workers would be woken for what others do.
func TestEventsWakeListenersOfThisProcessAndNobodyElse(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	here, there := sqltest.Open(t, dsn), sqltest.Open(t, dsn)
	sqltest.Must(t, here.SaveProblem(t.Context(), judge.Problem{Slug: "aplusb", Version: "sha256:00"}, "test"))
	heard := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- here.Listen(ctx, sql.ChannelEvents, func(p string) { heard <- p }) }()
	defer func() {
		cancel()
		sqltest.Must(t, <-done)
	}()
	waitFor(t, heard, "") // that it listens
	id := sqltest.Submit(t, here, sqltest.Sub("alice"))
	sqltest.Pick(t, here, 1)
	waitFor(t, heard, fmt.Sprint(id))
	job := sqltest.Claim(t, there, id, "w1", 1)
	sqltest.Finalize(t, here, job.Attempt, judge.AC)
	waitFor(t, heard, fmt.Sprint(id)) // of the result, which is the next that this process does
	if n := len(heard); n != 0 {
		t.Errorf("%d more were heard: also of the claim elsewhere", n)
	}
	if n := sqltest.One[int64](t, here, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'deepoj-listen' AND datname = current_database()"); n != 0 {
		t.Errorf("%d connections listen to the database for events", n)
	}
}

func TestAListenerComesBackAfterItsConnectionWasCut(t *testing.T) {
	t.Parallel()
	dsn := sqltest.DSN(t)
	here, there := sqltest.Open(t, dsn), sqltest.Open(t, dsn)
	heard := listening(t, here, sql.ChannelStops)
	here.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'deepoj-listen' AND datname = current_database()`)
	for again := true; again; { // what is sent before it is back is lost
		sqltest.Must(t, there.Notify(t.Context(), sql.ChannelStops, "42"))
		select {
		case got := <-heard:
			again = got != "42"
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := here.Listen(t.Context(), "nonsense", nil); err == nil {
		t.Error("listening on an unknown channel succeeded")
	}
}

func TestTheStoreOutlivesItsConnections(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	s.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'deepoj%' AND datname = current_database() AND pid <> pg_backend_pid()`)
	// Some statements meet a dead connection, of which both pools may have several.
	again := func(do func() error) {
		t.Helper()
		var err error
		for range 20 {
			if err = do(); err == nil {
				return
			}
		}
		t.Fatal(err)
	}
	again(func() error {
		_, _, err := s.Claim(t.Context(), []int64{id}, "w1", sqltest.Token(1), sqltest.Lease)
		return err
	})
	again(func() error {
		v, err := s.Submission(t.Context(), id)
		if err == nil && v.Status != judge.Running {
			t.Errorf("the job is %s", v.Status)
		}
		return err
	})
}

func TestDirectDeliveryHandsOutWhatWaits(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	d := s.Delivery("", "", "w1", func() []string { return []string{"cpp"} })
	ids := sqltest.SubmitMany(t, s, 3)
	es, err := d.Receive(t.Context(), 2, time.Minute)
	if err != nil || len(es) != 2 || es[0].JobID != ids[0] || es[0].Reason != "" || es[0].ID != "" {
		t.Fatalf("received %+v, %v", es, err)
	}
	sqltest.Must(t, d.Ack(t.Context(), es...))
	if entries, err := d.Publish(t.Context(), make([]judge.Ticket, 3)); err != nil || len(entries) != 3 {
		t.Errorf("publish = %v, %v", entries, err)
	}
	if es, err = d.Receive(t.Context(), 2, 0); err != nil || len(es) != 1 {
		t.Errorf("received %+v, %v", es, err)
	}
	if es, err = d.Receive(t.Context(), 2, 0); err != nil || len(es) != 0 {
		t.Errorf("received %+v, %v from an empty queue", es, err)
	}
}

func TestDirectDeliveryWaitsForWork(t *testing.T) {
	t.Parallel()
	s := sqltest.Audited(t)
	d := s.Delivery("", "", "w1", nil)
	got := make(chan []int64, 1)
	go func() {
		es, err := d.Receive(t.Context(), 1, time.Hour)
		if err != nil {
			t.Error(err)
		}
		var ids []int64
		for _, e := range es {
			ids = append(ids, e.JobID)
		}
		got <- ids
	}()
	id := sqltest.Submit(t, s, sqltest.Sub("alice"))
	if ids := <-got; !slices.Equal(ids, []int64{id}) {
		t.Errorf("received %v, want [%d]", ids, id)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if es, err := d.Receive(ctx, 1, time.Hour); len(es) != 0 || (err != nil && ctx.Err() == nil) {
		t.Errorf("after the end: %v, %v", es, err)
	}
}

func TestAProcessListensOnlyToWhatItHasSubscribedTo(t *testing.T) {
	t.Parallel()
	s := sqltest.DB(t)
	const channelsOf = "SELECT coalesce(max(query), '') FROM pg_stat_activity WHERE application_name = 'deepoj-listen' AND datname = current_database()"
	work := listening(t, s, jobs.ChannelOutbox)
	if got, want := sqltest.One[string](t, s, channelsOf), "LISTEN "+jobs.ChannelOutbox; got != want {
		t.Errorf("listens with %q, want %q", got, want)
	}
	waitFor(t, work, "") // that it listens now
	stops := listening(t, s, sql.ChannelStops)
	want := "LISTEN " + jobs.ChannelOutbox + "; LISTEN " + sql.ChannelStops
	for end := time.Now().Add(30 * time.Second); sqltest.One[string](t, s, channelsOf) != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("listens with %q, want %q", sqltest.One[string](t, s, channelsOf), want)
		}
	}
	// What was sent while it connected anew is made up for.
	waitFor(t, work, "")
	waitFor(t, stops, "")
}
