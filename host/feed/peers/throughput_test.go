package peers

import (
	"slices"
	"testing"
	"time"

	"deepoj/sql/published"
)

// BenchmarkBacklog has each of those who are compared drain the same backlog, b.N rounds of it in turn. The figures are
// medians of the rounds.
func BenchmarkBacklog(b *testing.B) {
	h := newHouse(b)
	n := number("EVENTS", 200_000)
	contestants := []struct {
		name string
		run  func(want int) used
	}{
		{"floor", func(want int) used {
			if want == 0 {
				return h.throwAway(b, "floor", "--create-slot", "--plugin", "pgoutput")
			}
			return h.throwAway(b, "floor", "--start", "-f", "/dev/null", "-o", "proto_version=1", "-o", "publication_names="+published.Publication,
				"--no-loop", "--endpos", h.pg.Ask(b, "SELECT pg_current_wal_insert_lsn()"))
		}},
		{"feed", func(want int) used { return h.drain(b, "feed", want) }},
		{"usual", func(want int) used { return h.drain(b, "usual", want) }},
	}
	for _, c := range contestants {
		c.run(0) // makes its slot
	}
	spent := map[string][]used{}
	for round := range b.N + 1 { // the first fills caches
		h.write(b, round*n, n)
		for _, c := range contestants {
			u := c.run(n)
			b.Logf("%s: %.0f events/s, %.2f µs of CPU time for an event, %d MiB", c.name, float64(n)/u.wall.Seconds(),
				float64(u.cpu.Microseconds())/float64(n), u.memory>>20)
			if round > 0 {
				spent[c.name] = append(spent[c.name], u)
			}
		}
	}
	wall := func(name string) float64 {
		return median(spent[name], func(u used) float64 { return u.wall.Seconds() })
	}
	cpu := func(name string) float64 { return median(spent[name], func(u used) float64 { return u.cpu.Seconds() }) }
	b.ReportMetric(float64(n)/wall("feed"), "events/s")
	b.ReportMetric(wall("floor")/wall("feed"), "of-pg_recvlogical")
	b.ReportMetric(wall("usual")/wall("feed"), "of-the-usual-way")
	b.ReportMetric(cpu("feed")/cpu("usual"), "of-its-CPU-time")
	b.ReportMetric(median(spent["feed"], func(u used) float64 { return float64(u.memory) / (1 << 20) }), "MiB")
	b.ReportMetric(0, "ns/op")
}

// drain has a contestant bring what its slot has to a broker of its own.
func (h *house) drain(b *testing.B, role string, want int) used {
	b.Helper()
	address, p := h.broker(b)
	u := spend(b, h.child(b, role, role, address, want))
	_ = p.Kill()
	return u
}

func median(all []used, of func(used) float64) float64 {
	values := make([]float64, len(all))
	for i, u := range all {
		values[i] = of(u)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// percentile returns that of times.
func percentile(all []time.Duration, p float64) time.Duration {
	slices.Sort(all)
	return all[int(float64(len(all)-1)*p)]
}
