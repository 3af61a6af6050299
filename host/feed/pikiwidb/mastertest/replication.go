package mastertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// follower is a connection of a replica.
type follower struct {
	m    *Master
	tcp  net.Conn
	node wire.Node

	write sync.Mutex // of out, too
	out   []byte

	// m.mu is held for what follows.
	named   bool
	db      *database
	session int32
	streams bool
	at      wal.Position // where the next item to be sent begins
	sent    []span       // not acknowledged
	open    int          // items in sent
	ended   bool
}

// span is a message of items.
type span struct {
	from, to wal.Position
	items    int
}

// errRefused closes a connection, and is not what a replica does wrong.
var errRefused = errors.New("an acknowledgement is refused")

// replicate serves one connection. What a replica does wrong is the error.
func (m *Master) replicate(tcp net.Conn) error {
	f := &follower{m: m, tcp: tcp}
	var sender sync.WaitGroup
	sender.Go(f.stream)
	defer sender.Wait()
	defer f.end()
	in := bufio.NewReader(tcp)
	var r wire.Request
	for {
		if err := tcp.SetReadDeadline(time.Now().Add(m.options.Forget)); err != nil {
			return nil
		}
		frame, err := wire.ReadFrame(in, nil, 1<<20)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			m.mu.Lock()
			m.count("forgotten")
			m.mu.Unlock()
			return fmt.Errorf("nothing was heard for %s", m.options.Forget)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return nil
		}
		if err := r.Parse(frame); err != nil {
			return err
		}
		answer, err := f.handle(&r)
		if errors.Is(err, errRefused) {
			return nil
		}
		if err != nil {
			return err
		}
		if answer != nil && f.say(answer) != nil {
			return nil
		}
	}
}

func (f *follower) end() {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.ended = true
	if f.named {
		delete(f.m.nodes, f.node)
	}
	f.m.notify()
}

// say writes an answer.
func (f *follower) say(a *wire.Answer) error {
	f.m.mu.Lock()
	change, mute := f.m.faults.Answer, f.m.faults.Mute
	f.m.mu.Unlock()
	if mute {
		return nil
	}
	if change != nil {
		change(a)
	}
	f.write.Lock()
	defer f.write.Unlock()
	f.out = wire.AppendFrame(f.out[:0], a.Append)
	_, err := f.tcp.Write(f.out)
	return err
}

func (f *follower) handle(r *wire.Request) (*wire.Answer, error) {
	m := f.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Kind != wire.BinlogSync {
		m.count(r.Kind.String())
	}
	a := &wire.Answer{Kind: r.Kind, Code: wire.OK}
	if r.Kind == wire.MetaSync {
		f.meet(r, a)
		return a, nil
	}
	if !f.named || r.Node != f.node {
		return nil, fmt.Errorf("%s of %v, who has not said MetaSync", r.Kind, r.Node)
	}
	db, err := m.db(r.DB)
	if err != nil {
		a.Code, a.Reply = wire.Error, err.Error()
		return a, nil
	}
	switch r.Kind {
	case wire.TrySync:
		a.Try = &wire.Try{Verdict: db.log.verdict(r.At), DB: r.DB, End: &wal.Position{}}
		*a.Try.End = db.log.end
		if a.Try.Verdict == wire.Granted {
			f.begin(db)
			a.Try.Session = f.session
		}
	case wire.DBSync:
		f.begin(db)
		a.Dump = &wire.Dump{DB: r.DB, Session: f.session}
		if db.dump == nil || db.dump.at.Compare(db.log.first) < 0 { // an older dump is handed out again
			if err := m.makeDump(db); err != nil {
				return nil, err
			}
		}
	case wire.BinlogSync:
		return nil, f.acknowledged(r, db)
	case wire.MetaSync: // is answered above
	}
	return a, nil
}

// meet answers MetaSync; m.mu is held.
func (f *follower) meet(r *wire.Request, a *wire.Answer) {
	m := f.m
	switch {
	case m.options.Password != "" && r.Password != m.options.Password:
		a.Code, a.Reply = wire.Error, "Auth with master error, Invalid masterauth"
		return
	case m.faults.Busy > 0, m.faults.Alike, m.nodes[r.Node]:
		m.faults.Busy = max(0, m.faults.Busy-1)
		a.Code, a.Reply = wire.Other, "Slave AlreadyExist"
		return
	}
	f.node, f.named = r.Node, true
	m.nodes[r.Node] = true
	a.Meta = &wire.Meta{Classic: true, RunID: "run", ReplicationID: m.options.ReplicationID}
	for _, name := range m.options.DBs {
		a.Meta.DBs = append(a.Meta.DBs, wire.DB{Name: name, Slots: 1, Instances: int32(m.options.Instances)})
	}
}

// begin gives the replica a session; m.mu is held.
func (f *follower) begin(db *database) {
	f.m.next++
	f.db, f.session, f.streams, f.sent, f.open = db, f.m.next, false, nil, 0
}

// acknowledged takes an acknowledgement; m.mu is held.
func (f *follower) acknowledged(r *wire.Request, db *database) error {
	zero, ack := wal.Position{}, r.Ack
	switch {
	case ack.Session != f.session || db != f.db:
		return fmt.Errorf("an acknowledgement of session %d in session %d", ack.Session, f.session)
	case ack.First:
		if ack.From != ack.To || f.streams || db.log.verdict(ack.From) != wire.Granted {
			return fmt.Errorf("the binlog was asked for from %s to %s", ack.From, ack.To)
		}
		f.streams, f.at = true, ack.From
		f.m.notify()
		return nil
	case ack.From == zero && ack.To == zero:
		f.m.count("ping")
		return nil
	case len(f.sent) == 0 || f.sent[0].from != ack.From || f.sent[0].to != ack.To:
		return fmt.Errorf("%s to %s is acknowledged, which was not sent like that", ack.From, ack.To)
	case f.m.faults.Refuse > 0:
		f.m.faults.Refuse--
		f.m.count("refused")
		return errRefused
	}
	f.open -= f.sent[0].items
	f.sent = f.sent[1:]
	if ack.To.Compare(db.log.acknowledged) > 0 {
		db.log.acknowledged = ack.To
	}
	f.m.count("ack")
	return nil
}

// stream sends items and signs of life until the connection ends.
func (f *follower) stream() {
	tick := time.NewTicker(f.m.options.KeepAlive)
	defer tick.Stop()
	for {
		a, changed, ended := f.next()
		if ended {
			return
		}
		if a == nil {
			select {
			case <-changed:
				continue
			case <-tick.C:
				if a = f.sign(); a == nil {
					continue
				}
			}
		}
		if f.say(a) != nil {
			_ = f.tcp.Close()
			return
		}
	}
}

// sign is a sign of life, if the replica has a session.
func (f *follower) sign() *wire.Answer {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.db == nil {
		return nil
	}
	return &wire.Answer{Kind: wire.BinlogSync, Code: wire.OK, Items: []wire.Item{{DB: []byte(f.db.name), Session: f.session}}}
}

// next is the next message of items, as far as the window goes.
func (f *follower) next() (a *wire.Answer, changed chan struct{}, ended bool) {
	m := f.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.ended || !f.streams {
		return nil, m.changed, f.ended
	}
	from, _ := f.db.log.index(f.at)
	most := min(m.options.Batch, m.options.Window-f.open, len(f.db.log.items)-from)
	if most <= 0 {
		return nil, m.changed, false
	}
	some := f.db.log.items[from : from+most]
	a = &wire.Answer{Kind: wire.BinlogSync, Code: wire.OK}
	for _, i := range some {
		a.Items = append(a.Items, wire.Item{DB: []byte(f.db.name), Next: i.Next, Binlog: i.Raw, Session: f.session})
	}
	f.at = some[most-1].Next
	f.sent = append(f.sent, span{some[0].Next, f.at, most})
	f.open += most
	return a, nil, false
}
