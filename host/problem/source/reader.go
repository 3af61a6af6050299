// Package source opens the package of a problem, lists its files within bounds, and gives those who read a format what
// all formats have in common: text and YAML with a note of what nothing read, the checker that deepoj.yaml binds,
// limits, programs of the judges, statements, samples and pictures. It knows no format; a [Reader] collects what is
// wrong, to report all of it.
//
// Its files:
//
//	reader.go     what one package is read with, and what was found
//	findings.go   findings, like ones together, and limits that this platform can honour
//	archive.go    opens a folder or a ZIP file
//	walk.go       lists the files of a package, and where links may lead
//	mount.go      archives in a package, and files that it does not hold
//	yaml.go       YAML, with a note of each key that nothing read
//	text.go       tests that are read as text
//	generate.go   deepoj.yaml: checkers and interactors that are bound, and tests that are made
//	programs.go   programs of the judges, headers that they include, and files that tools leave beside them
//	statement.go  statements, their pictures, samples and attachments
package source

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/statement"
)

// What makes a folder a package of ICPC, of Polygon and of DMOJ.
const (
	ProblemYAML = "problem.yaml"
	ProblemXML  = "problem.xml"
	InitYML     = "init.yml"
)

// DataDir is the folder of tests, and SubmissionsDir that of the programs that prove a package, in the formats of ICPC.
const (
	DataDir        = "data"
	SubmissionsDir = "submissions"
)

// What a package may be at most. They bound the work of reading a hostile one.
const (
	maxDepth     = 16        // folders in folders, also through links
	maxReached   = 64        // ways that links lead to one folder
	MaxText      = 4 << 20   // bytes of a file that is parsed
	MaxStatement = 256 << 10 // bytes of the text of a statement in one language
	maxReasons   = 100       // errors and warnings that are listed
)

// Reader reads one package. It goes on after an error, to report them all.
type Reader struct {
	FS      fs.FS            // the files, see [Reader.Layer]
	Package *problem.Package // what was read so far
	Sizes   map[string]int64 // of every file, in bytes, by path
	walked  walked
	links   map[string]bool // that lead to no file here

	refused, warnings findings
	Refusals          int // how often something was refused

	shownBytes int // of the samples so far
	statements *statement.Renderer

	generate []madeTest // tests that deepoj.yaml has made
	solution string     // the submission that makes their answers, below submissions

	WasExported bool // it has a [problem.VersionFile]
}

// New returns a reader of the package in fsys, whose files it has listed.
func New(fsys fs.FS) *Reader {
	r := &Reader{Package: problem.New()}
	r.Again(fsys)
	return r
}

// Again begins anew with the files of another file system. It reports whether nothing was refused.
func (r *Reader) Again(fsys fs.FS) bool {
	r.Layer(fsys)
	r.Package.Files = nil
	r.Sizes, r.links, r.walked = map[string]int64{}, map[string]bool{}, walked{}
	r.walk(".", 0)
	return r.Refusals == 0
}

// Quiet returns a reader of the same files whose findings nobody hears of.
func (r *Reader) Quiet() *Reader {
	return &Reader{FS: r.FS, Package: r.Package, Sizes: r.Sizes, links: r.links}
}

// Layer puts a file system in the place of the one that the package is read from.
func (r *Reader) Layer(fsys fs.FS) {
	r.FS = fsys
	r.Package.From(fsys)
}

// Warned reports whether there is a warning of a key of a file.
func (r *Reader) Warned(file, key string) bool {
	return slices.ContainsFunc(r.warnings.all, func(w *alike) bool { return w.File == file && w.Key == key })
}

// Refused lists the reasons to refuse the package, in the order of their files.
func (r *Reader) Refused() []problem.Finding { return r.refused.ordered() }

// Report is the report of what was read.
func (r *Reader) Report() problem.Report { return problem.Report{Warnings: r.warnings.ordered()} }

// Err joins the reasons to refuse the package.
func (r *Reader) Err() error {
	var errs []error
	for _, f := range r.refused.ordered() {
		errs = append(errs, &problem.Error{Finding: f})
	}
	return errors.Join(errs...)
}

// Refuse records a reason to refuse the package.
func (r *Reader) Refuse(file, key, format string, args ...any) {
	r.Refusals++
	r.refused.add(saying(file, key, format, args...))
}

// Warn records something that a setter should know.
func (r *Reader) Warn(file, key, format string, args ...any) {
	r.warnings.add(saying(file, key, format, args...))
}

// saying is a finding, and what it has in common with those of other files.
func saying(file, key, format string, args ...any) (says string, f problem.Finding) {
	f = problem.NewFinding(file, key, format, args...)
	if format == "%s" {
		return f.Reason, f
	}
	return format, f
}

// Has reports whether the package has a file.
func (r *Reader) Has(name string) bool { _, ok := r.Sizes[name]; return ok }

// File returns a file that exists.
func (r *Reader) File(name string) problem.File { return problem.File{Path: name, Size: r.Sizes[name]} }

// Below returns the paths of the files below a folder, ordered.
func (r *Reader) Below(dir string) []string {
	var names []string
	at, _ := slices.BinarySearchFunc(r.Package.Files, dir+"/", func(f problem.File, name string) int { return cmp.Compare(f.Path, name) })
	for _, f := range r.Package.Files[at:] {
		if !strings.HasPrefix(f.Path, dir+"/") {
			break
		}
		names = append(names, f.Path)
	}
	return names
}

// Children returns the names of the entries of a folder, ordered, and which of them are folders.
func (r *Reader) Children(dir string) (names []string, folder map[string]bool) {
	folder = map[string]bool{}
	for _, name := range r.Below(dir) {
		child, _, deeper := strings.Cut(strings.TrimPrefix(name, dir+"/"), "/")
		if n := len(names); n == 0 || names[n-1] != child { // what is in a folder stands together
			names = append(names, child)
		}
		folder[child] = folder[child] || deeper
	}
	return names, folder
}

// Text returns the content of a file, which must not be long. A file that cannot be read is refused.
func (r *Reader) Text(name string) string {
	return r.TextOf(name, MaxText, "")
}

// TextOf returns the content of a file of at most limit bytes. The remedy is told of a longer one.
func (r *Reader) TextOf(name string, limit int64, remedy string) string {
	b, err := r.Read(name, limit+1)
	switch {
	case err != nil:
		r.Refuse(name, "", "cannot be read: %v", err)
	case int64(len(b)) > limit:
		r.Refuse(name, "", "is longer than %d KiB%s", limit>>10, remedy)
		return ""
	}
	return string(b)
}

// Read returns at most limit bytes of a file.
func (r *Reader) Read(name string, limit int64) ([]byte, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return b, errors.Join(err, f.Close())
}
