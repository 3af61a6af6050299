package judging_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin"
	"deepoj/plugins"
	"deepoj/plugins/abi"
	"deepoj/sandbox"
)

// BenchmarkChecker compares checkers as plugins with the same checkers as native
// processes in the sandbox, two at a time on both sides, in turns within one
// run. A ratio above 1 means that the plugin is faster.
func BenchmarkChecker(b *testing.B) {
	m := shared.get(b)
	root := filepath.Join("..", "..")
	tokens, err := plugins.Checker("tokens")
	if err != nil {
		b.Fatal(err)
	}
	const compare = `#include "testlib.h"
int main(int argc, char **argv)
{
	registerChecker(argc, argv);
	long long n = inf.number();
	for (long long i = 0; i < n; i++)
		if (ans.token() != ouf.token())
			finishf(WRONG, "token %lld differs", i + 1);
	finishf(RIGHT, "%lld tokens", n);
}
`
	header, own := testlibFile(b, "testlib.h"), filepath.Join(b.TempDir(), "compare.cpp")
	if err := os.WriteFile(own, []byte(compare), 0o600); err != nil {
		b.Fatal(err)
	}
	testlib, c, err := m.judge.CompilePlugin(b.Context(), []sandbox.File{source("compare.cpp", compare), header})
	if err != nil || testlib == nil {
		b.Fatalf("compile a testlib checker: %+v, %v", c, err)
	}
	checkers := []struct {
		name   string
		wasm   []byte
		native []string
	}{
		{"standard", tokens, []string{
			"gcc", "-O2", "-std=gnu17", "-I" + root + "/checkers/include", `-DMANIFEST="` + root + `/checkers/tokens/manifest.json"`, root + "/checkers/tokens/tokens.c",
		}},
		{"testlib", testlib, []string{"g++", "-O2", "-std=c++17", "-static", "-I" + root + "/plugins/sdk/cpp/testdata", own}},
	}
	cases := []struct {
		name, input, output, answer string
		checks                      int // of the native side in one turn; the plugin does them as well
	}{
		{"1 KB unequal", "100\n", numbersText(100, ' '), numbersText(100, '\n'), 40},
		{"1 KB equal", "100\n", numbersText(100, ' '), numbersText(100, ' '), 40},
		{"20 MB unequal", fmt.Sprintln(2_200_000), numbersText(2_200_000, ' '), numbersText(2_200_000, '\n'), 1},
		{"20 MB equal", fmt.Sprintln(2_200_000), numbersText(2_200_000, ' '), numbersText(2_200_000, ' '), 1},
	}
	for _, k := range checkers {
		module, err := m.runtime.Load(b.Context(), k.wasm, &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "bench." + k.name, Version: "1", Protocol: abi.Testlib1})
		if err != nil {
			b.Fatal(err)
		}
		program := filepath.Join(b.TempDir(), "checker")
		if said, err := exec.Command(k.native[0], append(k.native[1:], "-o", program)...).CombinedOutput(); err != nil {
			b.Fatalf("compile natively: %v\n%s", err, said)
		}
		native, err := os.ReadFile(program)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range cases {
			b.Run(k.name+"/"+c.name, func(b *testing.B) {
				compareCheckers(b, module, native, c.input, c.output, c.answer, c.checks)
			})
		}
	}
}

func testlibFile(b *testing.B, name string) sandbox.File {
	b.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "plugins", "sdk", "cpp", "testdata", name))
	if err != nil {
		b.Fatal(err)
	}
	return sandbox.File{Path: name, Data: data}
}

// numbersText is n different numbers, each followed by sep, or by a blank and
// every tenth by a line's end.
func numbersText(n int, sep byte) string {
	var t bytes.Buffer
	for i := range n {
		fmt.Fprintf(&t, "%d", 10_000_000+i)
		switch {
		case sep != 0:
			t.WriteByte(sep)
		case i%10 == 9:
			t.WriteByte('\n')
		default:
			t.WriteByte(' ')
		}
	}
	return t.String()
}

// twoAtOnce is how many processes check at the same time, on both sides.
const twoAtOnce = 2

func compareCheckers(b *testing.B, module *plugin.Module, native []byte, input, output, answer string, checks int) {
	m := shared.get(b)
	q := plugin.Check{Input: memfd(b, input), Output: memfd(b, output), Answer: memfd(b, answer)}
	plug := func() error {
		if settled, err := module.Settled(q); err != nil || settled {
			return err
		}
		o, err := m.runtime.Check(context.Background(), module, q)
		if err == nil && o.Outcome != plugin.Accepted {
			err = fmt.Errorf("the plugin says %+v", o)
		}
		return err
	}
	boxes := make(chan *sandbox.Box, twoAtOnce)
	for range twoAtOnce {
		box, err := m.agent.OpenBox(b.Context(), sandbox.BoxOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer box.Close()
		// The files are in place: what a judge has to do for each output comes on top.
		err = box.Put(b.Context(), sandbox.File{Path: "checker", Mode: 0o755, Data: native},
			source("input", input), source("output", output), source("answer", answer))
		if err != nil {
			b.Fatal(err)
		}
		boxes <- box
	}
	process := func() error {
		box := <-boxes
		defer func() { boxes <- box }()
		r, err := box.Run(context.Background(), sandbox.Cmd{
			Program: "./checker", Args: []string{"input", "output", "answer"}, Limits: sandbox.Limits{CPU: time.Minute, MemoryBytes: 1 << 30},
		})
		if err == nil && r.Verdict != sandbox.OK {
			err = fmt.Errorf("the process ended with %+v", r)
		}
		return err
	}
	for range twoAtOnce { // warm
		turn(b, twoAtOnce, plug)
		turn(b, twoAtOnce, process)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, turn(b, checks*2, plug)...)
		theirs = append(theirs, turn(b, checks*2, process)...)
	}
	report(b, "plugin", ours)
	report(b, "native", theirs)
	b.ReportMetric(sum(theirs).Seconds()/sum(ours).Seconds(), "×native")
	b.ReportMetric(0, "ns/op")
}

// turn does n checks, two at a time, and returns how long each took.
func turn(b *testing.B, n int, check func() error) []time.Duration {
	b.Helper()
	took := make([]time.Duration, n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for lane := range twoAtOnce {
		all.Go(func() {
			for i := lane; i < n; i += twoAtOnce {
				from := time.Now()
				errs[i] = check()
				took[i] = time.Since(from)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	return took
}

func sum(ds []time.Duration) (total time.Duration) {
	for _, d := range ds {
		total += d
	}
	return total
}

func report(b *testing.B, side string, ds []time.Duration) {
	slices.Sort(ds)
	for name, p := range map[string]float64{"p50": 0.5, "p99": 0.99} {
		b.ReportMetric(float64(ds[int(p*float64(len(ds)-1))].Microseconds()), side+"-"+name+"-µs")
	}
}

// memfd returns a file in memory.
func memfd(b *testing.B, text string) *os.File {
	b.Helper()
	fd, err := unix.MemfdCreate("bench", unix.MFD_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "bench")
	b.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkCheckerStart compares the first check of a standard checker in a
// fresh worker, its machine code in the cache, with admitting and compiling it.
func BenchmarkCheckerStart(b *testing.B) {
	m := shared.get(b)
	tokens, err := plugins.Checker("tokens")
	if err != nil {
		b.Fatal(err)
	}
	child := filepath.Join(m.dir, "child")
	q := plugin.Check{Input: memfd(b, "1\n"), Output: memfd(b, "1 2\n"), Answer: memfd(b, "1\n2\n")}
	open := func(dir string) *plugin.Runtime {
		r, err := plugin.New(plugin.Config{CacheDir: dir, Exe: child, Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	start := func(r *plugin.Runtime) (load, first time.Duration) {
		from := time.Now()
		module, err := r.Load(b.Context(), tokens, nil)
		if err != nil {
			b.Fatal(err)
		}
		load, from = time.Since(from), time.Now()
		if o, err := r.Check(b.Context(), module, q); err != nil || o.Outcome != plugin.Accepted {
			b.Fatalf("%+v, %v", o, err)
		}
		return load, time.Since(from)
	}
	var cold, warm, process []time.Duration
	for b.Loop() {
		dir := b.TempDir()
		r := open(dir)
		load, _ := start(r)
		cold = append(cold, load)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		r = open(dir)
		_, first := start(r)
		process = append(process, first) // with the start of the worker process
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		// A worker that runs already meets the module for the first time.
		r = open(dir)
		other, err := plugins.Checker("exact")
		if err != nil {
			b.Fatal(err)
		}
		exact, err := r.Load(b.Context(), other, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Check(b.Context(), exact, q); err != nil {
			b.Fatal(err)
		}
		load, first = start(r)
		warm = append(warm, load+first)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	report(b, "cold-compile", cold)
	report(b, "first-check", warm)
	report(b, "first-check-with-worker", process)
	b.ReportMetric(sum(warm).Seconds()/sum(cold).Seconds(), "×cold")
	b.ReportMetric(0, "ns/op")
}
