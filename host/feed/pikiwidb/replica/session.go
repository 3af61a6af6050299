package replica

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/pikiwidb"
	"deepoj/host/feed/pikiwidb/wire"
	"deepoj/host/feed/wal"
)

// session is one connection with a position.
type session struct {
	source    *Source
	conn      *conn
	epoch     uint32
	instances int
	plan      feed.Plan
	dump      *pikiwidb.Dump // nil if there is no snapshot

	number atomic.Int32 // the session's, of the master
	still  sync.Mutex   // held while the master may give another number: no sign of life is sent with the one before
	acks   acks
	living bool
	stop   chan struct{} // closed by Close
	side   sync.WaitGroup
}

// Plan says how the session goes on.
func (ss *session) Plan() feed.Plan { return ss.plan }

// live gives the session its number and begins, once, to send signs of life.
func (ss *session) live(number int32) {
	ss.number.Store(number)
	if ss.living {
		return
	}
	ss.living = true
	ss.side.Go(func() {
		tick := time.NewTicker(ss.source.alive)
		defer tick.Stop()
		for {
			select {
			case <-ss.stop:
				return
			case <-ss.conn.broken.Done():
				return
			case <-tick.C:
			}
			ss.sign()
		}
	})
}

// sign sends a sign of life. An error breaks the connection, and whoever uses it hears of it.
func (ss *session) sign() {
	ss.still.Lock()
	defer ss.still.Unlock()
	_ = ss.conn.acknowledge(ss.source.db, []wire.Ack{{Session: ss.number.Load()}})
}

// stream asks for the binlog from a position that was granted.
func (ss *session) stream(at wal.Position, number int32) error {
	ss.live(number)
	ss.acks.init(number)
	ss.side.Go(ss.acknowledge)
	return ss.conn.acknowledge(ss.source.db, []wire.Ack{{From: at, To: at, Session: number, First: true}})
}

// Receive puts items into the log.
func (ss *session) Receive(ctx context.Context, put func(at wal.Position, parts ...[]byte) error) error {
	last, command := ss.plan.At, wire.Command{}
	for {
		var a *answer
		select {
		case a = <-ss.conn.answers:
		case <-ss.conn.broken.Done():
			return context.Cause(ss.conn.broken)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := ss.check(a, &last, &command); err != nil {
			return fmt.Errorf("what the master sends is refused: %w", err)
		}
		for _, i := range a.Items {
			if len(i.Binlog) == 0 {
				continue
			}
			if err := put(i.Next, i.Binlog); err != nil {
				return err
			}
		}
		ss.conn.giveBack(a)
	}
}

// check looks at all that came at once before any of it goes to the log, where it would stay, and expects to acknowledge
// it. Last is where the item before ended.
func (ss *session) check(a *answer, last *wal.Position, command *wire.Command) error {
	if a.Kind != wire.BinlogSync || a.Code != wire.OK {
		return fmt.Errorf("%s with the code %d: %.200q", a.Kind, a.Code, a.Reply)
	}
	var first, end *wal.Position
	for n := range a.Items {
		i := &a.Items[n]
		switch {
		case i.Session != ss.number.Load():
			return fmt.Errorf("an item of session %d in session %d", i.Session, ss.number.Load())
		case string(i.DB) != ss.source.db:
			return fmt.Errorf("an item of the database %s for %s", bounded(string(i.DB)), ss.source.db)
		case len(i.Binlog) == 0:
			continue
		case i.Next.Compare(*last) <= 0:
			return fmt.Errorf("an item that ends at %s behind one that ends at %s", i.Next, last)
		}
		if err := command.Parse(i.Binlog); err != nil {
			return fmt.Errorf("the item before %s: %w", i.Next, err)
		}
		*last, end = i.Next, &i.Next
		if first == nil {
			first = &i.Next
		}
	}
	if first != nil {
		ss.acks.expect(*first, *end)
	}
	return nil
}

// Durable has what is durable acknowledged. Points of sessions before mean nothing here: their positions may be of other
// data.
func (ss *session) Durable(p wal.Point) {
	if p.Epoch == ss.epoch {
		ss.acks.durable(p.Position)
	}
}

// acknowledge sends acknowledgements as they become due.
func (ss *session) acknowledge() {
	warned := time.Time{}
	for {
		select {
		case <-ss.stop:
			return
		case <-ss.conn.broken.Done():
			return
		case <-ss.acks.wake:
		}
		due, waited := ss.acks.take()
		if len(due) == 0 {
			continue
		}
		if ss.conn.acknowledge(ss.source.db, due) != nil {
			return // the connection is broken
		}
		if most := ss.source.ackWarn; most > 0 && waited > most && time.Since(warned) > most {
			warned = time.Now()
			ss.source.log.Warn("an acknowledgement to the master was late: the disk of wal_dir is slow, or the log had no room",
				slog.String("db", ss.source.db), slog.Duration("waited", waited), slog.Duration("pb_ack_delay_warn", most))
		}
	}
}

// Close ends the session.
func (ss *session) Close() error {
	close(ss.stop)
	ss.conn.close()
	ss.side.Wait()
	if ss.dump != nil {
		ss.dump.Close()
	}
	return nil
}
