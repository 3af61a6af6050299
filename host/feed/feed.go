package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
)

// grace is how long a batch that is under way may take when the feed ends.
const grace = 5 * time.Second

// Feed joins one stream of a source with a sink.
type Feed struct {
	o      Options
	log    *slog.Logger
	counts counts
	began  time.Time

	wal    *wal.Log
	keeper *checkpoint.Keeper
	gate   *gate
	fresh  bool // no session has begun yet, and there was nothing before; of the goroutine that opens them

	ready atomic.Bool // all of the above is there
	mu    sync.Mutex
	told  told // what only the status needs
}

// New prepares a feed.
func New(o Options) (*Feed, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	f := &Feed{o: o, log: o.Logger, began: time.Now()}
	f.told.sink.since, f.told.source.since = f.began, f.began
	return f, nil
}

// Run moves records until ctx ends, which is no error, or until something is wrong that does not end by waiting. It is
// called once. Another process that has the write-ahead log is such an error.
func (f *Feed) Run(ctx context.Context) (err error) {
	c, sink, err := f.open(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = errors.Join(err, f.o.Sink.Close(), closed(f.wal)) }()
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	all, run := errgroup.WithContext(run)
	f.begin(run, c)

	// What was acknowledged last is saved after everything else has ended.
	keep, stop := context.WithCancel(context.WithoutCancel(ctx))
	saved := make(chan error, 1)
	go func() {
		err := f.keeper.Run(keep)
		if err != nil {
			cancel()
		}
		saved <- err
	}()
	all.Go(func() error { return f.sessions(run) })
	all.Go(func() error { return f.deliver(run, sink) })
	all.Go(func() error { return f.watch(run) })
	err = all.Wait()
	stop()
	failed := <-saved
	if failed != nil || ctx.Err() != nil {
		err = ended(run, err)
	}
	return errors.Join(err, failed)
}

// ended leaves out the error of a context that ended: whoever ended it knows.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

// closed closes a log. What made it break was told before.
func closed(l *wal.Log) error {
	broken := l.Err() != nil
	err := l.Close()
	if broken {
		err = nil
	}
	return err
}

// final reports whether an error does not end by waiting.
func final(err error) bool {
	_, ours := errors.AsType[*FinalError](err)
	_, sinks := errors.AsType[*kafka.FinalError](err)
	return ours || sinks
}

func finalf(format string, args ...any) error { return &FinalError{fmt.Errorf(format, args...)} }

// commit makes a change to the checkpoint and saves it before it returns. A full disk is waited for.
func (f *Feed) commit(ctx context.Context, change func(*checkpoint.Checkpoint)) error {
	p := newPause(&f.o)
	for {
		err := f.keeper.Commit(change)
		if err == nil || !checkpoint.DiskFull(err) {
			return err
		}
		f.log.ErrorContext(ctx, "the disk of the checkpoint is full: what needs it waits for room", slog.Any("err", err))
		if !p.wait(ctx) {
			return err
		}
		change = func(*checkpoint.Checkpoint) {} // it is made
	}
}
