package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// BenchmarkEndToEnd hands b.N submissions to a Deep-OJ on its embedded default
// and waits for their verdicts. It reports
//
//   - jobs/s: verdicts per second while the queue is never empty,
//   - overhead-µs/job: CPU time of all of Deep-OJ's processes, PostgreSQL and
//     Redis included, less what the judged programs and compilers used,
//   - first-test-p50-ms and first-test-p99-ms: from the commit of the submit to
//     the start of its first test, one submission at a time.
//
// The sources are equal, so that all but the first reuse the compiled program.
func BenchmarkEndToEnd(b *testing.B) {
	needRoot(b)
	commit, _ := exec.Command("git", "describe", "--always", "--dirty").Output()
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Printf("commit %s, %d cores, %s, Linux %s, %s\n", strings.TrimSpace(string(commit)), runtime.NumCPU(), cpuModel(), strings.TrimSpace(string(kernel)), runtime.Version())
	for _, delivery := range []string{"streams", "postgres"} {
		for _, p := range []program{verdictPrograms[0], languagePrograms[3]} {
			b.Run(delivery+"/"+p.language, func(b *testing.B) { endToEnd(b, delivery, p) })
		}
	}
}

func endToEnd(b *testing.B, delivery string, p program) {
	proc, _, c := up(b, filepath.Join(folder(b), "data"), []string{"DELIVERY=" + delivery})
	ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute)
	defer cancel()
	submitAndWait(ctx, b, c, "aplusb", languagePrograms[7]) // Go: its cache is filled in the background until then
	submitAndWait(ctx, b, c, "aplusb", p)                   // compiles
	b.ResetTimer()
	before, began := cpuTime(b, proc), time.Now()
	ids := make(chan int64, b.N)
	var submitters sync.WaitGroup
	each := (b.N + 3) / 4
	for i := range 4 {
		submitters.Go(func() {
			for range min(each, b.N-min(b.N, i*each)) {
				r, err := c.Submit(ctx, client.NewSubmission{Problem: "aplusb", Language: p.language, Sources: []judge.Source{{Name: p.file, Text: p.text}}})
				if err != nil {
					b.Error(err)
					return
				}
				ids <- r.JobID
			}
		})
	}
	submitters.Wait()
	close(ids)
	var judged time.Duration
	for id := range ids {
		s, err := c.Wait(ctx, id)
		if err != nil {
			b.Fatal(err)
		}
		if s.Result == nil || s.Result.Verdict != p.want {
			b.Fatalf("submission %d: %s", id, describe(s))
		}
		for _, t := range s.Result.Tests {
			judged += time.Duration(t.Usage.CPUMillis) * time.Millisecond
		}
	}
	wall, spent := time.Since(began), cpuTime(b, proc)-before
	b.StopTimer()
	b.ReportMetric(float64(b.N)/wall.Seconds(), "jobs/s")
	b.ReportMetric(float64((spent-judged).Microseconds())/float64(b.N), "overhead-µs/job")

	var waits []float64
	for range min(b.N, 100) {
		s := submitAndWait(ctx, b, c, "aplusb", p)
		waits = append(waits, firstTest(ctx, b, c, s.JobID))
	}
	slices.Sort(waits)
	b.ReportMetric(waits[len(waits)/2], "first-test-p50-ms")
	b.ReportMetric(waits[len(waits)*99/100], "first-test-p99-ms")
}

// firstTest returns the milliseconds from a submission's commit to the moment
// its program was there to be run.
func firstTest(ctx context.Context, b *testing.B, c *client.Client, id int64) float64 {
	b.Helper()
	var submitted, compiled time.Time
	if err := c.Events(ctx, id, 0, func(e judge.Event) error {
		if e.Kind == judge.EventSubmitted {
			submitted = e.At
		}
		if e.Kind == judge.EventCompiled {
			compiled = e.At
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	if submitted.IsZero() || compiled.IsZero() {
		b.Fatalf("submission %d lacks its events", id)
	}
	return float64(compiled.Sub(submitted).Microseconds()) / 1000
}

// cpuTime returns the CPU time of all processes of a deepoj, with what its ended
// children have used.
func cpuTime(b *testing.B, p *process) time.Duration {
	b.Helper()
	sum := time.Duration(0)
	for _, spent := range cpuTimes(b, p) {
		sum += spent
	}
	return sum
}

// cpuTimes is cpuTime by part: the sandbox with what it runs, plugins, PostgreSQL, Redis, and all others.
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

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown CPU"
}
