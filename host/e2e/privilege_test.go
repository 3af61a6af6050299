package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// descendants returns the pids of pid and of all processes below it.
func descendants(pid int) []int {
	all := []int{pid}
	for _, c := range children(pid) {
		all = append(all, descendants(c)...)
	}
	return all
}

// status returns a line of /proc/PID/status, such as "Uid:".
func status(pid int, key string) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func cmdline(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(bytes.ReplaceAll(data, []byte{0}, []byte(" "))))
}

// TestOnlyTheLauncherAndTheAgentKeepRoot looks at every process of a Deep-OJ
// that root started on a data folder below a folder that only root may enter.
func TestOnlyTheLauncherAndTheAgentKeepRoot(t *testing.T) {
	needRoot(t)
	private := folder(t)
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(private, "deep", "data")
	p, _, c := up(t, data, nil)
	if s := submitAndWait(t.Context(), t, c, "aplusb", verdictPrograms[0]); s.Result == nil || s.Result.Verdict != "AC" {
		t.Fatalf("a right answer got %s", describe(s))
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the parent of the data folder was changed: %v %v", info.Mode(), err)
	}
	launcher := p.cmd.Process.Pid
	agents := map[int]bool{}
	for _, child := range children(launcher) {
		if strings.Contains(cmdline(child), "sandbox agent") {
			for _, pid := range descendants(child) {
				agents[pid] = true
			}
		}
	}
	if len(agents) == 0 {
		t.Fatal("no sandbox agent runs")
	}
	seen := map[string]bool{}
	for _, pid := range descendants(launcher) {
		line := cmdline(pid)
		for _, name := range []string{"postgres", "redis-server", "plugin-worker", " up "} {
			seen[name] = seen[name] || strings.Contains(line, name)
		}
		if pid == launcher || agents[pid] {
			continue
		}
		if uids := strings.Fields(status(pid, "Uid:")); slices.Contains(uids, "0") {
			t.Errorf("process %d (%s) has user ids %v", pid, line, uids)
		}
		if caps := status(pid, "CapEff:"); strings.Trim(caps, "0") != "" {
			t.Errorf("process %d (%s) has capabilities %s", pid, line, caps)
		}
	}
	for _, name := range []string{"postgres", "redis-server", "plugin-worker", " up "} {
		if !seen[name] {
			t.Errorf("no process %q was seen", name)
		}
	}
}

// TestNothingSurvivesAKillOfTheLauncher kills `deepoj up` with SIGKILL and
// expects all of its processes to end by themselves.
func TestNothingSurvivesAKillOfTheLauncher(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	p, _, c := up(t, data, nil)
	before := submitAndWait(t.Context(), t, c, "aplusb", verdictPrograms[0])
	all := descendants(p.cmd.Process.Pid)
	if len(all) < 4 {
		t.Fatalf("only %d processes run", len(all))
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
	deadline := time.Now().Add(time.Minute)
	for _, pid := range all {
		for syscall.Kill(pid, 0) == nil && status(pid, "State:") != "" && !strings.HasPrefix(status(pid, "State:"), "Z") {
			if time.Now().After(deadline) {
				t.Fatalf("process %d (%s) lives on", pid, cmdline(pid))
			}
			pause(t.Context(), t, 50*time.Millisecond)
		}
	}
	// And it starts again with what was stored.
	_, _, c = up(t, data, nil)
	after, err := c.Get(t.Context(), before.JobID)
	if err != nil {
		t.Fatal(err)
	}
	if after.Result == nil || after.Result.Verdict != before.Result.Verdict {
		t.Errorf("submission %s is %s after the restart", strconv.FormatInt(before.JobID, 10), describe(after))
	}
}
