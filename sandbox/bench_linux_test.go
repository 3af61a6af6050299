package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deepoj/sandbox"
)

// BenchmarkSandbox compares runs in the sandbox with plain fork and exec of the
// same programs. The two take turns, so that both see the same machine: ratios
// hold from machine to machine, times do not. `make bench-sandbox` runs it.
func BenchmarkSandbox(b *testing.B) {
	a := shared.get(b)
	hello := staticHello(b, a)
	dir := b.TempDir()
	path := filepath.Join(dir, "hello")
	if err := os.WriteFile(path, hello.Data, 0o755); err != nil {
		b.Fatal(err)
	}
	box := open(b, a, sandbox.BoxOptions{})
	if err := box.Put(b.Context(), hello); err != nil {
		b.Fatal(err)
	}
	python := "/usr/bin/python3"
	inBox := func(c sandbox.Cmd) func() {
		return func() {
			if r, err := box.Run(b.Context(), c); err != nil || r.Verdict != sandbox.OK {
				b.Fatal(r, err)
			}
		}
	}
	plain := func(args ...string) func() { return func() { plainly(b, args) } }
	oneShot := func(command ...string) func() {
		args := slices.Concat(command, []string{"--job-id", "1", "--attempt-id", "1", "--dir", dir, "--", "./hello"})
		return func() {
			if out := line(b, args); !strings.Contains(out, `"verdict":"OK"`) {
				b.Fatal(out)
			}
		}
	}
	judge, err := judgeProgram()
	if err != nil {
		b.Fatal(err)
	}
	whole := filepath.Join("..", "bin", "deepoj")
	if _, err := os.Stat(whole); err != nil {
		b.Fatal(err, ": make build makes it")
	}
	if b.N > 1 { // once is only to see that it works
		describeMachine(b, a)
		fmt.Printf("%-32s %9s %9s %9s %9s %7s %8s\n", "µs", "plain p50", "p99", "boxed p50", "p99", "ratio", "at most")
	}
	const gap = 120 * time.Millisecond
	compare(b, "hello, back to back", 1.7, 3*b.N, 0, plain(path), inBox(sandbox.Cmd{Program: "./hello"}))
	compare(b, "hello, 120 ms apart", 1.7, 1+b.N/4, gap, plain(path), inBox(sandbox.Cmd{Program: "./hello"}))
	compare(b, "python3 -c pass", 1.15, 1+b.N/2, 0, plain(python, "-c", "pass"), inBox(sandbox.Cmd{Tool: "python3", Args: []string{"-c", "pass"}}))
	compare(b, "deepoj-judge, back to back", 9, 1+b.N/2, 0, plain(path), oneShot(judge...))
	compare(b, "deepoj-judge, 120 ms apart", 9, 1+b.N/8, gap, plain(path), oneShot(judge...))
	compare(b, "deepoj judge, back to back", 9, 1+b.N/2, 0, plain(path), oneShot(whole, "judge"))
	compare(b, "deepoj judge, 120 ms apart", 9, 1+b.N/8, gap, plain(path), oneShot(whole, "judge"))
	throughput(b, a, hello, path)
}

// describeMachine says what was measured on.
func describeMachine(b *testing.B, a *sandbox.Client) {
	b.Helper()
	s, err := a.Status(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s, Linux %s, control groups %s, Landlock %d, %d cores, load %s", runtime.Version(), s.Kernel, s.Driver, s.Landlock, len(s.Cores), load)
}

// compare measures two ways to run a program in turn. It prints the ratio of their
// medians, with the most that is wanted.
func compare(b *testing.B, name string, most float64, n int, gap time.Duration, plain, boxed func()) {
	b.Helper()
	var p, s []time.Duration
	measure := func(f func()) time.Duration {
		if gap > 0 {
			<-time.After(gap)
		}
		begun := time.Now()
		f()
		return time.Since(begun)
	}
	for range n {
		p, s = append(p, measure(plain)), append(s, measure(boxed))
	}
	if b.N == 1 {
		return
	}
	slices.Sort(p)
	slices.Sort(s)
	half, last := n/2, n*99/100
	ratio := float64(s[half]) / float64(p[half])
	fmt.Printf("%-32s %9d %9d %9d %9d %6.2f× %7.2f×\n", name, p[half].Microseconds(), p[last].Microseconds(),
		s[half].Microseconds(), s[last].Microseconds(), ratio, most)
	b.ReportMetric(ratio, strings.NewReplacer(" ", "_", ",", "").Replace(name)+"_x")
}

// throughput compares how many runs a second two clients get, round by round.
func throughput(b *testing.B, a *sandbox.Client, hello sandbox.File, path string) {
	b.Helper()
	const clients, rounds = 2, 20
	runs := max(1, b.N/4)
	var boxes [clients]*sandbox.Box
	for i := range boxes {
		boxes[i] = open(b, a, sandbox.BoxOptions{})
		if err := boxes[i].Put(b.Context(), hello); err != nil {
			b.Fatal(err)
		}
	}
	rate := func(f func(i int)) float64 {
		var wg sync.WaitGroup
		begun := time.Now()
		for i := range clients {
			wg.Go(func() {
				for range runs {
					f(i)
				}
			})
		}
		wg.Wait()
		return float64(clients*runs) / time.Since(begun).Seconds()
	}
	var plain, boxed, shares []float64
	for range rounds {
		p := rate(func(int) { plainly(b, []string{path}) })
		s := rate(func(i int) {
			if r, err := boxes[i].Run(b.Context(), sandbox.Cmd{Program: "./hello"}); err != nil || r.Verdict != sandbox.OK {
				b.Error(r, err)
			}
		})
		plain, boxed, shares = append(plain, p), append(boxed, s), append(shares, s/p)
	}
	if b.N > 1 {
		slices.Sort(plain)
		slices.Sort(boxed)
		slices.Sort(shares)
		const half = rounds / 2
		fmt.Printf("%-32s %7.0f/s %9s %7.0f/s %9s %6.0f%% %8s\n", "hello, two clients", plain[half], "", boxed[half], "", 100*shares[half], "≥ 55%")
		b.ReportMetric(shares[half], "two_clients_of_plain")
	}
	for _, box := range boxes {
		if err := box.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// forkExec runs a program as plainly as can be, with null as standard input and
// error.
func forkExec(b *testing.B, args []string, null, stdout int) {
	pid, err := syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{uintptr(null), uintptr(stdout), uintptr(null)},
	})
	if err != nil {
		b.Error(err)
		return
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || ws != 0 {
		b.Error(ws, err)
	}
}

// plainly runs a program without looking at its output.
func plainly(b *testing.B, args []string) {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		b.Error(err)
		return
	}
	defer syscall.Close(null)
	forkExec(b, args, null, null)
}

// line runs a program and returns the line that it writes.
func line(b *testing.B, args []string) string {
	var p [2]int
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err == nil {
		err = syscall.Pipe2(p[:], syscall.O_CLOEXEC)
	}
	if err != nil {
		b.Fatal(err)
	}
	forkExec(b, args, null, p[1])
	text := make([]byte, 4096) // which a pipe holds
	n, err := syscall.Read(p[0], text)
	if err != nil {
		b.Fatal(err)
	}
	for _, fd := range append(p[:], null) {
		if err := syscall.Close(fd); err != nil {
			b.Fatal(err)
		}
	}
	return string(text[:n])
}

// staticHello compiles a program without libraries to load.
func staticHello(b *testing.B, a *sandbox.Client) sandbox.File {
	b.Helper()
	source := "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n"
	c := sandbox.Cmd{Tool: "gcc", Args: []string{"-O2", "-static", "-o", "hello", "hello.c"}}
	return compile(b, a, c, "hello", sandbox.File{Path: "hello.c", Data: []byte(source)})[0]
}
