package judging_test

import (
	"fmt"
	"testing"
	"time"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/plugin"
	"deepoj/plugins"
)

// BenchmarkCheckerStart compares the first check of a standard checker, its machine
// code in the cache, with admitting and compiling it. `make bench-checker` runs it.
func BenchmarkCheckerStart(b *testing.B) {
	const most = 0.05
	q := plugin.Check{Input: memfd(b, "1\n"), Output: memfd(b, "1 2\n"), Answer: memfd(b, "1\n2\n")}
	var cold, first, worker, ratios []float64
	for b.Loop() {
		dir := b.TempDir()
		r := openRuntime(b, dir)
		load, _ := firstCheck(b, r, "tokens", q)
		closeRuntime(b, r)
		r = openRuntime(b, dir)
		again, check := firstCheck(b, r, "tokens", q)
		closeRuntime(b, r)
		cold, worker = append(cold, load), append(worker, again+check)
		// A worker that runs already meets the module for the first time.
		r = openRuntime(b, dir)
		firstCheck(b, r, "exact", q)
		again, check = firstCheck(b, r, "tokens", q)
		closeRuntime(b, r)
		first, ratios = append(first, again+check), append(ratios, (again+check)/load)
	}
	describe(b)
	fmt.Printf("%-48s %9s %8s %8s\n", "standard checker, medians", "ms", "of cold", "at most")
	fmt.Printf("%-48s %9.2f\n", "cold: scan, rewrite, compile", median(cold))
	fmt.Printf("%-48s %9.2f %7.1f%% %7.1f%%\n", "first check, compiled before", median(first), 100*median(ratios), 100*most)
	fmt.Printf("%-48s %9.2f %7.1f%%\n", "the same, and its worker has to start", median(worker), 100*median(worker)/median(cold))
	b.ReportMetric(median(ratios), "of_cold")
	b.ReportMetric(0, "ns/op")
}

func openRuntime(b *testing.B, dir string) *plugin.Runtime {
	b.Helper()
	r, err := plugin.New(plugin.Config{CacheDir: dir, Exe: judgingtest.Get(b).Exe, Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func closeRuntime(b *testing.B, r *plugin.Runtime) {
	b.Helper()
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// firstCheck loads a standard checker and asks it; it returns how long both took,
// in milliseconds.
func firstCheck(b *testing.B, r *plugin.Runtime, name string, q plugin.Check) (load, check float64) {
	b.Helper()
	wasm, err := plugins.Checker(name)
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	m, err := r.Load(b.Context(), wasm, nil)
	if err != nil {
		b.Fatal(err)
	}
	loaded := time.Now()
	if _, err := r.Check(b.Context(), m, q); err != nil {
		b.Fatal(err)
	}
	const ms = float64(time.Millisecond)
	return float64(loaded.Sub(begun)) / ms, float64(time.Since(loaded)) / ms
}
