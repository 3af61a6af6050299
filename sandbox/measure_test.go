package sandbox_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// These are the only tests that assert milliseconds: of CPU time, never of the
// clock, and of the median of nine runs (three, where a run takes seconds).
func rounds(cpu time.Duration) int {
	if cpu >= time.Second {
		return 3
	}
	return 9
}

// precision is how exactly CPU time must be measured and bounded.
const precision = 5 * time.Millisecond

func median[T int64 | time.Duration](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

func TestCPUTimeIsWhatTheProgramUsed(t *testing.T) {
	a := shared.get(t)
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	for _, want := range []time.Duration{50 * ms, 300 * ms, 1000 * ms} {
		t.Run(want.String()+" in one thread", func(t *testing.T) {
			var off []time.Duration
			for range rounds(want) {
				o := run(t, b.box, sandbox.Cmd{
					Program: "./process", Args: []string{"usage", fmt.Sprint(want.Milliseconds())},
					Limits: sandbox.Limits{CPU: 10 * time.Second},
				})
				us, err := strconv.ParseInt(strings.TrimSpace(o.stdout), 10, 64)
				if err != nil || o.Verdict != sandbox.OK {
					t.Fatalf("ended %v", o)
				}
				off = append(off, (o.CPU - time.Duration(us)*time.Microsecond).Abs())
			}
			if m := median(off); m > precision {
				t.Errorf("the median is %s off", m)
			} else {
				t.Logf("the median is %s off", m)
			}
		})
		t.Run(want.String()+" in each of four threads", func(t *testing.T) {
			var off []time.Duration
			for range rounds(4 * want) {
				o := run(t, b.box, sandbox.Cmd{
					Program: "./process", Args: []string{"cpu4", fmt.Sprint(want.Milliseconds())},
					Limits: sandbox.Limits{CPU: 10 * time.Second, Cores: min(2, cores(t, a))},
				})
				if o.Verdict != sandbox.OK {
					t.Fatalf("ended %v", o)
				}
				off = append(off, (o.CPU - 4*want).Abs())
			}
			if m := median(off); m > precision {
				t.Errorf("the median is %s off", m)
			} else {
				t.Logf("the median is %s off", m)
			}
		})
	}
}

func TestCPUTimeIsBoundedExactly(t *testing.T) {
	a := shared.get(t)
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	both := min(2, cores(t, a))
	tests := map[string]struct {
		args  []string
		cores int
	}{
		"one thread":             {[]string{"spin"}, 1},
		"four threads, one core": {[]string{"thread-spin", "4"}, 1},
		"four threads":           {[]string{"thread-spin", "4"}, both},
		"a child":                {[]string{"child-spin"}, 1},
		"an orphan":              {[]string{"orphan-spin"}, 1},
	}
	const limit = 300 * ms
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var over []time.Duration
			for range rounds(0) {
				o := run(t, b.box, sandbox.Cmd{
					Program: "./process", Args: tt.args, Limits: sandbox.Limits{CPU: limit, Wall: time.Minute, Cores: tt.cores},
				})
				if o.Verdict != sandbox.TLE {
					t.Fatalf("ended %v", o)
				}
				over = append(over, o.CPU-limit)
			}
			if m := median(over); m < 0 || m > precision {
				t.Errorf("the median is %s over the limit", m)
			} else {
				t.Logf("the median is %s over the limit", m)
			}
		})
	}
}

func TestMemoryIsWhatTheProgramTouched(t *testing.T) {
	a := shared.get(t)
	b := newBench(t, a, "memory", sandbox.BoxOptions{})
	for _, size := range []int64{16, 64, 256} {
		t.Run(fmt.Sprint(size, " MiB"), func(t *testing.T) {
			var off []int64
			for range rounds(0) {
				o := run(t, b.box, sandbox.Cmd{
					Program: "./memory", Args: []string{"heap", fmt.Sprint(size)},
					Limits: sandbox.Limits{CPU: 10 * time.Second, MemoryBytes: 512 * mib},
				})
				if o.Verdict != sandbox.OK {
					t.Fatalf("ended %v", o)
				}
				off = append(off, max(o.MemoryBytes-size*mib, size*mib-o.MemoryBytes))
			}
			if m := median(off); m > max(mib, size*mib/100) {
				t.Errorf("the median is %d KiB off", m>>10)
			} else {
				t.Logf("the median is %d KiB off", m>>10)
			}
		})
	}
}

// cores returns how many cores boxes may use.
func cores(t testing.TB, a *sandbox.Agent) int {
	t.Helper()
	s, err := a.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(s.Cores)
}
