package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxDir bounds the bytes of the folder that --dir copies.
const maxDir = 1 << 30

// job is what the command line of Judge asks for.
type job struct {
	id       int64
	attempt  int
	cmd      Cmd
	cfg      Config
	options  BoxOptions
	dir      string
	in       string
	out, err string
}

// Judge is the one-shot command `deepoj judge`: it runs one command without an
// agent and prints one line of protocol v1 to stdout. It returns the exit
// status, 0 whenever a line was printed.
func Judge(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	j, err := parseJob(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	res, degraded, err := j.run(ctx)
	if err != nil {
		res = Result{Verdict: SE, Error: err.Error()}
	}
	line, err := json.Marshal(NewReport(j.id, int32(j.attempt), res, degraded))
	if err == nil {
		_, err = stdout.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(stderr, "print the result:", err)
		return 1
	}
	return 0
}

// parseJob reads the command line. Limits are judged later: a bad one is an SE.
func parseJob(args []string, stderr io.Writer) (*job, error) {
	j := &job{}
	f := flag.NewFlagSet("deepoj judge", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintln(stderr, "usage: deepoj judge --job-id J --attempt-id N [flags] -- program [arguments]")
		f.PrintDefaults()
	}
	f.Int64Var(&j.id, "job-id", 0, "the job, repeated in the line")
	f.IntVar(&j.attempt, "attempt-id", 0, "the attempt, repeated in the line")
	cpu := f.Int64("time-ms", defaultCPU.Milliseconds(), "CPU time in milliseconds")
	wall := f.Int64("wall-ms", 0, "time on the clock in milliseconds (default 2 × time + 1 s)")
	memory := f.Int64("memory-kb", defaultMemory>>10, "memory in KiB")
	output := f.Int64("output-kb", defaultOutput>>10, "standard output in KiB, and the size of a file")
	f.IntVar(&j.cmd.Limits.Processes, "procs", defaultProcesses, "processes and threads at once")
	f.IntVar(&j.cmd.Limits.Cores, "cores", 1, "CPU cores that it may use at once")
	f.StringVar(&j.dir, "dir", "", "folder whose files are copied into the working directory")
	f.BoolVar(&j.options.Writable, "writable", false, "let the program write to its working directory")
	f.StringVar(&j.in, "stdin", "", "file to read as standard input")
	f.StringVar(&j.out, "stdout", "", "file for standard output (default: counted only)")
	f.StringVar(&j.err, "stderr", "", "file for standard error (default: counted only)")
	f.Int64Var(&j.cmd.StdoutLimit, "stdout-limit", defaultStdoutLimit, "bytes of standard output to keep")
	f.Int64Var(&j.cmd.StderrLimit, "stderr-limit", defaultStderrLimit, "bytes of standard error to keep")
	f.Func("ro", "folder that the program may read; may be repeated", func(dir string) error {
		j.cfg.ReadOnly = append(j.cfg.ReadOnly, dir)
		return nil
	})
	f.StringVar(&j.cfg.Driver, "driver", "", "control group driver: v2, hybrid, v1 or none (default: the best that works)")
	f.BoolVar(&j.cfg.AllowDegraded, "allow-degraded", false, "run without control groups if there are none")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if j.id < 1 || j.attempt < 1 || int64(j.attempt) > 1<<31-1 {
		return nil, errors.New("--job-id and --attempt-id must be positive")
	}
	if f.NArg() == 0 {
		return nil, errors.New("there is no program to run: name it after --")
	}
	for _, n := range []*int64{cpu, memory, output} {
		if *n <= 0 {
			*n = -1 // zero would mean the default
		}
		*n = min(*n, 1<<40) // so that no unit overflows
	}
	l := &j.cmd.Limits
	l.CPU, l.Wall = millis(*cpu), millis(min(*wall, 1<<40))
	l.MemoryBytes, l.OutputBytes, l.FileBytes = *memory<<10, *output<<10, *output<<10
	for _, n := range []*int{&l.Processes, &l.Cores} {
		if *n == 0 {
			*n = -1
		}
	}
	name := f.Arg(0)
	if strings.Contains(name, "/") {
		j.cmd.Program = name
	} else {
		j.cmd.Tool = name
	}
	j.cmd.Args = f.Args()[1:]
	return j, nil
}

// millis returns n milliseconds, or the longest time that there is.
func millis(n int64) time.Duration {
	if n > int64(maxWall/time.Millisecond) {
		return maxWall + 1
	}
	return time.Duration(n) * time.Millisecond
}

// run runs the job in a room of its own.
func (j *job) run(ctx context.Context) (res Result, degraded []string, err error) {
	a, err := newAgent(ctx, j.cfg, false)
	if err != nil {
		return Result{}, nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	files, err := readFolder(j.dir)
	if err != nil {
		return Result{}, nil, err
	}
	opened, err := j.open()
	defer closeAll(opened)
	if err != nil {
		return Result{}, nil, err
	}
	b, leave, err := a.oneBox(ctx, j.options)
	if err != nil {
		return Result{}, nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if len(files) > 0 {
		if err := b.Put(ctx, files...); err != nil {
			return Result{}, nil, err
		}
	}
	res, err = b.Run(ctx, j.cmd)
	return res, a.status.Degraded, err
}

// open opens the files of the standard streams.
func (j *job) open() ([]*os.File, error) {
	var files []*os.File
	if j.in != "" {
		f, err := os.Open(j.in)
		if err != nil {
			return files, fmt.Errorf("open the input: %w", err)
		}
		files, j.cmd.Stdin = append(files, f), f
	}
	for _, o := range []struct {
		path string
		to   **os.File
	}{{j.out, &j.cmd.Stdout}, {j.err, &j.cmd.Stderr}} {
		if o.path == "" {
			continue
		}
		f, err := os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return files, fmt.Errorf("open an output: %w", err)
		}
		files, *o.to = append(files, f), f
	}
	return files, nil
}

// readFolder reads the regular files below dir.
func readFolder(dir string) ([]File, error) {
	if dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close()
	var files []File
	left := int64(maxDir)
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		if left -= st.Size(); left < 0 {
			return fmt.Errorf("more than %d bytes", int64(maxDir))
		}
		data, err := root.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, File{Path: filepath.ToSlash(path), Mode: st.Mode().Perm(), Data: data})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the folder %s: %w", dir, err)
	}
	return files, nil
}

// oneBox makes one room and opens it, without a stock of others. What it returns
// gives the box back and waits until the room is gone.
func (a *agent) oneBox(ctx context.Context, o BoxOptions) (b *Box, leave func() error, err error) {
	uid := <-a.uids
	defer func() {
		if err != nil {
			a.uids <- uid
		}
	}()
	r, err := a.newRoom(uid)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		close(r.sessions)
		return nil, nil, errors.Join(err, r.tearDown())
	}
	s, err := newSession(ours)
	if err != nil {
		close(r.sessions)
		return nil, nil, errors.Join(err, unix.Close(theirs), r.tearDown())
	}
	r.sessions <- handover{sock: os.NewFile(uintptr(theirs), "room"), options: o}
	b = &Box{s: s}
	if _, _, err := s.receive(ctx); err != nil {
		return nil, nil, errors.Join(err, b.Close(), r.tearDown())
	}
	return b, func() error {
		defer func() { a.uids <- uid }()
		return errors.Join(b.Close(), r.tearDown())
	}, nil
}
