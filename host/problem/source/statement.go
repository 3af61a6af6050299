package source

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/statement"
)

// ChooseStatement takes the statement in English, or the first.
func (r *Reader) ChooseStatement() {
	if r.Package.Statement = r.Package.Statements["en"]; r.Package.Statement == "" {
		r.Package.Statement = r.Package.Statements[FirstKey(r.Package.Statements)]
	}
}

// FirstKey returns the least key of a map, "" of an empty one.
func FirstKey(m map[string]string) string {
	first := ""
	for k := range m {
		if first == "" || k < first {
			first = k
		}
	}
	return first
}

// Markdown renders a statement in Markdown.
func (r *Reader) Markdown(file string) string {
	return r.Rendered(file, func(text string) (string, error) { return r.Renderer().Markdown(file, text) })
}

// TeX renders a statement in TeX.
func (r *Reader) TeX(file string) string {
	return r.Rendered(file, func(text string) (string, error) { return r.Renderer().TeX(file, text) })
}

// Rendered turns a file into HTML.
func (r *Reader) Rendered(file string, by func(text string) (string, error)) string {
	page, err := by(statement.Text([]byte(r.TextOf(file, MaxStatement, StatementRemedy))))
	if err != nil {
		r.Refuse(file, "", "%v", err)
	}
	return page
}

// StatementRemedy is told of a statement that is too long.
const StatementRemedy = ", which is the most that a statement may have in one language: put what is long into attachments/"

// ReadSamples takes the sample tests for the statement.
func (r *Reader) ReadSamples() {
	if r.Package.Root == nil {
		return
	}
	for _, t := range r.Package.Root.Tests() {
		if !t.Sample {
			continue
		}
		s := judge.Sample{Name: strings.TrimPrefix(t.Name, problem.SampleGroup+"/")}
		input, output := &t.Input, &t.Answer
		if r.Package.Format == problem.Format202307 || r.Package.Format == problem.Format202509 {
			input, output = r.shown(t)
		}
		for _, part := range []struct {
			file *problem.File
			to   *string
		}{{input, &s.Input}, {output, &s.Output}} {
			if part.file == nil || part.file.Path == "" { // not shown, or still to be made
				continue
			}
			b, err := r.Read(part.file.Path, problem.MaxSample)
			if err != nil {
				r.Refuse(part.file.Path, "", "cannot be read: %v", err)
				continue
			}
			if r.ShowsTooMuch(b) {
				r.Refuse(part.file.Path, "", "is too much: the page shows at most %d MiB of all samples together", problem.MaxSamples>>20)
				return
			}
			if *part.to = problem.ShownText(b, part.file.Size); part.file.Size > problem.MaxSample {
				r.Warn(part.file.Path, "", "is longer than %d KiB: the page shows its beginning", problem.MaxSample>>10)
			}
		}
		r.Package.Samples = append(r.Package.Samples, s)
	}
}

// ShowsTooMuch takes note of what the page shows of a sample, and reports whether it is
// too much with that of those before.
func (r *Reader) ShowsTooMuch(b []byte) bool {
	r.shownBytes += len(b)
	return r.shownBytes > problem.MaxSamples
}

// ReadAttachments lists what is in the folder attachments.
func (r *Reader) ReadAttachments() {
	for _, name := range r.Below("attachments") {
		r.Package.Attachments = append(r.Package.Attachments, r.File(name))
	}
}

// SetTitles keeps the names of a problem that has several, by language.
func (r *Reader) SetTitles(all map[string]string) {
	all = maps.Clone(all)
	maps.DeleteFunc(all, func(_, name string) bool { return name == "" })
	if len(all) > 1 {
		r.Package.Titles = all
	}
}

// shown returns the files that the statement shows of a sample. An interaction stands alone.
func (r *Reader) shown(t *problem.Test) (input, output *problem.File) {
	stem := strings.TrimSuffix(t.Input.Path, ".in")
	there := func(ending string) bool { return r.Has(stem + ending) }
	pick := func(endings ...string) *problem.File {
		for _, ending := range endings {
			if there(ending) {
				f := r.File(stem + ending)
				return &f
			}
		}
		return nil
	}
	if there(".out") && there(".ans.statement") {
		r.Refuse(stem+".out", "", "is there beside %s.ans.statement: remove one of them", path.Base(stem))
	}
	if there(".interaction") {
		for _, other := range []string{".out", ".in.statement", ".ans.statement"} {
			if there(other) {
				r.Refuse(stem+other, "", "is there beside %s.interaction, which is shown alone: remove one of them", path.Base(stem))
			}
		}
		return nil, pick(".interaction")
	}
	return pick(".in.statement", ".in"), pick(".ans.statement", ".out", ".ans")
}

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

// ReadPictures takes the pictures that the statements show. Those that had to be cleaned become files of the version.
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
