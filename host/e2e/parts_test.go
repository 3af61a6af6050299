package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cpuTimes returns the CPU time of all processes of a deepoj, with what its ended children have used, by part: the
// sandbox with what it runs, plugins, PostgreSQL, Redis, and all others.
func cpuTimes(b *testing.B, p *process) map[string]time.Duration {
	b.Helper()
	parts := map[string]time.Duration{}
	for _, pid := range descendants(p.cmd.Process.Pid) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		args, argsErr := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || argsErr != nil {
			continue // has ended; its parent has its time
		}
		part := partOf(strings.Split(string(args), "\x00"))
		for _, f := range strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+2:]))[11:15] { // utime stime cutime cstime
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			parts[part] += time.Duration(n) * (time.Second / 100) // USER_HZ is 100 on every Linux of Go
		}
	}
	return parts
}

// partOf says to which part a process belongs, by its arguments.
func partOf(args []string) string {
	switch name := filepath.Base(args[0]); {
	case name == "postgres" || strings.HasPrefix(args[0], "postgres:"):
		return "postgres"
	case name == "redis-server":
		return "redis"
	case name == "reaper" || len(args) > 2 && args[1] == "sandbox" && args[2] == "agent":
		return "sandbox"
	case len(args) > 1 && args[1] == "plugin-worker":
		return "plugins"
	}
	return "others"
}
