package wal

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"deepoj/host/platform"
)

// BenchmarkAppend appends records of 200 bytes, as many as fit into a fsync, and reads them back, beside the floor: the same
// bytes written and fsynced in pieces as large as the log's groups.
func BenchmarkAppend(b *testing.B) {
	const size = 200
	record := make([]byte, size)
	for b.Loop() {
		const count = 500_000
		dir := b.TempDir()
		syncs := 0
		l, err := Open(Options{Dir: dir, Step: nil})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		begin, seen := time.Now(), l.Durable()
		done := make(chan int)
		go func() {
			groups := 0
			for seen.Seq < count {
				<-l.Changed(seen)
				if now := l.Durable(); now != seen {
					seen = now
					groups++
				}
			}
			done <- groups
		}()
		for seq := range uint64(count) {
			if _, err := l.Append(1, Position{1, seq}, record[:4], record[4:]); err != nil {
				b.Fatal(err)
			}
		}
		syncs = <-done
		own := time.Since(begin)
		begin = time.Now()
		r, err := l.ReadFrom(1)
		if err != nil {
			b.Fatal(err)
		}
		for range count {
			if _, err := r.Next(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		reading := time.Since(begin)
		_ = r.Close()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		floor := writeAndSync(b, filepath.Join(dir, "floor"), make([]byte, count*(size+headerBytes)/syncs), syncs)
		b.ReportMetric(count/own.Seconds(), "records/s")
		b.ReportMetric(count*(size+headerBytes)/1e6/own.Seconds(), "MB/s")
		b.ReportMetric(count*(size+headerBytes)/1e6/floor.Seconds(), "floor-MB/s")
		b.ReportMetric(floor.Seconds()/own.Seconds(), "of-the-floor")
		b.ReportMetric(float64(count)/float64(syncs), "records/fsync")
		b.ReportMetric(count/reading.Seconds(), "read/s")
	}
}

func writeAndSync(b *testing.B, path string, piece []byte, times int) time.Duration {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	begin := time.Now()
	for range times {
		if _, err := f.Write(piece); err != nil {
			b.Fatal(err)
		}
		if err := platform.SyncData(f); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}
