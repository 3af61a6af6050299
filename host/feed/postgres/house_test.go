package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/wal"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// patience is how long a test waits for what has to come.
const patience = time.Minute

// told is an event as a consumer gets it.
type told struct {
	Type       string          `json:"event_type"`
	ID         string          `json:"event_id"`
	Submission int64           `json:"submission"`
	Generation int32           `json:"generation"`
	Attempt    int32           `json:"attempt"`
	Seq        int64           `json:"seq"`
	At         time.Time       `json:"at"`
	Body       json.RawMessage `json:"body"`
	Epoch      uint32          `json:"epoch"`
	Audience   *string         `json:"audience"`

	key      string
	snapshot bool
}

// house is a judge's database, and a feed that keeps what its source tells as the engine would.
type house struct {
	t     testing.TB
	pg    *sqltest.Cluster
	store *sqltest.Store
	src   *Source
	dir   string // of the log

	have feed.Have
	log  *wal.Log

	mu       sync.Mutex
	all      []told
	streamed int           // of all, those that are of no snapshot
	over     bool          // the snapshot is
	more     chan struct{} // closed and made anew with each event
}

// prepare lets the feed's role into a cluster.
func prepare(t testing.TB, pg *sqltest.Cluster) {
	t.Helper()
	pg.Exec(t, "CREATE ROLE "+published.Role+" LOGIN REPLICATION")
	pg.Exec(t, published.Grants(published.Role)...)
	pg.Exec(t, published.Create(published.Publication))
}

func newHouse(t testing.TB, settings map[string]string) *house {
	t.Helper()
	pg := sqltest.NewCluster(t, settings)
	prepare(t, pg)
	h := &house{t: t, pg: pg, dir: t.TempDir(), more: make(chan struct{}), have: feed.Have{Fresh: true}}
	h.src = h.source(Options{})
	h.store = pg.Store(t)
	return h
}

func (h *house) source(o Options) *Source {
	h.t.Helper()
	if o.URL == "" {
		o.URL = h.pg.DSN(h.t, published.Role)
	}
	if o.Slot == "" {
		o.Slot = "deepoj_feed"
	}
	o.Publication, o.ID = published.Publication, "test"
	s, err := New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// running is a session at work.
type running struct {
	feed.Session

	stop context.CancelFunc
	done chan struct{} // closed when it has ended
	err  error
}

func (h *house) open() (feed.Session, error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	h.have.Epoch++
	return h.src.Open(ctx, h.have)
}

// run opens a session and lets it work until stop is called or it fails.
func (h *house) run() *running {
	h.t.Helper()
	n, err := h.open()
	if err != nil {
		h.t.Fatal(err)
	}
	return h.begin(n)
}

func (h *house) begin(n feed.Session) *running {
	h.t.Helper()
	plan := n.Plan()
	log, err := wal.Open(wal.Options{Dir: h.dir, Whole: h.src.Whole, Start: plan.At, SegmentBytes: 64 << 20})
	if err != nil {
		h.t.Fatal(err)
	}
	if plan.Snapshot {
		if err := log.Begin(plan.At); err != nil {
			h.t.Fatal(err)
		}
		h.have.Ack, h.have.Snapshot.State = checkpoint.Ack{Position: plan.At}, checkpoint.Running
	}
	h.log = log
	next := max(log.Durable().Seq+1, log.First()) // before anything comes
	h.have.System, h.have.Fresh = &plan.System, false
	ctx, stop := context.WithCancel(h.t.Context())
	r := &running{Session: n, stop: stop, done: make(chan struct{})}
	var parts sync.WaitGroup
	errs := make(chan error, 3)
	part := func(do func(context.Context) error) {
		parts.Go(func() {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				errs <- err
				stop()
			}
		})
	}
	epoch := h.have.Epoch
	part(func(ctx context.Context) error {
		return n.Receive(ctx, func(at wal.Position, p ...[]byte) error {
			_, err := log.Append(epoch, at, p...)
			return err
		})
	})
	if plan.Snapshot {
		part(func(ctx context.Context) error {
			err := n.Snapshot(ctx, func(o feed.Out) error { h.tell(o, true); return nil })
			if err == nil {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.have.Snapshot.State, h.over = checkpoint.Done, true
				h.wake()
			}
			return err
		})
	}
	part(func(ctx context.Context) error { return h.follow(ctx, n, log, next) })
	go func() {
		parts.Wait()
		close(errs)
		r.err = errors.Join(<-errs, n.Close(), log.Close())
		h.have.Durable = log.Durable()
		close(r.done)
	}()
	h.t.Cleanup(func() { r.end() })
	return r
}

// follow makes events of what is durable from a record on, and acknowledges it.
func (h *house) follow(ctx context.Context, n feed.Session, log *wal.Log, next uint64) error {
	from, err := log.ReadFrom(next)
	if err != nil {
		return err
	}
	defer from.Close()
	for {
		rec, err := from.Next(ctx)
		if err != nil {
			return err
		}
		n.Durable(log.Durable())
		out, err := h.src.Event(nil, rec)
		if err != nil {
			return err
		}
		if out.Keep {
			h.tell(out, false)
		}
	}
}

func (h *house) tell(o feed.Out, snapshot bool) {
	e := told{key: string(o.Key), snapshot: snapshot}
	if err := json.Unmarshal(o.Value, &e); err != nil {
		h.t.Errorf("%s: %v", o.Value, err)
	}
	if o.ID != e.ID || o.Snapshot != snapshot {
		h.t.Errorf("%s is %q (snapshot %v) to the engine", o.Value, o.ID, o.Snapshot)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, e)
	if !snapshot {
		h.streamed++
	}
	h.wake()
}

// wake tells that something has changed; mu is held.
func (h *house) wake() {
	close(h.more)
	h.more = make(chan struct{})
}

// end stops the session, or waits for its end, and returns why it ended.
func (r *running) end() error {
	r.stop()
	<-r.done
	return r.err
}

// fails waits until the session fails by itself.
func (r *running) fails(t testing.TB) error {
	t.Helper()
	select {
	case <-r.done:
		return r.err
	case <-time.After(patience):
		t.Fatal("the session goes on")
		return nil
	}
}

// until waits until so is true of what was told, and is called with mu held.
func (h *house) until(what string, so func(all []told) bool) []told {
	h.t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		h.mu.Lock()
		more, n := h.more, len(h.all)
		if so(h.all) {
			all := slices.Clone(h.all)
			h.mu.Unlock()
			return all
		}
		h.mu.Unlock()
		select {
		case <-more:
			timeout.Reset(patience)
		case <-timeout.C:
			h.t.Fatalf("after %d events still not: %s", n, what)
		}
	}
}

// truth are all events of the database that may be told, as submission:seq.
func (h *house) truth() map[string]bool {
	h.t.Helper()
	all := map[string]bool{}
	for line := range strings.FieldsSeq(h.pg.Ask(h.t, `SELECT string_agg(job_id || ':' || id, ' ') FROM events
WHERE NOT (generation > 1 AND kind <> 'applied' AND EXISTS (SELECT FROM rejudge_set_jobs m WHERE m.job_id = events.job_id AND m.generation = events.generation))`)) {
		all[line] = true
	}
	return all
}

func (e told) name() string { return fmt.Sprintf("%d:%d", e.Submission, e.Seq) }

// complete waits until everything was told, and checks that each event was told once, in the order of its submission.
func (h *house) complete() []told {
	h.t.Helper()
	truth := h.truth()
	all := h.until(fmt.Sprintf("all of %d events", len(truth)), func(all []told) bool { return len(all) >= len(truth) })
	h.check(all, truth)
	return all
}

func (h *house) check(all []told, truth map[string]bool) {
	h.t.Helper()
	seen, ids, last := map[string]bool{}, map[string]bool{}, map[int64]told{}
	for _, e := range all {
		if seen[e.name()] || ids[e.ID] {
			h.t.Errorf("%s was told twice (%s)", e.name(), e.ID)
		}
		if !truth[e.name()] {
			h.t.Errorf("%s was told, which never happened: %+v", e.name(), e)
		}
		if before := last[e.Submission]; before.Seq >= e.Seq && before.snapshot == e.snapshot {
			h.t.Errorf("%s was told after %s", e.name(), before.name())
		}
		seen[e.name()], ids[e.ID], last[e.Submission] = true, true, e
		if want := fmt.Sprintf("deepoj:job:%d", e.Submission); e.key != want {
			h.t.Errorf("the key of %s is %s", e.name(), e.key)
		}
	}
	for name := range truth {
		if !seen[name] {
			h.t.Errorf("%s was never told", name)
		}
	}
}

// live hands in a program and judges it.
func (h *house) live(author string, v string) int64 {
	h.t.Helper()
	id := sqltest.Submit(h.t, h.store, sqltest.Sub(author))
	sqltest.Pick(h.t, h.store, 100)
	c := sqltest.Claim(h.t, h.store, id, "w1", 1)
	sqltest.Finalize(h.t, h.store, c.Attempt, verdict(v))
	return id
}
