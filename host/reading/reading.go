// Package reading reads problem packages in a process of its own, because a small
// package can cost hours or gigabytes, and because strangers made it.
//
// The process is this program again. It gets one open file, the archive or folder, and has bounded memory and CPU time;
// it has no environment and can open no other file, no connection and no program. It answers with the package as JSON,
// which is bounded and checked, and with the content of the files that it is asked for. It is killed when the context
// of the caller ends.
package reading

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/reading/apart"
)

// Config bounds what reading one package may cost: see [apart.Config].
type Config apart.Config

// FailureError is why a package could not be read to its end: see [apart.FailureError].
type FailureError = apart.FailureError

// Reading is a package whose files are still with the process that read it.
type Reading struct {
	*problem.Package

	Report problem.Report

	process *process
}

// Close ends the process. The package can be opened no more, unless it was saved.
func (r *Reading) Close() error {
	if r.process != nil {
		r.process.End()
	}
	return nil
}

// Archive reads a package from an open ZIP file. The reasons to refuse it are those of [importing.Read], or a
// [FailureError]; any other error is none of the package. The report is there in any case.
func (c Config) Archive(ctx context.Context, file *os.File) (*Reading, error) {
	info, err := file.Stat()
	if err != nil {
		return &Reading{}, fmt.Errorf("read package: %w", err)
	}
	return c.read(ctx, order{Bytes: info.Size(), Folder: info.IsDir()}, file)
}

// Sample reads the package of a sample problem.
func (c Config) Sample(ctx context.Context, slug string) (*Reading, error) {
	return c.read(ctx, order{Sample: slug}, nil)
}

// Statements reads of a package in an open ZIP file what its pages show, as
// [importing.Statements] does. Errors are as of [Config.Archive].
func (c Config) Statements(ctx context.Context, file *os.File) (*Reading, error) {
	info, err := file.Stat()
	if err != nil {
		return &Reading{}, fmt.Errorf("read package: %w", err)
	}
	return c.read(ctx, order{Bytes: info.Size(), Statements: true}, file)
}

// Path reads the package at a path of this machine, as [source.Open] finds it, and returns its short name besides.
func (c Config) Path(ctx context.Context, name string) (r *Reading, slug string, err error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return &Reading{}, "", fmt.Errorf("open package: %w", err)
	}
	file, err := os.Open(full)
	if err != nil {
		return &Reading{}, "", fmt.Errorf("open package: %w", err)
	}
	defer file.Close() // the process has its own
	r, err = c.Archive(ctx, file)
	return r, strings.TrimSuffix(filepath.Base(full), ".zip"), err
}

func (c Config) read(ctx context.Context, o order, source *os.File) (r *Reading, err error) {
	c = Config(apart.Config(c).WithDefaults())
	o.CPU, o.Data = c.CPU, c.Bytes
	c.Slow = ": a statement, a name or a table in it is made in a way that takes very long to read"
	err = apart.Try(func() (err error) {
		r, err = c.readOnce(ctx, o, source)
		return err
	})
	return r, err
}

// readOnce is one try. It ends the process unless it succeeds.
func (c Config) readOnce(ctx context.Context, o order, source *os.File) (r *Reading, err error) {
	r = &Reading{}
	p, err := c.start(ctx, o, source)
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			p.End()
		}
	}()
	head, err := p.head()
	if err != nil {
		return r, err
	}
	var a answer
	if err := json.Unmarshal(head, &a); err != nil {
		return r, &FailureError{Why: "the reader's answer cannot be read: " + err.Error()}
	}
	if len(a.Report.Warnings) > maxFindings || len(a.Refused) > maxFindings {
		return r, &FailureError{Why: "the reader's answer has too many findings"}
	}
	r.Report = a.Report
	switch {
	case a.Archive != "":
		return r, &FailureError{Why: a.Archive}
	case len(a.Refused) > 0:
		var errs []error
		for _, f := range a.Refused {
			errs = append(errs, &problem.Error{Finding: f})
		}
		return r, errors.Join(errs...)
	}
	pkg, err := problem.Arrived(a.Package, files{p})
	if err != nil {
		return r, &FailureError{Why: "the reader's answer cannot be used: " + err.Error()}
	}
	p.expect(pkg.Files)
	r.Package, r.process = pkg, p
	return r, nil
}

// maxFindings bounds the lists of an answer.
const maxFindings = 200

// answer is what the process says of a package. Archive says why there is no archive
// to read; Refused why there is no package.
type answer struct {
	Archive string            `json:"archive,omitempty"`
	Refused []problem.Finding `json:"refused,omitempty"`
	Report  problem.Report    `json:"report"`
	Package json.RawMessage   `json:"package,omitempty"`
}

// order is what the process is told when it starts.
type order struct {
	apart.Limits

	Bytes  int64  `json:"bytes,omitempty"`  // of the archive
	Folder bool   `json:"folder,omitempty"` // what is open is a folder
	Sample string `json:"sample,omitempty"` // nothing is open: the sample problem of this name

	Statements bool `json:"statements,omitempty"` // what pages show is all that is read
}

// What the process says: one byte of kind, four of length, and so many more.
const (
	frameHead  = 'H' // an answer, as JSON
	frameData  = 'D' // part of the file that was asked for
	frameEnd   = 'E' // that was all of it
	frameError = 'X' // why it cannot be read
)

// What a frame may have at most, in bytes.
const (
	maxHead  = 64 << 20
	maxData  = 64 << 10
	maxError = 4 << 10
)

// A question is the number of a file in the package's list, in four bytes.
const questionSize = 4

func writeFrame(w io.Writer, kind byte, content []byte) error {
	b := make([]byte, 5, 5+len(content))
	b[0] = kind
	binary.BigEndian.PutUint32(b[1:], uint32(len(content)))
	_, err := w.Write(append(b, content...))
	return err
}

// readFrame reads a frame that may be of the kinds that limits has. An error other than
// those of r says what is wrong with it.
func readFrame(r io.Reader, limits map[byte]uint32, into []byte) (kind byte, content []byte, err error) {
	var b [5]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(b[1:])
	most, known := limits[b[0]]
	if !known || n > most {
		return 0, nil, fmt.Errorf("frame %q of %d bytes", b[0], n)
	}
	if uint32(cap(into)) < n {
		into = make([]byte, n)
	}
	_, err = io.ReadFull(r, into[:n])
	return b[0], into[:n], err
}
