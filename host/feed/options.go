package feed

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"deepoj/host/feed/config"
	"deepoj/host/feed/event"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/wal"
)

// Options say what a feed joins, and how it behaves.
type Options struct {
	Source   Source
	SourceID string       // names the source in the checkpoint, and in what is said
	Start    config.Start // of a feed that has neither checkpoint nor log

	WAL        wal.Options // Dir, SegmentBytes, Retain, MaxBytes; the others are the engine's
	Checkpoint string      // file

	Sink          kafka.Sink
	KeepsPosition bool           // the sink keeps the position, as exactly-once delivery needs
	Topic         string         // of what the source tells
	SnapshotTopic string         // of snapshots; Topic if empty
	Encoder       *event.Encoder // writes the markers around a snapshot
	DB            string         // that the markers name

	Window   int   // records in flight between the log and the sink; 4096 if 0
	InFlight int64 // bytes of the same, and as many again of a snapshot; 32 MiB if 0. A larger record is alone
	Workers  int   // goroutines that make records into events; one for each core if 0

	Pause, MaxPause time.Duration // before source or sink is tried again: the first one, and the longest; 250 ms and 30 s if 0
	SendTimeout     time.Duration // of a batch, after which the sink is opened again and gets it again; 30 s if 0
	Progress        time.Duration // how often the log says how far the feed is when no snapshot is under way; 5 s if 0

	// Step is told of each step that a death may fall on, for tests that kill the process. To those of the log come:
	// a record is "received" and not yet in the log; the log is "durable" and the source not yet told; a batch is
	// "produced" and not yet counted; it is "acknowledged" and the checkpoint not yet written; of a snapshot a batch is
	// out, the "snapshot" step; all of it is, the "snapshot-end" step, and not yet in the checkpoint.
	Step func(step string)

	Logger *slog.Logger // nil = nobody is told
}

// prepare fills in what is left out, and reports what is missing.
func (o *Options) prepare() error {
	var errs []error
	need := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("a feed needs %s", what))
		}
	}
	need(o.Source != nil, "a source")
	need(o.SourceID != "", "a name of its source")
	need(o.WAL.Dir != "", "wal_dir")
	need(o.Checkpoint != "", "checkpoint_path")
	need(o.Sink != nil, "a sink")
	need(o.Encoder != nil, "an encoder of markers")
	o.SnapshotTopic = cmp.Or(o.SnapshotTopic, o.Topic)
	o.Window = cmp.Or(o.Window, 4096)
	o.InFlight = cmp.Or(o.InFlight, 32<<20)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Pause = cmp.Or(o.Pause, 250*time.Millisecond)
	o.MaxPause = max(o.Pause, cmp.Or(o.MaxPause, 30*time.Second))
	o.SendTimeout = cmp.Or(o.SendTimeout, 30*time.Second)
	o.Progress = cmp.Or(o.Progress, 5*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	need(o.Window > 0 && o.InFlight > 0 && o.Workers > 0, "at least one of window_slots and workers")
	if o.Step == nil {
		o.Step = func(string) {}
	} else {
		o.WAL.Step = o.Step
	}
	if o.Source != nil {
		o.WAL.Whole = o.Source.Whole
	}
	o.WAL.Logger = o.Logger
	return errors.Join(errs...)
}
