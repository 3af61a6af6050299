package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/config"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// whole is a feed with everything that it has when it runs: engine, log, checkpoint, and a file of lines.
type whole struct {
	*house

	lines string
	sent  chan struct{} // something is out; of one place
	o     feed.Options
}

// telling is a sink that tells when something is out.
type telling struct {
	kafka.Sink

	sent chan struct{}
}

func (s telling) Send(ctx context.Context, batch []kafka.Record, position []byte) error {
	err := s.Sink.Send(ctx, batch, position)
	select {
	case s.sent <- struct{}{}:
	default:
	}
	return err
}

func newWhole(t *testing.T, settings map[string]string) *whole {
	t.Helper()
	h := newHouse(t, settings)
	dir := t.TempDir()
	w := &whole{house: h, lines: filepath.Join(dir, "lines.ndjson"), sent: make(chan struct{}, 1)}
	w.o = feed.Options{
		Source: h.src, SourceID: "test", DB: "deepoj", WAL: wal.Options{Dir: filepath.Join(dir, "wal"), SegmentBytes: 64 << 10, Retain: 1},
		Checkpoint: filepath.Join(dir, "checkpoint.json"), Sink: telling{kafka.NewFile(w.lines), w.sent}, Topic: "binlog", SnapshotTopic: "snapshot",
		Encoder: feed.NewEncoder(&config.Config{PostgresURL: h.pg.DSN(t, published.Role)}), Pause: 10 * time.Millisecond, MaxPause: 100 * time.Millisecond,
	}
	return w
}

// start lets the feed run until stop, which returns its error.
func (w *whole) start() (stop func() error) {
	w.t.Helper()
	f, err := feed.New(w.o)
	sqltest.Must(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	return sync.OnceValue(func() error {
		cancel()
		return <-done
	})
}

// read returns the events that are out, in order, and the markers of snapshots.
func (w *whole) read() (events []told, markers []string) {
	w.t.Helper()
	f, err := os.Open(w.lines)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	sqltest.Must(w.t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events, markers // what comes after the last end of a line is being written
		}
		var e told
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		if strings.HasPrefix(e.Type, "snapshot_") {
			markers = append(markers, fmt.Sprintf("%s:%d", e.Type, e.Epoch))
			continue
		}
		e.snapshot = strings.HasPrefix(e.ID, "snapshot:")
		events = append(events, e)
	}
}

// wait waits until so is true of what is out.
func (w *whole) wait(what string, so func(events []told, markers []string) bool) {
	w.t.Helper()
	for timeout := time.After(patience); !so(w.read()); {
		select {
		case <-w.sent:
		case <-timeout:
			events, markers := w.read()
			w.t.Fatalf("with %d events and the markers %v there is still not: %s", len(events), markers, what)
		}
	}
}

// arrives waits until everything that happened is out, and checks it: nothing is missing, what comes twice bears the same
// event_id, and what comes first of a submission comes in order. It returns the markers.
func (w *whole) arrives() (markers []string) {
	w.t.Helper()
	truth := w.truth()
	w.wait(fmt.Sprintf("all of %d events", len(truth)), func(events []told, all []string) bool {
		markers = all
		ids, last := map[string]string{}, map[int64]int64{}
		for _, e := range events {
			before, twice := ids[e.name()]
			switch {
			case twice && before != e.ID:
				w.t.Fatalf("%s came as %s and as %s", e.name(), before, e.ID)
			case !twice && last[e.Submission] > e.Seq:
				w.t.Fatalf("%s came after %d", e.name(), last[e.Submission])
			case !truth[e.name()]:
				w.t.Fatalf("%s came, which never happened", e.name())
			}
			ids[e.name()], last[e.Submission] = e.ID, max(last[e.Submission], e.Seq)
		}
		return len(ids) == len(truth) && len(all) > 0 && strings.HasPrefix(all[len(all)-1], "snapshot_end:")
	})
	return markers
}

func TestEverythingArrivesThoughServerAndFeedEndAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newWhole(t, map[string]string{"fsync": "on"})
	w.store.Exec(t, `INSERT INTO single_events (job_id, generation, attempt, kind) SELECT n % 50 + 1, 1, 0, 'dispatched' FROM generate_series(1, 5000) n`)
	stop := w.start()
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 6 {
		ctx, end := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		var written atomic.Int64
		now, when := make(chan struct{}), random.Int64N(300)
		for i := range 3 {
			writers.Go(func() {
				for n := 0; ctx.Err() == nil && n < 300; n++ {
					if err := w.write(ctx, int64(100*i+n%20+1), "claimed"); err != nil {
						return // the server is gone
					}
					if written.Add(1) == when+1 {
						close(now)
					}
				}
			})
		}
		<-now
		switch round % 3 {
		case 0:
			w.pg.Kill(t)
			w.pg.Start(t)
		case 1:
			if err := stop(); err != nil {
				t.Error(err)
			}
			stop = w.start()
		case 2:
			w.pg.Exec(t, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active")
		}
		end()
		writers.Wait()
		w.store = w.pg.Store(t)
	}
	markers := w.arrives()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if len(markers) < 2 || markers[len(markers)-1] != strings.Replace(markers[len(markers)-2], "begin", "end", 1) {
		t.Errorf("the snapshots are %v", markers)
	}
}

func TestAFailoverBringsASnapshotOfANewEpoch(t *testing.T) {
	t.Parallel()
	w := newWhole(t, nil)
	sqltest.Must(t, w.write(t.Context(), 1, "submitted"))
	stop := w.start()
	if got := w.arrives(); len(got) != 2 {
		t.Errorf("the first snapshot is %v", got)
	}
	sqltest.Must(t, w.write(t.Context(), 1, "claimed"))
	w.arrives()
	w.pg.Promote(t)
	w.store = w.pg.Store(t)
	sqltest.Must(t, w.write(t.Context(), 1, "finished"))
	w.wait("a second snapshot", func(_ []told, markers []string) bool { return len(markers) >= 4 })
	w.wait("what was finished", func(events []told, _ []string) bool { return len(events) >= 5 })
	if err := stop(); err != nil {
		t.Error(err)
	}
	events, markers := w.read()
	if markers[0] == markers[2] || len(markers) != 4 {
		t.Errorf("the snapshots are %v", markers)
	}
	if n := len(events); n < 5 || events[n-1].Seq < events[n-2].Seq {
		t.Errorf("the events are %+v", events)
	}
}
