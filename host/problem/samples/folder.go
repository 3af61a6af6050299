package samples

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// folder is a file system with more files than another one. Their folders exist
// in the other one.
type folder struct {
	fs.FS
	made map[string][]byte
}

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if b, ok := f.made[name]; ok {
		return &made{Reader: bytes.NewReader(b), about: about{path.Base(name), int64(len(b))}}, nil
	}
	return f.FS.Open(name)
}

// Stat implements fs.StatFS.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if b, ok := f.made[name]; ok {
		return about{path.Base(name), int64(len(b))}, nil
	}
	return fs.Stat(f.FS, name)
}

// ReadDir implements fs.ReadDirFS.
func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	if err != nil {
		return nil, err
	}
	for file, b := range f.made {
		if path.Dir(file) == name {
			entries = append(entries, about{path.Base(file), int64(len(b))})
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// made is an open file that was made.
type made struct {
	io.Reader
	about about
}

// Stat implements fs.File.
func (m *made) Stat() (fs.FileInfo, error) { return m.about, nil }

// Close implements fs.File.
func (m *made) Close() error { return nil }

// about describes a file that was made.
type about struct {
	name string
	size int64
}

func (a about) Name() string               { return a.name }
func (a about) Size() int64                { return a.size }
func (a about) Mode() fs.FileMode          { return 0o444 }
func (a about) Type() fs.FileMode          { return 0 }
func (a about) ModTime() time.Time         { return time.Time{} }
func (a about) IsDir() bool                { return false }
func (a about) Sys() any                   { return nil }
func (a about) Info() (fs.FileInfo, error) { return a, nil }
