package source

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"deepoj/host/problem"
)

// ReadAsText has files read as text. Ended says that a last line without an end gets one.
func (r *Reader) ReadAsText(names []string, ended bool) {
	turned := turnedFiles{FS: r.FS, files: map[string]turnedFile{}}
	var crs, marks, wide []string
	for _, name := range names {
		if _, twice := turned.files[name]; twice || r.Sizes[name] == 0 {
			continue
		}
		t, n, err := r.look(name, ended)
		switch {
		case err != nil:
			r.Refuse(name, "", "cannot be read: %v", err)
			continue
		case t.wide:
			wide = append(wide, name)
			continue
		case t.zero || !t.changed():
			continue
		}
		if t.crs {
			crs = append(crs, name)
		}
		if t.mark {
			marks = append(marks, name)
		}
		turned.files[name] = turnedFile{size: n, ended: ended}
		r.resize(name, n)
	}
	if len(turned.files) > 0 {
		r.Layer(turned)
		r.resized()
	}
	for _, file := range wide {
		r.Refuse(file, "", "is text in UTF-16, which programs do not expect: save it as UTF-8")
	}
	for _, file := range crs {
		r.Warn(file, "", "has line ends of Windows, which programs do not get: they are turned into those of Unix")
	}
	for _, file := range marks {
		r.Warn(file, "", "begins with a byte order mark, which is left out")
	}
}

// resize notes that a file is read with another size.
func (r *Reader) resize(name string, size int64) {
	r.Sizes[name] = size
	if i, there := slices.BinarySearchFunc(r.Package.Files, name, byPath); there {
		r.Package.Files[i].Size = size
	}
}

// resized gives the files of tests that were read before the sizes that they have now.
func (r *Reader) resized() {
	if r.Package.Root != nil {
		r.Package.EachFile(func(f *problem.File) {
			if f.Path != "" {
				f.Size = r.Sizes[f.Path]
			}
		})
	}
}

func byPath(f problem.File, name string) int { return cmp.Compare(f.Path, name) }

// look reads a file to its end and says what there is to turn, and what its size is then.
func (r *Reader) look(name string, ended bool) (*turner, int64, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, 0, err
	}
	t := &turner{from: f, ended: ended}
	n, err := io.Copy(io.Discard, t)
	return t, n, errors.Join(err, f.Close())
}

// turnedFiles is a file system some of whose files are read as text.
type turnedFiles struct {
	fs.FS
	files map[string]turnedFile
}

type turnedFile struct {
	size  int64
	ended bool
}

// Open implements fs.FS.
func (s turnedFiles) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	t, is := s.files[name]
	if err != nil || !is {
		return f, err
	}
	return &openFile{ReadCloser: closing{&turner{from: f, ended: t.ended}, f}, info: entry{name: path.Base(name), size: t.size}}, nil
}

// closing reads from one place and closes another.
type closing struct {
	io.Reader
	io.Closer
}

// turner turns text while it is read: \r\n and a lone \r become \n.
type turner struct {
	from  io.Reader
	ended bool // a last line without an end gets one

	buffer [32 << 10]byte
	out    []byte // not yet read by others
	err    error  // after out
	begun  bool
	cr     bool // the last byte was \r, and \n is out for it
	open   bool // the last byte was no line end

	crs, mark, zero, wide, added bool // what was met
}

// changed reports whether what was read differs from what there was.
func (t *turner) changed() bool { return t.crs || t.mark || t.added }

// Read implements io.Reader.
func (t *turner) Read(p []byte) (int, error) {
	for len(t.out) == 0 && t.err == nil {
		t.fill()
	}
	if len(t.out) == 0 {
		return 0, t.err
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// fill reads and turns the next part. The first has all that a mark may have.
func (t *turner) fill() {
	least := 1
	if !t.begun {
		least = 3
	}
	n, err := io.ReadAtLeast(t.from, t.buffer[:], least)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	part := t.buffer[:n]
	if !t.begun {
		t.begun = true
		t.wide = bytes.HasPrefix(part, []byte{0xff, 0xfe}) || bytes.HasPrefix(part, []byte{0xfe, 0xff})
		if t.mark = bytes.HasPrefix(part, []byte("\xef\xbb\xbf")); t.mark {
			part = part[3:]
		}
	}
	t.zero = t.zero || bytes.IndexByte(part, 0) >= 0
	t.out, t.err = t.unix(part), err
	if len(t.out) > 0 {
		t.open = t.out[len(t.out)-1] != '\n'
	}
	if errors.Is(err, io.EOF) && t.ended && t.open {
		t.added = true
		t.out = append(t.out, '\n')
	}
}

// unix turns line ends in place.
func (t *turner) unix(part []byte) []byte {
	if !t.cr && bytes.IndexByte(part, '\r') < 0 {
		return part
	}
	out := part[:0]
	for _, c := range part {
		switch {
		case c == '\n' && t.cr: // is out already
		case c == '\r':
			t.crs = true
			out = append(out, '\n')
		default:
			out = append(out, c)
		}
		t.cr = c == '\r'
	}
	return out
}
