package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// command returns the arguments of the one-shot command for q, its standard
// output and error, and the descriptors that it inherits, the first of them as
// number 4: number 3 is what ends the run. [checkFiles] has seen the files.
func (q *oneShot) command(slot int, files []*os.File) (args []string, streams [2]*os.File, inherited []*os.File, err error) {
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
	for range min(q.Dirs, maxFDs) {
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
	args = append(args, q.Options.flags()...)
	args = append(args, q.Run.flags()...)
	program := q.Run.Tool
	switch {
	case (q.Run.Tool == "") == (q.Run.Program == ""):
		return nil, streams, nil, errors.New("a command needs a tool or a program, and not both")
	case strings.Contains(q.Run.Tool, "/"): // it would be taken for a program
		return nil, streams, nil, fmt.Errorf("%q: %w", q.Run.Tool, ErrNoTool)
	case q.Run.Program != "" && !strings.Contains(q.Run.Program, "/"): // it would be taken for a tool
		program = "./" + q.Run.Program
	case q.Run.Program != "":
		program = q.Run.Program
	}
	return append(append(args, "--", program), q.Run.Args...), streams, inherited, nil
}

func (o BoxOptions) flags() []string {
	args := kibibytes(nil, "--tmp-kb", o.TmpBytes)
	if o.Writable {
		args = append(args, "--writable")
	}
	if o.Locks {
		args = append(args, "--locks")
	}
	return args
}

// flags returns what asks for q but its program. Zero means a default on both
// sides.
func (q runRequest) flags() []string {
	l := q.Limits
	args := millisFlag(nil, "--time-ms", l.CPU)
	args = millisFlag(args, "--wall-ms", l.Wall)
	args = kibibytes(args, "--memory-kb", l.MemoryBytes)
	args = kibibytes(args, "--output-kb", l.OutputBytes)
	if l.FileBytes == 0 {
		l.FileBytes = defaultFile // its flag follows --output-kb
	}
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
