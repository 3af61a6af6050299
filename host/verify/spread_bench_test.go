package verify_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
)

// BenchmarkSpread runs one program 200 times on as good as the same input, and says how far its figures lie apart: of one
// that uses 100 ms of CPU time, and of one that does next to nothing; alone, and beside others on every core. A result
// of a contestant is such a figure.
func BenchmarkSpread(b *testing.B) {
	const runs = 200
	m := judgingtest.Get(b)
	alone, err := m.Open(func(c *judging.Config) { c.Cores = 1 })
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, program := range []struct {
			name   string
			millis int64
		}{{"100 ms", 100}, {"tiny", 0}} {
			pkg, payload := longPackage(b, "compute", runs, 0, program.millis)
			for who, j := range map[string]*judging.Judge{"alone": alone, "beside others": m.Judge} {
				r, err := j.Judge(b.Context(), payload, pkg.Version, nil)
				if err != nil || r.Verdict != judge.AC {
					b.Fatalf("%s, %v", r.Verdict, err)
				}
				var cpu, memory []float64
				for _, t := range r.Tests {
					if t.Reused || t.Usage.CPUMicros == 0 || t.Usage.MemoryKiB == 0 {
						b.Fatalf("test %s used %+v", t.Name, t.Usage)
					}
					cpu = append(cpu, float64(t.Usage.CPU())/float64(time.Millisecond))
					memory = append(memory, float64(t.Usage.MemoryKiB))
				}
				fmt.Printf("spread of %d runs, %s, %s: CPU time %s ms; memory %s KiB\n", runs, program.name, who, spread(cpu), spread(memory))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// spread writes the 5th and 95th percentile of figures as ratios to the median.
func spread(figures []float64) string {
	slices.Sort(figures)
	n := len(figures)
	p50 := figures[n/2]
	return fmt.Sprintf("p5 %.2f×, p95 %.2f× of %.1f", figures[n*5/100]/p50, figures[n*95/100]/p50, p50)
}
