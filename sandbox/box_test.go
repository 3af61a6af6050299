package sandbox_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"deepoj/sandbox"
)

func TestWhatCannotBeRunIsASystemErrorThatNamesTheCause(t *testing.T) {
	a := shared.get(t)
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	err := b.box.Put(
		t.Context(),
		sandbox.File{Path: "folder/file", Data: []byte("x")},
		sandbox.File{Path: "data", Mode: 0o644, Data: []byte("no program")},
		sandbox.File{Path: "garbage", Mode: 0o755, Data: []byte("\x00\x01\x02 no program")},
		sandbox.File{Path: "unreadable", Mode: 0o300, Data: []byte("#!/bin/sh\n")},
		sandbox.File{Path: "script", Mode: 0o755, Data: []byte("#!/no/such/interpreter\n")},
		sandbox.File{Path: "arm", Mode: 0o755, Data: foreignProgram(183)},
	)
	if err != nil {
		t.Fatal(err)
	}
	nothing := []string{"nothing"}
	tests := map[string]struct {
		cmd  sandbox.Cmd
		want string
	}{
		"a missing program":             {sandbox.Cmd{Program: "./missing"}, "no such program"},
		"a folder":                      {sandbox.Cmd{Program: "./folder"}, "folder"},
		"a file without permission":     {sandbox.Cmd{Program: "./data"}, "may not be read"},
		"a file that is no program":     {sandbox.Cmd{Program: "./garbage"}, "no program for this machine"},
		"an unreadable file":            {sandbox.Cmd{Program: "./unreadable"}, "may not be read"},
		"another architecture":          {sandbox.Cmd{Program: "./arm"}, "no program for this machine"},
		"a missing interpreter":         {sandbox.Cmd{Program: "./script"}, "interpreter"},
		"a program below a file":        {sandbox.Cmd{Program: "./data/x"}, "leads nowhere"},
		"a missing tool":                {sandbox.Cmd{Tool: "no-such-tool"}, "no such tool"},
		"a path as a tool":              {sandbox.Cmd{Tool: "/bin/sh"}, "no such tool"},
		"a missing second tool":         {sandbox.Cmd{Program: "./process", ExtraTools: []string{"no-such-tool"}}, "no such tool"},
		"nothing at all":                {sandbox.Cmd{}, "needs a tool or a program"},
		"a tool and a program":          {sandbox.Cmd{Tool: "gcc", Program: "./process"}, "not both"},
		"a NUL byte in the path":        {sandbox.Cmd{Program: "./pro\x00cess"}, "NUL"},
		"a NUL byte in an argument":     {sandbox.Cmd{Program: "./process", Args: []string{"a\x00b"}}, "NUL"},
		"a NUL byte in the environment": {sandbox.Cmd{Program: "./process", Env: []string{"A=a\x00b"}}, "NUL"},
		"a malformed environment":       {sandbox.Cmd{Program: "./process", Env: []string{"A"}}, "KEY=value"},
		"negative CPU time":             {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{CPU: -1}}, "CPU"},
		"a year of CPU time":            {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{CPU: 8760 * time.Hour}}, "CPU"},
		"negative wall time":            {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{Wall: -1}}, "Wall"},
		"negative memory":               {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{MemoryBytes: -1}}, "MemoryBytes"},
		"one byte of memory":            {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{MemoryBytes: 1}}, "MemoryBytes"},
		"more memory than there is":     {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{MemoryBytes: 1 << 50}}, "MemoryBytes"},
		"negative output":               {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{OutputBytes: -1}}, "OutputBytes"},
		"negative processes":            {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{Processes: -1}}, "Processes"},
		"too many open files":           {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{OpenFiles: 1 << 30}}, "OpenFiles"},
		"more cores than there are":     {sandbox.Cmd{Program: "./process", Args: nothing, Limits: sandbox.Limits{Cores: 4096}}, "Cores"},
		"a folder as input":             {sandbox.Cmd{Program: "./process", Args: nothing, Stdin: opened(t, os.TempDir())}, "neither a file nor a pipe"},
		"a device as input":             {sandbox.Cmd{Program: "./process", Args: nothing, Stdin: opened(t, "/dev/zero")}, "neither a file nor a pipe"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := b.box.Run(t.Context(), tt.cmd)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != sandbox.SE || !strings.Contains(r.Error, tt.want) {
				t.Errorf("ended %s with %q, want SE and %q", r.Verdict, r.Error, tt.want)
			}
		})
	}
	if o := b.run(t, sandbox.Limits{}, "nothing"); o.Verdict != sandbox.OK {
		t.Errorf("afterwards a run ended %v", o)
	}
}

// opened opens a file of the host for the time of the test.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// foreignProgram returns the head of an ELF program for another machine.
func foreignProgram(machine byte) []byte {
	b := make([]byte, 4096)
	copy(b, []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine, 0, 1})
	b[52], b[54], b[56] = 64, 56, 1
	b[32] = 64
	return b
}

func TestFilesArePutBelowTheBoxOnly(t *testing.T) {
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{})
	for _, path := range []string{"", ".", "..", "/etc/passwd", "../x", "a/../../x", "a/../x", "a//b", "./a", "a/", "a\x00b", strings.Repeat("a", 2000)} {
		if err := b.Put(t.Context(), sandbox.File{Path: path}); err == nil {
			t.Errorf("Put(%q) worked", path)
		}
	}
	files := []sandbox.File{
		{Path: "a", Mode: 0o640, Data: []byte("one")},
		{Path: "deep/down/b", Data: []byte("two")},
		{Path: "empty", Data: []byte{}},
	}
	if err := b.Put(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), sandbox.File{Path: "a", Mode: 0o640, Data: []byte("three")}); err != nil {
		t.Errorf("a file cannot be replaced: %v", err)
	}
	got, err := b.Collect(t.Context(), []string{"**"}, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := "[a -rw-r----- three][deep/down/b -rw-r--r-- two][empty -rw-r--r-- ]"
	var s strings.Builder
	for _, f := range got {
		fmt.Fprintf(&s, "[%s %s %s]", f.Path, f.Mode, f.Data)
	}
	if s.String() != want {
		t.Errorf("collected %s, want %s", s.String(), want)
	}
	if err := b.Put(t.Context(), sandbox.File{Path: "a/b"}); err == nil {
		t.Error("a file became a folder")
	}
}

func TestGlobsSayWhatIsCollected(t *testing.T) {
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{})
	var files []sandbox.File
	for _, p := range []string{"Main.class", "Main$1.class", "Main.java", "out/A.class", "out/deep/B.class"} {
		files = append(files, sandbox.File{Path: p, Data: []byte(p)})
	}
	if err := b.Put(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"*.class":            "Main$1.class Main.class",
		"**/*.class":         "Main$1.class Main.class out/A.class out/deep/B.class",
		"out/*":              "out/A.class",
		"out/**":             "out/A.class out/deep/B.class",
		"Main.????":          "Main.java",
		"nothing":            "",
		"./Main.java":        "Main.java",
		"**/deep/**/*.class": "out/deep/B.class",
	}
	for glob, want := range tests {
		got, err := b.Collect(t.Context(), []string{glob}, 1000)
		if err != nil {
			t.Errorf("Collect(%s): %v", glob, err)
			continue
		}
		var names []string
		for _, f := range got {
			names = append(names, f.Path)
		}
		if s := strings.Join(names, " "); s != want {
			t.Errorf("Collect(%s) = %q, want %q", glob, s, want)
		}
	}
	for _, glob := range []string{"../*", "/etc/*", "[", "a//b", ""} {
		if _, err := b.Collect(t.Context(), []string{glob}, 1000); err == nil {
			t.Errorf("Collect(%q) worked", glob)
		}
	}
	if _, err := b.Collect(t.Context(), []string{"**"}, 5); err == nil {
		t.Error("more bytes than allowed were collected")
	}
}

func TestOnlyAWritableBoxCanBeWritten(t *testing.T) {
	a := shared.get(t)
	script := `
import os
for path in ["new", "given"]:
    try: open(path, "a").write("x"); print(path, "written")
    except OSError as e: print(path, e.strerror)
`
	for writable, want := range map[bool]string{
		false: "new Permission denied\ngiven Permission denied\n",
		true:  "new written\ngiven written\n",
	} {
		b := open(t, a, sandbox.BoxOptions{Writable: writable})
		if err := b.Put(t.Context(), sandbox.File{Path: "given", Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		if o := run(t, b, sandbox.Cmd{Tool: "python3", Args: []string{"-c", script}}); o.stdout != want {
			t.Errorf("with Writable %t it printed %v", writable, o)
		}
	}
}

func TestTheEnvironmentIsCleanAndWhatWasAskedFor(t *testing.T) {
	t.Setenv("DEEPOJ_SECRET", "of the host")
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{})
	o := run(t, b, sandbox.Cmd{Program: "/usr/bin/env", Env: []string{"A=1", "LANG=C", "A=2"}})
	if want := "PATH=/usr/bin:/bin\nHOME=/tmp\nLANG=C\nA=2\n"; o.stdout != want {
		t.Errorf("the environment was %q, want %q", o.stdout, want)
	}
	o = run(t, b, sandbox.Cmd{Program: "/usr/bin/id"})
	if !strings.Contains(o.stdout, "(box)") || strings.Contains(o.stdout, "groups=0") {
		t.Errorf("the user is %v", o)
	}
	o = run(t, b, sandbox.Cmd{Program: "/usr/bin/hostname"})
	if o.stdout != "box\n" {
		t.Errorf("the host name is %v", o)
	}
}

func TestAPrivateTmpHasTheSizeThatWasAskedFor(t *testing.T) {
	a := shared.get(t)
	b := open(t, a, sandbox.BoxOptions{TmpBytes: 4 << 20})
	script := `
try:
    open("/tmp/x", "wb").write(b"x" * (5 << 20)); print("written")
except OSError as e: print(e.strerror)
`
	for range 2 { // also after /tmp was emptied
		if o := run(t, b, sandbox.Cmd{Tool: "python3", Args: []string{"-c", script}}); o.stdout != "No space left on device\n" {
			t.Errorf("ended %v", o)
		}
	}
	for _, size := range []int64{-1, 1 << 60} {
		if _, err := a.OpenBox(t.Context(), sandbox.BoxOptions{TmpBytes: size}); err == nil {
			t.Errorf("a box with %d bytes was opened", size)
		}
	}
}

func TestOutputsOfBoxesThatRunAtOnceDoNotMix(t *testing.T) {
	a := shared.get(t)
	var all sync.WaitGroup
	for i := range 3 {
		b := open(t, a, sandbox.BoxOptions{})
		all.Go(func() {
			word := strings.Repeat(fmt.Sprint(i), 1000)
			for range 20 {
				out := memory(nil)
				r, err := b.Run(t.Context(), sandbox.Cmd{
					Tool: "python3", Args: []string{"-c", "import sys\nfor i in range(200): sys.stdout.write('" + word + "')"}, Stdout: out, StdoutLimit: -1,
				})
				if err != nil || r.Verdict != sandbox.OK || text(out) != strings.Repeat(word, 200) {
					t.Errorf("box %d: %+v, %v, %d bytes", i, r, err, len(text(out)))
				}
				out.Close()
			}
		})
	}
	all.Wait()
}
