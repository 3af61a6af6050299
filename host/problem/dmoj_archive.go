package problem

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// maxInner bounds an archive in an archive, in bytes: it is read into memory.
const maxInner = 256 << 20

// mount puts the files of a ZIP file of the package into a folder that is called as
// it is, in its place. They count as all files do. It reports whether they are there:
// the name may be that of such a folder already.
func (r *reader) mount(k *keys, key, name string) bool {
	if fs.ValidPath(name) && len(r.below(name)) > 0 {
		return true
	}
	if !r.has(name) {
		k.refuse(key, "is %q: it must be a ZIP file of the package, or a folder", name)
		return false
	}
	in, err := r.inner(name)
	if err != nil {
		r.refuse(name, "", "cannot be read as a ZIP file: %v", err)
		return false
	}
	m := mounted{FS: r.fsys, at: name, in: in}
	r.fsys, r.p.src = m, m
	delete(r.all, name)
	r.p.Files = slices.DeleteFunc(r.p.Files, func(f File) bool { return f.Path == name })
	r.walk(name, 0)
	return true
}

// inner opens a ZIP file of the package.
func (r *reader) inner(name string) (*archive, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	at, is := f.(io.ReaderAt)
	if !is {
		defer f.Close() // it was only read
		if r.all[name] > maxInner {
			return nil, errors.New("it is longer than 256 MiB, in an archive: put its files into the package itself")
		}
		b := make([]byte, r.all[name])
		if _, err := io.ReadFull(f, b); err != nil {
			return nil, err
		}
		at = bytes.NewReader(b)
	}
	z, err := zip.NewReader(at, r.all[name])
	if err != nil {
		return nil, err
	}
	return unpack(z)
}

// mounted is a file system with an archive in the place of one of its files.
type mounted struct {
	fs.FS
	at string
	in *archive
}

// Open implements fs.FS.
func (m mounted) Open(name string) (fs.File, error) {
	if name == m.at {
		return m.in.Open(".")
	}
	if rest, within := strings.CutPrefix(name, m.at+"/"); within {
		return m.in.Open(rest)
	}
	return m.FS.Open(name)
}

// make adds a file that the package does not hold.
func (r *reader) make(name, content string) File {
	if r.has(name) {
		return r.file(name)
	}
	f := File{Path: name, Size: int64(len(content))}
	at, _ := slices.BinarySearchFunc(r.p.Files, name, byPath)
	r.p.Files = slices.Insert(r.p.Files, at, f)
	r.all[name] = f.Size
	w := withFile{FS: r.fsys, name: name, content: content}
	r.fsys, r.p.src = w, w
	return f
}

// withFile is a file system with one file more.
type withFile struct {
	fs.FS
	name, content string
}

// Open implements fs.FS.
func (w withFile) Open(name string) (fs.File, error) {
	if name != w.name {
		return w.FS.Open(name)
	}
	return &openFile{ReadCloser: io.NopCloser(strings.NewReader(w.content)), info: entry{name: name, size: int64(len(w.content))}}, nil
}
