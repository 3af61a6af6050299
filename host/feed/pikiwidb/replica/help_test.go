package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/config"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/wal"
)

// origin is where binlogs of the tests begin.
var origin = wal.Position{Filenum: 267, Offset: 45044585}

// newMaster starts a master, whose complaints fail the test at its end.
func newMaster(t testing.TB, o mastertest.Options) *mastertest.Master {
	t.Helper()
	o.DumpDir = t.TempDir()
	if o.Start == (wal.Position{}) {
		o.Start = origin
	}
	if o.ReplicationID == "" {
		o.ReplicationID = "one"
	}
	m, err := mastertest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Stop()
		for _, err := range m.Complaints() {
			t.Errorf("the master complains: %v", err)
		}
	})
	return m
}

// settings are those of a feed of the master, in folders of the test.
func settings(t testing.TB, m *mastertest.Master, more map[string]string) *config.Config {
	t.Helper()
	all := byEnv(t, m, more)
	c, err := config.Load("", false, func(name string) (string, bool) { v, ok := all[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// byEnv are the settings by their names in the environment.
func byEnv(t testing.TB, m *mastertest.Master, more map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"source": "pikiwidb", "master_host": "127.0.0.1", "master_port": strconv.Itoa(m.Port()), "sink": "ndjson", "sink_path": filepath.Join(dir, "events"),
		"wal_dir": filepath.Join(dir, "wal"), "dump_dir": filepath.Join(dir, "dump"), "checkpoint_path": filepath.Join(dir, "checkpoint.json"),
	}
	maps.Copy(all, more)
	named := map[string]string{}
	for name, value := range all {
		named["FEED_"+strings.ToUpper(strings.ReplaceAll(name, ".", "_"))] = value
	}
	return named
}

func newSource(t testing.TB, c *config.Config) *Source {
	t.Helper()
	s, err := New(c, c.DBs[0], slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	s.alive, s.again = 50*time.Millisecond, 10*time.Millisecond
	return s
}

// fresh is what a feed has that never ran.
var fresh = feed.Have{Epoch: 1, Fresh: true, Snapshot: checkpoint.Snapshot{State: checkpoint.None}}

// has is what a feed has that is at a position of the data of the first master.
func has(at wal.Position) feed.Have {
	return feed.Have{
		Epoch: 7, Ack: checkpoint.Ack{Seq: 5, Position: at}, System: &checkpoint.System{ID: "one"}, Snapshot: checkpoint.Snapshot{State: checkpoint.Done},
	}
}

// ride is a session under way, with a log.
type ride struct {
	t       testing.TB
	source  *Source
	session feed.Session
	plan    feed.Plan
	log     *wal.Log
	epoch   uint32
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{}
	snapshot []feed.Out
	whole    bool // the snapshot
	err      error
	received int
	hold     chan struct{} // what is received waits here, if it is not nil
}

// board opens a session and receives from it until the test ends, or the ride.
func board(t testing.TB, s *Source, have feed.Have, change ...func(*ride)) *ride {
	t.Helper()
	session, err := s.Open(t.Context(), have)
	if err != nil {
		t.Fatal(err)
	}
	log, err := wal.Open(wal.Options{Dir: t.TempDir(), Start: session.Plan().At})
	if err != nil {
		t.Fatal(err)
	}
	r := &ride{t: t, source: s, session: session, plan: session.Plan(), log: log, epoch: have.Epoch, changed: make(chan struct{})}
	for _, c := range change {
		c(r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.cancel = cancel
	r.running.Go(func() {
		r.ends(session.Receive(ctx, func(at wal.Position, parts ...[]byte) error {
			if r.hold != nil {
				select {
				case <-r.hold:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			_, err := log.Append(r.epoch, at, parts...)
			r.note(func() { r.received++ })
			return err
		}))
	})
	r.running.Go(func() {
		for seq := uint64(0); ; {
			p, err := log.WaitDurable(ctx, seq+1)
			if err != nil {
				return
			}
			session.Durable(p)
			seq = p.Seq
		}
	})
	if r.plan.Snapshot {
		r.running.Go(func() {
			err := session.Snapshot(ctx, func(o feed.Out) error {
				o.Key, o.Value = append([]byte(nil), o.Key...), append([]byte(nil), o.Value...)
				r.note(func() { r.snapshot = append(r.snapshot, o) })
				return nil
			})
			if err == nil {
				r.note(func() { r.whole = true })
				return
			}
			r.ends(err)
		})
	}
	t.Cleanup(r.end)
	return r
}

func (r *ride) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *ride) ends(err error) {
	r.note(func() {
		if r.err == nil {
			r.err = err
		}
	})
}

// end ends the session.
func (r *ride) end() {
	r.t.Helper()
	if r.cancel == nil {
		return
	}
	r.cancel()
	r.cancel = nil
	r.running.Wait()
	if err := errors.Join(r.session.Close(), r.log.Close()); err != nil {
		r.t.Error(err)
	}
}

// until waits until so, which is called with r.mu held, or the session has failed.
func (r *ride) until(what string, so func() bool) {
	r.t.Helper()
	for {
		r.mu.Lock()
		changed, done, err := r.changed, so(), r.err
		r.mu.Unlock()
		if done {
			return
		}
		if err != nil {
			r.t.Fatalf("%s: the session has ended: %v", what, err)
		}
		select {
		case <-changed:
		case <-r.t.Context().Done():
			r.t.Fatalf("%s: not before the test ends", what)
		}
	}
}

// failure waits until the session has failed.
func (r *ride) failure() error {
	r.t.Helper()
	for {
		r.mu.Lock()
		changed, err := r.changed, r.err
		r.mu.Unlock()
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-r.t.Context().Done():
			r.t.Fatal("the session has not failed")
		}
	}
}

// upTo waits until everything up to a position is received, and until the snapshot is whole.
func (r *ride) upTo(at wal.Position) {
	r.t.Helper()
	r.until("receive up to "+at.String(), func() bool {
		last := r.log.Last()
		return (at == r.plan.At || last.Position.Compare(at) >= 0) && (r.whole || !r.plan.Snapshot)
	})
}

// events are those of all that the log has.
func (r *ride) events() (all []feed.Out) {
	r.t.Helper()
	last := r.log.Last().Seq
	if last == 0 {
		return nil
	}
	in, err := r.log.ReadFrom(1)
	if err != nil {
		r.t.Fatal(err)
	}
	defer in.Close()
	for in.Seq() <= last {
		rec, err := in.Next(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		out, err := r.source.Event(nil, rec)
		if err != nil {
			r.t.Fatal(err)
		}
		if out.Keep {
			all = append(all, out)
		}
	}
	return all
}

// refused opens a session that should fail, and returns the error and whether it is final.
func refused(t testing.TB, s *Source, have feed.Have) (err error, final bool) {
	t.Helper()
	session, err := s.Open(t.Context(), have)
	if err == nil {
		_ = session.Close()
		t.Fatal("a session is opened that should be refused")
	}
	_, final = errors.AsType[*feed.FinalError](err)
	return err, final
}

func waitFor(t testing.TB, m *mastertest.Master, what string, so func() bool) {
	t.Helper()
	if err := m.Until(t.Context().Done(), so); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func fillMaster(m *mastertest.Master, db string, n int) (end wal.Position) {
	for i := range n {
		end = m.Do(db, "set", fmt.Sprintf("k%d", i%97), strconv.Itoa(i))
	}
	return end
}
