package replica

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// said is what an event says.
type said struct {
	Type     string   `json:"event_type"`
	Op       string   `json:"op"`
	DataType string   `json:"data_type"`
	DB       string   `json:"db"`
	Key      string   `json:"key"`
	Args     []string `json:"args"`
	Encoding string   `json:"args_encoding"`
	ID       string   `json:"event_id"`
	Epoch    uint32   `json:"epoch"`
	TimeMS   int64    `json:"ts_ms"`
	Raw      string   `json:"raw_resp"`
}

func read(t testing.TB, out feed.Out) (s said) {
	t.Helper()
	if err := json.Unmarshal(out.Value, &s); err != nil {
		t.Fatalf("%s: %v", out.Value, err)
	}
	if s.ID != out.ID {
		t.Errorf("the event %s is handed over as %s", s.ID, out.ID)
	}
	if want := fmt.Sprintf("%s:%s:%s", s.DB, s.DataType, s.Key); string(out.Key) != want {
		t.Errorf("the event of %s has the key %s", want, out.Key)
	}
	return s
}

// content is what a consumer has that does what it reads.
func (r *ride) content() map[string]string {
	all := map[string]string{}
	for _, out := range slices.Concat(r.snapshot, r.events()) {
		switch s := read(r.t, out); s.Op {
		case "set":
			all[s.Args[0]] = s.Args[1]
		case "pksetexat":
			all[s.Args[0]] = s.Args[2]
		case "del":
			delete(all, s.Args[0])
		}
	}
	return all
}

// A consumer that takes the snapshot and then the stream has what the master has, though the master is written to all
// the while; every item from the dump's position on comes once, and its acknowledgement.
func TestASnapshotAndThenTheStreamIsEverythingOnce(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{Instances: 3, FileBytes: 4 << 10, Batch: 7})
	fillMaster(m, "db0", 500)
	written := make(chan struct{})
	go func() {
		for i := range 2000 {
			m.Do("db0", "set", fmt.Sprintf("k%d", i%300), fmt.Sprintf("new %d", i))
			if i%5 == 0 {
				m.Do("db0", "DEL", fmt.Sprintf("k%d", (i+100)%300))
			}
		}
		close(written)
	}()
	r := board(t, newSource(t, settings(t, m, nil)), fresh)
	if !r.plan.Snapshot || r.plan.Why != "the feed has no position yet" || r.plan.System.ID != "one" {
		t.Errorf("the plan is %+v", r.plan)
	}
	<-written
	end := m.Do("db0", "set", "last", "one") // all others may have come before the dump
	r.upTo(end)
	if got, want := r.content(), m.Content("db0"); !maps.Equal(got, want) {
		t.Errorf("a consumer has %d keys and the master %d, or others", len(got), len(want))
	}
	var want, got []string
	for _, i := range m.Items("db0") {
		if i.At.Compare(r.plan.At) >= 0 {
			want = append(want, fmt.Sprintf("0:%d:%d", i.At.Filenum, i.At.Offset))
		}
	}
	for _, out := range r.events() {
		id := read(t, out).ID
		got = append(got, id[:strings.LastIndexByte(id, ':')])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d events of %d items behind the dump", len(got), len(want))
	}
	waitFor(t, m, "all is acknowledged", func() bool { return m.Acknowledged("db0") == end })
	if left, _ := os.ReadDir(r.source.dir); len(left) != 1 {
		t.Errorf("%d files are left in the folder of the dump", len(left))
	}
}

// What is not durable is not acknowledged, and a full window does not stop what is.
func TestNothingIsAcknowledgedBeforeItIsDurable(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{Batch: 3, Window: 10})
	end := fillMaster(m, "db0", 100)
	r := board(t, newSource(t, settings(t, m, nil)), has(origin), func(r *ride) { r.hold = make(chan struct{}) })
	r.hold <- struct{}{} // one item of a message of three
	r.until("one is in the log", func() bool { return r.received == 1 })
	if _, err := r.log.WaitDurable(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r.session.Durable(wal.Point{Epoch: r.epoch - 1, Position: wal.Position{Filenum: 1 << 30}}) // of other data
	pings := m.Count("ping")
	waitFor(t, m, "signs of life come while the log has no room", func() bool { return m.Count("ping") > pings+3 })
	if n := m.Count("ack"); n != 0 {
		t.Errorf("%d acknowledgements, and a message is not whole", n)
	}
	close(r.hold)
	r.upTo(end)
	waitFor(t, m, "all is acknowledged", func() bool { return m.Acknowledged("db0") == end })
	if n := len(r.events()); n != 100 {
		t.Errorf("%d events of 100 items", n)
	}
}

// Where the stream goes on, or why it does not, is decided by what the feed has and by what the master says.
func TestTheMasterSaysWhereTheStreamGoesOn(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{})
	fillMaster(m, "db0", 100)
	items, end := m.Items("db0"), m.End("db0")
	purged, middle := items[10].Next, items[50].Next
	m.Purge("db0", items[20].At)
	behind, between := end, middle
	behind.Offset += 1000
	between.Offset++
	given := func(at wal.Position) feed.Have {
		h := fresh
		h.Start.Given, h.Start.Position = true, at
		return h
	}
	with := func(h feed.Have, change func(*feed.Have)) feed.Have {
		change(&h)
		return h
	}
	for name, c := range map[string]struct {
		have feed.Have
		at   wal.Position
		why  string
		err  string
	}{
		"nothing yet":             {have: fresh, at: end, why: "the feed has no position yet"},
		"nothing yet, and a file": {have: feed.Have{Epoch: 2, Snapshot: checkpoint.Snapshot{State: checkpoint.None}}, at: end, why: "the feed has no position yet"},
		"from the master":         {have: with(fresh, func(h *feed.Have) { h.Start.FromMaster = true }), at: end},
		"given":                   {have: given(middle), at: middle},
		"given, purged":           {have: given(purged), at: end, why: "the master has purged its binlog at " + purged.String()},
		"given, larger":           {have: given(behind), err: fmt.Sprintf("filenum=267, offset=%d, and the binlog of 127.0.0.1:", behind.Offset)},
		"given, between":          {have: given(between), err: "no item of its binlog begins there: name where an item begins, or unset both for a snapshot"},
		"acknowledged":            {have: has(middle), at: middle},
		"durable":                 {have: with(has(middle), func(h *feed.Have) { h.Durable = wal.Point{Seq: 9, Position: items[60].Next} }), at: items[60].Next},
		"durable and delivered":   {have: with(has(middle), func(h *feed.Have) { h.Durable = wal.Point{Seq: 5, Position: items[60].Next} }), at: items[60].Next},
		"the end":                 {have: has(end), at: end},
		"purged":                  {have: has(purged), at: end, why: "the master has purged its binlog at " + purged.String()},
		"larger":                  {have: has(behind), err: "the master was reset, or another one took over that lacks the rest: let the feed begin with a new snapshot: deepoj feed reset"},
		"between":                 {have: has(between), err: "the feed has everything up to " + between.String()},
		"other data":              {have: with(has(middle), func(h *feed.Have) { h.System.ID = "two" }), at: end, why: `the master has other data: its replication_id was "two" and is "one"`},
		"unknown data":            {have: with(has(middle), func(h *feed.Have) { h.System = nil }), at: middle},
		"cut off":                 {have: with(has(middle), func(h *feed.Have) { h.Snapshot.State = checkpoint.Running }), at: end, why: "the snapshot before was cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSource(t, settings(t, m, nil))
			if c.err != "" {
				if err, final := refused(t, s, c.have); !strings.Contains(err.Error(), c.err) || !final {
					t.Errorf("%v (final %v), want %q", err, final, c.err)
				}
				return
			}
			r := board(t, s, c.have)
			if p := r.plan; p.At != c.at || p.Snapshot != (c.why != "") || p.Why != c.why {
				t.Errorf("the plan is %+v, want %s and %q", p, c.at, c.why)
			}
			r.upTo(end)
			from, _ := slices.BinarySearchFunc(items, c.at, func(i mastertest.Item, at wal.Position) int { return i.At.Compare(at) })
			if got := len(r.events()); got != 100-from {
				t.Errorf("%d events come, want %d", got, 100-from)
			}
		})
	}
}

// Who the master does not want, or does not know, hears what to change; what passes is not final.
func TestARefusalNamesWhatToChange(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{Password: "secret", DBs: []string{"db0", "db1"}})
	for name, c := range map[string]struct {
		more  map[string]string
		fault func(*mastertest.Faults)
		want  string
		final bool
	}{
		"no password":    {nil, nil, "password: the master 127.0.0.1:", true},
		"wrong password": {map[string]string{"password": "guess"}, nil, "Set the password to its requirepass", true},
		"no such db":     {map[string]string{"password": "secret", "dbs": "db7"}, nil, `dbs=db7: the master`, true},
		"not now":        {map[string]string{"password": "secret"}, func(f *mastertest.Faults) { f.Busy = 1 }, `does not take the feed now: "Slave AlreadyExist"`, false},
		"nobody":         {map[string]string{"master_port": "1"}, nil, "master_host=127.0.0.1, master_port=1: nobody answers at the port 2001", false},
		"no pika": {map[string]string{"password": "secret"}, func(f *mastertest.Faults) {
			f.Answer = func(a *wire.Answer) { a.Kind, a.Meta = wire.DBSync, nil }
		}, "the master answers MetaSync with DBSync", false},
		"not to be had": {map[string]string{"password": "secret"}, func(f *mastertest.Faults) {
			f.Answer = func(a *wire.Answer) {
				if a.Kind == wire.DBSync {
					a.Code, a.Dump, a.Reply = wire.Error, nil, "disk full"
				}
			}
		}, `the master makes no dump: "disk full"`, false},
	} {
		m.Break(func(f *mastertest.Faults) {
			*f = mastertest.Faults{}
			if c.fault != nil {
				c.fault(f)
			}
		})
		err, final := refused(t, newSource(t, settings(t, m, c.more)), fresh)
		if !strings.Contains(err.Error(), c.want) || final != c.final || strings.Contains(err.Error(), "guess") {
			t.Errorf("%s: %v (final %v), want %q", name, err, final, c.want)
		}
	}
	m.Break(func(f *mastertest.Faults) { *f = mastertest.Faults{} })
	r := board(t, newSource(t, settings(t, m, map[string]string{"password": "secret", "dbs": "db1"})), fresh)
	r.upTo(m.Do("db1", "set", "k", "v"))
}

// A replica that is silent is forgotten by its master: a feed is not, however long the snapshot takes.
func TestAMasterHearsOfTheFeedAllThroughASnapshot(t *testing.T) {
	t.Parallel()
	for name, alive := range map[string]time.Duration{"signs of life": 50 * time.Millisecond, "silence": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMaster(t, mastertest.Options{Forget: 2 * time.Second, KeepAlive: 100 * time.Millisecond})
			fillMaster(m, "db0", 200)
			m.Break(func(f *mastertest.Faults) { f.DumpBusy = 300 }) // 3 s until there is a dump
			s := newSource(t, settings(t, m, nil))
			s.alive = alive
			if alive == time.Hour {
				if err, _ := refused(t, s, fresh); !strings.Contains(err.Error(), "the master has closed the connection") {
					t.Errorf("a silent replica: %v", err)
				}
				m.Stop()
				if m.Complaints(); m.Count("forgotten") != 1 {
					t.Error("the master has not forgotten a silent replica")
				}
				return
			}
			session, err := s.Open(t.Context(), fresh)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			first := true
			err = session.Snapshot(t.Context(), func(feed.Out) error {
				if pings := m.Count("ping"); first { // longer than the master waits
					first = false
					waitFor(t, m, "signs of life come", func() bool { return m.Count("ping") > pings+45 })
				}
				return nil
			})
			if err != nil || m.Count("forgotten") > 0 || first {
				t.Errorf("the snapshot: %v; forgotten %d times", err, m.Count("forgotten"))
			}
		})
	}
}

// A master that says nothing any more is left, in all phases.
func TestAMasterThatFallsSilentIsLeft(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{KeepAlive: 100 * time.Millisecond})
	s := newSource(t, settings(t, m, map[string]string{"pb_idle_timeout": "2s"}))
	r := board(t, s, has(origin))
	r.upTo(m.Do("db0", "set", "k", "v"))
	pings := m.Count("ping")
	waitFor(t, m, "an idle master is not left", func() bool { return m.Count("ping") > pings+45 })
	m.Break(func(f *mastertest.Faults) { f.Mute = true })
	if err := r.failure(); !strings.Contains(err.Error(), "the master has said nothing for pb_idle_timeout=2s") {
		t.Errorf("in the stream: %v", err)
	}
	if err, final := refused(t, s, fresh); !strings.Contains(err.Error(), "pb_idle_timeout=2s") || final {
		t.Errorf("at the start: %v", err)
	}
}

// A master that is restarted, and connections that break, cost nothing: the feed goes on where it was.
func TestTheFeedGoesOnAfterARestartOfTheMaster(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{})
	s := newSource(t, settings(t, m, nil))
	have, got := has(origin), 0
	for i, end := range []func(){m.Cut, m.Stop, m.Cut} {
		at := fillMaster(m, "db0", 50)
		r := board(t, s, have)
		r.upTo(at)
		got += len(r.events())
		end()
		if err := r.failure(); err == nil {
			t.Error("the session goes on")
		}
		r.end()
		have = has(at)
		have.Epoch += uint32(i)
		if i == 1 {
			if err, final := refused(t, s, have); final {
				t.Errorf("a master that is away: %v", err)
			}
			if err := m.Restart(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got != 150 {
		t.Errorf("%d events of 150 items", got)
	}
}

// Two databases are two replicas to their master, and neither has anything of the other.
func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	m := newMaster(t, mastertest.Options{DBs: []string{"db0", "db1"}})
	c := settings(t, m, map[string]string{"dbs": "db0,db1"})
	for _, db := range c.DBs {
		m.Do(db, "set", "before", db)
	}
	var rides []*ride
	for _, db := range c.DBs {
		c.DBs = []string{db}
		rides = append(rides, board(t, newSource(t, c), fresh))
	}
	if n := len(m.Replicas()); n != 2 {
		t.Errorf("the master knows %d replicas", n)
	}
	for i, db := range []string{"db0", "db1"} {
		rides[i].upTo(m.Do(db, "set", "after", db))
		if got, want := rides[i].content(), (map[string]string{"before": db, "after": db}); !maps.Equal(got, want) {
			t.Errorf("%s has %v", db, got)
		}
	}
}
