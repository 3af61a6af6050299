package oneshot

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"deepoj/sandbox/internal/wire"
)

// command returns the arguments of the one-shot command for q, its standard output and error, and the descriptors that
// it inherits, the first of them as number 4: number 3 is what ends the run. [wire.CheckFiles] has seen the files.
func command(q *wire.OneShot, slot int, files []*os.File) (args []string, streams [2]*os.File, inherited []*os.File, err error) {
	take := func() *os.File { // there are as many as lineSlots says
		f := files[0]
		files = files[1:]
		return f
	}
	streams = [2]*os.File{take(), take()}
	args = []string{
		"--job-id=" + strconv.FormatInt(q.JobID, 10), "--attempt-id=" + strconv.Itoa(int(q.AttemptID)),
		"--slot=" + strconv.Itoa(slot), "--until=/dev/fd/3",
	}
	inherit := func(flag string) {
		args = append(args, flag+"=/dev/fd/"+strconv.Itoa(4+len(inherited)))
		inherited = append(inherited, take())
	}
	for range min(q.Dirs, wire.MaxFDs) {
		inherit("--dir")
	}
	if q.Keep {
		inherit("--collect-to")
		args = append(args, "--collect=**", "--collect-kb="+strconv.Itoa(maxDir>>10))
	}
	for i, flag := range []string{"--stdin", "--stdout", "--stderr"} {
		if q.Run.Stdio[i] {
			inherit(flag)
		}
	}
	args = append(args, boxFlags(q.Options)...)
	args = append(args, runFlags(q.Run)...)
	program := q.Run.Tool
	switch {
	case (q.Run.Tool == "") == (q.Run.Program == ""):
		return nil, streams, nil, errors.New("a command needs a tool or a program, and not both")
	case strings.Contains(q.Run.Tool, "/"): // it would be taken for a program
		return nil, streams, nil, fmt.Errorf("%q: %w", q.Run.Tool, wire.ErrNoTool)
	case q.Run.Program != "" && !strings.Contains(q.Run.Program, "/"): // it would be taken for a tool
		program = "./" + q.Run.Program
	case q.Run.Program != "":
		program = q.Run.Program
	}
	return append(append(args, "--", program), q.Run.Args...), streams, inherited, nil
}

// boxFlags returns what asks for a box.
func boxFlags(o wire.BoxOptions) []string {
	args := kibibytes(nil, "--tmp-kb", o.TmpBytes)
	if o.Writable {
		args = append(args, "--writable")
	}
	if o.Locks {
		args = append(args, "--locks")
	}
	return args
}

// runFlags returns what asks for q but its program. Zero means a default on both sides.
func runFlags(q wire.RunRequest) []string {
	l := q.Limits
	args := millisFlag(nil, "--time-ms", l.CPU)
	args = millisFlag(args, "--wall-ms", l.Wall)
	args = kibibytes(args, "--memory-kb", l.MemoryBytes)
	args = kibibytes(args, "--output-kb", l.OutputBytes)
	l.FileBytes = cmp.Or(l.FileBytes, wire.DefaultFile) // its flag follows --output-kb
	args = kibibytes(args, "--file-kb", l.FileBytes)
	for _, n := range []struct {
		flag  string
		value int64
	}{
		{"--procs", int64(l.Processes)},
		{"--open-files", int64(l.OpenFiles)},
		{"--cores", int64(l.Cores)},
		{"--stdout-limit", q.StdoutLimit},
		{"--stderr-limit", q.StderrLimit},
	} {
		if n.value != 0 {
			args = append(args, n.flag+"="+strconv.FormatInt(n.value, 10))
		}
	}
	for _, e := range q.Env {
		args = append(args, "--env="+e)
	}
	for _, t := range q.ExtraTools {
		args = append(args, "--tool="+t)
	}
	if q.Raw {
		args = append(args, "--raw")
	}
	return args
}

// kibibytes appends a flag for n bytes, rounded up, unless n is zero.
func kibibytes(args []string, flag string, n int64) []string {
	switch {
	case n == 0:
		return args
	case n > 0:
		n = (n-1)>>10 + 1
	}
	return append(args, flag+"="+strconv.FormatInt(n, 10))
}

// millisFlag appends a flag for d, rounded up, unless d is zero.
func millisFlag(args []string, flag string, d time.Duration) []string {
	switch {
	case d == 0:
		return args
	case d > 0:
		d += time.Millisecond - 1
	}
	if d < 0 && d > -time.Millisecond {
		d = -time.Millisecond
	}
	return append(args, flag+"="+strconv.FormatInt(d.Milliseconds(), 10))
}
