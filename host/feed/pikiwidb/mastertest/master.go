// Package mastertest is a PikiwiDB master for tests: the server's side of the replication and of the copy of a dump, with
// a binlog that is written to it, dumps of what was written, and faults.
//
// It does what masters of 4.0.1 were seen to do, and is stricter in one thing: it takes each acknowledgement only for
// exactly the message whose turn it is.
//
//	master.go       what a master has, and its life
//	binlog.go       the binlog
//	replication.go  MetaSync, TrySync, DBSync, BinlogSync
//	copy.go         the copy of a dump
//	dump.go         dumps of what was written
package mastertest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// Options say what a master is like.
type Options struct {
	Password      string
	DBs           []string // db0 if nil
	Instances     int      // of each database; 1 if 0
	ReplicationID string
	Start         wal.Position // of the binlogs
	FileBytes     uint64       // a binlog file that is larger takes no more; 100 MiB if 0
	Batch         int          // items in a message at most; 100 if 0
	Window        int          // items that are not acknowledged at most; 9000 if 0

	Forget    time.Duration // a replica that was silent so long is closed; 20 s if 0
	KeepAlive time.Duration // between signs of life; 2 s if 0

	DumpDir string // where dumps are made, a folder for each

	// Dump writes a dump into the folder dir, which is of the database at a position; nil writes what was written to the
	// master.
	Dump func(dir, db string, at wal.Position) error
}

// Faults are what goes wrong. The zero value is nothing.
type Faults struct {
	Busy     int    // so many answers to MetaSync are kOther
	DumpBusy int    // so many answers to the question for files say that the dump is being made
	Replace  int    // after so many parts of files another dump takes the place of the first; 0 = never
	Refuse   int    // so many acknowledgements close the connection, as ranges do that were not sent
	Mute     bool   // nothing is said any more, and connections stay open
	Alike    bool   // every replica is taken for one that exists
	File     string // is in the list of files, too

	Answer func(*wire.Answer)     // may change what is said
	Copy   func(*wire.CopyAnswer) // may change what is said of a dump
	Item   func(raw []byte) []byte
}

// Master is a running master, or one that was stopped.
type Master struct {
	options Options
	port    int

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when there is something to send
	faults  Faults
	dbs     map[string]*database
	next    int32 // session
	made    int   // dumps
	parts   int   // of files, that were handed out
	conns   map[net.Conn]bool
	nodes   map[wire.Node]bool
	errs    []error
	counts  map[string]int
	listens []net.Listener
	running sync.WaitGroup
}

// database is one of a master.
type database struct {
	name    string
	content map[string]string
	log     binlog
	dump    *dump
}

// New starts a master on the loopback interface.
func New(o Options) (*Master, error) {
	if o.DBs == nil {
		o.DBs = []string{"db0"}
	}
	o.Instances = max(o.Instances, 1)
	for _, d := range []struct {
		field *int
		def   int
	}{{&o.Batch, 100}, {&o.Window, 9000}} {
		if *d.field == 0 {
			*d.field = d.def
		}
	}
	if o.FileBytes == 0 {
		o.FileBytes = 100 << 20
	}
	if o.Forget == 0 {
		o.Forget = 20 * time.Second
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 2 * time.Second
	}
	m := &Master{
		options: o, changed: make(chan struct{}), dbs: map[string]*database{}, conns: map[net.Conn]bool{},
		nodes: map[wire.Node]bool{}, counts: map[string]int{},
	}
	for _, name := range o.DBs {
		m.dbs[name] = &database{name: name, content: map[string]string{}, log: binlog{first: o.Start, end: o.Start}}
	}
	for range 200 { // the ports have to be as far from each other as the protocol has it
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		m.port = free.Addr().(*net.TCPAddr).Port - wire.ReplicationSpan
		if err := free.Close(); err != nil {
			return nil, err
		}
		if m.port > 0 && m.Restart() == nil {
			return m, nil
		}
	}
	return nil, errors.New("no two ports are free that are far enough from each other")
}

// Port is the master's own, at which nothing listens: the protocol needs those above it.
func (m *Master) Port() int { return m.port }

// Restart starts a master that was stopped, with all that it had.
func (m *Master) Restart() error {
	var listens []net.Listener
	for _, span := range []int{wire.ReplicationSpan, wire.CopySpan} {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(m.port+span)))
		if err != nil {
			for _, l := range listens {
				_ = l.Close()
			}
			return err
		}
		listens = append(listens, l)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listens = listens
	m.running.Go(func() { m.accept(listens[0], m.replicate) })
	m.running.Go(func() { m.accept(listens[1], m.handOut) })
	return nil
}

func (m *Master) accept(l net.Listener, serve func(net.Conn) error) {
	for {
		tcp, err := l.Accept()
		if err != nil {
			return
		}
		m.mu.Lock()
		m.conns[tcp] = true
		m.mu.Unlock()
		m.running.Go(func() {
			err := serve(tcp)
			_ = tcp.Close()
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.conns, tcp)
			if err != nil {
				m.errs = append(m.errs, err)
			}
		})
	}
}

// Stop ends the master: its connections break.
func (m *Master) Stop() {
	m.mu.Lock()
	for _, l := range m.listens {
		_ = l.Close()
	}
	m.listens = nil
	m.mu.Unlock()
	m.Cut()
	m.running.Wait()
}

// Cut breaks all connections.
func (m *Master) Cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for tcp := range m.conns {
		_ = tcp.Close()
	}
	m.notify()
}

// Break changes what goes wrong from now on.
func (m *Master) Break(change func(*Faults)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.faults)
	m.notify()
}

// FailOver gives the master the identity of another one.
func (m *Master) FailOver(replicationID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.options.ReplicationID = replicationID
}

// Complaints are what replicas did that a master does not take, since the last call.
func (m *Master) Complaints() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.errs
	m.errs = nil
	return all
}

// Count is how often something happened: "MetaSync", "TrySync", "DBSync", "ping", "ack", "part" or "forgotten".
func (m *Master) Count(what string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[what]
}

func (m *Master) count(what string) {
	m.counts[what]++
	m.notify()
}

// notify wakes whoever waits; m.mu is held.
func (m *Master) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Until waits until so is true, which is called with nothing held, or until done ends.
func (m *Master) Until(done <-chan struct{}, so func() bool) error {
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		if so() {
			return nil
		}
		select {
		case <-changed:
		case <-done:
			return errors.New("it did not come so")
		}
	}
}

// Acknowledged is how far the replicas of a database have acknowledged its binlog.
func (m *Master) Acknowledged(db string) wal.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dbs[db].log.acknowledged
}

// Reacknowledge has replicas acknowledge anew from a position on.
func (m *Master) Reacknowledge(db string, from wal.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dbs[db].log.acknowledged = from
}

func (m *Master) db(name string) (*database, error) {
	if db := m.dbs[name]; db != nil {
		return db, nil
	}
	return nil, fmt.Errorf("there is no database %q", name)
}

// Replicas are the replicas that are there.
func (m *Master) Replicas() (all []wire.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := range m.nodes {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b wire.Node) int { return int(a.Port - b.Port) })
	return all
}
