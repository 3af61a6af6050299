package sandbox_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// These are the only tests that assert milliseconds: of CPU time, never of the
// clock, and of the median of several runs. They run on every driver that
// promises to measure.

// precision is how exactly CPU time must be measured and bounded.
const precision = 5 * time.Millisecond

// onEveryMeter calls f with an agent of each driver that measures exactly.
func onEveryMeter(t *testing.T, f func(*testing.T, *sandbox.Client)) {
	t.Helper()
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		if !bounded(t, a) {
			s := status(t, a)
			if len(s.Degraded) == 0 {
				t.Error("it promises to measure")
			}
			t.Logf("no promise: %q", s.Degraded)
			return
		}
		f(t, a)
	})
}

// medianWithin checks that the median of n measurements is between low and high.
// A machine that is busy with something else for a while may spoil a series and
// not three of them; what is wrong by design spoils all.
func medianWithin[T int64 | time.Duration](t *testing.T, n int, low, high T, measure func() T) {
	t.Helper()
	var medians []T
	for range 3 {
		values := make([]T, n)
		for i := range values {
			values[i] = measure()
		}
		slices.Sort(values)
		m := values[n/2]
		if medians = append(medians, m); m >= low && m <= high {
			t.Logf("medians of %d: %v", n, medians)
			return
		}
	}
	t.Errorf("the medians of three series of %d are %v, none between %v and %v", n, medians, low, high)
}

func TestCPUTimeIsWhatTheProgramUsed(t *testing.T) { onEveryMeter(t, cpuTimeIsWhatTheProgramUsed) }

func cpuTimeIsWhatTheProgramUsed(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	both := min(2, len(status(t, a).Cores))
	for way, who := range map[string]string{"usage": "one thread", "threads-usage": "four threads"} {
		for used, rounds := range map[time.Duration]int{50 * ms: 9, 300 * ms: 9, time.Second: 3} {
			t.Run(used.String()+" in "+who, func(t *testing.T) {
				medianWithin(t, rounds, 0, precision, func() time.Duration {
					o := run(t, b.box, sandbox.Cmd{
						Program: "./process", Args: []string{way, fmt.Sprint(used.Milliseconds())},
						Limits: sandbox.Limits{CPU: time.Minute, Wall: 4 * time.Minute, Cores: both},
					})
					us, err := strconv.ParseInt(strings.TrimSpace(o.stdout), 10, 64)
					if own := time.Duration(us) * time.Microsecond; err != nil || o.Verdict != sandbox.OK || own < used {
						t.Fatalf("ended %v", o)
					}
					return (o.CPU - time.Duration(us)*time.Microsecond).Abs()
				})
			})
		}
	}
}

func TestCPUTimeIsBoundedExactly(t *testing.T) { onEveryMeter(t, cpuTimeIsBoundedExactly) }

func cpuTimeIsBoundedExactly(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	both := min(2, len(status(t, a).Cores))
	tests := map[string]struct {
		args  []string
		cores int
	}{
		"one thread":                 {[]string{"spin"}, 1},
		"four threads, one core":     {[]string{"threads-spin", "4"}, 1},
		"four threads, two cores":    {[]string{"threads-spin", "4"}, both},
		"a child":                    {[]string{"child-spin"}, 1},
		"one short child by another": {[]string{"children-spin"}, 1},
		"an orphan":                  {[]string{"orphan-spin"}, 1},
	}
	const limit = 100 * ms
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			medianWithin(t, 9, 0, precision, func() time.Duration {
				o := run(t, b.box, sandbox.Cmd{
					Program: "./process", Args: tt.args, Limits: sandbox.Limits{CPU: limit, Wall: 4 * time.Minute, Cores: tt.cores},
				})
				if o.Verdict != sandbox.TLE || o.OverWall {
					t.Fatalf("ended %v", o)
				}
				return o.CPU - limit
			})
		})
	}
}

func TestMemoryIsWhatTheProgramTouched(t *testing.T) { onEveryMeter(t, memoryIsWhatTheProgramTouched) }

func memoryIsWhatTheProgramTouched(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "memory", sandbox.BoxOptions{})
	for _, size := range []int64{16, 64, 256} {
		t.Run(fmt.Sprint(size, " MiB"), func(t *testing.T) {
			medianWithin(t, 9, 0, max(mib, size*mib/100), func() int64 {
				o := run(t, b.box, sandbox.Cmd{
					Program: "./memory", Args: []string{"heap", fmt.Sprint(size)},
					Limits: sandbox.Limits{CPU: time.Minute, Wall: 4 * time.Minute, MemoryBytes: 512 * mib},
				})
				if o.Verdict != sandbox.OK {
					t.Fatalf("ended %v", o)
				}
				return max(o.MemoryBytes-size*mib, size*mib-o.MemoryBytes)
			})
		})
	}
}

// smallMost is what a program without data of its own has at most: what it touches, one batch of charges that was not
// used up, one that makes up for what an earlier one paid, and its pages of libraries, which a kernel that counts
// nothing else rounds up for each processor.
const smallMost = 2 * mib

// sizeBeyond is how much more than what was touched a figure may be, which is the pages of libraries where these are
// resident and not charged.
const sizeBeyond = 3 * mib

// sizeShort returns how much less than what was touched a figure may be: a batch of charges of each processor, as each
// keeps one of its own that an earlier run may have paid for.
func sizeShort() int64 { return int64(runtime.NumCPU()) * (256 << 10) }

func TestNoProgramThatRanUsedNoMemory(t *testing.T) { onEveryDriver(t, noProgramThatRanUsedNoMemory) }

func noProgramThatRanUsedNoMemory(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "memory", sandbox.BoxOptions{})
	memoryOf := func(t *testing.T, way string, size int64) int64 {
		t.Helper()
		o := run(t, b.box, sandbox.Cmd{Program: "./memory", Args: []string{way, fmt.Sprint(size)}, Limits: generous})
		if o.Verdict != sandbox.OK {
			t.Fatalf("ended %v", o)
		}
		return o.MemoryBytes
	}
	small := func(t *testing.T) {
		t.Helper()
		// Several, as what one batch of charges leaves pays for the next.
		for range 16 {
			if n := memoryOf(t, "none", 0); n <= 0 || n > smallMost {
				t.Errorf("it used %d bytes, want some and at most %d", n, smallMost)
			}
		}
	}
	t.Run("not even the smallest", small)
	for _, size := range []int64{10, 64} {
		t.Run(fmt.Sprintf("and one that touches %d MiB has about that", size), func(t *testing.T) {
			for range 8 {
				if n := memoryOf(t, "heap", size); n < size*mib-sizeShort() || n > size*mib+sizeBeyond {
					t.Errorf("it used %d bytes, want %d, at most %d less or %d more", n, size*mib, sizeShort(), sizeBeyond)
				}
			}
		})
	}
	t.Run("nor does a small one inherit what a large one had", small)
}

func TestNoProgramIsStoppedForMemoryThatOnlyTheFigureHas(t *testing.T) {
	onEveryDriver(t, noProgramIsStoppedForMemoryThatOnlyTheFigureHas)
}

// The agent, whose memory a child borrows, has more than the limit; and a program meets the same pages more often than
// the limit has pages.
func noProgramIsStoppedForMemoryThatOnlyTheFigureHas(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "memory", sandbox.BoxOptions{})
	limits := generous
	limits.MemoryBytes = 4 * mib
	for range 8 {
		o := run(t, b.box, sandbox.Cmd{Program: "./memory", Args: []string{"again", "1"}, Limits: limits})
		if o.Verdict != sandbox.OK || o.MemoryBytes < mib {
			t.Errorf("ended %v", o)
		}
		if bounded(t, a) && o.MemoryBytes > 2*mib {
			t.Errorf("a program that has one MiB at once used %d bytes", o.MemoryBytes)
		}
	}
}
