package problem

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
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
	if m := statementFile.FindStringSubmatch(path.Base(file)); m != nil && m[1] != "" {
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

// ReadStatements reads of a package what its pages show: names, statements, pictures
// and PDFs. Whatever else is wrong with it does not matter: it may be one that was
// taken in when rules were others. Only warnings of statements are in the report.
func ReadStatements(fsys fs.FS) (*Package, Report, error) {
	r := readAll(fsys)
	report := Report{Warnings: slices.DeleteFunc(r.warned().Warnings, func(f Finding) bool { return !aboutStatement(f.File) })}
	if len(r.p.Statements) == 0 && len(r.p.Documents) == 0 {
		if r.refusals > 0 {
			return nil, report, r.refusal()
		}
		return nil, report, &Error{finding(statementDir, "", "holds no statement that can be shown")}
	}
	for _, f := range r.refused.ordered() {
		if aboutStatement(f.File) {
			return nil, report, r.refusal()
		}
	}
	p := &Package{
		Schema: schema, Format: r.p.Format, Slug: r.p.Slug, Title: r.p.Title, Titles: r.p.Titles, Root: &Group{},
		Statement: r.p.Statement, Statements: r.p.Statements, Pictures: r.p.Pictures, Documents: r.p.Documents, Files: r.p.Files, src: r.p.src,
	}
	return p, report, nil
}

// statementFolders are where statements and their pictures lie in any format.
var statementFolders = []string{statementDir, newStatementDir, "statements", "statement-sections"}

func aboutStatement(file string) bool {
	top, _, _ := strings.Cut(file, "/")
	return slices.Contains(statementFolders, top) || file == "problem.pdf"
}

// skeletonFile is the most that a file may have to be in a skeleton, in bytes.
const skeletonFile = 64 << 20

// Skeleton writes p, which is saved, as a ZIP file that [ReadStatements] can read:
// every file is there by its name, and those that have nothing to do with statements,
// such as secret tests, are empty.
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
