package feed

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/ring"
	"deepoj/host/feed/wal"
)

const (
	perRecord    = 256      // bytes that a record in flight takes beside key and value
	chunkRecords = 128      // that a worker gets at once
	chunkBytes   = 64 << 10 // of the same, unless one record is larger
)

// item is a record on its way to the sender.
type item struct {
	out  Out
	at   wal.Position
	size int64 // that was taken of the budget
}

// chunk is what a worker gets.
type chunk struct {
	records []wal.Record // whose payloads are pieces of data
	data    []byte
}

// stream is the way of records from the log over the workers to the ring.
//
// All of them are read from the log, also when the sender is as fast as the source: what was written a moment ago is in
// memory anyway, only what is durable can be read, and there is one way for a feed that keeps up and for one that has
// hours to catch up on.
type stream struct {
	f      *Feed
	ring   *ring.Ring[item]
	budget *budget
	chunks chan chunk
	used   sync.Pool // of chunks' data
}

// deliver brings what the log has, and what snapshots bring, to the sink.
func (f *Feed) deliver(ctx context.Context, sink *opened) error {
	if sink == nil {
		position, err := f.openSink(ctx, newPause(&f.o))
		if err != nil {
			return err
		}
		f.sinkOpened()
		if f.o.KeepsPosition {
			if err := f.adopt(ctx, position); err != nil {
				return err
			}
		}
		sink = &opened{position}
	}
	next := f.keeper.Now().Ack.Seq + 1
	s := &stream{f: f, ring: ring.New[item](f.o.Window, next), budget: newBudget(f.o.InFlight), chunks: make(chan chunk, f.o.Workers)}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return s.read(ctx, next) })
	for range f.o.Workers {
		all.Go(func() error { return s.work(ctx) })
	}
	all.Go(func() error { return newSender(s, sink.position).run(ctx) })
	return all.Wait()
}

// read gives the records of the log, from some number on, to the workers.
func (s *stream) read(ctx context.Context, next uint64) error {
	r, err := s.f.wal.ReadFrom(next)
	if err != nil {
		return err
	}
	defer r.Close()
	var c chunk
	pass := func() error {
		if len(c.records) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s.chunks <- c:
			c = chunk{}
			return nil
		}
	}
	for {
		if !r.Ready() { // nothing comes for a while
			if err := pass(); err != nil {
				return err
			}
		}
		rec, err := r.Next(ctx)
		if err != nil {
			return err
		}
		size := int64(len(rec.Payload) + perRecord)
		if !s.budget.try(size) {
			if err := pass(); err != nil {
				return err
			}
			if err := s.budget.take(ctx, size); err != nil {
				return err
			}
		}
		if !s.ring.TryClaim(rec.Seq) {
			if err := pass(); err != nil {
				return err
			}
			if _, err := s.ring.Claim(ctx, rec.Seq); err != nil {
				return err
			}
		}
		if c.records == nil {
			c = s.chunk()
		}
		c.add(rec)
		if len(c.records) >= chunkRecords || len(c.data) >= chunkBytes {
			if err := pass(); err != nil {
				return err
			}
		}
	}
}

// chunk returns an empty one.
func (s *stream) chunk() chunk {
	if c, ok := s.used.Get().(*chunk); ok {
		return *c
	}
	return chunk{make([]wal.Record, 0, chunkRecords), make([]byte, 0, chunkBytes)}
}

// done lets a chunk be used again, unless it has the room of a large record.
func (s *stream) done(c chunk) {
	if cap(c.data) == chunkBytes {
		clear(c.records)
		s.used.Put(&chunk{c.records[:0], c.data[:0]})
	}
}

// add copies a record into the chunk.
func (c *chunk) add(r wal.Record) {
	from := len(c.data)
	c.data = append(c.data, r.Payload...) // when it moves, earlier payloads stay where they were
	r.Payload = c.data[from:len(c.data):len(c.data)]
	c.records = append(c.records, r)
}

// work makes records into events.
func (s *stream) work(ctx context.Context) error {
	items := make([]item, 0, chunkRecords)
	for {
		var c chunk
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c = <-s.chunks:
		}
		room, grown := make([]byte, 0, 2*len(c.data)+128*len(c.records)), int64(0)
		items = items[:0]
		for _, r := range c.records {
			it, err := s.f.item(&room, r)
			if err != nil {
				return err
			}
			grown += it.size - int64(len(r.Payload)+perRecord)
			items = append(items, it)
		}
		s.budget.add(grown)
		for i, r := range c.records {
			if err := s.ring.Put(r.Seq, items[i]); err != nil {
				return err
			}
		}
		clear(items) // the sender has them
		s.done(c)
	}
}

// item makes a record into what goes to the sink, in the room that is left.
func (f *Feed) item(room *[]byte, r wal.Record) (item, error) {
	out, err := f.o.Source.Event((*room)[:0], r)
	if err != nil {
		return item{}, finalf("record %d at %s means nothing to this program, and is not skipped: let the program that wrote it send what is left, "+
			"or let the feed begin with a new snapshot: deepoj feed reset: %w", r.Seq, r.Position, err)
	}
	it := item{out: out, at: r.Position, size: perRecord}
	if out.Keep {
		it.size += int64(len(out.Key) + len(out.Value))
		*room = out.Value[len(out.Value):]
	}
	return it, nil
}

// ackOf is the end of the prefix that ends with the record seq.
func ackOf(seq uint64, it *item) checkpoint.Ack {
	a := checkpoint.Ack{Seq: seq, Position: it.at}
	if it.out.InTransaction {
		index := it.out.Index
		a.Index = &index
	}
	return a
}

// errOrder is a mistake of the engine.
func errOrder(got, want uint64) error {
	return fmt.Errorf("record %d comes where record %d belongs", got, want)
}
