package source

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"deepoj/host/problem"
	"deepoj/host/problem/statement"
)

// Renderer renders the statements of the package.
func (r *Reader) Renderer() *statement.Renderer {
	if r.statements == nil {
		r.statements = statement.New(statementPackage{r})
	}
	return r.statements
}

// statementPackage is the package as its statements see it.
type statementPackage struct{ r *Reader }

func (p statementPackage) Has(name string) bool { return p.r.Has(name) }

func (p statementPackage) Read(name string, limit int64) ([]byte, error) {
	return p.r.Read(name, limit)
}

func (p statementPackage) Warn(file, reason string) { p.r.Warn(file, "", "%s", reason) }

// ReadPictures takes the pictures that the statements show. Those that had to be
// cleaned become files of the version.
func (r *Reader) ReadPictures() {
	if r.statements == nil {
		return
	}
	made := map[string][]byte{}
	for _, s := range r.statements.Pictures() {
		p := problem.Picture{Name: s.Name, File: r.File(s.Path), Type: s.Type, Convert: s.Convert}
		if s.Clean != nil {
			p.File = problem.File{Path: path.Join(problem.DerivedDir, s.Name), Size: int64(len(s.Clean))}
			made[p.File.Path] = s.Clean
			r.Package.Files = append(r.Package.Files, p.File)
		}
		r.Package.Pictures = append(r.Package.Pictures, p)
	}
	if len(made) > 0 {
		slices.SortFunc(r.Package.Files, func(a, b problem.File) int { return strings.Compare(a.Path, b.Path) })
		r.Package.From(withMade{r.FS, made})
	}
}

// withMade is a file system with files that were made.
type withMade struct {
	fs.FS
	made map[string][]byte
}

func (w withMade) Open(name string) (fs.File, error) {
	if content, ok := w.made[name]; ok {
		return &madeFile{bytes.NewReader(content), path.Base(name)}, nil
	}
	return w.FS.Open(name)
}

// madeFile is one of them, open.
type madeFile struct {
	*bytes.Reader
	name string
}

func (f *madeFile) Close() error { return nil }

func (f *madeFile) Stat() (fs.FileInfo, error) { return f, nil }

func (f *madeFile) Name() string { return f.name }

func (f *madeFile) Mode() fs.FileMode { return 0o444 }

func (f *madeFile) ModTime() time.Time { return time.Time{} }

func (f *madeFile) IsDir() bool { return false }

func (f *madeFile) Sys() any { return nil }
