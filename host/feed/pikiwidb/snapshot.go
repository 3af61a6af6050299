package pikiwidb

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/feed/rocks"
)

// Mode is how a snapshot is read.
type Mode string

// The modes.
const (
	Single Mode = "single" // one reader of all types: each file is read once
	ByType Mode = "type"   // a reader for each type, at the same time: each reads all keys, and its elements
)

// Options say what to read of a dump and how. Every field but Prefixes, ListTail and Damaged is needed.
type Options struct {
	Mode     Mode
	Types    Types
	Prefixes []string // only keys that begin with one of them; nil: all keys
	BatchNum int      // elements in a record at most
	ListTail int      // of each list only so many elements, its last; 0: all
	Now      func() time.Time
	Damaged  func(Damage) // is told of keys that cannot be read right, in the order of records
	Progress *Progress
}

// batchBytes is how large the arguments of a record become before it ends, whatever BatchNum.
const batchBytes = 512 << 10

// Progress counts what has been read. It may be looked at meanwhile.
type Progress struct {
	Keys    atomic.Int64 // that live
	Records atomic.Int64
	Args    atomic.Int64 // behind the keys
	Expired atomic.Int64 // keys left out as they have expired
	Damaged atomic.Int64
}

// Damage is a key that the storage does not hold right.
type Damage struct {
	Instance int
	Type     Type
	Key      []byte // what there is of it
	Reason   string
}

// Read hands the records of a dump to yield, those of a key one behind the other. It ends at the first error.
// Yield and Damaged are called by one goroutine at a time.
func (d *Dump) Read(ctx context.Context, options Options, yield func(Record) error) error {
	ranges := prefixRanges(options.Prefixes)
	progress := options.Progress
	count := func(r Record) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		progress.Records.Add(1)
		progress.Args.Add(int64(len(r.Argv) - 2))
		return yield(r)
	}
	report := func(damage Damage) error {
		progress.Damaged.Add(1)
		if options.Damaged != nil {
			options.Damaged(damage)
		}
		return nil
	}
	switch options.Mode {
	case Single:
		return d.read(ctx, &options, options.Types, ranges, count, report)
	case ByType:
		return d.readByType(ctx, &options, ranges, count, report)
	}
	return fmt.Errorf("%.40q is no way to read a snapshot: %s and %s are", options.Mode, Single, ByType)
}

// readByType reads each type in a goroutine of its own.
func (d *Dump) readByType(ctx context.Context, options *Options, ranges []rocks.Range, yield func(Record) error, report func(Damage) error) error {
	type item struct {
		record Record
		damage *Damage
	}
	items, ended := make(chan item, 32), make(chan error, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	readers, ctx := errgroup.WithContext(ctx)
	send := func(i item) error {
		select {
		case items <- i:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for t := range Type(types) {
		if options.Types.Has(t) {
			readers.Go(func() error {
				return d.read(ctx, options, 1<<t, ranges,
					func(r Record) error { return send(item{record: r}) },
					func(damage Damage) error { return send(item{damage: &damage}) })
			})
		}
	}
	go func() {
		defer close(items)
		ended <- readers.Wait()
	}()
	failed := error(nil)
	for i := range items {
		switch {
		case failed != nil: // the readers are ending
		case i.damage != nil:
			failed = report(*i.damage)
		default:
			failed = yield(i.record)
		}
		if failed != nil {
			cancel(failed)
		}
	}
	if err := <-ended; failed == nil {
		failed = err
	}
	return failed
}

// read reads keys of the given types, instance by instance.
func (d *Dump) read(ctx context.Context, options *Options, of Types, ranges []rocks.Range, yield func(Record) error, report func(Damage) error) error {
	for number, instance := range d.instances {
		s := &scan{
			ctx: ctx, instance: number, from: instance, options: options, types: of,
			tail:   uint64(max(0, options.ListTail)),
			writer: &writer{batchNum: options.BatchNum, batchBytes: batchBytes, yield: yield},
			report: report,
		}
		for _, r := range ranges {
			if err := s.run(r); err != nil {
				return fmt.Errorf("instance %d: %w", number, err)
			}
		}
	}
	return nil
}

// prefixRanges returns where the keys that begin with one of the prefixes are, each once.
func prefixRanges(prefixes []string) (ranges []rocks.Range) {
	if prefixes == nil {
		return []rocks.Range{{}}
	}
	last := ""
	for i, prefix := range slices.Sorted(slices.Values(prefixes)) {
		if i > 0 && strings.HasPrefix(prefix, last) {
			continue
		}
		last = prefix
		from := escape(prefix)
		ranges = append(ranges, rocks.Range{From: from, To: successor(from)})
	}
	return ranges
}

// successor is the first of what comes behind everything that begins with b.
func successor(b []byte) []byte {
	b = bytes.Clone(b)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}
