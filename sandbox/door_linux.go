package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Door is a client of a [Keeper]: it leads to the agent, and to boxes without
// one, of which every run is a new process that speaks protocol v1. It is safe
// for concurrent use.
type Door struct {
	line
	size   Status
	cfg    DoorConfig
	serial atomic.Int64

	mu   sync.Mutex
	seen Status // what the last run said of itself
}

// DoorConfig says how one-shot runs are read.
type DoorConfig struct {
	// StdoutLimit and StderrLimit are how many bytes of the standard output and
	// error of the command itself, and not of the program, are kept; what is
	// beyond is read and dropped. Default: 256 KiB and 1 MiB.
	StdoutLimit, StderrLimit int64

	// Refused is called with the reason when a line is refused. Defaults to
	// nothing.
	Refused func(reason string)
}

// OpenDoor talks to the keeper at the other end of conn, which [Keeper.Conn] made
// and a child process may have inherited. The children of this process do not inherit
// it from here on.
func OpenDoor(ctx context.Context, conn *os.File, cfg DoorConfig) (*Door, error) {
	if cfg.StdoutLimit == 0 {
		cfg.StdoutLimit = defaultStdoutLimit
	}
	if cfg.StderrLimit == 0 {
		cfg.StderrLimit = defaultStderrLimit
	}
	if cfg.Refused == nil {
		cfg.Refused = func(string) {}
	}
	if err := closeOnExec(conn); err != nil {
		return nil, fmt.Errorf("open the door to the sandbox: %w", err)
	}
	d := &Door{line: line{conn}, cfg: cfg}
	r, files, err := d.ask(ctx, request{Op: opStatus})
	closeAll(files)
	if err == nil && r.Status == nil {
		err = errors.New("it sent no status")
	}
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox keeper for its size: %w", err)
	}
	d.size = *r.Status
	return d, nil
}

// Agent talks to the agent that runs now, or says why there is none.
func (d *Door) Agent(ctx context.Context) (*Agent, error) {
	_, files, err := d.ask(ctx, request{Op: opAgent})
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		closeAll(files)
		return nil, errors.New("the sandbox keeper sent no connection")
	}
	a, err := dial(ctx, files[0])
	if err != nil {
		closeAll(files)
		return nil, err
	}
	return a, nil
}

// Tool returns where the tool with a logical name such as "g++" is. The error
// is [ErrNoTool] when there is none.
func (d *Door) Tool(ctx context.Context, name string) (Tool, error) { return d.findTool(ctx, name) }

// Slots returns how many one-shot runs there may be at once; more of them wait.
func (d *Door) Slots() int { return d.size.Slots }

// Cores returns how many cores one box can use at once.
func (d *Door) Cores() int { return len(d.size.Cores) }

// Status runs programs of its own and says what one-shot runs are able to do.
func (d *Door) Status(ctx context.Context) (Status, error) {
	b, err := d.OpenBox(ctx, BoxOptions{})
	if err != nil {
		return Status{}, err
	}
	err = errors.Join(tryBox(ctx, b), b.Close())
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seen
	s.Slots, s.Cores, s.Seccomp = d.size.Slots, d.size.Cores, true
	if err != nil {
		s.SelfTest = err.Error()
	}
	return s, nil
}

// Box opens a box that the program cannot write to but in /tmp and /dev/shm.
func (d *Door) Box(ctx context.Context) (*Box, error) { return d.OpenBox(ctx, BoxOptions{}) }

// OpenBox opens a box. What is in it is kept in memory between its runs; links,
// empty folders and the times of files are not.
func (d *Door) OpenBox(_ context.Context, o BoxOptions) (*Box, error) {
	return &Box{&oneShotBox{door: d, options: o}}, nil
}

// jobKey is the key of the job in a context.
type jobKey struct{}

type jobIDs struct {
	job     int64
	attempt int32
}

// WithJob says for which job and attempt the runs with ctx are. One-shot runs
// repeat them in their line.
func WithJob(ctx context.Context, job int64, attempt int32) context.Context {
	return context.WithValue(ctx, jobKey{}, jobIDs{job, attempt})
}

// ids returns the ids for one run: those of its job, or else fresh ones.
func (d *Door) ids(ctx context.Context) jobIDs {
	if ids, ok := ctx.Value(jobKey{}).(jobIDs); ok {
		return ids
	}
	return jobIDs{d.serial.Add(1), 1}
}

// oneShotBox is a box of which every run is a process of its own.
type oneShotBox struct {
	door    *Door
	options BoxOptions

	mu     sync.Mutex
	closed bool
	packed []*os.File // packed files in /box; later ones replace earlier ones
}

// maxPacked is how many files with packed files a box keeps before it makes one
// of them.
const maxPacked = 8

func (b *oneShotBox) put(_ context.Context, packed *os.File) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return net.ErrClosed
	}
	if len(b.packed) >= maxPacked {
		files, err := b.files()
		if err != nil {
			return err
		}
		one, err := pack(files)
		if err != nil {
			return err
		}
		closeAll(b.packed)
		b.packed = []*os.File{one}
	}
	fd, err := unix.FcntlInt(packed.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("keep files: %w", err)
	}
	b.packed = append(b.packed, os.NewFile(uintptr(fd), packed.Name()))
	return nil
}

// files returns what is in /box, in order of the paths.
func (b *oneShotBox) files() ([]File, error) {
	byPath := map[string]File{}
	for _, p := range b.packed {
		files, err := unpack(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			byPath[f.Path] = f
		}
	}
	files := make([]File, 0, len(byPath))
	for _, f := range byPath {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return files, nil
}

func (b *oneShotBox) collect(_ context.Context, globs []string, maxBytes int64) (*os.File, error) {
	patterns, err := parsePatterns(globs)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all, err := b.files()
	if err != nil {
		return nil, err
	}
	var found []File
	for _, f := range all {
		if !slices.ContainsFunc(patterns, func(p pattern) bool { return p.matches(f.Path) }) {
			continue
		}
		if maxBytes -= int64(len(f.Data)); maxBytes < 0 {
			return nil, unfit("the files have too many bytes, with %s of %d bytes", f.Path, len(f.Data))
		}
		found = append(found, f)
	}
	return pack(found)
}

// clean has nothing to do: a run leaves only what is in /box.
func (b *oneShotBox) clean(context.Context) error { return nil }

// renew has nothing to do: each run has a room of its own.
func (b *oneShotBox) renew(context.Context) error { return nil }

func (b *oneShotBox) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	closeAll(b.packed)
	b.closed, b.packed = true, nil
	return nil
}

func (b *oneShotBox) run(ctx context.Context, c Cmd, raw bool, sent func()) (Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sent == nil {
		sent = func() {}
	}
	if b.closed {
		sent()
		return Result{}, net.ErrClosed
	}
	ids := b.door.ids(ctx)
	asked, streams, done, err := c.request(raw)
	defer done()
	if err != nil {
		sent()
		return Result{}, err
	}
	q := oneShot{
		JobID: ids.job, AttemptID: ids.attempt, Run: asked, Options: b.options, Dirs: len(b.packed), Keep: b.options.Writable,
	}
	files := slices.Clone(b.packed)
	var kept *os.File
	if q.Keep {
		if kept, err = memfd("files"); err != nil {
			sent()
			return Result{}, err
		}
		files = append(files, kept)
	}
	report, err := b.door.oneShot(ctx, q, append(files, streams...), sent)
	if err == nil && kept != nil {
		err = seal(kept) // others take it for the files that it holds
	}
	if refusal, ok := errors.AsType[*ProtocolError](err); ok {
		b.door.cfg.Refused(refusal.Reason)
	}
	if err != nil {
		if kept != nil {
			err = errors.Join(err, kept.Close())
		}
		return Result{}, err
	}
	if kept != nil {
		if report.Verdict == SE {
			closeAll([]*os.File{kept})
		} else {
			closeAll(b.packed)
			b.packed = []*os.File{kept}
		}
	}
	res := report.Result()
	res.StdoutTruncated = beyond(c.StdoutLimit, defaultStdoutLimit, res.StdoutBytes)
	res.StderrTruncated = beyond(c.StderrLimit, defaultStderrLimit, res.StderrBytes)
	return res, nil
}

// beyond reports whether bytes were dropped.
func beyond(limit, standard, seen int64) bool {
	if limit == 0 {
		limit = standard
	}
	return limit >= 0 && seen > limit
}

// saidBytes is how much of the command's standard error an error repeats.
const saidBytes = 500

// oneShot runs the one-shot command and reads its line, which is refused unless it
// is about this run. A refusal is a [ProtocolError].
func (d *Door) oneShot(ctx context.Context, q oneShot, files []*os.File, sent func()) (Report, error) {
	if err := context.Cause(ctx); err != nil {
		sent()
		return Report{}, err
	}
	var out, errs tap
	outEnd, err := out.open(d.cfg.StdoutLimit)
	if err != nil {
		sent()
		return Report{}, err
	}
	errEnd, err := errs.open(d.cfg.StderrLimit)
	if err != nil {
		sent()
		return Report{}, errors.Join(err, outEnd.Close(), out.wait())
	}
	s, err := d.dial(request{Op: opOneShot, OneShot: &q}, append([]*os.File{outEnd, errEnd}, files...)...)
	sent()
	err = errors.Join(err, outEnd.Close(), errEnd.Close())
	if err != nil {
		return Report{}, errors.Join(err, out.wait(), errs.wait())
	}
	defer s.conn.Close()
	stop := context.AfterFunc(ctx, func() {
		_ = s.conn.CloseWrite()                                                // tells the keeper to end the run; it may have ended
		_ = s.conn.SetReadDeadline(time.Now().Add(stopPatience + cancelGrace)) // fails only when closed
	})
	r, passed, err := s.read()
	closeAll(passed)
	err = errors.Join(err, out.wait(), errs.wait())
	if !stop() {
		return Report{}, context.Cause(ctx)
	}
	if err != nil {
		return Report{}, err
	}
	if out.seen == 0 {
		return Report{}, &ProtocolError{ReasonNoLine, fmt.Sprintf("the command printed none: %s: %.*q", r.Ended, saidBytes, errs.kept.String())}
	}
	p, err := ParseReport(out.kept.Bytes(), q.JobID, q.AttemptID)
	if err == nil && out.seen > int64(out.kept.Len()) {
		p, err = Report{}, &ProtocolError{ReasonNotJSON, fmt.Sprintf("there are %d bytes", out.seen)}
	}
	if err != nil {
		return Report{}, err
	}
	d.mu.Lock()
	d.seen.Driver, d.seen.Degraded = p.Driver, p.Degraded
	d.mu.Unlock()
	return p, nil
}

// tap reads a pipe to its end, and keeps the beginning.
type tap struct {
	kept bytes.Buffer
	seen int64
	done chan error
}

// open returns the end of the pipe to write to, and begins to read. It must be
// followed by wait, when that end is closed everywhere.
func (t *tap) open(limit int64) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("read from a one-shot run: %w", err)
	}
	t.done = make(chan error, 1)
	go func() {
		kept, err := io.Copy(&t.kept, io.LimitReader(r, limit))
		rest, drained := io.Copy(io.Discard, r)
		t.seen = kept + rest
		t.done <- errors.Join(err, drained, r.Close())
	}()
	return w, nil
}

func (t *tap) wait() error { return <-t.done }
