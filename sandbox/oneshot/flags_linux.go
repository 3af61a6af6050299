package oneshot

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"deepoj/sandbox/internal/wire"
)

// job is what the command line of Judge asks for.
type job struct {
	id      int64
	attempt int
	slot    int
	placed  bool // whether the slot was given, and with it the core
	request wire.RunRequest
	cfg     wire.Config
	options wire.BoxOptions
	until   string

	dirs         []string
	in, out, err string

	globs        []string
	collectTo    string
	collectBytes int64
}

// defaultCollect bounds what --collect takes, in bytes.
const defaultCollect = 256 << 20

// parseJob reads the command line. Limits are judged later: a bad one is an SE.
// What the command line leaves open is as [configVariable] says, if it is set.
func parseJob(args []string, stderr io.Writer) (*job, error) {
	j := &job{}
	if text, ok := os.LookupEnv(configVariable); ok {
		if err := json.Unmarshal([]byte(text), &j.cfg); err != nil {
			return nil, fmt.Errorf("read %s: %w", configVariable, err)
		}
	}
	f := flag.NewFlagSet("deepoj judge", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintln(stderr, "usage: deepoj judge --job-id J --attempt-id N [flags] -- program [arguments]\n\n"+
			"Where a flag takes a file, /dev/fd/N is the inherited descriptor N.")
		f.PrintDefaults()
	}
	l := &j.request.Limits
	f.Int64Var(&j.id, "job-id", 0, "the job, repeated in the line")
	f.IntVar(&j.attempt, "attempt-id", 0, "the attempt, repeated in the line")
	f.IntVar(&j.slot, "slot", 0, "which user id and core the program gets; runs at the same time should differ")
	cpu := f.Int64("time-ms", wire.DefaultCPU.Milliseconds(), "CPU time in milliseconds")
	wall := f.Int64("wall-ms", 0, "time on the clock in milliseconds (default 2 × time + 1 s)")
	memory := f.Int64("memory-kb", wire.DefaultMemory>>10, "memory in KiB")
	output := f.Int64("output-kb", wire.DefaultOutput>>10, "standard output in KiB")
	file := f.Int64("file-kb", 0, "size of a file in KiB (default: as --output-kb)")
	tmp := f.Int64("tmp-kb", 0, "size of each private folder in KiB (default 512 MiB)")
	f.IntVar(&l.Processes, "procs", wire.DefaultProcesses, "processes and threads at once")
	f.IntVar(&l.OpenFiles, "open-files", wire.DefaultOpenFiles, "descriptors per process")
	f.IntVar(&l.Cores, "cores", 1, "CPU cores that it may use at once")
	f.Func("dir", "folder, or packed files, to copy into the working directory; may be repeated", collectInto(&j.dirs))
	f.BoolVar(&j.options.Writable, "writable", false, "let the program write to its working directory")
	f.BoolVar(&j.options.Locks, "locks", false, "let the program lock files, as compilers do")
	f.Func("collect", "pattern of files to take from the working directory afterwards, such as **/*.class; may be repeated", collectInto(&j.globs))
	f.StringVar(&j.collectTo, "collect-to", "", "existing folder for these files, or a file to pack them into")
	collect := f.Int64("collect-kb", defaultCollect>>10, "size of these files together in KiB")
	f.StringVar(&j.in, "stdin", "", "file to read as standard input")
	f.StringVar(&j.out, "stdout", "", "file for standard output (default: counted only)")
	f.StringVar(&j.err, "stderr", "", "file for standard error (default: counted only)")
	f.Int64Var(&j.request.StdoutLimit, "stdout-limit", wire.DefaultStdoutLimit, "bytes of standard output to keep; negative: all")
	f.Int64Var(&j.request.StderrLimit, "stderr-limit", wire.DefaultStderrLimit, "bytes of standard error to keep; negative: all")
	f.BoolVar(&j.request.Raw, "raw", false, "give --stdout to the program itself, as when two programs talk to each other")
	f.Func("env", "KEY=value to add to the environment; may be repeated", collectInto(&j.request.Env))
	f.Func("tool", "one more tool that the program may call, by its logical name; may be repeated", collectInto(&j.request.ExtraTools))
	f.Func("ro", "folder that the program may read; may be repeated", collectInto(&j.cfg.ReadOnly))
	f.StringVar(&j.cfg.Driver, "driver", j.cfg.Driver, "control group driver: v2, hybrid, v1 or none (default: the best that works)")
	f.BoolVar(&j.cfg.AllowDegraded, "allow-degraded", j.cfg.AllowDegraded, "run without control groups if there are none")
	f.StringVar(&j.until, "until", "", "end the run when this file, usually a pipe, reaches its end")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	f.Visit(func(given *flag.Flag) { j.placed = j.placed || given.Name == "slot" })
	if j.id < 1 || j.attempt < 1 || int64(j.attempt) > 1<<31-1 {
		return nil, errors.New("--job-id and --attempt-id must be positive")
	}
	if j.slot < 0 || j.slot >= wire.MaxSlots {
		return nil, fmt.Errorf("--slot %d is not between 0 and %d", j.slot, wire.MaxSlots-1)
	}
	if len(j.globs) > 0 && j.collectTo == "" {
		return nil, errors.New("--collect needs --collect-to")
	}
	if f.NArg() == 0 {
		return nil, errors.New("there is no program to run: name it after --")
	}
	if *file == 0 {
		*file = *output
	}
	for _, n := range []*int64{cpu, memory, output, file} {
		if *n <= 0 {
			*n = -1 // zero would mean the default
		}
	}
	for _, n := range []*int64{cpu, memory, output, file, wall, tmp, collect} {
		*n = min(*n, 1<<40) // so that no unit overflows
	}
	l.CPU, l.Wall = millis(*cpu), millis(*wall)
	l.MemoryBytes, l.OutputBytes, l.FileBytes = *memory<<10, *output<<10, *file<<10
	j.options.TmpBytes, j.collectBytes = *tmp<<10, *collect<<10
	for _, n := range []*int{&l.Processes, &l.OpenFiles, &l.Cores} {
		if *n == 0 {
			*n = -1
		}
	}
	if name := f.Arg(0); strings.Contains(name, "/") {
		j.request.Program = name
	} else {
		j.request.Tool = name
	}
	j.request.Args = f.Args()[1:]
	return j, nil
}

// collectInto returns what appends the values of a flag to list.
func collectInto(list *[]string) func(string) error {
	return func(v string) error {
		*list = append(*list, v)
		return nil
	}
}

// millis returns n milliseconds, or the longest time that there is.
func millis(n int64) time.Duration {
	if n > int64(wire.MaxWall/time.Millisecond) {
		return wire.MaxWall + 1
	}
	return time.Duration(n) * time.Millisecond
}
