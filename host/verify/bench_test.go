package verify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/verify"
)

// These print what `make bench-judging` promises, as ratios within one run.

// kernels are programs that work for a number of rounds that they read, and print
// what came of it: in registers, and all over a memory of 64 MiB.
var kernels = map[string]string{
	"compute": `#include <cstdio>
int main() {
	long n; unsigned long x = 88172645463325252;
	if (scanf("%ld", &n) != 1) return 1;
	for (long i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
	printf("%lu\n", x & 1);
}
`,
	"memory": `#include <cstdio>
#include <vector>
int main() {
	long n; unsigned long x = 88172645463325252;
	if (scanf("%ld", &n) != 1) return 1;
	std::vector<unsigned> a(16 << 20, 1);
	for (long i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; a[x % a.size()] += (unsigned)x; }
	printf("%u\n", a[x % a.size()] & 0);
}
`,
}

// longPackage has tests whose every program uses at least millis of CPU on this
// machine, and submissions that differ in a comment, so that each is compiled.
func longPackage(b *testing.B, kernel string, tests, submissions int, millis int64) (*problem.Package, judge.Payload) {
	b.Helper()
	m := judgingtest.Get(b)
	payload := judge.Payload{
		SchemaVersion: judge.PayloadVersion, ContentType: judge.PayloadType, Problem: "long", Language: "cpp",
		Sources: []judge.Source{{Name: "a.cpp", Text: kernels[kernel]}},
	}
	files := map[string]string{
		"problem.yaml": "name: Long\nlimits: {memory: 256}\nvalidation: custom\n", ".timelimit": "20",
		// Any answer is right: the work counts.
		"output_validators/any.c": "int main(void) { return 42; }\n",
	}
	// How long is a round?
	const trial = 20_000_000
	files["data/secret/000.in"], files["data/secret/000.ans"] = strconv.Itoa(trial)+"\n", "0\n"
	r, err := m.Judge.Judge(b.Context(), payload, saved(b, files).Version, nil)
	if err != nil || r.Verdict != judge.AC {
		b.Fatalf("%s, %v", r.Verdict, err)
	}
	rounds := trial * millis * 13 / 10 / max(r.Tests[len(r.Tests)-1].Usage.CPUMillis, 1)
	for i := range tests {
		name := fmt.Sprintf("data/secret/%03d", i)
		files[name+".in"], files[name+".ans"] = fmt.Sprintln(rounds+int64(i)), "0\n" // no two the same
	}
	for i := range submissions {
		files[fmt.Sprintf("submissions/accepted/%d.cpp", i)] = fmt.Sprintf("// %d\n%s", i, kernels[kernel])
	}
	return saved(b, files), payload
}

func saved(b *testing.B, files map[string]string) *problem.Package {
	b.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	pkg, _, err := importing.Read(fsys)
	if err != nil {
		b.Fatal(err)
	}
	pkg.Slug = "long"
	if _, err := pkg.Save(b.Context(), judgingtest.Get(b).Blobs); err != nil {
		b.Fatal(err)
	}
	return pkg
}

// BenchmarkVerify proves a package of 100 tests with 10 submissions. Compiling is
// part of the time, and not of the programs' own.
func BenchmarkVerify(b *testing.B) {
	const tests, submissions, most = 100, 10, 1.25
	m := judgingtest.Get(b)
	pkg, _ := longPackage(b, "compute", tests, submissions, 100)
	for b.Loop() {
		begun := time.Now()
		r, err := verify.Run(b.Context(), verify.Config{Judge: m.Judge}, pkg)
		if err != nil || !r.OK() {
			b.Fatalf("%v, %+v", err, r)
		}
		wall := time.Since(begun)
		var own int64
		for _, row := range r.Rows {
			own += row.TotalCPU
		}
		cores := min(runtime.NumCPU(), m.Agent.Slots())
		floor := time.Duration(own) * time.Millisecond / time.Duration(cores)
		fmt.Printf("\nverify: %d tests × %d submissions took %.1f s; their own CPU time on %d cores %.1f s: %.2f× (at most %.2f×)\n",
			tests, submissions, wall.Seconds(), cores, floor.Seconds(), wall.Seconds()/floor.Seconds(), most)
		b.ReportMetric(wall.Seconds()/floor.Seconds(), "of_floor")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkParallel compares the CPU time of tests that run beside others with
// that of the same tests alone.
func BenchmarkParallel(b *testing.B) {
	m := judgingtest.Get(b)
	alone, err := m.Open(func(c *judging.Config) { c.Cores = 1 })
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, kernel := range []string{"compute", "memory"} {
			pkg, payload := longPackage(b, kernel, 40, 0, 100)
			var p50 [2]float64
			for i, j := range []*judging.Judge{alone, m.Judge} {
				r, err := j.Judge(b.Context(), payload, pkg.Version, nil)
				if err != nil || r.Verdict != judge.AC {
					b.Fatalf("%s, %v", r.Verdict, err)
				}
				var all []float64
				for _, t := range r.Tests {
					all = append(all, float64(t.Usage.CPU())/float64(time.Millisecond))
				}
				slices.Sort(all)
				p50[i] = all[len(all)/2]
			}
			bound := ""
			if kernel == "compute" {
				bound = " (at most 1.05×)"
			}
			fmt.Printf("%s-bound: p50 of CPU time alone %.1f ms, beside others %.1f ms: %.2f×%s\n", kernel, p50[0], p50[1], p50[1]/p50[0], bound)
			b.ReportMetric(p50[1]/p50[0], kernel+"_beside_others_x")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOverhead is what a test takes beyond its program's time on the clock,
// when one test runs after the other.
func BenchmarkOverhead(b *testing.B) {
	m := judgingtest.Get(b)
	j, err := m.Open(func(c *judging.Config) { c.Cores = 1 })
	if err != nil {
		b.Fatal(err)
	}
	pkg, payload := longPackage(b, "compute", 100, 0, 100)
	for b.Loop() {
		var beyond []float64
		var last time.Time
		_, err := j.Judge(b.Context(), payload, pkg.Version, func(p judge.Progress) {
			if p.Test != nil && !last.IsZero() {
				beyond = append(beyond, time.Since(last).Seconds()*1e3-p.Test.Usage.Wall().Seconds()*1e3)
			}
			last = time.Now()
		})
		if err != nil || len(beyond) < 99 {
			b.Fatalf("%d tests, %v", len(beyond), err)
		}
		slices.Sort(beyond)
		p50, p99 := beyond[len(beyond)/2], beyond[len(beyond)*99/100]
		fmt.Printf("overhead of a test: p50 %.2f ms, p99 %.2f ms (p50 at most 3 ms)\n", p50, p99)
		b.ReportMetric(p50, "ms/test")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkImport reads and stores a package of 1 GB, and compares with cp and
// sha256sum of the same files, which do not wait for the disk as an import does.
func BenchmarkImport(b *testing.B) {
	dir := b.TempDir()
	pkg := filepath.Join(dir, "package")
	write := func(name string, content []byte) {
		path := filepath.Join(pkg, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("problem.yaml", []byte("name: Large\n"))
	write(".timelimit", []byte("1\n"))
	write("submissions/accepted/a.py", []byte("print(1)\n"))
	const size, files = 25 << 20, 40
	random := rand.NewChaCha8([32]byte{1})
	for i := range files {
		content := make([]byte, size) // not kept
		random.Read(content)
		ext := []string{"in", "ans"}[i%2]
		write(fmt.Sprintf("data/secret/%02d.%s", i/2, ext), content)
	}
	for b.Loop() {
		var ratios []float64
		for round := range 3 {
			runtime.GC()
			if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins again
				b.Fatal(err)
			}
			begun := time.Now()
			store, err := blob.OpenDir(filepath.Join(dir, fmt.Sprint("blobs", round)))
			if err != nil {
				b.Fatal(err)
			}
			p, _, err := importing.Read(os.DirFS(pkg))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := p.Save(b.Context(), store); err != nil {
				b.Fatal(err)
			}
			took, peak := time.Since(begun), memoryPeak(b)
			begun = time.Now()
			target := filepath.Join(dir, fmt.Sprint("copy", round))
			script := `cp -r "$1" "$2" && find "$2" -type f -exec sha256sum {} + > "$2.sums"`
			if out, err := exec.CommandContext(b.Context(), "sh", "-c", script, "sh", pkg, target).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			copied := time.Since(begun)
			ratios = append(ratios, took.Seconds()/copied.Seconds())
			fmt.Printf("import of 1 GB: %.1f s, peak memory %d MB (at most 200); cp and sha256sum %.1f s: %.2f× (at most 2×)\n",
				took.Seconds(), peak>>20, copied.Seconds(), ratios[round])
			for _, done := range []string{target, filepath.Join(dir, fmt.Sprint("blobs", round))} {
				if err := os.RemoveAll(done); err != nil {
					b.Fatal(err)
				}
			}
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[1], "of_cp_x")
	}
	b.ReportMetric(0, "ns/op")
}

// memoryPeak is the highest resident memory of this process, in bytes.
func memoryPeak(b *testing.B) int64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib << 10
		}
	}
	b.Fatal("no VmHWM")
	return 0
}
