package blob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Dir is a Store in a folder of the local disk: DIR/ab/abcdef… by the digits of
// the digest. A file appears by rename when its content is on the disk.
type Dir struct {
	root     string
	patience time.Duration // how long one access may take

	mu    sync.Mutex
	known map[Digest]stamp // files whose content was checked by this process
}

var _ Store = (*Dir)(nil)

// stamp tells whether a file is still the one that was checked.
type stamp struct {
	size    int64
	changed time.Time
}

// leftover is the age from which an unfinished file can belong to nobody.
const leftover = 24 * time.Hour

// DefaultPatience is how long a store may be silent until it counts as away.
const DefaultPatience = 15 * time.Second

// remembered bounds how many checked files a Dir remembers.
const remembered = 1 << 16

// OpenDir returns the store in folder path and makes the folder if needed. It
// removes what uploads that died long ago left behind.
func OpenDir(path string) (*Dir, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open blob folder: %w", err)
	}
	d := &Dir{root: root, patience: DefaultPatience, known: map[Digest]stamp{}}
	if err := os.MkdirAll(d.incoming(), 0o750); err != nil {
		return nil, fmt.Errorf("open blob folder: %w", err)
	}
	entries, err := os.ReadDir(d.incoming())
	if err != nil {
		return nil, fmt.Errorf("open blob folder: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftover {
			if err := os.Remove(filepath.Join(d.incoming(), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("open blob folder: %w", err)
			}
		}
	}
	return d, nil
}

// SetPatience sets how long the folder may be silent until it counts as away. It is called before d is used.
func (d *Dir) SetPatience(p time.Duration) { d.patience = p }

// Probe implements Store.
func (d *Dir) Probe(ctx context.Context) error { return probe(ctx, d.Open, d.Put) }

// away returns an error that says that the folder cannot be used.
func (d *Dir) away(err error) error { return &AwayError{"the blob folder " + d.root, err} }

// Root returns the absolute path of the folder.
func (d *Dir) Root() string { return d.root }

func (d *Dir) incoming() string { return filepath.Join(d.root, "incoming") }

func (d *Dir) path(g Digest) string {
	return filepath.Join(d.root, g.Hex()[:2], g.Hex())
}

// Put implements Store.
func (d *Dir) Put(ctx context.Context, r io.Reader) (Digest, int64, error) {
	g, n, err := d.put(ctx, r)
	if ofDisk(err) && !Away(err) {
		err = d.away(err)
	}
	if err != nil {
		return "", 0, fmt.Errorf("store blob: %w", err)
	}
	return g, n, nil
}

func (d *Dir) put(ctx context.Context, r io.Reader) (g Digest, n int64, err error) {
	tmp, err := os.CreateTemp(d.incoming(), "*")
	if err != nil {
		return "", 0, err
	}
	defer func() {
		// After the rename there is nothing left to remove.
		if rerr := os.Remove(tmp.Name()); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}()
	sum := sha256.New()
	n, err = io.Copy(io.MultiWriter(tmp, sum), reader{ctx, r})
	g = named(sum.Sum(nil))
	if err == nil {
		var whole bool
		if whole, err = d.whole(ctx, g); whole {
			return g, n, tmp.Close()
		}
	}
	if err == nil {
		err = tmp.Chmod(0o440)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", 0, err
	}
	dst := d.path(g)
	if err := os.MkdirAll(filepath.Dir(dst), 0o750); err != nil {
		return "", 0, err
	}
	if err := os.Rename(tmp.Name(), dst); err != nil {
		return "", 0, err
	}
	// The folder, and its parent in case the folder is new.
	if err := errors.Join(syncDir(filepath.Dir(dst)), syncDir(d.root)); err != nil {
		return "", 0, err
	}
	return g, n, nil
}

// Open implements Store.
func (d *Dir) Open(ctx context.Context, g Digest) (io.ReadCloser, error) {
	f, err := d.open(g)
	if err != nil {
		return nil, err
	}
	return newChecked(ctx, d.timed(f), g), nil
}

// timed returns f with deadlines.
func (d *Dir) timed(f *os.File) *timed {
	return &timed{f: f, limit: d.patience, store: "the blob folder " + d.root}
}

// ofDisk reports whether an error is one of a file system.
func ofDisk(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	_, call := errors.AsType[*os.SyscallError](err)
	return path || link || call
}

// whole reports whether g is stored undamaged. A damaged file is not an error here: storing the content again mends it.
func (d *Dir) whole(ctx context.Context, g Digest) (bool, error) {
	f, err := d.File(ctx, g)
	if _, damaged := errors.AsType[*CorruptError](err); damaged || errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// Has implements Store.
func (d *Dir) Has(_ context.Context, g Digest) (bool, error) {
	if _, err := Parse(string(g)); err != nil {
		return false, err
	}
	stat, silent := within(d.patience, func() error {
		_, err := os.Stat(d.path(g))
		return err
	})
	if err := cmp.Or(silent, stat); err != nil {
		err = d.lacks(err)
		if errors.Is(err, ErrNotFound) {
			return false, nil
		}
		return false, fmt.Errorf("look for blob %s: %w", g, err)
	}
	return true, nil
}

// File implements Store.
func (d *Dir) File(ctx context.Context, g Digest) (*os.File, error) {
	f, err := d.open(g)
	if err != nil {
		return nil, err
	}
	if err := d.check(ctx, f, g); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d *Dir) check(ctx context.Context, f *os.File, g Digest) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("check blob %s: %w", g, err)
	}
	now := stamp{size: info.Size(), changed: info.ModTime()}
	d.mu.Lock()
	ok := d.known[g] == now
	d.mu.Unlock()
	if ok {
		return nil
	}
	if _, err := io.Copy(io.Discard, newChecked(ctx, d.timed(f), g)); err != nil {
		return fmt.Errorf("check blob %s: %w", g, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("check blob %s: %w", g, err)
	}
	d.mu.Lock()
	if len(d.known) >= remembered {
		clear(d.known)
	}
	d.known[g] = now
	d.mu.Unlock()
	return nil
}

// List implements Store.
func (d *Dir) List(ctx context.Context, f func(Digest, int64) error) error {
	return d.each(func(g Digest, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(g, info.Size())
	})
}

// Verify implements Store.
func (d *Dir) Verify(ctx context.Context, g Digest) error {
	f, err := d.open(g)
	if err != nil {
		return err
	}
	return verify(ctx, d.timed(f), g)
}

func (d *Dir) open(g Digest) (*os.File, error) {
	if _, err := Parse(string(g)); err != nil {
		return nil, err
	}
	type opened struct {
		f   *os.File
		err error
	}
	o, silent := within(d.patience, func() opened {
		f, err := openPlainly(d.path(g))
		return opened{f, err}
	})
	if err := cmp.Or(silent, o.err); err != nil {
		return nil, fmt.Errorf("open blob %s: %w", g, d.lacks(err))
	}
	return o.f, nil
}

// openPlainly is os.Open for a file, without asking the runtime's poller to wait for it, who refuses after four system
// calls. Each test opens two.
func openPlainly(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, syscall.EINTR):
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// lacks says what it means that a file cannot be used: [ErrNotFound] only where the rest of the store is there.
func (d *Dir) lacks(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return d.away(err)
	}
	there, silent := within(d.patience, func() error {
		_, err := os.Stat(d.incoming())
		return err
	})
	if err := cmp.Or(silent, there); err != nil {
		return d.away(err)
	}
	return ErrNotFound
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// reader stops reading when ctx is done.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
