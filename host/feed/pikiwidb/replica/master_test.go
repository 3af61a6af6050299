package replica

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/wal"
)

// ran is a feed that runs in this process.
type ran struct {
	*feed.Feed
	stop context.CancelFunc
	done chan error
}

// run starts a feed of the source, with its settings, that ends with the test.
func run(t *testing.T, more map[string]string, m *mastertest.Master) (start func() *ran, lines string) {
	t.Helper()
	c := settings(t, m, more)
	return func() *ran {
		t.Helper()
		o, err := options(c, newSource(t, c))
		if err != nil {
			t.Fatal(err)
		}
		f, err := feed.New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		r := &ran{f, stop, make(chan error, 1)}
		go func() { r.done <- f.Run(ctx) }()
		t.Cleanup(stop)
		return r
	}, c.SinkPath
}

// delivers waits until everything up to a position of the newest data is delivered.
func (r *ran) delivers(t *testing.T, at wal.Position, epochs uint32) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s := r.Status()
		if s.Ack.Position == at && s.Epoch >= epochs && (s.State == feed.Streaming || s.State == feed.CatchUp) {
			return
		}
		select {
		case <-tick.C:
		case err := <-r.done:
			t.Fatalf("the feed ended: %v", err)
		case <-t.Context().Done():
			t.Fatalf("%s is not delivered: %+v", at, s)
		}
	}
}

// A feed goes on through everything that befalls its master: it takes a new snapshot only when it has to, and ends only
// when other data has taken the place of its own under the same name.
func TestAFeedGoesOnThroughWhatBefallsItsMaster(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{FileBytes: 2 << 10, KeepAlive: 20 * time.Millisecond})
	fillMaster(m, "db0", 100)
	start, lines := run(t, nil, m)
	r := start()
	waitFor(t, m, "the feed has a session", func() bool { return m.Count("DBSync") == 1 })
	r.delivers(t, fillMaster(m, "db0", 100), 1)

	m.Stop() // a restart: no snapshot
	at := fillMaster(m, "db0", 100)
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	r.delivers(t, at, 2)

	m.Break(func(f *mastertest.Faults) { f.Busy = 3 }) // it thinks that the replica is still there
	m.Cut()
	r.delivers(t, fillMaster(m, "db0", 100), 3)

	m.Break(func(f *mastertest.Faults) { f.Refuse = 1 }) // it does not know what it has sent
	at = fillMaster(m, "db0", 100)
	waitFor(t, m, "an acknowledgement is refused", func() bool { return m.Count("refused") == 1 })
	r.delivers(t, at, 4)

	m.Stop() // away for so long that the binlog is purged: the second snapshot
	m.Purge("db0", fillMaster(m, "db0", 100))
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, m, "a second snapshot is asked for", func() bool { return m.Count("DBSync") == 2 })
	r.delivers(t, fillMaster(m, "db0", 10), 4)

	m.Stop() // a failover to other data, whose positions are lower: the third
	m.FailOver("two")
	m.Reset("db0", wal.Position{Filenum: 3})
	fillMaster(m, "db0", 50)
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, m, "a third snapshot is asked for", func() bool { return m.Count("DBSync") == 3 })
	r.delivers(t, fillMaster(m, "db0", 10), 5)

	r.stop() // a restart of the feed: no snapshot
	if err := <-r.done; err != nil {
		t.Fatal(err)
	}
	r = start()
	r.delivers(t, fillMaster(m, "db0", 10), 6)
	has, snapshots := consumer(t, lines)
	if want := m.Content("db0"); !maps.Equal(has, want) || snapshots != 3 || m.Count("DBSync") != 3 {
		t.Errorf("a consumer has %d keys and the master %d, or others, after %d snapshots of %d dumps", len(has), len(want), snapshots, m.Count("DBSync"))
	}

	m.Stop() // a reset under the same name: nobody but who operates the feed can decide
	m.Reset("db0", wal.Position{Filenum: 1})
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.done:
		if _, final := errors.AsType[*feed.FinalError](err); !final || !strings.Contains(err.Error(), "deepoj feed reset") {
			t.Errorf("the feed ends with %v", err)
		}
	case <-t.Context().Done():
		t.Error("the feed does not end")
	}
	for _, err := range m.Complaints() {
		t.Error(err)
	}
}

// consumer does what lines of events say.
func consumer(t *testing.T, lines string) (has map[string]string, snapshots int) {
	t.Helper()
	epoch := uint32(0)
	eachLine(t, lines, func(line []byte) {
		var e said
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Epoch < epoch {
			t.Errorf("an event of epoch %d comes behind one of %d", e.Epoch, epoch)
		}
		epoch = e.Epoch
		switch {
		case e.Type == "snapshot_begin":
			has = map[string]string{}
			snapshots++
		case e.Op == "set":
			has[e.Args[0]] = e.Args[1]
		}
	})
	return has, snapshots
}
