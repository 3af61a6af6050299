package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"deepoj/sandbox"
)

// language is how hostile programs are made and run in a language whose run-time
// system meets limits in its own way. They run on the best driver; not in a
// virtual machine, which has no tool chains.
type language struct {
	tool    string
	program func(t *testing.T) []sandbox.File
	run     func(way string) sandbox.Cmd
	ways    map[string]offence
}

type offence struct {
	way    string
	want   sandbox.Verdict
	limits sandbox.Limits // those that are zero are generous
	prints string
}

var languages = map[string]language{
	"Python": {
		tool:    "python3",
		program: func(t *testing.T) []sandbox.File { return []sandbox.File{source(t, "hostile.py")} },
		run: func(way string) sandbox.Cmd {
			return sandbox.Cmd{Tool: "python3", Args: []string{"-B", "hostile.py", way}}
		},
		ways: map[string]offence{
			"a fork bomb is bounded and TLE":              {way: "fork_bomb", want: sandbox.TLE, limits: sandbox.Limits{CPU: 200 * ms}},
			"a thread bomb is bounded and ends by itself": {way: "thread_bomb", want: sandbox.RE},
			"CPU time without end in children is TLE":     {way: "children", want: sandbox.TLE, limits: sandbox.Limits{CPU: 300 * ms}},
			"a heap without end is MLE":                   {way: "heap", want: sandbox.MLE},
			"recursion without end is its own error":      {way: "recursion", want: sandbox.RE},
			"recursion without end or check is MLE":       {way: "deep_recursion", want: sandbox.MLE},
			"sockets lead nowhere":                        {way: "sockets", want: sandbox.OK, prints: "failed\nfailed\nfailed\nfailed\n"},
		},
	},
	"JavaScript": {
		tool:    "node",
		program: func(t *testing.T) []sandbox.File { return []sandbox.File{source(t, "hostile.js")} },
		run: func(way string) sandbox.Cmd {
			heap := "--max-old-space-size=4096" // more than there is
			if way == "collect" {
				heap = "--max-old-space-size=64"
			}
			return sandbox.Cmd{Tool: "node", Args: []string{heap, "hostile.js", way}}
		},
		ways: map[string]offence{
			"CPU time without end is TLE":                  {way: "spin", want: sandbox.TLE, limits: sandbox.Limits{CPU: 500 * ms}},
			"CPU time without end in the collector is TLE": {way: "collect", want: sandbox.TLE, limits: sandbox.Limits{CPU: 500 * ms}},
			"a heap without end is MLE":                    {way: "heap", want: sandbox.MLE},
			"memory without end beside the heap is MLE":    {way: "buffers", want: sandbox.MLE},
			"recursion without end is its own error":       {way: "recursion", want: sandbox.RE},
			"sockets lead nowhere":                         {way: "sockets", want: sandbox.OK, prints: "failed\nfailed\n"},
		},
	},
	"Java": {
		tool: "javac",
		program: func(t *testing.T) []sandbox.File {
			return compile(t, shared.get(t), sandbox.Cmd{Tool: "javac", Args: []string{"Hostile.java"}}, "*.class", source(t, "Hostile.java"))
		},
		run: func(way string) sandbox.Cmd {
			heap := "-Xmx1g" // more than there is
			if way == "collect" {
				heap = "-Xmx64m"
			}
			return sandbox.Cmd{Tool: "java", Args: []string{heap, "-XX:+UseParallelGC", "-XX:ParallelGCThreads=4", "-XX:MaxDirectMemorySize=1g", "-cp", ".", "Hostile", way}}
		},
		ways: map[string]offence{
			"a thread bomb is bounded and ends by itself":        {way: "threads", want: sandbox.RE},
			"a bomb of processes is bounded and TLE":             {way: "processes", want: sandbox.TLE, limits: sandbox.Limits{CPU: time.Second}},
			"CPU time without end in threads is TLE":             {way: "spin", want: sandbox.TLE, limits: sandbox.Limits{CPU: time.Second}},
			"CPU time without end in the collector is TLE":       {way: "collect", want: sandbox.TLE, limits: sandbox.Limits{CPU: time.Second}},
			"a heap without end is MLE":                          {way: "heap", want: sandbox.MLE},
			"memory without end beside the heap is MLE":          {way: "direct", want: sandbox.MLE},
			"recursion without end is its own error and not MLE": {way: "recursion", want: sandbox.RE},
			"sockets lead nowhere":                               {way: "sockets", want: sandbox.OK, prints: "failed\nfailed\nfailed\n"},
		},
	},
	"Go": {
		tool:    "go",
		program: goProgram,
		run:     func(way string) sandbox.Cmd { return sandbox.Cmd{Program: "./hostile", Args: []string{way}} },
		ways: map[string]offence{
			"a fork bomb is bounded and TLE":               {way: "fork-bomb", want: sandbox.TLE, limits: sandbox.Limits{CPU: 200 * ms}},
			"a thread bomb is bounded and ends by itself":  {way: "threads", want: sandbox.RE},
			"CPU time without end in threads is TLE":       {way: "spin", want: sandbox.TLE, limits: sandbox.Limits{CPU: 200 * ms}},
			"CPU time without end in the collector is TLE": {way: "collect", want: sandbox.TLE, limits: sandbox.Limits{CPU: 300 * ms}},
			"a heap without end is MLE":                    {way: "heap", want: sandbox.MLE},
			"goroutines without end are MLE":               {way: "goroutines", want: sandbox.MLE},
			"recursion without end is MLE":                 {way: "recursion", want: sandbox.MLE},
			"sockets lead nowhere":                         {way: "sockets", want: sandbox.OK, prints: "failed\nfailed\n"},
		},
	},
}

func TestRunTimeSystemsAreBounded(t *testing.T) {
	a := shared.get(t)
	for name, l := range languages {
		t.Run(name, func(t *testing.T) {
			if _, err := a.Tool(t.Context(), l.tool); errors.Is(err, sandbox.ErrNoTool) {
				missing(t, l.tool)
			}
			b := bench{box: open(t, a, sandbox.BoxOptions{})}
			if err := b.box.Put(t.Context(), append(l.program(t), hostile(t, "leftover"))...); err != nil {
				t.Fatal(err)
			}
			for name, tt := range l.ways {
				c := l.run(tt.way)
				c.Limits = sandbox.Limits{CPU: time.Minute, Wall: 4 * time.Minute, MemoryBytes: 256 * mib, Processes: 48}
				if tt.limits.CPU != 0 {
					c.Limits.CPU = tt.limits.CPU
				}
				t.Run(name, func(t *testing.T) {
					o := b.runCmd(t, c)
					if o.Verdict != tt.want || o.OverWall || tt.prints != "" && o.stdout+o.stderr != tt.prints {
						t.Errorf("ended %.3000v", o)
					}
				})
			}
		})
	}
}

// source returns a hostile program of testdata.
func source(t *testing.T, name string) sandbox.File {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "hostile", name))
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.File{Path: name, Data: b}
}

// goProgram compiles hostile.go outside of a box, where the standard library is
// compiled already.
func goProgram(t *testing.T) []sandbox.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hostile")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "testdata/hostile/hostile.go")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return []sandbox.File{{Path: "hostile", Mode: 0o755, Data: b}}
}
