package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/event"
	"deepoj/host/feed/kafka"
)

const (
	batchRecords = 4096    // that are sent at once
	batchBytes   = 4 << 20 // of the same, unless one record is larger
)

// sender is the only one that sends. What it sends is in order, and complete.
type sender struct {
	*stream

	pause   *pause
	items   []item
	entries []entry
	batch   []kafka.Record
	sent    []byte // the newest position that the sink has, where it keeps them
}

func newSender(s *stream, sent []byte) *sender {
	return &sender{stream: s, pause: newPause(&s.f.o), items: make([]item, 0, batchRecords), entries: make([]entry, 0, batchRecords), sent: sent}
}

// run sends until ctx ends. A batch that is under way then may take a little longer.
func (s *sender) run(ctx context.Context) error {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	for ctx.Err() == nil {
		err := s.step(ctx, sending)
		if err != nil && ctx.Err() == nil && !errors.Is(err, errMoved) {
			return err
		}
	}
	return ctx.Err()
}

// errMoved means that the gate has another state while something was waited for.
var errMoved = errors.New("the gate moved")

// step sends what may be sent next.
func (s *sender) step(ctx, sending context.Context) error {
	h := s.f.gate.state()
	head, most := s.ring.Head(), cap(s.items)
	switch {
	case !h.closed:
	case head <= h.after:
		most = int(min(uint64(most), h.after-head+1))
	case head < h.from:
		most = int(min(uint64(most), h.from-head))
		return s.take(ctx, h, most, func(first uint64, got []item) error { return s.passOver(first, got) })
	case h.queue == nil:
		<-h.ctx.Done()
		return errMoved
	default:
		return s.snapshot(ctx, sending, h)
	}
	return s.take(ctx, h, most, func(first uint64, got []item) error { return s.send(ctx, sending, first, got) })
}

// take waits for records, at most some, and does something with them.
func (s *sender) take(ctx context.Context, h hold, most int, do func(first uint64, got []item) error) error {
	head := s.ring.Head()
	first, got, err := s.ring.Take(h.ctx, s.items[:0:most])
	if err != nil {
		if h.ctx.Err() != nil && ctx.Err() == nil {
			return errMoved
		}
		return err
	}
	if first != head {
		return errOrder(first, head)
	}
	err = do(first, got)
	clear(got) // so that their memory is free
	return err
}

// passOver counts records as gone that a snapshot makes needless.
func (s *sender) passOver(first uint64, got []item) error {
	last := first + uint64(len(got)) - 1
	s.f.counts.superseded.Add(int64(len(got)))
	s.f.keeper.Filtered(func(c *checkpoint.Checkpoint) {
		c.Ack.Seq = last // the position stays: they are not what the stream goes on from
		s.f.fillDurable(c)
	})
	s.free(got)
	return nil
}

// free gives the memory of records back.
func (s *sender) free(got []item) {
	var n int64
	for i := range got {
		n += got[i].size
	}
	s.budget.add(-n)
}

// send sends records in batches, and counts those that nobody gets as gone.
func (s *sender) send(ctx, sending context.Context, first uint64, got []item) error {
	for len(got) > 0 {
		n, size := 0, int64(0)
		s.batch = s.batch[:0]
		for n < len(got) && (n == 0 || size+got[n].size <= batchBytes) {
			it := &got[n]
			size += it.size
			n++
			if !it.out.Keep {
				continue
			}
			topic := s.f.o.Topic
			if it.out.Snapshot {
				topic = s.f.o.SnapshotTopic
			}
			s.batch = append(s.batch, kafka.Record{Topic: topic, Key: it.out.Key, Value: it.out.Value, ID: it.out.ID})
		}
		ack := ackOf(first+uint64(n)-1, &got[n-1])
		change := func(c *checkpoint.Checkpoint) {
			c.Ack = ack
			s.f.fillDurable(c)
		}
		kept := len(s.batch)
		s.f.counts.filtered.Add(int64(n - kept))
		if kept == 0 {
			s.f.keeper.Filtered(change)
		} else if err := s.deliver(ctx, sending, change); err != nil {
			return err
		}
		s.f.counts.delivered.Add(int64(kept))
		s.free(got[:n])
		first += uint64(n)
		got = got[n:]
	}
	return nil
}

// deliver sends the batch, and then makes the change that comes of it to the checkpoint.
func (s *sender) deliver(ctx, sending context.Context, change func(*checkpoint.Checkpoint)) error {
	if err := s.produce(ctx, sending, change); err != nil {
		return err
	}
	s.f.keeper.Delivered(change)
	s.f.o.Step("acknowledged")
	return nil
}

// produce sends the batch until the sink has it, with the position that comes of change.
func (s *sender) produce(ctx, sending context.Context, change func(*checkpoint.Checkpoint)) error {
	var there []byte
	if s.f.o.KeepsPosition {
		c := s.f.keeper.Now()
		change(&c)
		var err error
		if there, err = position(c); err != nil {
			return err
		}
	}
	for {
		s.f.sinkSending(true)
		one, cancel := context.WithTimeoutCause(sending, s.f.o.SendTimeout, fmt.Errorf("no acknowledgement within %s", s.f.o.SendTimeout))
		err := s.f.o.Sink.Send(one, s.batch, there)
		cancel()
		s.f.sinkSending(false)
		if err == nil {
			break
		}
		if final(err) || ctx.Err() != nil {
			return err
		}
		s.f.sinkFailed(err)
		s.f.log.WarnContext(ctx, "the sink did not take a batch: it is opened anew, and gets it again", slog.Int("records", len(s.batch)), slog.Any("err", err))
		if !s.pause.wait(ctx) {
			return ctx.Err()
		}
		has, err := s.f.openSink(ctx, s.pause)
		if err != nil {
			return err
		}
		if !s.f.o.KeepsPosition {
			continue
		}
		if bytes.Equal(has, there) {
			break // it had arrived
		}
		if !bytes.Equal(has, s.sent) {
			return finalf("kafka_transactional_id: the position in kafka is %.300s, and this feed has not sent it: another feed has the same name, "+
				"stop it or give this one another", has)
		}
	}
	s.pause.reset()
	s.f.sinkOpened()
	s.sent = there
	s.f.o.Step("produced")
	return nil
}

// snapshot sends the next batch of a snapshot.
func (s *sender) snapshot(ctx, sending context.Context, h hold) error {
	q := h.queue
	got, err := q.take(h.ctx, s.entries)
	if err != nil {
		if h.ctx.Err() != nil && ctx.Err() == nil {
			return errMoved
		}
		return err
	}
	s.batch = s.batch[:0]
	var size int64
	for i := range got {
		if got[i].marker != "" {
			got[i].record = s.f.marker(got[i].marker, q.epoch)
		}
		s.batch = append(s.batch, got[i].record)
		size += got[i].size
	}
	end := got[0].marker == event.SnapshotEnd
	records := 0
	if got[0].marker == "" {
		records = len(got)
	}
	change := func(c *checkpoint.Checkpoint) {
		if s.f.gate.state().queue != q {
			return // another one has begun meanwhile
		}
		c.Snapshot.SnapshotSeq += uint64(records)
		if end {
			c.Snapshot.State, c.Snapshot.After, c.Snapshot.From = checkpoint.Done, 0, 0
			c.Ack = checkpoint.Ack{Seq: h.from - 1, Position: q.at}
		}
		s.f.fillDurable(c)
	}
	if !end {
		err = s.deliver(ctx, sending, change)
		s.f.o.Step("snapshot")
	} else if err = s.produce(ctx, sending, change); err == nil {
		s.f.o.Step("snapshot-end")
		if err = s.f.commit(ctx, change); err == nil {
			s.f.gate.open(q)
			s.f.log.InfoContext(ctx, "the snapshot is out", slog.Uint64("epoch", uint64(q.epoch)), slog.Uint64("records", s.f.keeper.Now().Snapshot.SnapshotSeq))
		}
	}
	clear(got)
	if err != nil {
		return err
	}
	s.f.counts.snapshotDelivered.Add(int64(records))
	q.budget.add(-size)
	return nil
}

// marker is a record that a snapshot begins or ends with.
func (f *Feed) marker(m event.Marker, epoch uint32) kafka.Record {
	value := f.o.Encoder.AppendMarker(nil, m, f.o.DB, epoch, time.Now().UnixMilli())
	return kafka.Record{
		Topic: f.o.SnapshotTopic, Key: fmt.Appendf(nil, "%s:%s:", f.o.DB, m), Value: value, ID: fmt.Sprintf("%s:%s:%d", m, f.o.DB, epoch),
	}
}

// openSink opens the sink until it is there, or an error is final. Whether it takes what it is sent is another thing.
func (f *Feed) openSink(ctx context.Context, p *pause) ([]byte, error) {
	for {
		one, cancel := context.WithTimeoutCause(ctx, f.o.SendTimeout, fmt.Errorf("no answer within %s", f.o.SendTimeout))
		position, err := f.o.Sink.Open(one)
		cancel()
		switch {
		case err == nil:
			return position, nil
		case final(err):
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		f.sinkFailed(err)
		f.log.WarnContext(ctx, "the sink is away: receiving goes on, and sending when it is back", slog.Any("err", err))
		if !p.wait(ctx) {
			return nil, ctx.Err()
		}
	}
}
