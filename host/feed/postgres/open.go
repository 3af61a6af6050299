package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/wal"
	"deepoj/sql/published"
)

const (
	slotPatience = 5 * time.Second  // with a connection that is ending
	slowSlot     = 20 * time.Second // after which it is told what making a slot waits for
	slotBound    = 10 * time.Minute // until a slot is made, which waits for transactions that are open
	closeTimeout = 5 * time.Second
)

// session is a [feed.Session].
type session struct {
	s       *Source
	log     *slog.Logger
	plan    feed.Plan
	epoch   uint32
	server  server
	side    *pgconn.PgConn   // for questions beside the stream
	stream  *pgconn.PgConn   // for replication; nil once it streams
	readers []*pgconn.PgConn // of the snapshot, each in its transaction

	link    *link // while it streams
	sent    atomic.Uint64
	written atomic.Uint64 // end of what was put
	durable atomic.Uint64 // of that, what is durable
	wake    chan struct{} // the durable end has moved
	known   members
}

// Open implements [feed.Source].
func (s *Source) Open(ctx context.Context, have feed.Have) (_ feed.Session, err error) {
	n := &session{s: s, log: s.log, epoch: have.Epoch, wake: make(chan struct{}, 1), known: newMembers()}
	defer func() {
		if err != nil {
			_ = n.Close()
		}
	}()
	if n.side, err = s.connect(ctx, false); err != nil {
		return nil, err
	}
	if n.server, err = s.look(ctx, n.side); err != nil {
		return nil, err
	}
	if n.server.keeps == "-1" {
		s.log.WarnContext(ctx, "max_slot_wal_keep_size is unlimited: PostgreSQL fills its disk while the feed is away; "+
			"bound it with ALTER SYSTEM SET max_slot_wal_keep_size", slog.String("slot", s.o.Slot))
	}
	if n.stream, err = s.connect(ctx, true); err != nil {
		return nil, err
	}
	end, err := n.identify(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.idle(ctx, n.side)
	if err != nil {
		return nil, err
	}
	at, why, err := gate(have, n.plan.System, found, end)
	if err != nil {
		return nil, err
	}
	master := have.Fresh && have.Start.FromMaster
	switch {
	case why != "":
		err = n.begin(ctx, found, why)
	case master && !found.there:
		n.plan.At.Offset, _, err = n.makeSlot(ctx, "nothing")
	case master:
		n.plan.At.Offset = end
	default:
		n.plan.At.Offset = at
	}
	if err != nil {
		return nil, err
	}
	n.written.Store(n.plan.At.Offset)
	n.durable.Store(n.plan.At.Offset)
	n.plan.Lag = n.lag
	return n, nil
}

// identify asks which data the server has, and where it is.
func (n *session) identify(ctx context.Context) (end uint64, err error) {
	rows, err := ask(ctx, n.stream, "IDENTIFY_SYSTEM")
	if err != nil {
		return 0, n.s.explain("ask which data the server has", err)
	}
	timeline, err := strconv.ParseUint(rows[0][1], 10, 32)
	if err != nil {
		return 0, err
	}
	n.plan.System = checkpoint.System{ID: rows[0][0], Timeline: uint32(timeline)}
	return parseLSN(rows[0][2])
}

// gate says where the stream goes on, or why it cannot go on without a snapshot. end is how far the server is.
func gate(have feed.Have, now checkpoint.System, found slot, end uint64) (at uint64, why string, err error) {
	at = have.Durable.Position.Offset
	if have.Durable.Seq == 0 {
		at = have.Ack.Offset
	}
	if have.Fresh {
		switch start := have.Start; {
		case start.FromMaster:
			return 0, "", nil
		case !start.Given:
			at = 0
		case start.Position.Offset > end:
			return 0, "", final("offset=%s: the server is at %s only: give an LSN up to that, or set start_from_master", lsn(start.Position.Offset), lsn(end))
		default:
			at = start.Position.Offset
		}
	}
	was := have.System
	switch {
	case was != nil && was.ID != now.ID:
		return 0, fmt.Sprintf("the server has another system_identifier, %s instead of %s", now.ID, was.ID), nil
	case was != nil && was.Timeline != now.Timeline:
		return 0, fmt.Sprintf("the server is on timeline %d instead of %d", now.Timeline, was.Timeline), nil
	case !found.there:
		return 0, "the slot is missing", nil
	case found.lost:
		return 0, "the slot was invalidated (wal_status is lost)", nil
	case at == 0:
		return 0, "the slot is there, and nothing of what it has sent before", nil
	case found.confirmed > at:
		return 0, fmt.Sprintf("confirmed_flush_lsn %s lies beyond %s, up to which everything is here", lsn(found.confirmed), lsn(at)), nil
	case have.Snapshot.State == checkpoint.Running:
		return 0, "the snapshot was cut off", nil
	case at > end:
		return 0, fmt.Sprintf("the server is at %s, and was at %s", lsn(end), lsn(at)), nil
	}
	return at, "", nil
}

// begin makes the slot anew, and opens the snapshot that belongs to where it begins.
func (n *session) begin(ctx context.Context, found slot, why string) error {
	if found.there {
		n.log.WarnContext(ctx, "the slot is made anew", slog.String("slot", n.s.o.Slot), slog.String("why", why))
		if err := n.s.drop(ctx, n.side); err != nil {
			return err
		}
	}
	at, exported, err := n.makeSlot(ctx, "export")
	if err != nil {
		return err
	}
	n.plan.At.Offset, n.plan.Snapshot, n.plan.Why = at, true, why
	for range n.s.o.Readers { // before the stream's connection does anything else, which ends the export
		c, err := n.s.connect(ctx, false)
		if err != nil {
			return err
		}
		n.readers = append(n.readers, c)
		if _, err := ask(ctx, c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT "+quoted(exported)); err != nil {
			return n.s.explain("read the snapshot", err)
		}
	}
	return nil
}

// makeSlot makes the slot, which waits until all transactions have ended that are open now.
func (n *session) makeSlot(ctx context.Context, snapshot string) (at uint64, exported string, err error) {
	slow := time.AfterFunc(slowSlot, func() {
		n.log.WarnContext(ctx, "making the slot waits for transactions that are open for long: see pg_stat_activity", slog.String("slot", n.s.o.Slot))
	})
	defer slow.Stop()
	bounded, cancel := context.WithTimeoutCause(ctx, slotBound,
		fmt.Errorf("postgres_slot=%s: transactions were open for more than %s, so that the slot could not be made: see pg_stat_activity", n.s.o.Slot, slotBound))
	defer cancel()
	rows, err := rowsOf(bounded, n.stream, "CREATE_REPLICATION_SLOT "+published.Quote(n.s.o.Slot)+" LOGICAL "+plugin+" (SNAPSHOT '"+snapshot+"')")
	if err != nil {
		if cause := context.Cause(bounded); cause != nil {
			err = errors.Join(cause, err)
		}
		return 0, "", n.s.explain("make the slot", err)
	}
	at, err = parseLSN(rows[0][1])
	return at, rows[0][2], err
}

// Plan implements [feed.Session].
func (n *session) Plan() feed.Plan { return n.plan }

// lag is how much of its log PostgreSQL has that the feed has not acknowledged, as far as it said.
func (n *session) lag() (behind int64, unit string, ok bool) {
	sent, durable := n.sent.Load(), n.durable.Load()
	return int64(sent - min(durable, sent)), "bytes", sent > 0
}

// Durable implements [feed.Session].
func (n *session) Durable(p wal.Point) {
	at := p.Position.Offset
	if at <= n.durable.Load() || at > n.written.Load() { // of another session
		return
	}
	n.durable.Store(at)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Close implements [feed.Session].
func (n *session) Close() error {
	if n.link != nil {
		n.link.close()
	}
	for _, c := range append(n.readers, n.side, n.stream) {
		hangUp(c)
	}
	return nil
}

// hangUp ends a connection, if it is one.
func hangUp(c *pgconn.PgConn) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = c.Close(ctx)
}
