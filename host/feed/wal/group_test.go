package wal

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestRecordsThatComeCloseTogetherShareAnFsync(t *testing.T) {
	for name, tt := range map[string]struct {
		size  int
		apart time.Duration
	}{
		"small ones": {100, apart},
		"many":       {4 << 10, 2 * apart}, // of which the groups are large
	} {
		t.Run(name, func(t *testing.T) {
			var synced atomic.Int64
			l := open(t, Options{Dir: t.TempDir(), Step: func(step string) {
				if step == "synced" {
					synced.Add(1)
				}
			}})
			payload := make([]byte, tt.size)
			began, n := time.Now(), uint64(0)
			for time.Since(began) < 300*time.Millisecond {
				for range 8 {
					n++
					if _, err := l.Append(1, Position{Offset: n}, payload); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(50 * time.Microsecond)
			}
			if _, err := l.WaitDurable(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			if got, most := synced.Load(), int64(time.Since(began)/tt.apart)+2; got > most {
				t.Errorf("%d records took %d fsyncs, want at most %d", n, got, most)
			}
		})
	}
}
