package pikiwidb

import (
	"path/filepath"
	"testing"
	"time"
)

// Reads the golden dumps in both modes, beside a floor in the same run: every block read, checked and decompressed.
//
//	args/s       arguments of records a second
//	floor-share  the floor's time, of the reading's
func BenchmarkSnapshot(b *testing.B) {
	root := unpack(b)
	for _, name := range []string{"snappy", "lz4", "zstd", "part"} {
		dir := filepath.Join(root, name)
		for _, mode := range []Mode{Single, ByType} {
			b.Run(name+"/"+string(mode), func(b *testing.B) {
				d, err := Open(dir, 3)
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				options := all(mode)
				options.BatchNum = 100
				b.ReportAllocs()
				floor := time.Duration(0)
				for b.Loop() {
					b.StopTimer()
					began, plain := time.Now(), int64(0)
					for _, instance := range d.instances {
						size, err := instance.Verify()
						if err != nil {
							b.Fatal(err)
						}
						plain += size
					}
					b.SetBytes(plain)
					floor += time.Since(began)
					b.StartTimer()
					if err := d.Read(b.Context(), options, func(Record) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(options.Progress.Args.Load())/b.Elapsed().Seconds(), "args/s")
				b.ReportMetric(floor.Seconds()/b.Elapsed().Seconds(), "floor-share")
			})
		}
	}
}
