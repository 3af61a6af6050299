package sandbox_test

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
)

// mistake is a command that cannot be run, and words of the cause.
type mistake struct {
	cmd  sandbox.Cmd
	want string
}

// own is a program that could be run.
const own = "./process"

// limited is a command with limits that make no sense.
func limited(l sandbox.Limits) sandbox.Cmd {
	return sandbox.Cmd{Program: own, Args: []string{"nothing"}, Limits: l}
}

// wrongPrograms are the files of wrongCommands.
func wrongPrograms(t *testing.T) []sandbox.File {
	t.Helper()
	text := func(path, content string, mode os.FileMode) sandbox.File {
		return sandbox.File{Path: path, Mode: mode, Data: []byte(content)}
	}
	return []sandbox.File{
		hostile(t, "process"),
		text("folder/file", "x", 0o644),
		text("data", "no program", 0o644),
		text("garbage", "\x00\x01\x02 no program", 0o755),
		text("text", "echo no first line\n", 0o755),
		text("empty", "", 0o755),
		text("head", "\x7fELF\x02\x01\x01", 0o755),
		text("unreadable", "#!/bin/sh\n", 0o300),
		text("script", "#!/no/such/interpreter\n", 0o755),
		text("script-of-folder", "#!/usr\n", 0o755),
		{Path: "arm", Mode: 0o755, Data: foreignProgram(2, 183)},
		{Path: "riscv", Mode: 0o755, Data: foreignProgram(2, 243)},
		{Path: "i386", Mode: 0o755, Data: oldProgram()},
		{Path: "object", Mode: 0o755, Data: foreignProgram(1, 62)},
	}
}

// wrongCommands are refused by the agent and by the one-shot command alike.
var wrongCommands = map[string]mistake{
	"a missing program":                  {sandbox.Cmd{Program: "./missing"}, "no such program"},
	"a missing program far away":         {sandbox.Cmd{Program: "/no/such/program"}, "no such program"},
	"a folder":                           {sandbox.Cmd{Program: "./folder"}, "folder"},
	"the working directory":              {sandbox.Cmd{Program: "./"}, "folder"},
	"a file without permission":          {sandbox.Cmd{Program: "./data"}, "may not be read"},
	"an unreadable file":                 {sandbox.Cmd{Program: "./unreadable"}, "may not be read"},
	"a program where none may be":        {sandbox.Cmd{Program: "/proc/self/status"}, "may not be read"},
	"a file that is no program":          {sandbox.Cmd{Program: "./garbage"}, "no program for this machine"},
	"a text without an interpreter":      {sandbox.Cmd{Program: "./text"}, "no program for this machine"},
	"an empty file":                      {sandbox.Cmd{Program: "./empty"}, "no program for this machine"},
	"the head of a program":              {sandbox.Cmd{Program: "./head"}, "no program for this machine"},
	"a part of a program":                {sandbox.Cmd{Program: "./object"}, "no program for this machine"},
	"a program for ARM":                  {sandbox.Cmd{Program: "./arm"}, "no program for this machine"},
	"a program for RISC-V":               {sandbox.Cmd{Program: "./riscv"}, "no program for this machine"},
	"a program for 32 bits":              {sandbox.Cmd{Program: "./i386"}, "no program for this machine"},
	"a missing interpreter":              {sandbox.Cmd{Program: "./script"}, "interpreter"},
	"an interpreter that is a folder":    {sandbox.Cmd{Program: "./script-of-folder"}, "folder"},
	"a program below a file":             {sandbox.Cmd{Program: "./data/x"}, "leads nowhere"},
	"a path that is too long":            {sandbox.Cmd{Program: "./" + strings.Repeat("x", 300)}, "name too long"},
	"a missing tool":                     {sandbox.Cmd{Tool: "no-such-tool"}, "no such tool"},
	"a missing second tool":              {sandbox.Cmd{Program: own, ExtraTools: []string{"no-such-tool"}}, "no such tool"},
	"an environment entry without a key": {sandbox.Cmd{Program: own, Env: []string{"A"}}, "KEY=value"},

	"negative CPU time":          {limited(sandbox.Limits{CPU: -time.Millisecond}), "CPU"},
	"a year of CPU time":         {limited(sandbox.Limits{CPU: 8760 * time.Hour}), "CPU"},
	"negative wall time":         {limited(sandbox.Limits{Wall: -time.Millisecond}), "Wall"},
	"a year of wall time":        {limited(sandbox.Limits{Wall: 8760 * time.Hour}), "Wall"},
	"negative memory":            {limited(sandbox.Limits{MemoryBytes: -1024}), "MemoryBytes"},
	"too little memory":          {limited(sandbox.Limits{MemoryBytes: 1024}), "MemoryBytes"},
	"more memory than there is":  {limited(sandbox.Limits{MemoryBytes: 1 << 50}), "MemoryBytes"},
	"negative output":            {limited(sandbox.Limits{OutputBytes: -1024}), "OutputBytes"},
	"output without end":         {limited(sandbox.Limits{OutputBytes: 1 << 50}), "OutputBytes"},
	"negative files":             {limited(sandbox.Limits{FileBytes: -1024}), "FileBytes"},
	"files without end":          {limited(sandbox.Limits{FileBytes: 1 << 50}), "FileBytes"},
	"negative processes":         {limited(sandbox.Limits{Processes: -1}), "Processes"},
	"processes without end":      {limited(sandbox.Limits{Processes: 1 << 30}), "Processes"},
	"negative open files":        {limited(sandbox.Limits{OpenFiles: -1}), "OpenFiles"},
	"fewer open files than used": {limited(sandbox.Limits{OpenFiles: 3}), "OpenFiles"},
	"open files without end":     {limited(sandbox.Limits{OpenFiles: 1 << 30}), "OpenFiles"},
	"negative cores":             {limited(sandbox.Limits{Cores: -1}), "Cores"},
	"more cores than there are":  {limited(sandbox.Limits{Cores: 4096}), "Cores"},
}

func TestWhatCannotBeRunIsASystemErrorThatNamesTheCause(t *testing.T) {
	onEveryDriver(t, whatCannotBeRunIsASystemErrorThatNamesTheCause)
}

func whatCannotBeRunIsASystemErrorThatNamesTheCause(t *testing.T, a *sandbox.Client) {
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	if err := b.box.Put(t.Context(), wrongPrograms(t)...); err != nil {
		t.Fatal(err)
	}
	mistakes := map[string]mistake{ // that a command line cannot say
		"nothing at all":                {sandbox.Cmd{}, "needs a tool or a program"},
		"a tool and a program":          {sandbox.Cmd{Tool: "gcc", Program: own}, "not both"},
		"a path as a tool":              {sandbox.Cmd{Tool: "/bin/sh"}, "no such tool"},
		"a NUL byte in the path":        {sandbox.Cmd{Program: "./pro\x00cess"}, "NUL"},
		"a NUL byte in an argument":     {sandbox.Cmd{Program: own, Args: []string{"a\x00b"}}, "NUL"},
		"a NUL byte in the environment": {sandbox.Cmd{Program: own, Env: []string{"A=a\x00b"}}, "NUL"},
		"a nanosecond of CPU time":      {limited(sandbox.Limits{CPU: 1}), "CPU"},
		"a nanosecond of wall time":     {limited(sandbox.Limits{Wall: 1}), "Wall"},
		"one byte of memory":            {limited(sandbox.Limits{MemoryBytes: 1}), "MemoryBytes"},
		"a folder as input":             {sandbox.Cmd{Program: own, Stdin: opened(t, os.TempDir())}, "neither a file nor a pipe"},
		"a device as input":             {sandbox.Cmd{Program: own, Stdin: opened(t, "/dev/zero")}, "neither a file nor a pipe"},
		"a device as output":            {sandbox.Cmd{Program: own, Stdout: opened(t, "/dev/null")}, "neither a file nor a pipe"},
	}
	maps.Copy(mistakes, wrongCommands)
	for name, tt := range mistakes {
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
	if o := b.run(t, generous, "nothing"); o.Verdict != sandbox.OK {
		t.Errorf("afterwards a run ended %v", o)
	}
}

func TestTheOneShotCommandNamesTheSameCauses(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	for _, f := range wrongPrograms(t) {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range wrongCommands {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--job-id", "1", "--attempt-id", "1", "--dir", dir}, flags(tt.cmd)...)
			line, stderr, status := judged(t, args...)
			p, err := wire.ParseReport([]byte(line), 1, 1)
			if err != nil || status != 0 || p.Verdict != sandbox.SE || !strings.Contains(p.SandboxError, tt.want) {
				t.Errorf("it said %q %q with status %d, %v, want SE and %q", line, stderr, status, err, tt.want)
			}
		})
	}
}

// flags returns the command line of the one-shot command for c.
func flags(c sandbox.Cmd) []string {
	l := c.Limits
	var args []string
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"--time-ms", l.CPU.Milliseconds()},
		{"--wall-ms", l.Wall.Milliseconds()},
		{"--memory-kb", l.MemoryBytes >> 10},
		{"--output-kb", l.OutputBytes >> 10},
		{"--file-kb", l.FileBytes >> 10},
		{"--procs", int64(l.Processes)},
		{"--open-files", int64(l.OpenFiles)},
		{"--cores", int64(l.Cores)},
	} {
		if f.value != 0 {
			args = append(args, f.name, strconv.FormatInt(f.value, 10))
		}
	}
	for _, e := range c.Env {
		args = append(args, "--env", e)
	}
	for _, name := range c.ExtraTools {
		args = append(args, "--tool", name)
	}
	return append(append(args, "--", c.Tool+c.Program), c.Args...)
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

// foreignProgram returns the head of an ELF file of a kind, such as 2 for a
// program and 1 for a part of one, for a machine with 64 bits.
func foreignProgram(kind, machine uint16) []byte {
	b := make([]byte, 4096)
	copy(b, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(b[16:], kind)
	le.PutUint16(b[18:], machine)
	le.PutUint32(b[20:], 1)  // version
	le.PutUint64(b[32:], 64) // where the program headers are
	le.PutUint16(b[52:], 64) // size of this header
	le.PutUint16(b[54:], 56) // size of a program header
	le.PutUint16(b[56:], 1)
	return b
}

// oldProgram returns a program of 32 bits that exits well, where the kernel knows
// such programs.
func oldProgram() []byte {
	const base, head = 0x8048000, 52 + 32
	code := []byte{0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80} // exit(0)
	size := uint32(head + len(code))
	b := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	for _, v := range []any{
		[2]uint16{2, 3},
		[5]uint32{1, base + head, 52, 0, 0},
		[6]uint16{52, 32, 1, 0, 0, 0},
		[8]uint32{1, 0, base, base, size, size, 5, 0x1000},
	} {
		b, _ = binary.Append(b, binary.LittleEndian, v) // all of them have a fixed size
	}
	return append(b, code...)
}
