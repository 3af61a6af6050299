package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"deepoj/host/feed"
	"deepoj/host/feed/event"
)

const (
	chunkRows  = 20_000    // about as many rows of events are read by one statement
	mostChunks = 4096      // statements
	pieceBytes = 256 << 10 // of rows, from a connection to whoever makes events of them
	pieces     = 8         // that wait, of each connection
)

// Snapshot implements [feed.Session]. Readers read ranges of transactions by turns, each in the order of the primary
// keys; what they read is given on in the order of the ranges, so that the events of a job come in order.
func (n *session) Snapshot(ctx context.Context, emit func(feed.Out) error) error {
	bounds, err := n.bounds(ctx, n.readers[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	read := make([]chan []byte, len(n.readers))
	for i, c := range n.readers {
		read[i] = make(chan []byte, pieces)
		all.Go(func() {
			for k := i; k < len(bounds)-1; k += len(n.readers) {
				if err := n.chunk(ctx, c, bounds[k], bounds[k+1], read[i]); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	err = n.emitAll(ctx, len(bounds)-1, read, emit)
	cancel(err)
	all.Wait()
	if err != nil {
		return err
	}
	for _, c := range n.readers { // what they saw need not be kept any more
		hangUp(c)
	}
	n.readers = nil
	return nil
}

// bounds divides the transactions that have events: each part begins at one number and ends before the next.
func (n *session) bounds(ctx context.Context, c *pgconn.PgConn) ([]uint64, error) {
	rows, err := ask(ctx, c, `SELECT
  (SELECT min(x::text::numeric) FROM ((SELECT xid AS x FROM single_events ORDER BY xid LIMIT 1) UNION ALL (SELECT xid FROM event_batches ORDER BY xid LIMIT 1)) e),
  (SELECT max(x::text::numeric) FROM ((SELECT xid AS x FROM single_events ORDER BY xid DESC LIMIT 1) UNION ALL (SELECT xid FROM event_batches ORDER BY xid DESC LIMIT 1)) e),
  (SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM pg_class WHERE oid IN ('single_events'::regclass, 'event_batches'::regclass))`)
	if err != nil {
		return nil, n.s.explain("begin the snapshot", err)
	}
	if rows[0][0] == "" {
		return []uint64{0}, nil // nothing ever happened
	}
	first, err1 := strconv.ParseUint(rows[0][0], 10, 64)
	last, err2 := strconv.ParseUint(rows[0][1], 10, 64)
	about, err3 := strconv.ParseUint(rows[0][2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil || last == math.MaxUint64 {
		return nil, errors.Join(errors.New("the numbers of transactions are strange"), err)
	}
	return divide(first, last+1, max(1, min(about/chunkRows, mostChunks))), nil
}

// divide divides what lies from first to before end into at most that many parts.
func divide(first, end, parts uint64) []uint64 {
	step := max(1, (end-first)/parts)
	bounds := []uint64{first}
	for at := first; end-at > step && uint64(len(bounds)) < parts; {
		at += step
		bounds = append(bounds, at)
	}
	return append(bounds, end)
}

// hiddenJudging is the condition of judgings for a rejudge set, as the decoder has it.
const hiddenJudging = `generation > 1 AND kind <> 'applied' AND EXISTS (SELECT FROM rejudge_set_jobs m WHERE m.job_id = %s AND m.generation = %s)`

// chunkQuery reads the events of a range of transactions, each row as a batch, with the places in it that are hidden.
var chunkQuery = `COPY (
SELECT id, kind, at, job_ids, generations, attempts, data, verdicts, scores, hidden FROM (
  SELECT xid, id, kind, at, ARRAY[job_id] AS job_ids, ARRAY[generation] AS generations, ARRAY[attempt] AS attempts, data,
    NULL::text[] AS verdicts, NULL::float8[] AS scores,
    CASE WHEN ` + fmt.Sprintf(hiddenJudging, "single_events.job_id", "single_events.generation") + ` THEN ARRAY[1] END AS hidden
  FROM single_events WHERE xid >= '%[1]d' AND xid < '%[2]d'
  UNION ALL
  SELECT xid, id, kind, at, job_ids, generations, attempts, data, verdicts, scores,
    CASE WHEN 1 < ANY (generations) THEN ARRAY(
      SELECT place::integer FROM unnest(job_ids, generations) WITH ORDINALITY AS u(job, generation, place)
      WHERE ` + fmt.Sprintf(hiddenJudging, "u.job", "u.generation") + `) END
  FROM event_batches WHERE xid >= '%[1]d' AND xid < '%[2]d') e
ORDER BY xid, id) TO STDOUT (FORMAT binary)`

// chunk reads the events of the transactions from first to before end, and gives what the server sends to into; the end
// is nil.
func (n *session) chunk(ctx context.Context, c *pgconn.PgConn, first, end uint64, into chan<- []byte) error {
	w := &pieceWriter{ctx: ctx, into: into}
	if _, err := c.CopyTo(ctx, w, fmt.Sprintf(chunkQuery, first, end)); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return n.s.explain("read the snapshot", err)
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.give(nil)
}

// pieceWriter collects what it is given into pieces.
type pieceWriter struct {
	ctx   context.Context //nolint:containedctx // io.Writer has none
	into  chan<- []byte
	piece []byte
}

func (w *pieceWriter) Write(p []byte) (int, error) {
	w.piece = append(w.piece, p...)
	if len(w.piece) >= pieceBytes {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (w *pieceWriter) flush() error {
	if len(w.piece) == 0 {
		return nil
	}
	p := w.piece
	w.piece = make([]byte, 0, pieceBytes+pieceBytes/4)
	return w.give(p)
}

func (w *pieceWriter) give(p []byte) error {
	select {
	case w.into <- p:
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// emitAll takes what was read of each chunk in turn.
func (n *session) emitAll(ctx context.Context, chunks int, read []chan []byte, emit func(feed.Out) error) error {
	var dst []byte
	for k := range chunks {
		rows := copyReader{row: func(f []field) (err error) {
			dst, err = n.row(dst, f, emit)
			return err
		}}
		for open := true; open; {
			select {
			case p := <-read[k%len(read)]:
				if open = p != nil; open {
					if err := rows.add(p); err != nil {
						return err
					}
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if !rows.done {
			return errShort
		}
	}
	return nil
}

// snapshotColumns are those of chunkQuery.
const snapshotColumns = 10

// row emits the events of a row.
func (n *session) row(dst []byte, f []field, emit func(feed.Out) error) ([]byte, error) {
	var b batch
	if err := b.many(f[:snapshotColumns-1]); err != nil {
		return dst, err
	}
	places, err := arrayOf(f[snapshotColumns-1], nil)
	if err != nil {
		return dst, err
	}
	hidden := map[int]bool{}
	for _, p := range places {
		place, err := int4Of(p)
		if err != nil {
			return dst, err
		}
		hidden[int(place)-1] = true
	}
	for i := range b.jobs {
		if hidden[i] {
			continue
		}
		e, err := b.entry(i)
		if err != nil {
			return dst, err
		}
		var out feed.Out
		out, dst, err = n.s.out(dst[:0], &e, &event.Judge{Epoch: n.epoch, Snapshot: e.id})
		if err != nil {
			return dst, err
		}
		if !out.Keep {
			continue
		}
		out.Snapshot = true
		out.ID = fmt.Sprintf("snapshot:%d:%d", e.job, e.id)
		if err := emit(out); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// copyReader takes apart what COPY sends in its binary format.
type copyReader struct {
	rest   []byte
	began  bool
	done   bool
	fields []field
	row    func([]field) error
}

// copyBegins is what it begins with; flags and an extension, which there is none of, follow.
var copyBegins = []byte("PGCOPY\n\xff\r\n\x00")

func (c *copyReader) add(p []byte) error {
	b := p
	if len(c.rest) > 0 {
		c.rest = append(c.rest, p...)
		b = c.rest
	}
	if !c.began {
		if len(b) < len(copyBegins)+8 {
			c.rest = bytes.Clone(b)
			return nil
		}
		if !bytes.HasPrefix(b, copyBegins) {
			return errors.New("COPY does not send the binary format")
		}
		b, c.began = b[len(copyBegins)+8:], true
	}
	for len(b) > 0 && !c.done {
		r := reader{b: b}
		columns := int16(r.u16())
		if r.err == nil && columns == -1 {
			c.done = true
			break
		}
		if r.err == nil && columns != snapshotColumns {
			return fmt.Errorf("COPY sends %d columns instead of %d", columns, snapshotColumns)
		}
		c.fields = r.copied(c.fields, int(columns))
		if whole := r.err == nil; !whole {
			break // the rest of the row is in the next piece
		}
		if err := c.row(c.fields); err != nil {
			return err
		}
		b = r.b
	}
	c.rest = bytes.Clone(b)
	return nil
}
