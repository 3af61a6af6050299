package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// hostile compiles testdata/hostile/<name>.c once, in a box of the shared agent,
// and returns the program.
func hostile(t testing.TB, name string) sandbox.File {
	t.Helper()
	compiled.Lock()
	defer compiled.Unlock()
	if f, ok := compiled.programs[name]; ok {
		return f
	}
	if insideVM() {
		return sandbox.File{Path: name, Mode: 0o755, Data: vmProgram(t, name)}
	}
	source, err := os.ReadFile(filepath.Join("testdata", "hostile", name+".c"))
	if err != nil {
		t.Fatal(err)
	}
	c := sandbox.Cmd{Tool: "gcc", Args: []string{"-O1", "-pthread", "-o", name, name + ".c"}}
	made := compile(t, shared.get(t), c, name, sandbox.File{Path: name + ".c", Data: source})
	compiled.programs[name] = made[0]
	return made[0]
}

var compiled = struct {
	sync.Mutex
	programs map[string]sandbox.File
}{programs: map[string]sandbox.File{}}

// bench holds a box with a hostile program in it, and checks after every run
// that the box is as good as new.
type bench struct {
	box     *sandbox.Box
	program string
}

func newBench(t testing.TB, a *sandbox.Agent, program string, o sandbox.BoxOptions) bench {
	t.Helper()
	b := bench{open(t, a, o), program}
	err := b.box.Put(t.Context(), hostile(t, program), hostile(t, "leftover"), sandbox.File{Path: "ours", Data: []byte("ours")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs the program with args and looks for leftovers.
func (b bench) run(t testing.TB, l sandbox.Limits, args ...string) outcome {
	t.Helper()
	return b.runCmd(t, sandbox.Cmd{Program: "./" + b.program, Args: args, Limits: l})
}

func (b bench) runCmd(t testing.TB, c sandbox.Cmd) outcome {
	t.Helper()
	o := run(t, b.box, c)
	look := run(t, b.box, sandbox.Cmd{Program: "./leftover", Args: []string{"look"}})
	if look.Verdict != sandbox.OK || look.stdout != "" {
		t.Errorf("after %s %v the next run found %v", c.Program, c.Args, look)
	}
	return o
}

const (
	ms  = time.Millisecond
	mib = int64(1 << 20)
)

func TestMemoryIsBoundedHoweverItIsTaken(t *testing.T) {
	onEveryDriver(t, memoryIsBoundedHoweverItIsTaken)
}

func memoryIsBoundedHoweverItIsTaken(t *testing.T, a *sandbox.Agent) {
	b := newBench(t, a, "memory", sandbox.BoxOptions{})
	limit := sandbox.Limits{CPU: 5 * time.Second, MemoryBytes: 128 * mib, FileBytes: 1 << 30}
	for _, way := range []string{"heap", "stack", "static", "mmap", "shared", "memfd", "tmp", "shm", "thread", "child", "children"} {
		t.Run(way+" above the limit is MLE", func(t *testing.T) {
			if o := b.run(t, limit, way, "256"); o.Verdict != sandbox.MLE || !o.OOM {
				t.Errorf("ended %v", o)
			} else if o.MemoryBytes > 128*mib {
				t.Errorf("used %d bytes, more than the limit", o.MemoryBytes)
			}
		})
		t.Run(way+" below the limit is OK", func(t *testing.T) {
			if way == "children" {
				t.Skip("its children wait to be killed")
			}
			o := b.run(t, limit, way, "64")
			if o.Verdict != sandbox.OK {
				t.Errorf("ended %v", o)
			}
			if o.MemoryBytes < 64*mib-mib || o.MemoryBytes > 66*mib {
				t.Errorf("used %d KiB, want about 64 MiB", o.MemoryBytes>>10)
			}
		})
	}
	t.Run("addresses that are only reserved are free", func(t *testing.T) {
		if o := b.run(t, limit, "reserve", "65536"); o.Verdict != sandbox.OK || o.MemoryBytes > 4*mib {
			t.Errorf("ended %v", o)
		}
	})
}

func TestProcessesAreBoundedAndKilled(t *testing.T) { onEveryDriver(t, processesAreBoundedAndKilled) }

func processesAreBoundedAndKilled(t *testing.T, a *sandbox.Agent) {
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	short := sandbox.Limits{CPU: 300 * ms, Wall: 10 * time.Second, Processes: 32}
	tests := map[string]struct {
		args   []string
		want   sandbox.Verdict
		signal int
		wall   bool
		stdout string
	}{
		"a fork bomb":                                 {args: []string{"fork-bomb"}, want: sandbox.TLE},
		"a fork bomb of sessions":                     {args: []string{"setsid-bomb"}, want: sandbox.TLE},
		"a vfork bomb":                                {args: []string{"vfork-bomb"}, want: sandbox.TLE},
		"a clone3 bomb finds no clone3":               {args: []string{"clone3-bomb"}, want: sandbox.RE},
		"a thread bomb":                               {args: []string{"thread-bomb"}, want: sandbox.TLE},
		"an orphan daemon that ignores signals":       {args: []string{"orphan"}, want: sandbox.OK},
		"CPU in an orphan":                            {args: []string{"orphan-spin"}, want: sandbox.TLE},
		"CPU in a child":                              {args: []string{"child-spin"}, want: sandbox.TLE},
		"CPU in many short children":                  {args: []string{"many-spin"}, want: sandbox.TLE},
		"CPU in threads":                              {args: []string{"thread-spin", "4"}, want: sandbox.TLE},
		"CPU in one thread":                           {args: []string{"spin"}, want: sandbox.TLE},
		"a sleeper":                                   {args: []string{"sleep"}, want: sandbox.TLE, wall: true},
		"a program that stops itself":                 {args: []string{"stop"}, want: sandbox.TLE, wall: true},
		"a program that stops its parent":             {args: []string{"stop-parent"}, want: sandbox.TLE, wall: true},
		"a program that kills itself":                 {args: []string{"kill-self"}, want: sandbox.RE, signal: 9},
		"a program that aborts":                       {args: []string{"abort"}, want: sandbox.RE, signal: 6},
		"a program that follows a wild pointer":       {args: []string{"segv"}, want: sandbox.RE, signal: 11},
		"a program that kills all it can":             {args: []string{"kill-all"}, want: sandbox.OK, stdout: "-1 1 -1 0\n"},
		"a program that closes its streams and hangs": {args: []string{"close"}, want: sandbox.TLE, wall: true},
		"a program that wants to go first":            {args: []string{"nice"}, want: sandbox.OK, stdout: "-1 0\n"},
		"a program that opens many files":             {args: []string{"files"}, want: sandbox.OK, stdout: "253\n"},
		"a program that exits with 3":                 {args: []string{"exit", "3"}, want: sandbox.RE},
	}
	for name, tt := range tests {
		t.Run(name+" is "+string(tt.want), func(t *testing.T) {
			l := short
			if tt.wall {
				l.Wall = 400 * ms
			}
			o := b.run(t, l, tt.args...)
			if o.Verdict != tt.want || o.OverWall != tt.wall {
				t.Errorf("ended %v over_wall=%t", o, o.OverWall)
			}
			if tt.signal != 0 && o.Signal != tt.signal {
				t.Errorf("died of signal %d, want %d", o.Signal, tt.signal)
			}
			if tt.stdout != "" && o.stdout != tt.stdout {
				t.Errorf("printed %q, want %q", o.stdout, tt.stdout)
			}
		})
	}
}

func TestOutputIsBoundedAndDrained(t *testing.T) { onEveryDriver(t, outputIsBoundedAndDrained) }

func outputIsBoundedAndDrained(t *testing.T, a *sandbox.Agent) {
	b := newBench(t, a, "output", sandbox.BoxOptions{})
	limit := sandbox.Limits{CPU: time.Second, OutputBytes: 4 * mib, FileBytes: 8 * mib, MemoryBytes: 256 * mib}
	t.Run("a flood of stdout is OLE", func(t *testing.T) {
		o := b.run(t, limit, "stdout")
		if o.Verdict != sandbox.OLE || !o.StdoutTruncated || len(o.stdout) != 256<<10 {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("a flood of stderr is drained until the time is over", func(t *testing.T) {
		o := b.run(t, limit, "stderr")
		if o.Verdict != sandbox.TLE || !o.StderrTruncated || len(o.stderr) != 1<<20 || o.StderrBytes <= 1<<20 {
			t.Errorf("ended %.300v", o)
		}
	})
	t.Run("a flood of a file is OLE", func(t *testing.T) {
		if o := b.run(t, limit, "file"); o.Verdict != sandbox.OLE {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("a sparse file is refused", func(t *testing.T) {
		if o := b.run(t, limit, "sparse"); o.Verdict != sandbox.OK || o.stdout != "-1 1\n" {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("a flood of inodes ends at a bound", func(t *testing.T) {
		l := limit
		l.CPU, l.Wall = 60*time.Second, 3*time.Minute
		if o := b.run(t, l, "inodes"); o.Verdict != sandbox.OK || o.stdout != "1\n" {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("as much output as is allowed is OK and kept where asked", func(t *testing.T) {
		out := memory(nil)
		defer out.Close()
		r, err := b.box.Run(t.Context(), sandbox.Cmd{
			Program: "./output", Args: []string{"bytes", fmt.Sprint(4 * mib)}, Stdout: out, StdoutLimit: -1, Limits: limit,
		})
		if err != nil || r.Verdict != sandbox.OK || r.StdoutBytes != 4*mib || r.StdoutTruncated || len(text(out)) != int(4*mib) {
			t.Errorf("ended %+v, %v with %d bytes kept", r, err, len(text(out)))
		}
	})
	t.Run("one byte more is OLE", func(t *testing.T) {
		if o := b.run(t, limit, "bytes", fmt.Sprint(4*mib+1)); o.Verdict != sandbox.OLE {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("standard streams can be opened by name", func(t *testing.T) {
		o := b.runCmd(t, sandbox.Cmd{Program: "./output", Args: []string{"reopen"}, Stdin: memory([]byte("echo\n"))})
		if o.Verdict != sandbox.OK || o.stdout != "echo\n" {
			t.Errorf("ended %v", o)
		}
	})
	t.Run("the input cannot be spoiled", func(t *testing.T) {
		in := memory([]byte("input\n"))
		defer in.Close()
		o := b.runCmd(t, sandbox.Cmd{Program: "./output", Args: []string{"spoil-input"}, Stdin: in})
		if o.Verdict != sandbox.OK || o.stdout != "-1 -1\n" || text(in) != "input\n" {
			t.Errorf("ended %v and left %q", o, text(in))
		}
	})
}

func TestNothingLeadsOutOfABox(t *testing.T) { onEveryDriver(t, nothingLeadsOutOfABox) }

func nothingLeadsOutOfABox(t *testing.T, a *sandbox.Agent) {
	// Something that a program would find if it shared our network namespace.
	l, err := net.Listen("unix", "@deepoj-test")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, writable := range []bool{false, true} {
		b := newBench(t, a, "escape", sandbox.BoxOptions{Writable: writable})
		layer := ""
		if st, err := a.Status(t.Context()); err != nil {
			t.Fatal(err)
		} else if st.Landlock >= 4 {
			layer = "landlock"
		}
		o := b.run(t, sandbox.Limits{CPU: 5 * time.Second}, layer)
		if o.Verdict != sandbox.OK {
			t.Errorf("with a writable box %t it ended %v", writable, o)
		}
		for line := range strings.Lines(o.stdout) {
			if writable && (strings.HasPrefix(line, "/box/") || strings.Contains(line, "file of ours")) {
				continue
			}
			t.Errorf("with a writable box %t this worked: %s", writable, line)
		}
	}
}

func TestForeignSystemCallsAreKilled(t *testing.T) { onEveryDriver(t, foreignSystemCallsAreKilled) }

func foreignSystemCallsAreKilled(t *testing.T, a *sandbox.Agent) {
	b := newBench(t, a, "foreign", sandbox.BoxOptions{})
	for _, arch := range []string{"i386", "x32"} {
		if o := b.run(t, sandbox.Limits{}, arch); o.Verdict != sandbox.RE || o.Signal != int(unix.SIGSYS) {
			t.Errorf("%s ended %v, want SIGSYS", arch, o)
		}
	}
}

func TestARunLeavesNothingForTheNext(t *testing.T) { onEveryDriver(t, aRunLeavesNothingForTheNext) }

func aRunLeavesNothingForTheNext(t *testing.T, a *sandbox.Agent) {
	b := newBench(t, a, "leftover", sandbox.BoxOptions{})
	if o := b.run(t, sandbox.Limits{}, "leave"); o.Verdict != sandbox.OK {
		t.Errorf("ended %v", o)
	}
}
