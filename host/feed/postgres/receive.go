package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"deepoj/host/feed/wal"
	"deepoj/sql/published"
)

const (
	statusEvery = 2 * time.Second        // whatever happens, and at least three times within wal_sender_timeout
	statusLeast = 100 * time.Millisecond // between two that acknowledge
	silence     = time.Minute            // after which a connection is given up, though it was asked to answer
	markEvery   = 20 * time.Second       // between marks of a server on which little happens
	markBytes   = 1 << 20                // of PostgreSQL's log, after which there is one at once
)

// link is a connection that streams: one goroutine reads it, another one writes.
type link struct {
	conn  net.Conn
	in    *pgproto3.Frontend
	ended sync.Once

	reading atomic.Bool  // and not waiting for room in the log
	heard   atomic.Int64 // when something came, in nanoseconds
}

func (l *link) close() { l.ended.Do(func() { _ = l.conn.Close() }) }

// Receive implements [feed.Session].
func (n *session) Receive(ctx context.Context, put func(at wal.Position, parts ...[]byte) error) error {
	if err := n.start(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, n.link.close)
	defer stop()
	var writer sync.WaitGroup
	writer.Go(func() { n.acknowledge(ctx, cancel) })
	err := n.read(ctx, put)
	cancel(nil)
	writer.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// start begins to stream.
func (n *session) start(ctx context.Context) error {
	hijacked, err := n.stream.Hijack()
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	n.stream = nil
	n.link = &link{conn: hijacked.Conn, in: hijacked.Frontend}
	stop := context.AfterFunc(ctx, n.link.close)
	defer stop()
	at := lsn(n.plan.At.Offset)
	n.link.in.Send(&pgproto3.Query{String: fmt.Sprintf("START_REPLICATION SLOT %s LOGICAL %s (proto_version '1', publication_names %s, binary 'true')",
		published.Quote(n.s.o.Slot), at, quoted(published.Quote(n.s.o.Publication)))})
	if err := n.link.in.Flush(); err != nil {
		return n.failed(ctx, "stream from "+at, err)
	}
	if err := n.link.conn.SetReadDeadline(time.Now().Add(askTimeout)); err != nil {
		return err
	}
	for {
		m, err := n.link.in.Receive()
		if err != nil {
			return n.failed(ctx, "stream from "+at, err)
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			return n.failed(ctx, "stream from "+at, pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CopyBothResponse:
			return n.link.conn.SetReadDeadline(time.Time{})
		}
	}
}

// failed is the end of the stream.
func (n *session) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return n.s.explain(doing, err)
}

// read takes what comes until ctx ends.
func (n *session) read(ctx context.Context, put func(at wal.Position, parts ...[]byte) error) error {
	d := &decoder{
		start: n.plan.At.Offset, end: n.plan.At.Offset, tables: map[uint32]int{},
		member: func(job int64, generation int32) (bool, error) { return n.member(ctx, judging{job, generation}) },
		put: func(at uint64, parts ...[]byte) error {
			n.link.reading.Store(false)
			defer n.link.reading.Store(true)
			n.written.Store(at) // before it can be durable
			return put(wal.Position{Offset: at}, parts...)
		},
	}
	marked := time.Now()
	n.link.heard.Store(time.Now().UnixNano())
	n.link.reading.Store(true)
	for {
		m, err := n.link.in.Receive()
		if err != nil {
			return n.failed(ctx, "stream", err)
		}
		n.link.heard.Store(time.Now().UnixNano())
		var data []byte
		switch m := m.(type) {
		case *pgproto3.CopyData:
			data = m.Data
		case *pgproto3.ErrorResponse:
			return n.failed(ctx, "stream", pgconn.ErrorResponseToPgError(m))
		case *pgproto3.CopyDone, *pgproto3.CommandComplete, *pgproto3.ReadyForQuery:
			return errors.New("postgres_url: the server ended the stream")
		default: // notices, settings
			continue
		}
		if len(data) == 0 {
			return errShort
		}
		r := reader{b: data[1:]}
		switch data[0] {
		case 'w':
			r.u64()
			n.sent.Store(max(r.u64(), n.sent.Load()))
			r.u64()
			if r.err != nil {
				return r.err
			}
			known, err := d.message(r.b)
			if err != nil {
				return err
			}
			n.known.add(known)
		case 'k':
			end := r.u64()
			r.u64()
			asked := r.u8() != 0
			if r.err != nil {
				return r.err
			}
			n.sent.Store(max(end, n.sent.Load()))
			if !d.open && end > d.end && (asked || end-d.end >= markBytes || time.Since(marked) >= markEvery) {
				d.head = appendEnd(d.head[:0], tagMark, 0, 0)
				if err := d.put(end, d.head); err != nil {
					return err
				}
				d.end, marked = end, time.Now()
			}
			if asked {
				n.poke()
			}
		}
	}
}

func (n *session) poke() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// acknowledge tells PostgreSQL how far the log is durable, and that somebody is there. It gives up a connection on which
// nothing comes back.
func (n *session) acknowledge(ctx context.Context, fail context.CancelCauseFunc) {
	every := statusEvery
	if p := n.server.patience; p > 0 {
		every = min(every, p/3)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		heard := time.Duration(time.Now().UnixNano() - n.link.heard.Load())
		quiet := n.link.reading.Load() && heard >= every
		if n.link.reading.Load() && heard >= silence {
			fail(fmt.Errorf("postgres_url: the server has said nothing for %s", silence))
			return
		}
		if err := n.status(quiet); err != nil {
			if ctx.Err() == nil {
				fail(n.s.explain("acknowledge", err))
			}
			return
		}
		pause := time.NewTimer(statusLeast)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-tick.C:
		}
	}
}

// status sends one message. ask wants an answer, by which the server's end is known although nothing happens.
func (n *session) status(ask bool) error {
	const size = 34
	flushed := n.durable.Load()
	m := make([]byte, 0, 5+size)
	m = append(m, 'd')
	m = binary.BigEndian.AppendUint32(m, 4+size)
	m = append(m, 'r')
	for _, at := range []uint64{max(n.written.Load(), flushed), flushed, flushed} {
		m = binary.BigEndian.AppendUint64(m, at)
	}
	m = binary.BigEndian.AppendUint64(m, uint64(time.Now().UnixMicro()-epoch2000))
	if ask {
		m = append(m, 1)
	} else {
		m = append(m, 0)
	}
	if err := n.link.conn.SetWriteDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	_, err := n.link.conn.Write(m)
	return err
}
