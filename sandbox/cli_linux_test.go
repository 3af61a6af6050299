package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
)

// judgeCommand makes the test binary the one-shot command.
const judgeCommand = "judge"

// judgeProgram is how the one-shot command begins: the program deepoj-judge, which is
// built once, or where there is no compiler the test binary. That begins much more
// slowly with the race detector than the command runs.
var judgeProgram = sync.OnceValues(func() ([]string, error) {
	if insideVM() {
		return []string{"/proc/self/exe", judgeCommand}, nil
	}
	dir, err := os.MkdirTemp("", "deepoj-judge-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // ordinary users run it too
		return nil, err
	}
	atEnd(func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "deepoj-judge")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "../host/cmd/deepoj-judge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build deepoj-judge: %w\n%s", err, out)
	}
	return []string{path}, nil
})

// oneShotCommand returns the one-shot command with args.
func oneShotCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	begin, err := judgeProgram()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(begin[0], slices.Concat(begin[1:], args)...)
}

// judged runs the one-shot command and returns its line and its exit status.
func judged(t *testing.T, args ...string) (line, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := oneShotCommand(t, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), status
}

// folder writes files into a folder of the host.
func folder(t *testing.T, files ...sandbox.File) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// offences are commands of which the one-shot command and the agent must say the
// same. Their programs are in the working directory.
func offences(exact bool) map[string]sandbox.Cmd {
	limits := generous
	limits.MemoryBytes, limits.OutputBytes, limits.FileBytes, limits.Processes = 64*mib, mib, mib, 32
	short, soon := limits, limits
	short.CPU, soon.Wall = 150*ms, 200*ms
	all := map[string]sandbox.Cmd{
		"a program that does nothing":    {Program: "./process", Args: []string{"nothing"}, Limits: limits},
		"a program that is not there":    {Program: "./missing"},
		"a tool that is not there":       {Tool: "no-such-tool"},
		"a folder":                       {Program: "/usr"},
		"a limit that cannot be":         {Program: "./process", Limits: sandbox.Limits{CPU: -ms}},
		"a flood of stdout":              {Program: "./output", Args: []string{"stdout"}, Limits: limits},
		"a flood of stderr":              {Program: "./output", Args: []string{"stderr"}, Limits: limits},
		"a flood of a file":              {Program: "./output", Args: []string{"file"}, Limits: limits},
		"a sparse file":                  {Program: "./output", Args: []string{"sparse"}, Limits: limits},
		"a program of another machine":   {Program: "./foreign", Args: []string{"i386"}, Limits: limits},
		"processes that leave something": {Program: "./leftover", Args: []string{"leave", "processes"}, Limits: limits},
	}
	for name, m := range misuses {
		c := sandbox.Cmd{Program: "./process", Args: m.args, Limits: limits}
		c.Limits.MemoryBytes = 256 * mib
		switch {
		case m.wall:
			c.Limits.Wall = soon.Wall
		case m.want == sandbox.TLE:
			c.Limits.CPU = short.CPU
		}
		if exact || m.want != sandbox.TLE || m.wall || m.args[0] == "spin" {
			all[name] = c
		}
	}
	if exact {
		for _, way := range []string{"heap", "stack", "static", "mmap", "shared", "memfd", "tmp", "shm", "thread", "child", "children"} {
			c := sandbox.Cmd{Program: "./memory", Args: []string{way, "256"}, Limits: limits}
			c.Limits.FileBytes = 1 << 30
			all["memory in "+way] = c
		}
	}
	return all
}

func TestTheOneShotCommandSaysWhatTheAgentSays(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		driver := status(t, a).Driver
		d := keep(t, sandbox.Config{Driver: driver, AllowDegraded: !bounded(t, a), FirstUID: driverUID, Slots: 2}, false)
		var boxes []*sandbox.Box
		for _, o := range []func(context.Context) (*sandbox.Box, error){a.Box, d.Box} {
			b, err := o(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for _, program := range []string{"process", "memory", "output", "leftover", "foreign"} {
				if err := b.Put(t.Context(), hostile(t, program)); err != nil {
					t.Fatal(err)
				}
			}
			boxes = append(boxes, b)
		}
		all := offences(bounded(t, a))
		for i, name := range slices.Sorted(maps.Keys(all)) {
			if insideVM() && i%6 != 0 || !insideVM() && driver != status(t, shared.get(t)).Driver && i%4 != 0 {
				continue // where a run takes forty times as long, and where another driver went through all of them
			}
			t.Run(name, func(t *testing.T) {
				want, got := run(t, boxes[0], all[name]), run(t, boxes[1], all[name])
				if want.Verdict == sandbox.MLE { // whether the parent ends before we kill it is chance
					want.Signal, want.ExitCode = got.Signal, got.ExitCode
				}
				if got.Verdict != want.Verdict || got.OverWall != want.OverWall || got.Signal != want.Signal || got.ExitCode != want.ExitCode ||
					got.OOM != want.OOM || got.Error != want.Error || got.Driver != driver ||
					got.stdout != want.stdout || got.StdoutTruncated != want.StdoutTruncated || got.StderrTruncated != want.StderrTruncated {
					t.Errorf("the command said %.1000v, the agent %.1000v", got, want)
				}
			})
		}
	})
}

func TestTheOneShotCommandReadsAndWritesNamedFiles(t *testing.T) {
	needRoot(t)
	dir := folder(t, sandbox.File{Path: "in", Mode: 0o644, Data: []byte("b\na\n")})
	out, errs := filepath.Join(dir, "out"), filepath.Join(dir, "err")
	line, stderr, status := judged(t, "--job-id", "1", "--attempt-id", "1", "--stdin", filepath.Join(dir, "in"), "--stdout", out, "--stderr", errs,
		"--", "sort")
	p, err := wire.ParseReport([]byte(line), 1, 1)
	if err != nil || status != 0 || p.Verdict != sandbox.OK || strings.Count(line, "\n") != 1 {
		t.Fatalf("it said %q %q with status %d: %v", line, stderr, status, err)
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "a\nb\n" {
		t.Errorf("the output is %q, %v", b, err)
	}
}

func TestTheOneShotCommandRefusesBadInput(t *testing.T) {
	needRoot(t)
	ids := []string{"--job-id", "1", "--attempt-id", "1"}
	for name, args := range map[string][]string{
		"no time":              {"--time-ms", "0"},
		"negative time":        {"--time-ms", "-5"},
		"endless time":         {"--time-ms", "9223372036854775807"},
		"negative wall time":   {"--wall-ms", "-1"},
		"no memory":            {"--memory-kb", "0"},
		"more memory than all": {"--memory-kb", "9223372036854775807"},
		"no output":            {"--output-kb", "0"},
		"no processes":         {"--procs", "0"},
		"too many processes":   {"--procs", "100000000"},
		"a missing folder":     {"--dir", "/no/such/folder"},
		"a missing input":      {"--stdin", "/no/such/file"},
		"an impossible output": {"--stdout", "/no/such/folder/file"},
		"an unknown driver":    {"--driver", "v3"},
		"a relative root":      {"--ro", "relative"},
	} {
		t.Run(name+" is SE", func(t *testing.T) {
			line, stderr, status := judged(t, append(append(append([]string{}, ids...), args...), "--", "true")...)
			p, err := wire.ParseReport([]byte(line), 1, 1)
			if err != nil || status != 0 || p.Verdict != sandbox.SE {
				t.Errorf("it said %q %q with status %d: %v", line, stderr, status, err)
			}
		})
	}
	for name, args := range map[string][]string{
		"no job":          {"--attempt-id", "1", "--", "true"},
		"a negative job":  {"--job-id", "-1", "--attempt-id", "1", "--", "true"},
		"no program":      ids,
		"an unknown flag": append([]string{"--frobnicate"}, ids...),
	} {
		t.Run(name+" is a usage error", func(t *testing.T) {
			line, stderr, status := judged(t, args...)
			if status != 2 || line != "" || stderr == "" {
				t.Errorf("it said %q %q with status %d", line, stderr, status)
			}
		})
	}
}

func TestABadLineIsRefusedWithAReason(t *testing.T) {
	good := wire.NewReport(1, 2, sandbox.Result{Verdict: sandbox.OK, Driver: "v2"}, nil)
	change := func(f func(*wire.Report)) string {
		p := good
		f(&p)
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, tt := range map[string]struct{ line, reason string }{
		"nothing":                    {"", "not_json"},
		"half a line":                {`{"schema_version":1,"job_`, "not_json"},
		"words":                      {"Segmentation fault", "not_json"},
		"a very long line":           {`{"error":"` + strings.Repeat("x", 1<<20) + `"}`, "not_json"},
		"two lines":                  {change(func(*wire.Report) {}) + "\n{}", "not_json"},
		"a wrong type":               {`{"schema_version":1,"job_id":"1"}`, "range"},
		"another version":            {change(func(p *wire.Report) { p.SchemaVersion = 2 }), "schema_version"},
		"another job":                {change(func(p *wire.Report) { p.JobID = 9 }), "job_id"},
		"another attempt":            {change(func(p *wire.Report) { p.AttemptID = 9 }), "attempt_id"},
		"a verdict that is not ours": {change(func(p *wire.Report) { p.Verdict = "AC" }), "verdict"},
		"no verdict":                 {change(func(p *wire.Report) { p.Verdict = "" }), "verdict"},
		"SE without an error":        {change(func(p *wire.Report) { p.Verdict = sandbox.SE }), "verdict"},
		"an error without SE":        {change(func(p *wire.Report) { p.SandboxError = "x" }), "verdict"},
		"negative time":              {change(func(p *wire.Report) { p.TimeMillis = -1 }), "range"},
		"times that disagree":        {change(func(p *wire.Report) { p.TimeMillis, p.TimeMicros = 2, 2001 }), "range"},
		"another time on the clock":  {change(func(p *wire.Report) { p.WallMicros = -1 }), "range"},
		"absurd memory":              {change(func(p *wire.Report) { p.MemoryKiB = 1 << 60 }), "range"},
		"an absurd signal":           {change(func(p *wire.Report) { p.ExitSignal = 1000 }), "range"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.ParseReport([]byte(tt.line), 1, 2)
			if e, ok := errors.AsType[*sandbox.ProtocolError](err); !ok || e.Reason != tt.reason {
				t.Errorf("ParseReport = %v, want reason %s", err, tt.reason)
			}
		})
	}
	if _, err := wire.ParseReport([]byte(change(func(*wire.Report) {})), 1, 2); err != nil {
		t.Errorf("a good line is refused: %v", err)
	}
}

func TestAOneShotRunThatIsKilledAtAnyMomentLeavesNothing(t *testing.T) {
	needRoot(t)
	// What loses its parent becomes ours, so that nothing gets lost.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			t.Error(err)
		}
	}()
	args := []string{"--job-id", "1", "--attempt-id", "1", "--slot", "7", "--", "true"}
	first := oneShotCommand(t, args...) // which may have to be built
	begun := time.Now()
	if out, err := first.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"verdict":"OK"`)) {
		t.Fatalf("%s, %v", out, err)
	}
	whole := time.Since(begun)
	var killed []int
	for range 100 {
		cmd := oneShotCommand(t, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(rand.N(whole))
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // as killed
		killed = append(killed, cmd.Process.Pid)
	}
	ours := func() (left []process) {
		for _, p := range processes(t) {
			if p.parent != os.Getpid() || !slices.Contains([]string{".reaper", "true", "deepoj-judge"}, p.name) {
				continue
			}
			if _, err := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil); err != nil || p.state != "Z" {
				left = append(left, p)
			}
		}
		return left
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("there still is %+v", ours())
		}
	})
	eventually(t, "every process that they left ends by itself", func() bool { return len(ours()) == 0 })
	if line, _, _ := judged(t, args...); !strings.Contains(line, `"verdict":"OK"`) {
		t.Errorf("the next run said %s", line)
	}
	for _, pid := range killed {
		if left := traces(t, pid); len(left) > 0 {
			t.Fatalf("after the next run there is %q", left)
		}
	}
}
