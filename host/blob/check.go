package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
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

// verify reads all of r, closes it, and compares it with g.
func verify(ctx context.Context, r io.ReadCloser, g Digest) error {
	_, err := io.Copy(io.Discard, newChecked(ctx, r, g))
	return errors.Join(err, r.Close())
}
