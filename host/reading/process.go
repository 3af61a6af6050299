package reading

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"deepoj/host/problem"
	"deepoj/host/reading/apart"
)

// process is a reader of a problem package that is under way.
type process struct {
	*apart.Process

	mu     sync.Mutex // held while a file is open
	number map[string]int
	sizes  map[string]int64
}

// start starts a reader.
func (c Config) start(ctx context.Context, o order, source *os.File) (*process, error) {
	arg, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("start the reader of a package: %w", err)
	}
	p, err := apart.Config(c).Start(ctx, source, Command, string(arg))
	if err != nil {
		return nil, err
	}
	return &process{Process: p}, nil
}

// head returns the answer about the package.
func (p *process) head() ([]byte, error) {
	defer p.Patience()()
	_, head, err := readFrame(p.Answers, map[byte]uint32{frameHead: maxHead}, nil)
	if err != nil {
		return nil, p.Why(err)
	}
	return head, nil
}

// expect says which files there are to ask for.
func (p *process) expect(all []problem.File) {
	p.number, p.sizes = make(map[string]int, len(all)), make(map[string]int64, len(all))
	for i, f := range all {
		p.number[f.Path], p.sizes[f.Path] = i, f.Size
	}
}

// files are those of a package that a process has read, as it sends them. One is open at a time.
type files struct{ p *process }

// Open implements fs.FS.
func (s files) Open(name string) (fs.File, error) {
	number, known := s.p.number[name]
	if !known {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	s.p.mu.Lock()
	var question [questionSize]byte
	binary.BigEndian.PutUint32(question[:], uint32(number))
	if err := s.p.Ask(question[:]); err != nil {
		s.p.mu.Unlock()
		return nil, s.p.Why(io.ErrUnexpectedEOF)
	}
	return &file{p: s.p, name: name, size: s.p.sizes[name], left: s.p.sizes[name]}, nil
}

// file is a file that is on its way.
type file struct {
	p      *process
	name   string
	size   int64
	left   int64 // that may still come
	buffer [maxData]byte
	rest   []byte
	err    error // after rest
	closed bool
}

// Read implements fs.File.
func (f *file) Read(b []byte) (int, error) {
	for len(f.rest) == 0 && f.err == nil {
		f.next()
	}
	if len(f.rest) == 0 {
		return 0, f.err
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next reads a frame.
func (f *file) next() {
	defer f.p.Patience()()
	kind, content, err := readFrame(f.p.Answers, map[byte]uint32{frameData: maxData, frameEnd: 0, frameError: maxError}, f.buffer[:])
	switch {
	case err != nil:
		f.err = f.p.Why(err)
	case kind == frameError:
		f.err = errors.New(strings.ToValidUTF8(string(content), "\uFFFD"))
	case kind == frameEnd && f.left == 0:
		f.err = io.EOF
	case kind == frameEnd || int64(len(content)) > f.left:
		f.p.Kill() // and never in step again
		f.err = fmt.Errorf("it is not of %d bytes", f.size)
	default:
		f.left -= int64(len(content))
		f.rest = content
	}
}

// Close implements fs.File. A process whose file was not read to the end is of no more use, except to say so.
func (f *file) Close() error {
	if !f.closed {
		f.closed = true
		for f.err == nil {
			f.next()
		}
		f.p.mu.Unlock()
	}
	return nil
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return about{path.Base(f.name), f.size}, nil }

// about describes a file.
type about struct {
	name string
	size int64
}

func (a about) Name() string       { return a.name }
func (a about) Size() int64        { return a.size }
func (a about) Mode() fs.FileMode  { return 0o444 }
func (a about) ModTime() time.Time { return time.Time{} }
func (a about) IsDir() bool        { return false }
func (a about) Sys() any           { return nil }
