package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// File appends the value of each record as a line to a file. What a crash left of a line is cut off: it comes again.
type File struct {
	path string
	f    *os.File
}

var _ Sink = (*File)(nil)

// NewFile prepares the file at path, which Open makes if it is missing.
func NewFile(path string) *File { return &File{path: path} }

// Open opens the file.
func (s *File) Open(context.Context) ([]byte, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Clean(s.path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: let the account that the feed runs as write there, or name another file", err)
		}
		return nil, fmt.Errorf("sink_path=%s: %w", s.path, err)
	}
	end, err := lastLine(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("file of lines %s: %w", s.path, err), f.Close())
	}
	s.f = f
	return nil, nil // the file keeps no position
}

// lastLine returns where the last whole line ends.
func lastLine(f *os.File) (int64, error) {
	end, err := f.Seek(0, io.SeekEnd)
	buf := make([]byte, 64<<10)
	for err == nil && end > 0 {
		from := max(0, end-int64(len(buf)))
		piece := buf[:end-from]
		if _, err = f.ReadAt(piece, from); err != nil {
			break
		}
		for i, c := range slices.Backward(piece) {
			if c == '\n' {
				return from + int64(i) + 1, nil
			}
		}
		end = from
	}
	return end, err
}

// Send appends a batch and brings it to the disk.
func (s *File) Send(_ context.Context, batch []Record, _ []byte) error {
	if s.f == nil {
		return errors.New("the file of lines is not open")
	}
	if err := writeLines(s.f, batch); err != nil {
		return fmt.Errorf("file of lines %s: %w", s.path, err)
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("file of lines %s: %w", s.path, err)
	}
	return nil
}

// Close closes the file.
func (s *File) Close() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}

func writeLines(out io.Writer, batch []Record) error {
	var all bytes.Buffer // written at once, so that lines of several feeds stay whole
	for _, r := range batch {
		all.Write(r.Value)
		all.WriteByte('\n')
	}
	_, err := out.Write(all.Bytes())
	return err
}

// Stream writes the value of each record as a line.
type Stream struct{ Out io.Writer }

var _ Sink = Stream{}

// Open does nothing.
func (Stream) Open(context.Context) ([]byte, error) { return nil, nil }

// Send writes a batch.
func (s Stream) Send(_ context.Context, batch []Record, _ []byte) error {
	if err := writeLines(s.Out, batch); err != nil {
		return &FinalError{fmt.Errorf("write the lines: %w", err)} // nobody reads them any more
	}
	return nil
}

// Close does nothing.
func (Stream) Close() error { return nil }
