package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// memoryGroup is a control group for memory, and how its files are called.
type memoryGroup struct{ dir, limit, deaths string }

// newMemoryGroup makes one that is removed at the end, when nothing is in it.
func newMemoryGroup(t *testing.T) memoryGroup {
	t.Helper()
	name := fmt.Sprintf("deepoj-e2e-%d", os.Getpid())
	g := memoryGroup{filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes", "memory.oom_control"}
	if _, err := os.Stat("/sys/fs/cgroup/memory/cgroup.procs"); err != nil { // version 2
		g = memoryGroup{filepath.Join("/sys/fs/cgroup", name), "memory.max", "memory.events"}
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := os.Remove(g.dir)
		for limit := time.Now().Add(time.Minute); errors.Is(err, syscall.EBUSY) && time.Now().Before(limit); err = os.Remove(g.dir) {
			pause(context.Background(), t, 20*time.Millisecond) // the worker's children end after it
		}
		if err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g memoryGroup) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// killed is how many processes the kernel ended because of the limit.
func (g memoryGroup) killed(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, g.deaths))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^oom_kill (\d+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s: %s", g.deaths, text)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAWorkerThatRunsOutOfMemoryLosesNothing has the kernel end a worker, as it does
// when its service's memory is used up, while it and another one judge.
func TestAWorkerThatRunsOutOfMemoryLosesNothing(t *testing.T) {
	c := newCluster(t)
	group := newMemoryGroup(t)
	victim := c.worker(0)
	c.worker(1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	good := mixed()[0]
	var ids []int64
	hand := func() {
		t.Helper()
		r, err := c.client.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: good.language, Sources: []judge.Source{{Name: good.file, Text: good.text}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.JobID)
	}
	group.write(t, group.limit, "65536") // while nothing is in it: later it may have more, and the kernel refuses
	for range 8 {
		hand()
	}
	c.eventually(ctx, "both workers judge", func() bool {
		stats, err := c.store.QueueStats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Running < 2 && stats.Pending+stats.Delivered == 0 {
			hand()
		}
		return stats.Running == 2
	})
	// What it has stays where it was counted; what it needs from now on is too much.
	group.write(t, "cgroup.procs", strconv.Itoa(victim.inner()))
	for over := false; !over; {
		select {
		case <-victim.done:
			over = true
		case <-ctx.Done():
			t.Fatal("the worker never ran out of memory")
		case <-time.After(200 * time.Millisecond):
			hand() // it may have been at rest
		}
	}
	if n := group.killed(t); n == 0 {
		t.Error("the worker ended, and not for lack of memory")
	}
	for _, id := range ids {
		s, err := c.client.Wait(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != judge.AC {
			t.Errorf("submission %d: %s", id, describe(s))
		}
	}
	c.checkAudit(ctx)
}
