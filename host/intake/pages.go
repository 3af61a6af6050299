package intake

import (
	"context"
	"errors"
	"fmt"
	"html"
	"image"
	_ "image/gif"  // so that pictures in it can be measured
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/blame"
	"deepoj/host/problem"
	"deepoj/sql"
)

// What the pictures of a version may be at most.
const (
	maxPictureBytes  = 16 << 20  // of one
	maxPicturePixels = 50 << 20  // of one
	maxPictures      = 1000      // of a version
	maxDrawn         = 200       // that have to be drawn
	maxPicturesBytes = 128 << 20 // of all that are drawn
	maxDocumentBytes = 64 << 20  // of a statement that is a PDF
)

// pictureTypes are the media types that pages show, by the extension of the name.
var pictureTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".svg": "image/svg+xml"}

// pictureName is what a picture is called: the digest of its source, and an extension.
var pictureName = regexp.MustCompile(`^[0-9a-f]{64}(\.[a-z]{3})$`)

// documentType is the media type of statements that are PDF.
const documentType = "application/pdf"

// drawer makes pictures, and text, of files that a browser does not show as pictures.
type drawer interface {
	Draw(ctx context.Context, kind string, from problem.File) ([]byte, error)
	Text(ctx context.Context, from problem.File) (string, error)
}

var _ drawer = (*judging.Judge)(nil)

// pager makes the pages of one version.
type pager struct {
	pkg   *problem.Package
	draw  drawer // nil = what must be drawn is left for later
	made  judge.Rendering
	lost  map[string]bool // names of pictures that cannot be shown
	drawn int
	bytes int64 // of what was drawn
}

// pages makes what people see of a package that is saved: its statement in each language, and its pictures. What cannot
// be shown is left out of the pages, and the warnings name it. Without a drawer the rendering is of no renderer if
// something had to be drawn, so that it is made again. The error is a failure of the platform.
func pages(ctx context.Context, draw drawer, pkg *problem.Package) (judge.Rendering, error) {
	p := &pager{pkg: pkg, draw: draw, made: judge.Rendering{Renderer: problem.Renderer}, lost: map[string]bool{}}
	seen := map[string]bool{}
	for _, picture := range pkg.Pictures {
		if seen[picture.Name] {
			continue
		}
		seen[picture.Name] = true
		if err := p.picture(ctx, picture); err != nil {
			return judge.Rendering{}, fmt.Errorf("picture %s of %s: %w", picture.File.Path, pkg.Slug, err)
		}
	}
	byLanguage := map[string]*judge.Page{}
	for language, text := range pkg.Statements {
		shown := p.without(text)
		byLanguage[language] = &judge.Page{Language: language, Title: pkg.TitleIn(language), HTML: shown, Text: plainText(shown)}
	}
	if len(pkg.Statements) == 0 && pkg.Statement != "" { // of a manifest from before there were several
		shown := p.without(pkg.Statement)
		byLanguage["en"] = &judge.Page{Language: "en", Title: pkg.Title, HTML: shown, Text: plainText(shown)}
	}
	for _, paper := range pkg.Papers() {
		if err := p.paper(ctx, paper, byLanguage); err != nil {
			return judge.Rendering{}, fmt.Errorf("document %s of %s: %w", paper.File.Path, pkg.Slug, err)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(byLanguage)) {
		p.made.Pages = append(p.made.Pages, *byLanguage[language])
	}
	return p.made, nil
}

func (p *pager) warn(file problem.File, format string, args ...any) {
	p.made.Warnings = append(p.made.Warnings, problem.Finding{File: file.Path, Reason: fmt.Sprintf(format, args...)}.String())
}

// picture takes a picture among the files of the pages, or warns that it is lost.
func (p *pager) picture(ctx context.Context, picture problem.Picture) error {
	lose := func(format string, args ...any) error {
		p.lost[picture.Name] = true
		p.warn(picture.File, "is a picture that is not shown: "+format, args...)
		return nil
	}
	m := pictureName.FindStringSubmatch(picture.Name)
	switch {
	case m == nil || pictureTypes[m[1]] == "" || pictureTypes[m[1]] != picture.Type || picture.Convert != "" && picture.Type != "image/png":
		return lose("%q of type %q is no name of a picture", picture.Name, picture.Type)
	case len(p.made.Files) >= maxPictures:
		return lose("it is one too many: a statement may have %d", maxPictures)
	case picture.Convert != "":
		return p.drawing(ctx, picture, lose)
	case picture.File.Size > maxPictureBytes:
		return lose("it has %d MiB, and may have %d", picture.File.Size>>20, maxPictureBytes>>20)
	}
	if picture.Type != "image/svg+xml" {
		width, height, err := p.measure(ctx, picture.File)
		switch {
		case err != nil:
			return err
		case width == 0:
			return lose("it is none that can be read")
		case int64(width)*int64(height) > maxPicturePixels:
			return lose("it has %d × %d pixels, and may have %d million", width, height, maxPicturePixels>>20)
		}
	}
	p.keep(picture, picture.File)
	return nil
}

func (p *pager) keep(picture problem.Picture, f problem.File) {
	p.made.Files = append(p.made.Files, judge.PageFile{Name: picture.Name, Type: picture.Type, Digest: string(f.Digest), Bytes: f.Size})
}

// measure returns the size of a picture in pixels, 0 if it is none.
func (p *pager) measure(ctx context.Context, f problem.File) (width, height int, err error) {
	r, err := p.pkg.Open(ctx, f)
	if err != nil {
		return 0, 0, err
	}
	c, _, bad := image.DecodeConfig(io.LimitReader(r, maxPictureBytes))
	if err := r.Close(); err != nil {
		return 0, 0, err
	}
	if bad != nil {
		return 0, 0, nil //nolint:nilerr // the picture is at fault, and is said to be
	}
	return c.Width, c.Height, nil
}

// drawing has a picture drawn.
func (p *pager) drawing(ctx context.Context, picture problem.Picture, lose func(string, ...any) error) error {
	switch p.drawn++; {
	case p.draw == nil:
		p.made.Renderer = 0
		return lose("it is still to be drawn")
	case p.drawn > maxDrawn || p.bytes > maxPicturesBytes:
		return lose("it is one too many that must be drawn: keep pictures as PNG, JPEG or SVG")
	}
	data, err := p.draw.Draw(ctx, picture.Convert, picture.File)
	if why := drawFault(err); why != "" {
		return lose("%s", why)
	}
	if err != nil {
		return err
	}
	f, err := p.pkg.Put(ctx, picture.Name, strings.NewReader(string(data)))
	if err != nil {
		return err
	}
	p.bytes += f.Size
	p.keep(picture, f)
	return nil
}

// drawFault says why something cannot be drawn, if that is no failure of the platform.
func drawFault(err error) string {
	if missing, is := errors.AsType[*blame.UnavailableError](err); is && !missing.Agent {
		return missing.Reason + ": " + missing.Remedy + ", and render the problem again"
	}
	if blame.AtFault(err) {
		return err.Error()
	}
	return ""
}

// paper takes a statement that is a PDF.
func (p *pager) paper(ctx context.Context, paper problem.Document, byLanguage map[string]*judge.Page) error {
	page := byLanguage[paper.Language]
	if page == nil {
		page = &judge.Page{Language: paper.Language, Title: p.pkg.TitleIn(paper.Language)}
	}
	if page.Document != "" {
		p.warn(paper.File, "is another PDF of the statement in %s: the page shows the first, and has a link to this one", paper.Language)
		return nil
	}
	if paper.File.Size > maxDocumentBytes {
		p.warn(paper.File, "has %d MiB, too much to be shown in the page, which has a link to it", paper.File.Size>>20)
		return nil
	}
	if p.draw != nil {
		said, err := p.draw.Text(ctx, paper.File)
		if why := drawFault(err); why != "" {
			p.warn(paper.File, "is shown, and not searched or read out: %s", why)
		} else if err != nil {
			return err
		}
		page.Text = strings.TrimSpace(page.Text + "\n" + said)
	} else {
		p.made.Renderer = 0
	}
	name := strings.TrimPrefix(string(paper.File.Digest), "sha256:") + ".pdf"
	page.Document, byLanguage[paper.Language] = name, page
	if !slices.ContainsFunc(p.made.Files, func(f judge.PageFile) bool { return f.Name == name }) {
		p.made.Files = append(p.made.Files, judge.PageFile{Name: name, Type: documentType, Digest: string(paper.File.Digest), Bytes: paper.File.Size})
	}
	return nil
}

var (
	pictureTag  = regexp.MustCompile(`<img [^>]*>`)
	pictureFrom = regexp.MustCompile(`src="pictures/([^"]*)"`)
	pictureAlt  = regexp.MustCompile(`alt="([^"]*)"`)
)

// without puts the description in the place of each picture that is lost.
func (p *pager) without(page string) string {
	if len(p.lost) == 0 {
		return page
	}
	return pictureTag.ReplaceAllStringFunc(page, func(tag string) string {
		from := pictureFrom.FindStringSubmatch(tag)
		if from == nil || !p.lost[from[1]] {
			return tag
		}
		if alt := pictureAlt.FindStringSubmatch(tag); alt != nil && alt[1] != "" {
			return "<em>[" + alt[1] + "]</em>"
		}
		return "<em>[picture]</em>"
	})
}

var (
	hiddenMarkup = regexp.MustCompile(`(?s)<annotation\b.*?</annotation>`)
	anyTag       = regexp.MustCompile(`<[^>]*>`)
	blockTag     = regexp.MustCompile(`</(?:p|h[1-6]|li|tr|td|th|pre|div|table|ul|ol|blockquote|figure|figcaption)>|<br>`)
	white        = regexp.MustCompile(`\s+`)
)

// plainText is the text of a page that comes from a renderer, so that its markup is well formed.
func plainText(page string) string {
	page = hiddenMarkup.ReplaceAllString(page, "")
	page = anyTag.ReplaceAllString(blockTag.ReplaceAllString(page, " "), "")
	return strings.TrimSpace(white.ReplaceAllString(html.UnescapeString(page), " "))
}

// drawPages makes the pages of a version that is kept, with all that must be drawn, for a job; job 0 is none. What
// reading it said is kept with them. It returns what got lost besides.
func (x *Intake) drawPages(ctx context.Context, pkg *problem.Package, said problem.Report, jobID int64) (lost []string, err error) {
	r, err := pages(ctx, x.cfg.Judge, pkg)
	if err != nil {
		return nil, err
	}
	lost = r.Warnings
	r.Warnings = append(sentences(said), lost...)
	return lost, savePages(ctx, x.cfg.Store, pkg, r, jobID)
}

// savePages keeps pages, and notes their files among those of the version.
func savePages(ctx context.Context, store *sql.Site, pkg *problem.Package, r judge.Rendering, jobID int64) error {
	if _, err := store.SavePages(ctx, pkg.Slug, string(pkg.Version), r, jobID); err != nil {
		return err
	}
	files := make([]sql.StoredFile, len(r.Files))
	for i, f := range r.Files {
		files[i] = sql.StoredFile{Digest: f.Digest, Bytes: f.Bytes}
	}
	return store.KeepFiles(ctx, pkg.Slug, string(pkg.Version), files)
}

// keepPages makes the pages of a version as far as that needs no sandbox, unless it has some.
func keepPages(ctx context.Context, store *sql.Site, pkg *problem.Package) error {
	before, err := store.Rendering(ctx, pkg.Slug, string(pkg.Version))
	if err == nil && before.Renderer == problem.Renderer {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return err
	}
	r, err := pages(ctx, nil, pkg)
	if err != nil {
		return err
	}
	return savePages(ctx, store, pkg, r, 0)
}

// sentences are the warnings of a report as a page lists them.
func sentences(r problem.Report) []string {
	said := make([]string, len(r.Warnings))
	for i, w := range r.Warnings {
		said[i] = w.String()
	}
	return said
}

// warned are warnings that came as sentences, as findings.
func warned(said []string) []problem.Finding {
	all := make([]problem.Finding, len(said))
	for i, s := range said {
		file, why, _ := strings.Cut(s, ": ")
		all[i] = problem.Finding{File: path.Clean(file), Reason: why}
	}
	return all
}
