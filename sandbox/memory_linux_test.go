package sandbox_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
)

// unbounded is what the driver "none" lets a program do with memory: it only adds
// up what is resident in processes, now and then.
var unbounded = map[string]string{
	"memfd": "what is in a memory file is in no process",
	"tmp":   "what is in /tmp is in no process",
	"shm":   "what is in /dev/shm is in no process",
}

func TestMemoryIsBoundedHoweverItIsTaken(t *testing.T) {
	onEveryDriver(t, memoryIsBoundedHoweverItIsTaken)
}

func memoryIsBoundedHoweverItIsTaken(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "memory", sandbox.BoxOptions{})
	// In MiB. A program of ours and its page tables are smaller than the margin;
	// what is at the limit exactly may still fit when caches are given up.
	limit, margin := 128, 4
	if insideVM() {
		limit = 32 // where memory is forty times as slow
	}
	limits := generous
	limits.MemoryBytes, limits.FileBytes = int64(limit)*mib, 1<<30
	exact := bounded(t, a)
	for _, way := range []string{"heap", "stack", "static", "mmap", "shared", "memfd", "tmp", "shm", "thread", "child", "children"} {
		above, below := []int{limit + margin, 4 * limit}, limit-margin
		if !exact {
			// A program that is over the limit for less than a sample is not
			// seen, so only what takes its time is tried; and what processes
			// share counts for each of them.
			above, below = []int{16 * limit}, limit/2
		}
		if why, ok := unbounded[way]; ok && !exact {
			t.Run(way+" above the limit is not noticed without control groups: "+why, func(t *testing.T) {
				if o := b.run(t, limits, way, fmt.Sprint(2*limit)); o.Verdict != sandbox.OK {
					t.Errorf("ended %v", o)
				}
			})
			continue
		}
		for _, size := range above {
			t.Run(fmt.Sprintf("%s of %d MiB with a limit of %d MiB is MLE", way, size, limit), func(t *testing.T) {
				o := b.run(t, limits, way, fmt.Sprint(size))
				if o.Verdict != sandbox.MLE || exact && !o.OOM {
					t.Errorf("ended %v", o)
				}
				// The kernel charges in portions of 64 pages per processor, and what it gives a process that it is
				// killing may be above the limit.
				if portions := int64(runtime.NumCPU()) * 64 * int64(os.Getpagesize()); exact && o.MemoryBytes > limits.MemoryBytes+portions {
					t.Errorf("used %d KiB, more than the limit", o.MemoryBytes>>10)
				}
			})
		}
		t.Run(fmt.Sprintf("%s of %d MiB with a limit of %d MiB is OK", way, below, limit), func(t *testing.T) {
			o := b.run(t, limits, way, fmt.Sprint(below))
			if o.Verdict != sandbox.OK || o.OOM {
				t.Errorf("ended %v", o)
			}
			if exact && (o.MemoryBytes < int64(below-1)*mib || o.MemoryBytes > limits.MemoryBytes) {
				t.Errorf("used %d KiB, want about %d MiB", o.MemoryBytes>>10, below)
			}
		})
	}
	t.Run("addresses that are only reserved are free, and so is an array that is not used", func(t *testing.T) {
		// The program declares an array of 1 GiB.
		if o := b.run(t, limits, "reserve", "65536"); o.Verdict != sandbox.OK || o.MemoryBytes > 4*mib {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("what a run left is not charged to the next one", func(t *testing.T) {
		for _, way := range []string{"tmp", "heap", "shm", "heap"} {
			if o := b.run(t, limits, way, fmt.Sprint(limit-margin)); o.Verdict != sandbox.OK {
				t.Errorf("%s ended %v", way, o)
			}
		}
	})
}

func TestAHoleOfAFileIsNotChargedToAProgram(t *testing.T) {
	needRoot(t)
	const script = `truncate -s 128M f; for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29; do
		printf x | dd of=f bs=1 seek=$((i*4194304)) conv=notrunc status=none; done`
	line, stderr, status := judged(t, "--job-id", "1", "--attempt-id", "1", "--writable", "--time-ms", "20000", "--file-kb", "262144", "--", "sh", "-c", script)
	p, err := wire.ParseReport([]byte(line), 1, 1)
	if err != nil || p.Verdict != sandbox.OK {
		t.Fatalf("it said %q %q with status %d: %v", line, stderr, status, err)
	}
	if p.MemoryKiB > 16<<10 {
		t.Errorf("thirty pages of a file of 128 MiB cost %d KiB", p.MemoryKiB)
	}
	box := open(t, shared.get(t), sandbox.BoxOptions{Writable: true})
	o := run(t, box, sandbox.Cmd{Program: "/bin/sh", Args: []string{"-c", script}, Limits: sandbox.Limits{CPU: 20 * time.Second, MemoryBytes: 512 * mib, FileBytes: 256 * mib, Processes: 64}})
	if o.Verdict != sandbox.OK || o.MemoryBytes > 16*mib {
		t.Errorf("in a box of an agent, it ended %v", o)
	}
}
