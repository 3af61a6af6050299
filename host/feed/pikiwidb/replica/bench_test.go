package replica

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/kafka"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/wal"
)

// drain is a sink that tells when it has so many records.
type drain struct {
	want int
	full chan struct{}
}

func (d *drain) Open(context.Context) ([]byte, error) { return nil, nil }
func (d *drain) Close() error                         { return nil }

func (d *drain) Send(_ context.Context, batch []kafka.Record, _ []byte) error {
	before := d.want
	if d.want -= len(batch); before > 0 && d.want <= 0 {
		close(d.full)
	}
	return nil
}

// Items from a master in this process through the log, fsynced, into events that nobody takes, and beside it a floor of
// the same run: the bytes of the same items written to a file and fsynced once.
//
//	items/s      items a second
//	floor-share  the floor's time, of the feed's
//
// Whether the master lets go of them at the end, which takes an acknowledgement of the last one, belongs to it.
func BenchmarkFeedBinlog(b *testing.B) {
	const items = 200_000
	m := newMaster(b, mastertest.Options{})
	value := string(bytes.Repeat([]byte("v"), 60))
	for i := range items {
		m.Do("db0", "set", fmt.Sprintf("key:%d", i%10_000), value)
	}
	end := m.End("db0")
	b.ReportAllocs()
	floor := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		c := settings(b, m, map[string]string{"filenum": fmt.Sprint(origin.Filenum), "offset": fmt.Sprint(origin.Offset)})
		s := newSource(b, c)
		s.log = slog.New(slog.DiscardHandler)
		o, err := options(c, s)
		if err != nil {
			b.Fatal(err)
		}
		d := &drain{items, make(chan struct{})}
		o.Sink = d
		f, err := feed.New(o)
		if err != nil {
			b.Fatal(err)
		}
		floor += writeAll(b, m.Items("db0"))
		m.Reacknowledge("db0", wal.Position{})
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan error, 1)
		b.StartTimer()
		go func() { done <- f.Run(ctx) }()
		select {
		case <-d.full:
		case err := <-done:
			b.Fatal(err)
		}
		waitFor(b, m, "all is acknowledged", func() bool { return m.Acknowledged("db0") == end })
		b.StopTimer()
		cancel()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*items/b.Elapsed().Seconds(), "items/s")
	b.ReportMetric(floor.Seconds()/b.Elapsed().Seconds(), "floor-share")
}

// writeAll writes items to a file, and returns how long that took.
func writeAll(b *testing.B, items []mastertest.Item) time.Duration {
	b.Helper()
	var all bytes.Buffer
	for _, i := range items {
		all.Write(i.Raw)
	}
	began := time.Now()
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(all.Bytes()); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
