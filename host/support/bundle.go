// Package support collects what an operator is asked for when something goes wrong, as one archive without secrets.
//
// It decides neither what is collected nor what is secret: cmd knows both.
package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// partTime is how long one part may take.
	partTime = 45 * time.Second

	// partLimit is how many bytes of a part are kept.
	partLimit = 8 << 20

	// errorsFile lists what could not be collected.
	errorsFile = "errors.txt"
)

// Part is one file of a bundle.
type Part struct {
	Name    string                                       // of the file, such as "doctor.json"
	Collect func(ctx context.Context, w io.Writer) error // writes its content
}

// Write writes a tar archive, compressed by gzip, with all parts below a folder of the name given, masked and dated at.
// It returns the parts that failed: a bundle is most wanted where things fail. What such a part had written is in the
// archive, and all failures are in its file errors.txt.
func Write(ctx context.Context, w io.Writer, folder string, at time.Time, mask Mask, parts ...Part) (failed []error, err error) {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	add := func(name string, content []byte) error {
		if len(content) == 0 {
			return nil
		}
		content = mask.Text(content)
		h := &tar.Header{Name: folder + "/" + name, Mode: 0o600, Size: int64(len(content)), ModTime: at.Truncate(time.Second)}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	for _, p := range parts {
		var b bounded
		if err := collect(ctx, p, &b); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.Name, err))
		}
		if err := add(p.Name, b.Bytes()); err != nil {
			return failed, fmt.Errorf("write %s: %w", p.Name, err)
		}
	}
	var lines strings.Builder
	for i, f := range failed {
		failed[i] = errors.New(string(mask.Text([]byte(f.Error()))))
		fmt.Fprintln(&lines, failed[i])
	}
	if err := errors.Join(add(errorsFile, []byte(lines.String())), t.Close(), z.Close()); err != nil {
		return failed, fmt.Errorf("write the archive: %w", err)
	}
	return failed, nil
}

func collect(ctx context.Context, p Part, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	return p.Collect(ctx, w)
}

// errTooLong says that a part was cut.
var errTooLong = fmt.Errorf("cut after %d MiB", partLimit>>20)

// bounded keeps the first bytes that are written to it, in whole lines: what is
// left of a line that was cut might be the half of a secret.
type bounded struct {
	b   bytes.Buffer
	cut bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.b.Len()+len(p) <= partLimit && !b.cut {
		return b.b.Write(p)
	}
	b.cut = true
	n, _ := b.b.Write(p[:partLimit-min(partLimit, b.b.Len())]) // never fails
	return n, errTooLong
}

// Bytes returns what is kept.
func (b *bounded) Bytes() []byte {
	if !b.cut {
		return b.b.Bytes()
	}
	return b.b.Bytes()[:bytes.LastIndexByte(b.b.Bytes(), '\n')+1]
}

// Tail returns a part that is the end of a file: its last lines of at most limit
// bytes together. A file that does not exist is an error.
func Tail(name, path string, limit int64) Part {
	return Part{name, func(_ context.Context, w io.Writer) error {
		f, err := os.Open(filepath.Clean(path))
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		from := max(0, info.Size()-limit)
		data, err := io.ReadAll(io.NewSectionReader(f, from, limit))
		if err != nil {
			return err
		}
		if from > 0 { // in the middle of a line, perhaps
			_, data, _ = bytes.Cut(data, []byte("\n"))
		}
		_, err = w.Write(data)
		return err
	}}
}
