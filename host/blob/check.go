package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"time"
)

// checked reads r and compares what it read with want at the end.
type checked struct {
	r    io.ReadCloser
	sum  hash.Hash
	want Digest
	ctx  context.Context
}

func newChecked(ctx context.Context, r io.ReadCloser, want Digest) *checked {
	return &checked{r: r, sum: sha256.New(), want: want, ctx: ctx}
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if got := named(c.sum.Sum(nil)); got != c.want {
			return n, &CorruptError{Want: c.want, Got: got}
		}
	}
	return n, err
}

// Close implements io.Closer.
func (c *checked) Close() error { return c.r.Close() }

// timed is a file whose every read has a deadline: that of a folder on a server
// that is gone may never return. Whatever such a read does later harms nobody.
type timed struct {
	f     *os.File
	limit time.Duration
	store string
	own   []byte // what is read into; given up with a read that does not return
	lost  bool
}

type reading struct {
	n   int
	err error
}

// Read implements io.Reader.
func (t *timed) Read(p []byte) (int, error) {
	if t.lost {
		return 0, &AwayError{t.store, errSilent}
	}
	if len(t.own) < len(p) {
		t.own = make([]byte, len(p))
	}
	own := t.own[:len(p)]
	did, err := within(t.limit, func() reading {
		n, err := t.f.Read(own)
		return reading{n, err}
	})
	if err != nil {
		t.lost, t.own = true, nil
		return 0, &AwayError{t.store, err}
	}
	copy(p, own[:did.n])
	if did.err != nil && !errors.Is(did.err, io.EOF) {
		did.err = &AwayError{t.store, did.err}
	}
	return did.n, did.err
}

// Close implements io.Closer. A file whose read does not return is left alone.
func (t *timed) Close() error {
	if t.lost {
		go t.f.Close()
		return nil
	}
	return t.f.Close()
}

// errSilent says that a store did not answer in time.
var errSilent = errors.New("it does not answer in time")

// within returns what do returns, or errSilent when that takes longer than limit.
func within[T any](limit time.Duration, do func() T) (T, error) {
	done := make(chan T, 1)
	go func() { done <- do() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case x := <-done:
		return x, nil
	case <-timer.C:
		var none T
		return none, errSilent
	}
}

// verify reads all of r, closes it, and compares it with g.
func verify(ctx context.Context, r io.ReadCloser, g Digest) error {
	_, err := io.Copy(io.Discard, newChecked(ctx, r, g))
	return errors.Join(err, r.Close())
}
