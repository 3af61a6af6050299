package problem

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
)

// Renderer is the version of what makes pages of statements. It is raised when they
// become other pages, so that those of versions that are kept are made again.
const Renderer = 2

// TitleIn returns the name of the problem in a language, or else the one that it has in
// English where there is a choice.
func (p *Package) TitleIn(language string) string {
	if title := p.Titles[language]; title != "" {
		return title
	}
	return p.Title
}

// DocumentLanguage returns the tag of the language that a statement is in that is a PDF,
// by its path: "en" if that does not say.
func DocumentLanguage(file string) string {
	if m := StatementFile.FindStringSubmatch(path.Base(file)); m != nil && m[1] != "" {
		return m[1]
	}
	if tag, known := languageTags[path.Base(path.Dir(file))]; known {
		return tag
	}
	return "en"
}

// documentName is what a statement that is a PDF is called among the problem's files:
// its base name, with its language if another has that name.
func (p *Package) documentName(i int) string {
	name := path.Base(p.Documents[i].Path)
	for _, before := range p.Documents[:i] {
		if path.Base(before.Path) == name {
			return fmt.Sprintf("%s.%s%s", strings.TrimSuffix(name, path.Ext(name)), DocumentLanguage(p.Documents[i].Path), path.Ext(name))
		}
	}
	return name
}

// Document is a statement that is a PDF.
type Document struct {
	Name     string // among the files that [Package.Judge] shows
	Language string
	File     File
}

// Papers returns the statements that are PDF, in the order of the package; the first of
// a language is the one that its page shows.
func (p *Package) Papers() []Document {
	all := make([]Document, len(p.Documents))
	for i, f := range p.Documents {
		all[i] = Document{p.documentName(i), DocumentLanguage(f.Path), f}
	}
	return all
}

// HasStatement reports whether there is a statement, in whichever format.
func (p *Package) HasStatement() bool {
	return p.Statement != "" || len(p.Statements) > 0 || len(p.Documents) > 0
}

// Shown returns of p, which was just read, what its pages show: names, statements, pictures and PDFs.
func (p *Package) Shown() *Package {
	return &Package{
		Schema: schema, Format: p.Format, Slug: p.Slug, Title: p.Title, Titles: p.Titles, Root: &Group{},
		Statement: p.Statement, Statements: p.Statements, Pictures: p.Pictures, Documents: p.Documents, Files: p.Files, src: p.src,
	}
}

// skeletonFile is the most that a file may have to be in a skeleton, in bytes.
const skeletonFile = 64 << 20

// Skeleton writes p, which is saved, as a ZIP file that importing.Statements can read: every file is there by its name,
// and those that have nothing to do with statements, such as secret tests, are empty.
func (p *Package) Skeleton(ctx context.Context, w io.Writer) error {
	if p.from == nil {
		return fmt.Errorf("problem %s is not saved", p.Slug)
	}
	bare := p.bare()
	z := zip.NewWriter(w)
	for _, f := range p.Files {
		if Derived(f.Path) || madePath.MatchString(f.Path) {
			continue
		}
		err := entryOf(z, f.Path, func(to io.Writer) error {
			if bare[f.Path] || f.Size > skeletonFile {
				return nil
			}
			from, err := p.Open(ctx, f)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, from)
			return errors.Join(err, from.Close())
		})
		if err != nil {
			return fmt.Errorf("read version %s of %s: %w", p.Version, p.Slug, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("read version %s of %s: %w", p.Version, p.Slug, err)
	}
	return nil
}

// bare are the paths of the files that no statement shows.
func (p *Package) bare() map[string]bool {
	all := map[string]bool{}
	leave := func(f File) { all[f.Path] = true }
	for _, t := range p.Tests() {
		if !t.Sample {
			leave(t.Input)
			leave(t.Answer)
		}
	}
	for _, s := range p.Submissions {
		for _, f := range s.Files {
			leave(f)
		}
	}
	for _, in := range p.Invalid {
		leave(in.File)
	}
	for _, t := range p.CheckerTests {
		leave(t.Output)
		if t.Valid != nil {
			leave(t.Valid.File)
		}
	}
	return all
}

// StatementFile is the name of a statement: group 1 is the language tag, group 2 the kind of file.
var StatementFile = regexp.MustCompile(`^problem(?:\.([a-z]{2,3}(?:-[A-Za-z0-9]+)?))?\.(tex|md|pdf)$`)
