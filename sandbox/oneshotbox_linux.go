package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/glob"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// oneShotBox is a box of which every run is a process of its own.
type oneShotBox struct {
	keeper  *KeeperClient
	options BoxOptions

	mu     sync.Mutex
	closed bool
	packed []*os.File // packed files in /box; later ones replace earlier ones
}

// maxPacked is how many files with packed files a box keeps before it makes one of them.
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
		one, err := wire.Pack(files)
		if err != nil {
			return err
		}
		wire.CloseAll(b.packed)
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
		files, err := wire.Unpack(p)
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
	patterns, err := glob.Parse(globs)
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
		if !slices.ContainsFunc(patterns, func(p glob.Pattern) bool { return p.Matches(f.Path) }) {
			continue
		}
		if maxBytes -= int64(len(f.Data)); maxBytes < 0 {
			return nil, wire.Unfit("the files have too many bytes, with %s of %d bytes", f.Path, len(f.Data))
		}
		found = append(found, f)
	}
	return wire.Pack(found)
}

// clean has nothing to do: a run leaves only what is in /box.
func (b *oneShotBox) clean(context.Context) error { return nil }

// renew has nothing to do: each run has a room of its own.
func (b *oneShotBox) renew(context.Context) error { return nil }

func (b *oneShotBox) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	wire.CloseAll(b.packed)
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
	ids := b.keeper.ids(ctx)
	asked, streams, done, err := c.request(raw)
	defer done()
	if err != nil {
		sent()
		return Result{}, err
	}
	q := wire.OneShot{
		JobID: ids.job, AttemptID: ids.attempt, Run: asked, Options: b.options, Dirs: len(b.packed), Keep: b.options.Writable,
	}
	files := slices.Clone(b.packed)
	var kept *os.File
	if q.Keep {
		if kept, err = wire.MemoryFile("files"); err != nil {
			sent()
			return Result{}, err
		}
		files = append(files, kept)
	}
	report, err := b.keeper.oneShot(ctx, q, append(files, streams...), sent)
	if err == nil && kept != nil {
		err = wire.Seal(kept) // others take it for the files that it holds
	}
	if refusal, ok := errors.AsType[*ProtocolError](err); ok {
		b.keeper.cfg.Refused(refusal.Reason)
	}
	if err != nil {
		if kept != nil {
			err = errors.Join(err, kept.Close())
		}
		return Result{}, err
	}
	if kept != nil {
		if report.Verdict == SE {
			wire.CloseAll([]*os.File{kept})
		} else {
			wire.CloseAll(b.packed)
			b.packed = []*os.File{kept}
		}
	}
	res := report.Result()
	res.StdoutTruncated = beyond(c.StdoutLimit, wire.DefaultStdoutLimit, res.StdoutBytes)
	res.StderrTruncated = beyond(c.StderrLimit, wire.DefaultStderrLimit, res.StderrBytes)
	return res, nil
}

// beyond reports whether bytes were dropped.
func beyond(limit, standard, seen int64) bool {
	limit = cmp.Or(limit, standard)
	return limit >= 0 && seen > limit
}

// saidBytes is how much of the command's standard error an error repeats.
const saidBytes = 500

// oneShot runs the one-shot command and reads its line, which is refused unless it
// is about this run. A refusal is a [ProtocolError].
func (k *KeeperClient) oneShot(ctx context.Context, q wire.OneShot, files []*os.File, sent func()) (wire.Report, error) {
	if err := context.Cause(ctx); err != nil {
		sent()
		return wire.Report{}, err
	}
	var out, errs capture
	outEnd, err := out.open(k.cfg.StdoutLimit)
	if err != nil {
		sent()
		return wire.Report{}, err
	}
	errEnd, err := errs.open(k.cfg.StderrLimit)
	if err != nil {
		sent()
		return wire.Report{}, errors.Join(err, outEnd.Close(), out.wait())
	}
	s, err := k.conn.Dial(wire.Request{Op: wire.OpOneShot, OneShot: &q}, append([]*os.File{outEnd, errEnd}, files...)...)
	sent()
	err = errors.Join(err, outEnd.Close(), errEnd.Close())
	if err != nil {
		return wire.Report{}, errors.Join(err, out.wait(), errs.wait())
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() {
		_ = s.Conn.CloseWrite()                                                          // tells the keeper to end the run; it may have ended
		_ = s.Conn.SetReadDeadline(time.Now().Add(wait.StopPatience + wire.CancelGrace)) // fails only when closed
	})
	r, passed, err := s.Read()
	wire.CloseAll(passed)
	err = errors.Join(err, out.wait(), errs.wait())
	if !stop() {
		return wire.Report{}, context.Cause(ctx)
	}
	if err != nil {
		return wire.Report{}, err
	}
	if out.seen == 0 {
		return wire.Report{}, &ProtocolError{Reason: ReasonNoLine, Detail: fmt.Sprintf("the command printed none: %s: %.*q", r.Ended, saidBytes, errs.kept.String())}
	}
	p, err := wire.ParseReport(out.kept.Bytes(), q.JobID, q.AttemptID)
	if err == nil && out.seen > int64(out.kept.Len()) {
		p, err = wire.Report{}, &ProtocolError{Reason: ReasonNotJSON, Detail: fmt.Sprintf("there are %d bytes", out.seen)}
	}
	if err != nil {
		return wire.Report{}, err
	}
	k.mu.Lock()
	k.seen.Driver, k.seen.Degraded = p.Driver, p.Degraded
	k.mu.Unlock()
	return p, nil
}

// capture reads a pipe to its end, and keeps the beginning.
type capture struct {
	kept bytes.Buffer
	seen int64
	done chan error
}

// open returns the end of the pipe to write to, and begins to read. It must be
// followed by wait, when that end is closed everywhere.
func (c *capture) open(limit int64) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("read from a one-shot run: %w", err)
	}
	c.done = make(chan error, 1)
	go func() {
		kept, err := io.Copy(&c.kept, io.LimitReader(r, limit))
		rest, drained := io.Copy(io.Discard, r)
		c.seen = kept + rest
		c.done <- errors.Join(err, drained, r.Close())
	}()
	return w, nil
}

func (c *capture) wait() error { return <-c.done }
