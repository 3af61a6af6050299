package plugin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// await waits until what it asks for is so.
func await(ctx context.Context, t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// spin is how often a guest turns to be at work for a while.
const spin = "200000000"

func TestACallWhoseWorkerIsKilledIsTriedOnceMore(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	done := make(chan error, 1)
	var o plugin.Opinion
	go func() {
		var err error
		o, err = r.Check(t.Context(), m, check(t, "", "", "", "spin", spin))
		done <- err
	}()
	var pids []int
	await(t.Context(), t, "a worker", func() bool { pids = r.WorkerPIDs(); return len(pids) == 1 })
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || o.Message != "done" {
		t.Errorf("got %+v, %v", o, err)
	}
	if now := r.WorkerPIDs(); len(now) != 1 || now[0] == pids[0] {
		t.Errorf("workers are %v, the dead one was %v", now, pids)
	}
}

func TestACallWhoseWorkersAreKilledTwiceFails(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1, FuelM: 100_000})
	done := make(chan error, 1)
	go func() {
		_, err := r.Check(t.Context(), m, check(t, "", "", "", "loop"))
		done <- err
	}()
	// The first worker may be killed before the call reaches it, which costs no
	// try: kill all that come until the call ends.
	var err error
	await(t.Context(), t, "the end of the call", func() bool {
		for _, pid := range r.WorkerPIDs() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be dead already
		}
		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	var fault *plugin.Error
	if !errors.As(err, &fault) || !errors.Is(err, plugin.ErrDied) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v, want %v", err, plugin.ErrDied)
	}
	if o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err != nil || o.Message != "fine" {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
}

func TestAWorkerThatDiedIdleIsReplaced(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1})
	for range 3 {
		if o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err != nil || o.Message != "fine" {
			t.Fatalf("got %+v, %v", o, err)
		}
		for _, pid := range r.WorkerPIDs() {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestALoopingGuestKeepsNobodyWaiting(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 2, FuelM: 100_000})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := r.Check(ctx, m, check(t, "", "", "", "loop"))
		done <- err
	}()
	await(t.Context(), t, "its worker", func() bool { return len(r.WorkerPIDs()) == 1 })
	for range 20 {
		if o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err != nil || o.Message != "fine" {
			t.Fatalf("meanwhile: %+v, %v", o, err)
		}
	}
	select {
	case err := <-done:
		t.Fatalf("the loop ended before it was cancelled: %v", err)
	default:
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || errors.As(err, new(*plugin.Error)) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestAGuestThatTakesTooLongByTheClockFails(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1, FuelM: 100_000, Patience: 3 * time.Second})
	if _, err := r.Check(t.Context(), m, check(t, "", "", "", "loop")); !errors.Is(err, plugin.ErrPatience) {
		t.Errorf("got %v, want %v", err, plugin.ErrPatience)
	}
	if o, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err != nil || o.Message != "fine" {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
}

func TestFuelIsTheSameInEveryWorkerAndRuntime(t *testing.T) {
	dir := t.TempDir()
	r, m := probe(t, plugin.Config{Workers: 3, CacheDir: dir})
	other := open(t, plugin.Config{Workers: 1, CacheDir: dir})
	seen := make([]uint64, 9)
	var wg sync.WaitGroup
	for i := range seen {
		wg.Go(func() {
			with := r
			if i%3 == 0 {
				with = other
			}
			o, err := with.Check(t.Context(), m, check(t, "1", strings.Repeat("2", 3_000), "3", "seeking"))
			if err != nil {
				t.Error(err)
			}
			seen[i] = o.Fuel
		})
	}
	wg.Wait()
	if seen[0] == 0 || len(slices.Compact(seen)) != 1 {
		t.Errorf("fuel is %v, want the same each time", seen)
	}
	o, err := r.Check(t.Context(), m, check(t, "1", strings.Repeat("2", 300_000), "3", "seeking"))
	if err != nil || o.Fuel <= seen[0] {
		t.Errorf("a hundred times the output costs %d, %v, and not more than %d", o.Fuel, err, seen[0])
	}
}

func TestAWorkerHasNoEnvironmentAndLittleMemory(t *testing.T) {
	t.Setenv("DEEPOJ_TEST_SECRET", "a password")
	r, m := probe(t, plugin.Config{Workers: 1})
	if _, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err != nil {
		t.Fatal(err)
	}
	pid := r.WorkerPIDs()[0]
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(environ) > 0 {
		t.Errorf("its environment is %q, %v", environ, err)
	}
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("its session is %d, %v, want its own, %d", sid, err, pid)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if strings.HasPrefix(line, "Max data size") && strings.Contains(line, "unlimited") {
			t.Errorf("its data is not limited: %s", line)
		}
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Errorf("it has threads %v, %v", threads, err)
	}
	for _, path := range threads {
		status, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(status), "NoNewPrivs:\t1\n") || !strings.Contains(string(status), "Seccomp:\t2\n") {
			t.Errorf("a thread may do anything: %v\n%s", err, status)
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
		ofRuntime := strings.HasPrefix(to, "/sys/fs/cgroup/") // Go's own, to know its share of the processor
		if err == nil && filepath.IsAbs(to) && to != "/dev/null" && !ofRuntime {
			t.Errorf("it has %s open", to)
		}
	}
}

// holdCommand runs [hold].
const holdCommand = "plugin-hold"

func init() {
	programs[holdCommand] = func(args []string) {
		fmt.Fprintln(os.Stderr, hold(args[0], args[1]))
		os.Exit(1)
	}
}

// hold is a program that asks a checker, prints its worker's number and waits to
// be killed. TestMain runs it.
func hold(dir string, wasm string) error {
	r, err := plugin.New(plugin.Config{CacheDir: dir, Workers: 1, CompileCPU: time.Minute})
	if err != nil {
		return err
	}
	bytes, err := os.ReadFile(wasm)
	if err != nil {
		return err
	}
	m, err := r.Load(context.Background(), bytes, checker(abi.Testlib1, abi.Limits{FuelM: 100_000}))
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	go func() {
		for len(r.WorkerPIDs()) == 0 { // as long as a fork lasts
		}
		fmt.Println(r.WorkerPIDs()[0])
	}()
	_, err = r.Check(context.Background(), m, plugin.Check{Input: null, Output: null, Answer: null, Args: []string{"loop"}})
	return err
}

func TestWorkersDieWithTheirParent(t *testing.T) {
	wasm := filepath.Join(t.TempDir(), "probe.wasm")
	if err := os.WriteFile(wasm, buildC(t, "probe"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe, holdCommand, t.TempDir(), wasm)
	parent.Stderr = t.Output()
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if kill := parent.Process.Kill(); kill != nil {
		t.Error(kill)
	}
	_ = parent.Wait() // it was killed
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	await(t.Context(), t, "the worker to die", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return errors.Is(err, fs.ErrNotExist) || err == nil && strings.Contains(string(status), ") Z ")
	})
}

func TestTheChildrenRaceToo(t *testing.T) {
	r := open(t, plugin.Config{Workers: 1, Exe: "/proc/self/exe"})
	m, err := r.Load(t.Context(), with(t, `{"judge":1,"kind":"checker","name":"a","version":"1","protocol":"testlib/1"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := r.Check(t.Context(), m, check(t, "", "", "")); err != nil || o.Outcome != plugin.Accepted {
		t.Errorf("got %+v, %v", o, err)
	}
}

func TestAClosedRuntimeAnswersNobody(t *testing.T) {
	r, m := probe(t, plugin.Config{Workers: 1, FuelM: 100_000})
	done := make(chan error, 1)
	go func() {
		_, err := r.Check(t.Context(), m, check(t, "", "", "", "loop"))
		done <- err
	}()
	await(t.Context(), t, "a worker", func() bool { return len(r.WorkerPIDs()) == 1 })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || errors.As(err, new(*plugin.Error)) {
		t.Errorf("the call under way got %v", err)
	}
	if _, err := r.Check(t.Context(), m, check(t, "", "", "", "say", "fine")); err == nil || errors.As(err, new(*plugin.Error)) {
		t.Errorf("a later call got %v", err)
	}
}
