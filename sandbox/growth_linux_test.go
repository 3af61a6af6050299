package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// manyRuns is how many runs TestManyRunsLeaveNothing makes: DEEPOJ_RUNS, or a
// thousand.
func manyRuns(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("DEEPOJ_RUNS")
	if !ok {
		if insideVM() {
			return 200 // where a run takes forty times as long
		}
		return 1000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 200 {
		t.Fatalf("DEEPOJ_RUNS is %q and not a number from 200 on", text)
	}
	return n
}

// holdings is what an agent has of the machine.
type holdings struct {
	descriptors, groups, mounts, threads, processes, zombies, files int
	memory                                                          int64 // anonymous and resident, in bytes
}

func (h holdings) String() string {
	return fmt.Sprintf("%d descriptors, %d groups, %d mounts, %d threads, %d processes, %d zombies, %d files, %d KiB",
		h.descriptors, h.groups, h.mounts, h.threads, h.processes, h.zombies, h.files, h.memory>>10)
}

// held looks at what the agent with process id pid has.
func held(t *testing.T, pid int) holdings {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d/", pid)
	entries := func(dir string) int {
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	h := holdings{
		descriptors: entries(proc + "fd"), threads: entries(proc + "task"), mounts: strings.Count(read(proc+"mounts"), "\n"),
	}
	for _, pattern := range []string{"/sys/fs/cgroup/*/deepoj/agent-%d-*/*/cgroup.procs", "/sys/fs/cgroup/deepoj/agent-%d-*/*/cgroup.procs"} {
		found, err := filepath.Glob(fmt.Sprintf(pattern, pid))
		if err != nil {
			t.Fatal(err)
		}
		h.groups += len(found)
	}
	for _, p := range processes(t) {
		own := p.uid >= driverUID && p.uid < driverUID+64
		switch {
		case p.state == "Z" && (own || p.parent == pid):
			h.zombies++
		case own:
			h.processes++
		}
	}
	for _, dir := range []string{"/", "/tmp", "/var/tmp", "/dev/shm", "/run", os.TempDir()} {
		found, _ := os.ReadDir(dir) // not all of them exist everywhere
		for _, f := range found {
			var st unix.Stat_t
			if unix.Lstat(filepath.Join(dir, f.Name()), &st) == nil && int(st.Uid) >= driverUID && int(st.Uid) < driverUID+64 {
				h.files++
			}
		}
	}
	for line := range strings.Lines(read(proc + "status")) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			h.memory = kib << 10
		}
	}
	return h
}

// within reports whether nothing grew beyond what chance allows: a descriptor may
// be about to be closed, and a thread to end.
func (h holdings) within(before holdings) bool {
	return h.descriptors <= before.descriptors+2 && h.groups <= before.groups && h.mounts <= before.mounts && h.threads <= before.threads+4 &&
		h.processes == 0 && h.zombies == 0 && h.files == 0
}

// most returns the most of everything.
func most(looks []holdings) holdings {
	var m holdings
	for _, h := range looks {
		m.descriptors, m.groups = max(m.descriptors, h.descriptors), max(m.groups, h.groups)
		m.mounts, m.threads, m.memory = max(m.mounts, h.mounts), max(m.threads, h.threads), max(m.memory, h.memory)
	}
	return m
}

// memoryGrowth is by how much an agent's memory may grow over all runs.
const memoryGrowth = 3 << 20

func TestManyRunsLeaveNothing(t *testing.T) {
	n := manyRuns(t)
	startOnEveryDriver(t, sandbox.Config{Slots: 1}, func(t *testing.T, p *oneshot.Process, a *sandbox.Client) {
		t.Run(fmt.Sprintf("%d runs with driver %s", n, status(t, a).Driver), func(t *testing.T) { manyRunsLeaveNothing(t, p, a, n) })
		if err := p.Close(); err != nil {
			t.Errorf("the agent ended with %v", err)
		}
		if left := traces(t, p.PID()); len(left) != 0 {
			t.Errorf("the agent left %q", left)
		}
	})
}

func manyRunsLeaveNothing(t *testing.T, p *oneshot.Process, a *sandbox.Client, n int) {
	const runsOfABox = 20
	program := hostile(t, "process")
	var took []time.Duration
	use := func(boxes int) {
		for range boxes {
			b, err := a.Box(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Put(t.Context(), program); err != nil {
				t.Fatal(err)
			}
			for range runsOfABox {
				begun := time.Now()
				r, err := b.Run(t.Context(), sandbox.Cmd{Program: "./process", Args: []string{"nothing"}, Limits: generous})
				took = append(took, time.Since(begun))
				if err != nil || r.Verdict != sandbox.OK {
					t.Fatal(r, err)
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	// rest waits until the stock of rooms is full again, and looks.
	rest := func() holdings {
		last := held(t, p.PID())
		eventually(t, "the agent is at rest", func() bool {
			h := held(t, p.PID())
			same := h.descriptors == last.descriptors && h.groups == last.groups && h.processes == 0
			last = h
			return same
		})
		return last
	}
	use(5)
	rest()
	took = nil
	const parts = 10
	var looks []holdings
	for range parts {
		use(n / runsOfABox / parts)
		looks = append(looks, rest())
	}
	before := most(looks[:parts/2])
	t.Logf("in the first half at most: %s", before)
	t.Logf("after all: %s", looks[parts-1])
	eventually(t, "there is no more than in the first half", func() bool { return held(t, p.PID()).within(before) })
	// The least of several looks: at any one, garbage may be about to be collected.
	memory := func(looks []holdings) int64 {
		return slices.MinFunc(looks, func(a, b holdings) int { return int(a.memory - b.memory) }).memory
	}
	if early, late := memory(looks[1:4]), memory(looks[parts-3:]); late > early+memoryGrowth {
		t.Errorf("the agent's memory grew from %d to %d KiB: %v", early>>10, late>>10, looks)
	}
	tenth := len(took) / parts
	begin, end := middle(took[:tenth]), middle(took[len(took)-tenth:])
	t.Logf("a run of the first tenth took %s, one of the last %s: %.2f times as long", begin, end, float64(end)/float64(begin))
}

// middle returns the median.
func middle(values []time.Duration) time.Duration {
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
}
