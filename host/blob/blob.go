// Package blob keeps files by their content: what is stored is named by its
// SHA-256, so equal files are stored once and a stored file never changes.
//
// A [Store] promises that what it returns is what was put in: every read is checked against the digest, and a damaged
// file is an error and never data. It does not delete, and it knows nothing about what the files mean.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Digest names content: "sha256:" and 64 lower-case hexadecimal digits.
type Digest string

const algorithm = "sha256:"

// ErrNotFound says that a store does not hold the digest that was asked for.
var ErrNotFound = errors.New("no such blob")

// AwayError says that a store cannot be used now: it is not there, does not answer
// in time, or refuses what it should do. It says nothing about single blobs.
type AwayError struct {
	Store string // what is away, for people
	Err   error
}

func (e *AwayError) Error() string { return e.Store + " cannot be used: " + e.Err.Error() }

// Unwrap returns what the store said.
func (e *AwayError) Unwrap() error { return e.Err }

// Away reports whether an error says that a store cannot be used now.
func Away(err error) bool {
	_, ok := errors.AsType[*AwayError](err)
	return ok
}

// CorruptError says that stored bytes no longer match their name.
type CorruptError struct {
	Want Digest // the name under which the bytes are stored
	Got  Digest // the digest of what is there now
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("blob %s is damaged: its content is %s", e.Want, e.Got)
}

// Store keeps files by content. It is safe for concurrent use, also by several processes.
type Store interface {
	// Put stores what r yields and returns its digest and size in bytes. The file is either stored whole and
	// durably or not at all. Storing what is there already changes nothing.
	Put(ctx context.Context, r io.Reader) (Digest, int64, error)

	// Open returns the content of d. Its last read returns a [CorruptError] instead of io.EOF when the content does
	// not match d, so a caller that reads to the end holds the right bytes. The error is [ErrNotFound] when d is
	// not stored, and an [*AwayError] when that cannot be told.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)

	// File returns an open file of this machine with the content of d, at offset zero, for handing it to another
	// process. The content was checked when this process first used it, and again whenever the file's size or time
	// changed. The errors are those of Open.
	File(ctx context.Context, d Digest) (*os.File, error)

	// Has reports whether d is stored.
	Has(ctx context.Context, d Digest) (bool, error)

	// List calls f with each stored digest and its size in bytes, in no order, until f returns an error, which it
	// returns. What is stored meanwhile may be left out.
	List(ctx context.Context, f func(d Digest, size int64) error) error

	// Probe does to the store what judging does: it reads a small blob, which it
	// stores first where it is missing. An error says that the store cannot be used.
	Probe(ctx context.Context) error

	// Verify reads all of d where it is stored. The error is a [CorruptError] when
	// the content does not match; then storing it again mends it.
	Verify(ctx context.Context, d Digest) error
}

// Parse returns s as a Digest, or an error that says what is wrong with it.
func Parse(s string) (Digest, error) {
	digits, ok := strings.CutPrefix(s, algorithm)
	if !ok {
		return "", fmt.Errorf("digest %q does not begin with %q", s, algorithm)
	}
	if len(digits) != 2*sha256.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", fmt.Errorf("digest %q is not %q and 64 lower-case hexadecimal digits", s, algorithm)
	}
	return Digest(s), nil
}

// Of returns the digest of b.
func Of(b []byte) Digest {
	sum := sha256.Sum256(b)
	return named(sum[:])
}

// Hex returns the hexadecimal digits of d, without the algorithm.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), algorithm) }

// ReadAll returns the whole checked content of d, and an error if it is longer than limit bytes.
func ReadAll(ctx context.Context, s Store, d Digest, limit int64) ([]byte, error) {
	r, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", d, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("read blob %s: longer than %d bytes", d, limit)
	}
	return b, nil
}

// probed is what stores are probed with.
const probed = "Deep-OJ looks whether this can be read.\n"

// probe reads what stores are probed with through open, and has put store it where it is missing.
func probe(ctx context.Context, open func(context.Context, Digest) (io.ReadCloser, error), put func(context.Context, io.Reader) (Digest, int64, error)) error {
	for try := 0; ; try++ {
		r, err := open(ctx, Of([]byte(probed)))
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		_, damaged := errors.AsType[*CorruptError](err)
		if try > 0 || !damaged && !errors.Is(err, ErrNotFound) {
			return err
		}
		if _, _, err := put(ctx, strings.NewReader(probed)); err != nil {
			return err
		}
	}
}

func named(sum []byte) Digest { return Digest(algorithm + hex.EncodeToString(sum)) }
