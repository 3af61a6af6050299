package feed

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/event"
	"deepoj/host/feed/wal"
)

// errEnded is what a session ends with whose Receive has returned without a reason.
var errEnded = errors.New("the source ended the stream")

// sessions opens session after session, with bounded, growing pauses between them, until ctx ends or an error is final.
func (f *Feed) sessions(ctx context.Context) error {
	p := newPause(&f.o)
	for {
		began, durable := time.Now(), f.wal.Durable().Seq
		err := f.session(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case f.wal.Err() != nil:
			return f.wal.Err()
		case final(err):
			return err
		}
		if time.Since(began) >= f.o.MaxPause || f.wal.Durable().Seq > durable {
			p.reset()
		}
		f.sourceFailed(err)
		f.log.WarnContext(ctx, "the source is away: receiving goes on when it is back", slog.Any("err", err))
		if !p.wait(ctx) {
			return ctx.Err()
		}
	}
}

// session opens one session and receives from it until it fails.
func (f *Feed) session(ctx context.Context) error {
	// What the session before left of something that is not whole comes again.
	if err := f.wal.Rewind(ctx); err != nil {
		return err
	}
	have := f.have()
	s, err := f.o.Source.Open(ctx, have)
	if err != nil {
		return err
	}
	plan := s.Plan()
	q, err := f.start(ctx, have, plan)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	f.sourceOpened(plan)

	all, inner := errgroup.WithContext(ctx)
	refused := error(nil) // of the log; Receive has to return it, but may not
	all.Go(func() error {
		err := s.Receive(inner, func(at wal.Position, parts ...[]byte) error {
			err := f.append(inner, have.Epoch, at, parts)
			if final(err) {
				refused = err
			}
			return err
		})
		if err == nil {
			err = errEnded
		}
		return err
	})
	all.Go(func() error { return f.acknowledge(inner, s) })
	if q != nil {
		all.Go(func() error { return f.snapshot(inner, s, q) })
	}
	err = all.Wait()
	if q != nil {
		f.gate.abandon(q)
	}
	if refused != nil {
		err = refused
	}
	if closing := s.Close(); closing != nil {
		f.log.InfoContext(ctx, "a session with the source did not close", slog.Any("err", closing))
	}
	return err
}

// have says what the feed has, for the next session.
func (f *Feed) have() Have {
	c := f.keeper.Now()
	h := Have{
		Epoch: c.Epoch + 1, Durable: f.wal.Durable(), Ack: c.Ack, System: c.System, Snapshot: c.Snapshot, Fresh: f.fresh, Start: f.o.Start,
	}
	// While nothing has come since a snapshot, the log ends at what was there before it, and the stream at what it is of.
	if h.Durable.Seq == c.Ack.Seq && c.Snapshot.State != checkpoint.Running {
		h.Durable.Position = c.Ack.Position
	}
	if g := f.gate.state(); g.queue != nil && g.queue.whole.Load() {
		h.Snapshot.State = checkpoint.Done // the sender has the rest of it
		if h.Durable.Seq < g.from {
			h.Durable.Position = g.queue.at
		}
		if h.Durable.Segment == 0 {
			h.Ack.Position = g.queue.at
		}
	}
	if h.Durable.Segment == 0 {
		h.Durable = wal.Point{}
	}
	if h.Fresh {
		h.Ack = checkpoint.Ack{}
	}
	return h
}

// start writes down that a session has begun, before anything of it is received, and closes the gate if it brings a
// snapshot.
func (f *Feed) start(ctx context.Context, have Have, plan Plan) (q *queue, err error) {
	if have.Snapshot.State == checkpoint.Running && !plan.Snapshot {
		return nil, finalf("the snapshot of epoch %d did not come to its end, and the source goes on without another: let the feed begin with a new "+
			"snapshot: deepoj feed reset", have.Epoch-1)
	}
	last := f.wal.Last().Seq
	after := last
	if now := f.keeper.Now().Snapshot; now.State == checkpoint.Running {
		after = now.After
	}
	if plan.Snapshot || have.Fresh {
		if err := f.wal.Begin(plan.At); err != nil {
			return nil, err
		}
	}
	err = f.commit(ctx, func(c *checkpoint.Checkpoint) {
		c.Epoch, c.System = have.Epoch, &plan.System
		switch {
		case plan.Snapshot:
			c.Snapshot = checkpoint.Snapshot{
				State: checkpoint.Running, BgsaveEndFileNum: plan.At.Filenum, BgsaveEndOffset: plan.At.Offset, After: after, From: last + 1,
			}
		case have.Fresh:
			c.Ack.Position = plan.At
		}
		f.fillDurable(c)
	})
	if err != nil {
		return nil, err
	}
	f.fresh = false
	attrs := []any{slog.Uint64("epoch", uint64(have.Epoch)), slog.String("at", plan.At.String()), slog.String("system", plan.System.ID)}
	if !plan.Snapshot {
		f.log.InfoContext(ctx, "the source is there: receiving", attrs...)
		return nil, nil
	}
	f.log.InfoContext(ctx, "the source is there: a full snapshot begins", append(attrs, slog.String("why", plan.Why))...)
	q = newQueue(have.Epoch, plan.At, f.o.InFlight, &f.counts)
	f.gate.set(hold{closed: true, after: after, from: last + 1, queue: q})
	return q, nil
}

// append appends a record to the log, and waits for room if there is none.
func (f *Feed) append(ctx context.Context, epoch uint32, at wal.Position, parts [][]byte) error {
	f.o.Step("received")
	for {
		_, err := f.wal.Append(epoch, at, parts...)
		switch {
		case err == nil:
			n := 0
			for _, p := range parts {
				n += len(p)
			}
			f.counts.received.Add(1)
			f.counts.receivedBytes.Add(int64(n))
			return nil
		case errors.Is(err, wal.ErrTooLarge):
			return &FinalError{err}
		case !errors.Is(err, wal.ErrFull):
			return err
		}
		f.logFull(ctx, true)
		if err := f.wal.WaitRoom(ctx); err != nil {
			return err
		}
		f.logFull(ctx, false)
	}
}

// acknowledge tells the source how far the log is durable, and no further.
func (f *Feed) acknowledge(ctx context.Context, s Session) error {
	for seq := f.wal.Durable().Seq; ; {
		p, err := f.wal.WaitDurable(ctx, seq+1)
		if err != nil {
			return err
		}
		f.o.Step("durable")
		s.Durable(p)
		seq = p.Seq
	}
}

// snapshot hands a snapshot over to the sender, between its markers.
func (f *Feed) snapshot(ctx context.Context, s Session, q *queue) error {
	if err := q.mark(ctx, event.SnapshotBegin); err != nil {
		return err
	}
	err := s.Snapshot(ctx, func(out Out) error { return q.emit(ctx, f.o.SnapshotTopic, out) })
	if err != nil {
		return err
	}
	if err := q.mark(ctx, event.SnapshotEnd); err != nil {
		return err
	}
	q.whole.Store(true)
	return nil
}

// fillDurable completes a checkpoint by what the log knows.
func (f *Feed) fillDurable(c *checkpoint.Checkpoint) {
	p := f.wal.Durable()
	c.Durable = checkpoint.Durable{Seq: p.Seq, Position: p.Position, WALSegment: p.Segment, WALOffset: p.Offset}
}
