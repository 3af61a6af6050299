package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deepoj/sandbox"
)

// BenchmarkSandbox compares runs in the sandbox with plain fork and exec of the
// same programs, in turn, so that both see the same machine. Ratios hold from
// machine to machine, times do not. Run it with
//
//	go test -run '^$' -bench Sandbox -benchtime 200x ./sandbox
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
	exe, err := os.Executable()
	if err != nil {
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
	plain := func(args ...string) func() { return func() { forkExec(b, args) } }
	command := func() {
		out, err := exec.Command(exe, judgeCommand, "--job-id", "1", "--attempt-id", "1", "--dir", dir, "--", "./hello").Output()
		if err != nil || !strings.Contains(string(out), `"verdict":"OK"`) {
			b.Fatal(string(out), err)
		}
	}
	if b.N > 1 { // once is only to see that it works
		fmt.Printf("\n%-28s %10s %10s %10s %7s\n", "median of each", "plain", "sandbox", "its p99", "ratio")
	}
	compare(b, "hello, back to back", 3*b.N, 0, plain(path), inBox(sandbox.Cmd{Program: "./hello"}))
	compare(b, "hello, 120 ms apart", 1+b.N/8, 120*time.Millisecond, plain(path), inBox(sandbox.Cmd{Program: "./hello"}))
	compare(b, "python3 -c pass", 1+b.N/5, 0, plain(python, "-c", "pass"), inBox(sandbox.Cmd{Tool: "python3", Args: []string{"-c", "pass"}}))
	compare(b, "hello, one-shot command", 1+b.N/5, 0, plain(path), command)
	throughput(b, a, hello, path)
}

// compare measures two ways to run a program in turn.
func compare(b *testing.B, name string, n int, gap time.Duration, plain, boxed func()) {
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
	slices.Sort(p)
	slices.Sort(s)
	half, most := n/2, n*99/100
	ratio := float64(s[half]) / float64(p[half])
	if b.N == 1 {
		return
	}
	fmt.Printf("%-28s %8dµs %8dµs %8dµs %6.2f×\n", name, p[half].Microseconds(), s[half].Microseconds(), s[most].Microseconds(), ratio)
	b.ReportMetric(ratio, strings.NewReplacer(" ", "_", ",", "").Replace(name)+"_x")
}

// throughput compares how many runs a second two clients get.
func throughput(b *testing.B, a *sandbox.Agent, hello sandbox.File, path string) {
	b.Helper()
	const clients = 2
	runs := 2 * b.N
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
	plain := rate(func(int) { forkExec(b, []string{path}) })
	boxed := rate(func(i int) {
		if r, err := boxes[i].Run(b.Context(), sandbox.Cmd{Program: "./hello"}); err != nil || r.Verdict != sandbox.OK {
			b.Error(r, err)
		}
	})
	if b.N > 1 {
		fmt.Printf("%-28s %8.0f/s %8.0f/s %10s %6.0f%%\n", "hello, two clients", plain, boxed, "", 100*boxed/plain)
		b.ReportMetric(boxed/plain, "two_clients_of_plain")
	}
	for _, box := range boxes {
		if err := box.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// forkExec runs a program as plainly as can be.
func forkExec(b *testing.B, args []string) {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		b.Error(err)
		return
	}
	defer syscall.Close(null)
	pid, err := syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{uintptr(null), uintptr(null), uintptr(null)},
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

// staticHello compiles a program without libraries to load.
func staticHello(b *testing.B, a *sandbox.Agent) sandbox.File {
	b.Helper()
	source := "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n"
	c := sandbox.Cmd{Tool: "gcc", Args: []string{"-O2", "-static", "-o", "hello", "hello.c"}}
	return compile(b, a, c, "hello", sandbox.File{Path: "hello.c", Data: []byte(source)})[0]
}
