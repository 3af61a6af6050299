package polygon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// Tests of Polygon are text, which is written by Windows with its own line ends. A validator of testlib expects those
// of the system that it runs on, so that the same test is right on both only because it is read as text. So it is here:
// line ends become those of this system. A file that is not text stays as it is.

// textFS is a package whose tests are read as text.
type textFS struct {
	fs.FS
	turned map[string]int64 // files with other line ends, and how long they are here
	first  string           // of them
}

// Open implements fs.FS.
func (t *textFS) Open(name string) (fs.File, error) {
	f, err := t.FS.Open(name)
	if size, ok := t.turned[name]; ok && err == nil {
		return &textFile{File: f, in: bufio.NewReaderSize(f, pieces), info: source.FileInfo(name, size)}, nil
	}
	return f, err
}

// pieces is how much of a file is read at once, in bytes.
const pieces = 64 << 10

// textFile is an open file with the line ends of this system.
type textFile struct {
	fs.File
	in   *bufio.Reader
	info fs.FileInfo
}

// Stat implements fs.File.
func (f *textFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Read implements fs.File: a carriage return before a line feed is left out.
func (f *textFile) Read(b []byte) (n int, err error) {
	for n < len(b) {
		c, err := f.in.ReadByte()
		if err != nil {
			return n, err
		}
		if c == '\r' {
			if next, err := f.in.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
		}
		b[n] = c
		n++
	}
	return n, nil
}

var crlf = []byte("\r\n")

// testFile returns a file of a test, as text if it is one.
func (p *reader) testFile(name string) problem.File {
	if p.WasExported { // what is exported has the line ends that its version has
		return p.File(name)
	}
	if _, done := p.ends.turned[name]; done {
		return p.File(name)
	}
	pairs, err := p.windows(name)
	if err != nil {
		p.Refuse(name, "", "cannot be read: %v", err)
	}
	if pairs == 0 || err != nil {
		return p.File(name)
	}
	if len(p.ends.turned) == 0 {
		p.ends.first = name
	}
	size := p.Sizes[name] - pairs
	p.Sizes[name], p.ends.turned[name] = size, size
	return p.File(name)
}

// windows returns how many line ends of Windows a file has, 0 if it is not text.
func (p *reader) windows(name string) (pairs int64, err error) {
	err = p.chunks(name, func(chunk []byte, before byte) {
		pairs += int64(bytes.Count(chunk, crlf))
		if before == '\r' && chunk[0] == '\n' {
			pairs++
		}
	})
	if err != nil || pairs == 0 {
		return 0, err
	}
	text := true
	err = p.chunks(name, func(chunk []byte, _ byte) {
		text = text && bytes.IndexFunc(chunk, func(c rune) bool { return c < ' ' && (c < '\t' || c > '\r') && c != dosEnd }) < 0
	})
	if !text {
		return 0, err
	}
	return pairs, err
}

// dosEnd ends texts of DOS.
const dosEnd = 0x1a

// chunks reads a file piece by piece, and tells of each with the byte before it.
func (p *reader) chunks(name string, tell func(chunk []byte, before byte)) error {
	f, err := p.ends.FS.Open(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close() // it was only read
	buffer, before := make([]byte, pieces), byte(0)
	for {
		n, err := f.Read(buffer)
		if n > 0 {
			tell(buffer[:n], before)
			before = buffer[n-1]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}

// readAsText makes the tests be read as text from here on.
func (p *reader) readAsText() {
	p.ends = &textFS{FS: p.FS, turned: map[string]int64{}}
	p.Layer(p.ends)
}

// tellTurned says which tests have other line ends here, and makes the list of files agree.
func (p *reader) tellTurned() {
	for i, f := range p.Package.Files {
		if size, ok := p.ends.turned[f.Path]; ok {
			p.Package.Files[i].Size = size
		}
	}
	if n := len(p.ends.turned); n > 1 {
		p.Warn(p.ends.first, "", "and %d other files of tests have the line ends of Windows: they are read as text, with those of this system", n-1)
	} else if n == 1 {
		p.Warn(p.ends.first, "", "has the line ends of Windows: it is read as text, with those of this system")
	}
}
