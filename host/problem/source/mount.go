package source

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"deepoj/host/problem"
)

// maxInner bounds an archive in an archive, in bytes: it is read into memory.
const maxInner = 256 << 20

// Mount puts the files of a ZIP file of the package into a folder that is called as it is, in its place. They count as
// all files do. It reports whether they are there: the name may be that of such a folder already.
func (r *Reader) Mount(k *Keys, key, name string) bool {
	if fs.ValidPath(name) && len(r.Below(name)) > 0 {
		return true
	}
	if !r.Has(name) {
		k.Refuse(key, "is %q: it must be a ZIP file of the package, or a folder", name)
		return false
	}
	in, err := r.inner(name)
	if err != nil {
		r.Refuse(name, "", "cannot be read as a ZIP file: %v", err)
		return false
	}
	m := mounted{FS: r.FS, at: name, in: in}
	r.Layer(m)
	delete(r.Sizes, name)
	r.Package.Files = slices.DeleteFunc(r.Package.Files, func(f problem.File) bool { return f.Path == name })
	r.walk(name, 0)
	return true
}

// inner opens a ZIP file of the package.
func (r *Reader) inner(name string) (*archive, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	at, is := f.(io.ReaderAt)
	if !is {
		defer f.Close() // it was only read
		if r.Sizes[name] > maxInner {
			return nil, errors.New("it is longer than 256 MiB, in an archive: put its files into the package itself")
		}
		b := make([]byte, r.Sizes[name])
		if _, err := io.ReadFull(f, b); err != nil {
			return nil, err
		}
		at = bytes.NewReader(b)
	}
	z, err := zip.NewReader(at, r.Sizes[name])
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

// Add adds a file that the package does not hold.
func (r *Reader) Add(name, content string) problem.File {
	if r.Has(name) {
		return r.File(name)
	}
	f := problem.File{Path: name, Size: int64(len(content))}
	at, _ := slices.BinarySearchFunc(r.Package.Files, name, byPath)
	r.Package.Files = slices.Insert(r.Package.Files, at, f)
	r.Sizes[name] = f.Size
	w := withFile{FS: r.FS, name: name, content: content}
	r.Layer(w)
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
