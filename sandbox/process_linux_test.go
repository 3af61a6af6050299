package sandbox_test

import (
	"fmt"
	"testing"
	"time"

	"deepoj/sandbox"
)

// misuse is one way of process.c to misuse processes, signals or time.
type misuse struct {
	args   []string
	want   sandbox.Verdict
	signal int
	wall   bool // by the clock
	prints string
}

var misuses = map[string]misuse{
	"a fork bomb":                           {args: []string{"fork-bomb"}, want: sandbox.TLE},
	"a fork bomb of sessions":               {args: []string{"setsid-bomb"}, want: sandbox.TLE},
	"a vfork bomb":                          {args: []string{"vfork-bomb"}, want: sandbox.TLE},
	"a clone3 bomb, which finds no clone3":  {args: []string{"clone3-bomb"}, want: sandbox.RE},
	"a thread bomb":                         {args: []string{"thread-bomb"}, want: sandbox.TLE},
	"an orphan daemon that ignores signals": {args: []string{"orphan"}, want: sandbox.OK},

	"CPU time without end in one thread":          {args: []string{"spin"}, want: sandbox.TLE},
	"CPU time without end in threads":             {args: []string{"threads-spin", "4"}, want: sandbox.TLE},
	"CPU time without end in a child":             {args: []string{"child-spin"}, want: sandbox.TLE},
	"CPU time without end in many short children": {args: []string{"children-spin"}, want: sandbox.TLE},
	"CPU time without end in an orphan":           {args: []string{"orphan-spin"}, want: sandbox.TLE},

	"a sleeper":                                   {args: []string{"sleep"}, want: sandbox.TLE, wall: true},
	"a program that stops itself":                 {args: []string{"stop"}, want: sandbox.TLE, wall: true},
	"a program that stops its parent":             {args: []string{"stop-parent"}, want: sandbox.TLE, wall: true},
	"a program that closes its streams and hangs": {args: []string{"close"}, want: sandbox.TLE, wall: true},

	"a program that kills itself":           {args: []string{"kill-self"}, want: sandbox.RE, signal: 9},
	"a program that aborts":                 {args: []string{"abort"}, want: sandbox.RE, signal: 6},
	"a program that follows a wild pointer": {args: []string{"segv"}, want: sandbox.RE, signal: 11},
	"a program that exits with 3":           {args: []string{"exit", "3"}, want: sandbox.RE},
	"kill(-1), which finds nobody":          {args: []string{"kill-all"}, want: sandbox.OK, prints: "-1 1\n"},
	"kill(1), which is denied":              {args: []string{"kill-init"}, want: sandbox.OK, prints: "-1 1 0\n"},
	"a child of the agent, which is denied": {args: []string{"brother"}, want: sandbox.OK, prints: "-1 1\n"},
	"a program that wants to go first":      {args: []string{"nice"}, want: sandbox.OK, prints: "-1 0\n"},
}

func TestProcessesAreBoundedAndKilled(t *testing.T) { onEveryDriver(t, processesAreBoundedAndKilled) }

func processesAreBoundedAndKilled(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	exact := bounded(t, a)
	for name, tt := range misuses {
		l := generous
		l.Processes = 32
		switch {
		case tt.wall:
			l.Wall = 200 * ms
		case tt.want == sandbox.TLE:
			l.CPU = 150 * ms
		}
		byClock := tt.wall
		if !exact && tt.want == sandbox.TLE && !tt.wall && tt.args[0] != "spin" && tt.args[0] != "threads-spin" {
			// Without control groups the CPU time of others than the main
			// process is seen late or never: the clock bounds it.
			l.Wall = 500 * ms
		}
		t.Run(name+" is "+string(tt.want), func(t *testing.T) {
			o := b.run(t, l, tt.args...)
			if o.Verdict != tt.want || exact && o.OverWall != byClock {
				t.Errorf("ended %v over_wall=%t", o, o.OverWall)
			}
			if tt.signal != 0 && o.Signal != tt.signal {
				t.Errorf("died of signal %d, want %d", o.Signal, tt.signal)
			}
			want := tt.prints
			if tt.args[0] == "kill-init" && oneID() && status(t, a).Landlock < signalScope {
				want = "0 0 0\n" // it may, but the kernel spares the first process
			}
			if want != "" && o.stdout != want {
				t.Errorf("printed %q, want %q", o.stdout, want)
			}
			if left := strangers(t, driverUID); len(left) != 0 {
				t.Errorf("the host still has %v", left)
			}
		})
	}
}

func TestAProgramWhoseFirstThreadEndedIsKilledLikeAnyOther(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "process", sandbox.BoxOptions{})
		const python = "import ctypes, threading, time\ndef go():\n while True: %s\nthreading.Thread(target=go, daemon=True).start()\nctypes.CDLL(None).pthread_exit(None)\n"
		inPython := func(does string) sandbox.Cmd {
			return sandbox.Cmd{Tool: "python3", Args: []string{"-c", fmt.Sprintf(python, does)}, Limits: generous}
		}
		inC := func(way string) sandbox.Cmd {
			return sandbox.Cmd{Program: "./process", Args: []string{"exit-main-" + way}, Limits: generous}
		}
		for name, tt := range map[string]struct {
			cmd   sandbox.Cmd
			limit func(l *sandbox.Limits)
			want  sandbox.Verdict
		}{
			"when it uses CPU time":                   {inC("spin"), func(l *sandbox.Limits) { l.CPU = 100 * ms }, sandbox.TLE},
			"when it sleeps":                          {inC("sleep"), func(l *sandbox.Limits) { l.Wall = 100 * ms }, sandbox.TLE},
			"when it writes without end":              {inC("flood"), func(l *sandbox.Limits) { l.OutputBytes = mib }, sandbox.OLE},
			"when it is a child that was left behind": {inC("child"), func(*sandbox.Limits) {}, sandbox.OK},
			"when it is Python and uses CPU time":     {inPython("pass"), func(l *sandbox.Limits) { l.CPU = 300 * ms }, sandbox.TLE},
			"when it is Python and sleeps":            {inPython("time.sleep(9)"), func(l *sandbox.Limits) { l.Wall = time.Second }, sandbox.TLE},
		} {
			t.Run(name, func(t *testing.T) {
				tt.limit(&tt.cmd.Limits)
				if o := b.runCmd(t, tt.cmd); o.Verdict != tt.want {
					t.Errorf("ended %v", o)
				}
				if left := strangers(t, driverUID); len(left) != 0 {
					t.Errorf("the host still has %v", left)
				}
			})
		}
	})
}

func TestEveryDriverBoundsCPUTime(t *testing.T) { onEveryDriver(t, everyDriverBoundsCPUTime) }

func everyDriverBoundsCPUTime(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	limit, near := 200*ms, 30*ms
	if insideVM() {
		limit, near = 2*time.Second, 1800*ms // where starting a program may take a second
	}
	for way, who := range map[string]string{"cpu": "one thread", "threads-cpu": "four threads", "children-cpu": "four children", "orphan-cpu": "an orphan"} {
		for used, want := range map[time.Duration]sandbox.Verdict{limit - near: sandbox.OK, limit: sandbox.TLE, limit + near: sandbox.TLE} {
			name := fmt.Sprintf("%s of CPU time in %s with a limit of %s is %s", used, who, limit, want)
			if !bounded(t, a) && way == "orphan-cpu" {
				want, name = sandbox.OK, fmt.Sprintf("%s of CPU time in %s is not noticed without control groups", used, who)
			}
			t.Run(name, func(t *testing.T) {
				bounds := sandbox.Limits{CPU: limit, Wall: 4 * time.Minute}
				o := b.run(t, bounds, way, fmt.Sprint(used.Milliseconds()))
				// What a machine was taken away for counts as used by who had it. That comes and goes, a wrong bound does not.
				for range 4 {
					if want != sandbox.OK || o.Verdict != sandbox.TLE || o.CPU < limit {
						break
					}
					o = b.run(t, bounds, way, fmt.Sprint(used.Milliseconds()))
				}
				if o.Verdict != want || o.OverWall {
					t.Errorf("ended %v", o)
				}
			})
		}
	}
}

func TestEveryDriverBoundsWallTime(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "process", sandbox.BoxOptions{})
		t.Run("sleep for 100 ms with much more time is OK", func(t *testing.T) {
			o := b.run(t, generous, "nap", "100")
			if o.Verdict != sandbox.OK || o.OverWall || o.Wall < 100*ms {
				t.Errorf("ended %v", o)
			}
		})
		for _, limit := range []time.Duration{ms, 100 * ms} {
			t.Run(fmt.Sprintf("sleep without end with a limit of %s is TLE, and not before", limit), func(t *testing.T) {
				o := b.run(t, sandbox.Limits{CPU: time.Minute, Wall: limit}, "sleep")
				if o.Verdict != sandbox.TLE || !o.OverWall || o.Wall < limit {
					t.Errorf("ended %v", o)
				}
			})
		}
	})
}

func TestEveryDriverCountsProcessesAndFilesExactly(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "process", sandbox.BoxOptions{})
		for _, way := range []string{"orphan", "processes", "fork-bomb"} {
			t.Run("the limit still holds after a run that was killed, "+way, func(t *testing.T) {
				l := generous
				l.Processes, l.CPU = 24, 150*ms
				b.run(t, l, way)
				l.CPU = generous.CPU
				if o := b.run(t, l, "processes"); o.Verdict != sandbox.OK || o.stdout != "24 1\n" {
					t.Errorf("ended %v", o)
				}
			})
		}
		for _, n := range []int{1, 2, 16, 100} {
			l := generous
			l.Processes = n
			t.Run(fmt.Sprintf("a limit of %d processes lets there be as many", n), func(t *testing.T) {
				if o := b.run(t, l, "processes"); o.Verdict != sandbox.OK || o.stdout != fmt.Sprintf("%d 1\n", n) {
					t.Errorf("ended %v", o)
				}
			})
			t.Run(fmt.Sprintf("a limit of %d processes lets there be as many threads", n), func(t *testing.T) {
				if o := b.run(t, l, "threads"); o.Verdict != sandbox.OK || o.stdout != fmt.Sprintf("%d\n", n) {
					t.Errorf("ended %v", o)
				}
			})
		}
		for _, n := range []int{16, 256, 1024} {
			t.Run(fmt.Sprintf("a limit of %d open files lets there be as many, with the three streams", n), func(t *testing.T) {
				l := generous
				l.OpenFiles = n
				o := b.run(t, l, "files")
				if o.Verdict != sandbox.OK || o.stdout != fmt.Sprintf("%d 1\n", n-3) {
					t.Errorf("ended %v", o)
				}
			})
		}
	})
}
