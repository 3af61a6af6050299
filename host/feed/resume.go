package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/wal"
)

// open finds out how far the feed has come: from its log, its checkpoint, and its sink where that knows. It tells
// whether it has opened the sink, and with which position.
func (f *Feed) open(ctx context.Context) (c checkpoint.Checkpoint, sink *opened, err error) {
	c, found, err := checkpoint.Load(f.o.Checkpoint, f.o.SourceID)
	if err != nil {
		return c, nil, err
	}
	if err := f.openLog(c.Ack.Seq + 1); err != nil {
		return c, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.o.Sink.Close(), closed(f.wal))
		}
	}()
	empty := f.wal.Durable().Segment == 0
	if !empty && !found {
		return c, nil, finalf("checkpoint_path=%s is missing, although wal_dir=%s has records up to %d: bring it back from a copy, or let the feed begin "+
			"with a new snapshot: deepoj feed reset", f.o.Checkpoint, f.o.WAL.Dir, f.wal.Durable().Seq)
	}
	// What the sink knows is waited for only where nothing can be received without it.
	if f.o.KeepsPosition && (empty || c.Snapshot.State == checkpoint.Running) {
		position, err := f.openSink(ctx, newPause(&f.o))
		if err != nil {
			return c, nil, err
		}
		f.sinkOpened()
		sink = &opened{position}
		if c, err = f.believe(c, found, position); err != nil {
			return c, nil, err
		}
		if empty {
			if err := closed(f.wal); err != nil {
				return c, nil, err
			}
			if err := f.openLog(c.Ack.Seq + 1); err != nil {
				return c, nil, err
			}
		}
	}
	if err := f.fits(c.Ack.Seq); err != nil {
		return c, nil, err
	}
	f.fresh = empty && !found
	return c, sink, nil
}

// opened is a sink that was opened early.
type opened struct{ position []byte }

func (f *Feed) openLog(next uint64) (err error) {
	o := f.o.WAL
	o.Next = next
	f.wal, err = wal.Open(o)
	return err
}

// begin makes c what the feed knows.
func (f *Feed) begin(ctx context.Context, c checkpoint.Checkpoint) {
	f.keeper = checkpoint.NewKeeper(f.o.Checkpoint, c)
	// Files of the log go only when what the next start goes on from says that nobody needs them.
	f.keeper.Saved = func(c checkpoint.Checkpoint) { f.wal.Release(c.Ack.Seq) }
	f.wal.Release(c.Ack.Seq)
	h := hold{}
	if c.Snapshot.State == checkpoint.Running {
		h = hold{closed: true, after: c.Snapshot.After, from: c.Snapshot.After + 1}
	}
	f.gate = newGate(ctx, h)
	f.ready.Store(true)
}

// fits reports whether the log has what comes behind the record ack, or can have it.
func (f *Feed) fits(ack uint64) error {
	durable, first := f.wal.Durable(), f.wal.First()
	switch {
	case durable.Segment != 0 && ack > durable.Seq:
		return finalf("wal_dir=%s ends at record %d, although the sink has record %d: bring the newer files back from a copy, or let the feed begin "+
			"with a new snapshot: deepoj feed reset", f.o.WAL.Dir, durable.Seq, ack)
	case ack+1 < first:
		return finalf("wal_dir=%s begins at record %d, although the sink has no more than record %d according to checkpoint_path=%s: bring the older "+
			"files back from a copy, or let the feed begin with a new snapshot: deepoj feed reset", f.o.WAL.Dir, first, ack, f.o.Checkpoint)
	}
	return nil
}

// position is what travels with a batch to a sink that keeps positions.
func position(c checkpoint.Checkpoint) ([]byte, error) { return json.Marshal(c) }

// believe completes c by what the sink says of how far it is, which may be more than what was saved.
func (f *Feed) believe(c checkpoint.Checkpoint, found bool, position []byte) (checkpoint.Checkpoint, error) {
	if position == nil {
		return c, nil
	}
	var there checkpoint.Checkpoint
	if err := json.Unmarshal(position, &there); err != nil {
		return c, finalf("kafka_transactional_id: its position is not one of a feed (%.80q): give this feed a name of its own: %w", position, err)
	}
	if there.SourceID != f.o.SourceID {
		return c, finalf("kafka_transactional_id: its position is of source %s, and this feed is of source %s: give this feed a name of its own",
			there.SourceID, f.o.SourceID)
	}
	switch {
	case !found: // only the numbers go on
		c.Epoch = max(c.Epoch, there.Epoch)
		c.Ack.Seq = max(c.Ack.Seq, there.Ack.Seq)
		return c, nil
	case there.Epoch > c.Epoch:
		there.Durable = c.Durable
		return there, nil
	}
	if there.Ack.Seq > c.Ack.Seq {
		c.Ack = there.Ack
	}
	if there.Snapshot.State == checkpoint.Done && there.Epoch == c.Epoch && c.Snapshot.State == checkpoint.Running {
		c.Snapshot, c.Ack = there.Snapshot, there.Ack
	}
	return c, nil
}

// adopt takes over what the sink says of how far it is, when sessions have begun already.
func (f *Feed) adopt(ctx context.Context, position []byte) error {
	now := f.keeper.Now()
	c, err := f.believe(now, true, position)
	if err != nil {
		return err
	}
	if c.Ack.Seq <= now.Ack.Seq {
		return nil
	}
	if err := f.fits(c.Ack.Seq); err != nil {
		return err
	}
	f.log.InfoContext(ctx, "the sink has more than the checkpoint says", slog.Uint64("sink", c.Ack.Seq), slog.Uint64("checkpoint", now.Ack.Seq))
	if err := f.commit(ctx, func(k *checkpoint.Checkpoint) { k.Ack = c.Ack }); err != nil {
		return fmt.Errorf("take over the position of the sink: %w", err)
	}
	return nil
}
