package judging_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/platform"
	"deepoj/host/plugin"
	"deepoj/plugins"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

const (
	benchProcesses = 2  // that check, on both sides: workers of the runtime, boxes of the agent
	benchClients   = 32 // that ask, on both sides
)

// BenchmarkChecker compares checkers as plugins with the same checkers as native
// processes in the sandbox. The two take turns, so that both see the same
// machine, and the median of the rounds' ratios counts; above 1 the plugin is
// faster. `make bench-checker` runs it.
//
// A plugin is given descriptors, which a run leaves behind. A native checker
// has its files put into its box, as an output that changes has to be; the rows
// "in place" spare it that, which no judge could.
func BenchmarkChecker(b *testing.B) {
	m := judgingtest.Get(b)
	runtime, err := plugin.New(plugin.Config{CacheDir: b.TempDir(), Exe: m.Exe, Workers: benchProcesses})
	if err != nil {
		b.Fatal(err)
	}
	defer runtime.Close()
	standard, testlib := standardChecker(b, runtime), testlibChecker(b, runtime)
	const small, large = 100, 2_200_000 // numbers of nine bytes
	boxes := make(chan *sandbox.Box, benchProcesses)
	for range benchProcesses {
		box, err := m.Agent.OpenBox(b.Context(), sandbox.BoxOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer box.Close()
		boxes <- box
	}
	rows := []*comparison{
		{name: "standard, 1 KB", checker: standard, numbers: small, least: 30, checks: [2]int{4000, 200}},
		{name: "standard, 1 KB, in place", checker: standard, numbers: small, inPlace: true, checks: [2]int{4000, 200}},
		{name: "testlib, 1 KB", checker: testlib, numbers: small, least: 8, checks: [2]int{2000, 200}},
		{name: "testlib, 1 KB, in place", checker: testlib, numbers: small, inPlace: true, checks: [2]int{2000, 200}},
		{name: "standard, 20 MB", checker: standard, numbers: large, inPlace: true, least: 0.35, checks: [2]int{4, 4}},
		{name: "testlib, 20 MB", checker: testlib, numbers: large, inPlace: true, checks: [2]int{2, 2}},
		{name: "standard, 1 KB equal", checker: standard, numbers: small, inPlace: true, equal: true, least: 1, checks: [2]int{4000, 200}},
		{name: "standard, 20 MB equal", checker: standard, numbers: large, inPlace: true, equal: true, least: 1, checks: [2]int{8, 8}},
	}
	for _, r := range rows {
		r.open(b, boxes, runtime)
	}
	for b.Loop() {
		for _, r := range rows {
			r.round(b)
		}
	}
	describe(b)
	fmt.Printf("%d processes, %d clients on both sides; medians of %d rounds, ms, MiB, µs of processor time per check\n", benchProcesses, benchClients, b.N)
	side := "%10s %8s %8s %6s %8s"
	fmt.Printf("%-24s "+side+" "+side+" %8s %9s %8s\n", "", "plugin/s", "p50", "p99", "memory", "CPU", "native/s", "p50", "p99", "memory", "CPU", "ratio", "at least", "of CPU")
	for _, r := range rows {
		r.print(b)
	}
	b.ReportMetric(0, "ns/op")
}

// describe says what was measured on.
func describe(b *testing.B) {
	b.Helper()
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s, %d cores, load %s", runtime.Version(), runtime.NumCPU(), load)
}

// bothWays is a checker as a plugin and as a program.
type bothWays struct {
	module *plugin.Module
	native []byte
}

func standardChecker(b *testing.B, r *plugin.Runtime) bothWays {
	b.Helper()
	wasm, err := plugins.Checker("tokens")
	if err != nil {
		b.Fatal(err)
	}
	folder := filepath.Join("..", "..", "checkers")
	return bothWays{load(b, r, wasm), nativeChecker(b, "gcc", "-O2", "-std=gnu17", "-I"+folder+"/include",
		`-DMANIFEST="`+folder+`/tokens/manifest.json"`, folder+"/tokens/tokens.c")}
}

func testlibChecker(b *testing.B, r *plugin.Runtime) bothWays {
	b.Helper()
	const compare = `#include "testlib.h"
int main(int argc, char **argv)
{
	registerTestlibCmd(argc, argv);
	long long n = inf.readLong();
	for (long long i = 0; i < n; i++)
		if (ans.readToken() != ouf.readToken())
			quitf(_wa, "token %lld differs", i + 1);
	quitf(_ok, "%lld tokens", n);
}
`
	folder := filepath.Join("..", "..", "plugins", "sdk", "cpp", "testdata")
	header, err := os.ReadFile(filepath.Join(folder, "testlib.h"))
	if err != nil {
		b.Fatal(err)
	}
	own := filepath.Join(b.TempDir(), "compare.cpp")
	if err := os.WriteFile(own, []byte(compare), 0o600); err != nil {
		b.Fatal(err)
	}
	wasm, c, err := judgingtest.Get(b).Judge.CompilePlugin(b.Context(), []sandbox.File{source("compare.cpp", compare), source("testlib.h", string(header))})
	if err != nil || wasm == nil {
		b.Fatalf("compile a testlib checker: %+v, %v", c, err)
	}
	return bothWays{load(b, r, wasm), nativeChecker(b, "g++", "-O2", "-std=c++17", "-static", "-I"+folder, own)}
}

func load(b *testing.B, r *plugin.Runtime, wasm []byte) *plugin.Module {
	b.Helper()
	m, err := r.Load(b.Context(), wasm, &abi.Manifest{
		Judge: abi.Version, Kind: abi.Checker, Name: "bench", Version: "1", Protocol: abi.Testlib1, Limits: abi.Limits{FuelM: 100_000},
	})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func nativeChecker(b *testing.B, compiler string, args ...string) []byte {
	b.Helper()
	program := filepath.Join(b.TempDir(), "checker")
	if said, err := exec.Command(compiler, append(args, "-o", program)...).CombinedOutput(); err != nil {
		b.Fatalf("compile natively: %v\n%s", err, said)
	}
	native, err := os.ReadFile(program)
	if err != nil {
		b.Fatal(err)
	}
	return native
}

// comparison is a row of the table.
type comparison struct {
	name    string
	checker bothWays
	numbers int     // in the output and in the answer
	equal   bool    // whether they are the same bytes
	inPlace bool    // whether the native side finds its files in the box
	least   float64 // of the ratio; 0 = not bounded
	checks  [2]int  // in a round: the plugin's, the native side's

	runtime *plugin.Runtime
	check   plugin.Check
	files   []sandbox.File
	boxes   chan *sandbox.Box
	memory  [2]atomic.Int64 // bytes at most
	rates   [2][]float64    // checks per second, by round
	cpu     [2]float64      // seconds of processor time
	took    [2][]time.Duration
}

func (c *comparison) open(b *testing.B, boxes chan *sandbox.Box, r *plugin.Runtime) {
	b.Helper()
	c.boxes, c.runtime = boxes, r
	between := byte('\n')
	if c.equal {
		between = ' '
	}
	input, output, answer := fmt.Sprintln(c.numbers), numbersText(c.numbers, ' '), numbersText(c.numbers, between)
	c.check = plugin.Check{Input: memfd(b, input), Output: memfd(b, output), Answer: memfd(b, answer)}
	c.files = []sandbox.File{source("input", input), source("output", output), source("answer", answer)}
}

// plugin is one check by the plugin.
func (c *comparison) plugin() error {
	if settled, err := c.checker.module.Settled(c.check); err != nil || settled {
		return err
	}
	o, err := c.runtime.Check(context.Background(), c.checker.module, c.check)
	if err == nil && o.Outcome != plugin.Accepted {
		err = fmt.Errorf("the plugin says %+v", o)
	}
	most(&c.memory[0], o.MemoryBytes)
	return err
}

// process is one check by the program.
func (c *comparison) process() (err error) {
	box := <-c.boxes
	defer func() { c.boxes <- box }()
	if !c.inPlace {
		if err := box.Put(context.Background(), c.files...); err != nil {
			return err
		}
	}
	r, err := box.Run(context.Background(), sandbox.Cmd{
		Program: "./checker", Args: []string{"input", "output", "answer"}, Limits: sandbox.Limits{CPU: time.Minute, MemoryBytes: 1 << 30},
	})
	if err == nil && r.Verdict != sandbox.OK {
		err = fmt.Errorf("the process ended with %+v", r)
	}
	most(&c.memory[1], r.MemoryBytes)
	return err
}

func most(high *atomic.Int64, now int64) {
	for before := high.Load(); now > before && !high.CompareAndSwap(before, now); before = high.Load() {
	}
}

// round lets each side do its checks.
func (c *comparison) round(b *testing.B) {
	for range benchProcesses {
		box := <-c.boxes
		err := box.Put(b.Context(), append(c.files, sandbox.File{Path: "checker", Mode: 0o755, Data: c.checker.native})...)
		if c.boxes <- box; err != nil {
			b.Fatal(err)
		}
	}
	for side, check := range []func() error{c.plugin, c.process} {
		n := c.checks[side]
		took, errs := make([]time.Duration, n), make([]error, n)
		var next atomic.Int64
		var all sync.WaitGroup
		begun, used := time.Now(), processorTime(b)
		for range min(benchClients, n) {
			all.Go(func() {
				for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
					from := time.Now()
					errs[i] = check()
					took[i] = time.Since(from)
				}
			})
		}
		all.Wait()
		c.rates[side] = append(c.rates[side], float64(n)/time.Since(begun).Seconds())
		c.took[side] = append(c.took[side], took...)
		c.cpu[side] += processorTime(b) - used
		for _, err := range errs {
			if err != nil {
				b.Fatalf("%s: %v", c.name, err)
			}
		}
	}
}

// print prints the row and reports the ratio.
func (c *comparison) print(b *testing.B) {
	ratios := make([]float64, len(c.rates[0]))
	for i := range ratios {
		ratios[i] = c.rates[0][i] / c.rates[1][i]
	}
	ratio, bound := median(ratios), ""
	if c.least > 0 {
		bound = fmt.Sprintf("%8.2f×", c.least)
	}
	fmt.Printf("%-24s", c.name)
	var cpu [2]float64
	for side := range c.rates {
		ms := make([]float64, len(c.took[side]))
		for i, d := range c.took[side] {
			ms[i] = d.Seconds() * 1e3
		}
		cpu[side] = c.cpu[side] / float64(len(ms)) * 1e6
		fmt.Printf(" %10.1f %8.3f %8.3f %6.1f %8.1f", median(c.rates[side]), median(ms), ms[len(ms)*99/100], float64(c.memory[side].Load())/(1<<20), cpu[side])
	}
	fmt.Printf(" %7.2f× %9s %7.2f×\n", ratio, bound, cpu[1]/cpu[0])
	b.ReportMetric(ratio, strings.NewReplacer(" ", "_", ",", "").Replace(c.name)+"_x")
}

// processorTime returns the seconds that this process and its descendants used.
func processorTime(b *testing.B) float64 {
	b.Helper()
	const ticks = 100 // per second, on every Linux
	self := os.Getpid()
	parents, used := map[int]int{}, map[int]float64{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		var pid, parent, skip int
		var user, system, waitedUser, waitedSystem float64
		_, err = fmt.Sscan(rest, &state, &parent, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &user, &system, &waitedUser, &waitedSystem)
		if _, bad := fmt.Sscan(string(stat), &pid); err != nil || bad != nil {
			b.Fatalf("%s: %v, %v", path, err, bad)
		}
		parents[pid], used[pid] = parent, (user+system+waitedUser+waitedSystem)/ticks
	}
	total := 0.0
	for pid, seconds := range used {
		for at := pid; at > 1; at = parents[at] {
			if at == self {
				total += seconds
				break
			}
		}
	}
	return total
}

// median sorts xs and returns the one in the middle.
func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// numbersText is n different numbers, each followed by sep.
func numbersText(n int, sep byte) string {
	var t bytes.Buffer
	for i := range n {
		fmt.Fprintf(&t, "%d%c", 10_000_000+i, sep)
	}
	return t.String()
}

// memfd returns a file in memory.
func memfd(b *testing.B, text string) *os.File {
	b.Helper()
	f, err := platform.MemoryFile("bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		b.Fatal(err)
	}
	return f
}
