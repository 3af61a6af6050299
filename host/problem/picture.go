package problem

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"deepoj/host/problem/statement"
)

// renderer renders the statements of the package.
func (r *reader) renderer() *statement.Renderer {
	if r.statements == nil {
		r.statements = statement.New(statementPackage{r})
	}
	return r.statements
}

// statementPackage is the package as its statements see it.
type statementPackage struct{ r *reader }

func (p statementPackage) Has(name string) bool { return p.r.has(name) }

func (p statementPackage) Read(name string, limit int64) ([]byte, error) {
	return p.r.read(name, limit)
}

func (p statementPackage) Warn(file, reason string) { p.r.warn(file, "", "%s", reason) }

// readPictures takes the pictures that the statements show. Those that had to be
// cleaned become files of the version.
func (r *reader) readPictures() {
	if r.statements == nil {
		return
	}
	made := map[string][]byte{}
	for _, s := range r.statements.Pictures() {
		p := Picture{Name: s.Name, File: r.file(s.Path), Type: s.Type, Convert: s.Convert}
		if s.Clean != nil {
			p.File = File{Path: path.Join(derivedDir, s.Name), Size: int64(len(s.Clean))}
			made[p.File.Path] = s.Clean
			r.p.Files = append(r.p.Files, p.File)
		}
		r.p.Pictures = append(r.p.Pictures, p)
	}
	if len(made) > 0 {
		slices.SortFunc(r.p.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		r.p.src = withMade{r.p.src, made}
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

func (f *madeFile) Close() error               { return nil }
func (f *madeFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *madeFile) Name() string               { return f.name }
func (f *madeFile) Mode() fs.FileMode          { return 0o444 }
func (f *madeFile) ModTime() time.Time         { return time.Time{} }
func (f *madeFile) IsDir() bool                { return false }
func (f *madeFile) Sys() any                   { return nil }
