package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Arrived returns a package that another process has read and that comes as JSON,
// with its files in fsys. That process worked on what strangers made, so nothing is
// believed of it: the error says what cannot come from [Read].
func Arrived(manifest []byte, fsys fs.FS) (*Package, error) {
	p := &Package{}
	if err := json.Unmarshal(manifest, p); err != nil {
		return nil, fmt.Errorf("package of a reader: %w", err)
	}
	if err := p.sound(); err != nil {
		return nil, fmt.Errorf("package of a reader: %w", err)
	}
	p.src = fsys
	return p, nil
}

// sound reports what in p cannot come from a reader that is well.
func (p *Package) sound() error {
	switch {
	case p.Schema != schema || !slices.Contains([]string{FormatLegacy, Format202307, Format202509, FormatPolygon}, p.Format):
		return fmt.Errorf("schema %d and format %q are unknown", p.Schema, p.Format)
	case p.Root == nil:
		return errors.New("there are no tests")
	case p.Limits.CPU < 0 || p.Limits.CPU > maxCPUSeconds*time.Second || p.Limits.MemoryMiB < 0 || p.Limits.OutputMiB < 0 || p.Limits.CodeKiB < 0:
		return fmt.Errorf("the limits %+v are out of range", p.Limits)
	}
	if err := p.soundFiles(); err != nil {
		return err
	}
	shown := 0
	for _, s := range p.Samples {
		shown += len(s.Input) + len(s.Output)
	}
	if shown > 4*maxSamples { // bytes that are no text become longer
		return fmt.Errorf("the samples have %d bytes", shown)
	}
	for _, c := range append(slices.Clone(p.Checkers), orNone(p.Interactor)...) {
		if !c.sound() {
			return fmt.Errorf("%+v is no checker", c)
		}
	}
	for language, page := range p.Statements {
		if err := plainHTML(page); err != nil {
			return fmt.Errorf("statement in %q: %w", language, err)
		}
	}
	if err := plainHTML(p.Statement); err != nil {
		return fmt.Errorf("statement: %w", err)
	}
	return p.Root.sound()
}

// soundFiles looks at the files, and at every place that names one.
func (p *Package) soundFiles() error {
	sizes, total := make(map[string]int64, len(p.Files)), int64(0)
	for _, f := range p.Files {
		_, twice := sizes[f.Path]
		total += max(f.Size, 0)
		if twice || !fs.ValidPath(f.Path) || f.Path == "." || f.Size < 0 || f.Digest != "" || total > maxBytes || len(sizes) >= maxFiles {
			return fmt.Errorf("the file %q of %d bytes cannot be", f.Path, f.Size)
		}
		sizes[f.Path] = f.Size
	}
	if err := p.Root.complete(); err != nil { // each goes through all of it
		return err
	}
	var err error
	p.each(func(f *File) {
		if *f == (File{}) { // is still to be made
			return
		}
		if size, known := sizes[f.Path]; !known || size != f.Size || f.Digest != "" {
			err = fmt.Errorf("%q of %d bytes is none of the files", f.Path, f.Size)
		}
	})
	return err
}

func orNone(c *Checker) []Checker {
	if c == nil {
		return nil
	}
	return []Checker{*c}
}

// sound reports whether exactly one thing decides.
func (c Checker) sound() bool {
	n := 0
	for _, set := range []bool{c.Standard != "", c.Plugin != "", c.Digest != "", c.Wasm != nil, len(c.Sources) > 0, c.Program != nil} {
		if set {
			n++
		}
	}
	return n == 1 && (c.Program == nil || len(c.Program.Files) > 0)
}

// complete reports an item that is nothing, or several things.
func (g *Group) complete() error {
	for i, it := range g.Items {
		n := 0
		for _, set := range []bool{it.Test != nil, it.Group != nil, it.Static != nil} {
			if set {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("item %d of group %q is %d things", i, g.Name, n)
		}
		if it.Group != nil {
			if err := it.Group.complete(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sound reports names of tests and groups that come twice.
func (g *Group) sound() error {
	seen := map[string]bool{}
	for _, t := range g.Cases() {
		if t.Name == "" || seen[t.Name] {
			return fmt.Errorf("two tests are called %q", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// What the HTML of a statement is made of. Both converters write nothing else.
var (
	htmlTag     = regexp.MustCompile(`^<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"<>]*")*) ?/?>`)
	htmlLink    = regexp.MustCompile(` href="([^"]*)"`)
	htmlScheme  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	htmlStyle   = regexp.MustCompile(` style="([^"]*)"`)
	htmlAligned = regexp.MustCompile(`^text-align:(left|right|center)$`)
	htmlNames   = strings.Fields("p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del u a table thead tbody tr th td br hr div span sup sub")
	htmlAttr    = regexp.MustCompile(` ([a-z]+)="`)
	htmlAttrs   = strings.Fields("href title class start align style")
)

// plainHTML reports what in a page is no plain text with headings, lists, tables and
// links.
func plainHTML(page string) error {
	if len(page) > 2*maxPage {
		return fmt.Errorf("it has %d bytes", len(page))
	}
	for {
		at := strings.IndexByte(page, '<')
		if at < 0 {
			return nil
		}
		page = page[at:]
		m := htmlTag.FindStringSubmatch(page)
		if m == nil || !slices.Contains(htmlNames, m[2]) {
			return fmt.Errorf("%q is no element of a statement", brief(page[:min(len(page), 100)]))
		}
		for _, a := range htmlAttr.FindAllStringSubmatch(m[3], -1) {
			if !slices.Contains(htmlAttrs, a[1]) {
				return fmt.Errorf("the attribute %s is none of a statement", a[1])
			}
		}
		if link := htmlLink.FindStringSubmatch(m[3]); link != nil {
			if !plainLink(link[1]) {
				return fmt.Errorf("a link goes to %q", brief(link[1]))
			}
		}
		if style := htmlStyle.FindStringSubmatch(m[3]); style != nil && !htmlAligned.MatchString(style[1]) {
			return fmt.Errorf("the style %q is none of a statement", brief(style[1]))
		}
		page = page[len(m[0]):]
	}
}

// plainLink reports whether a link, as it stands in HTML, runs nothing.
func plainLink(link string) bool {
	place := link
	if end := strings.IndexAny(link, "/?#"); end >= 0 {
		place = link[:end]
	}
	if !strings.ContainsAny(strings.ReplaceAll(place, "&amp;", ""), ":&") {
		return true
	}
	scheme := htmlScheme.FindStringSubmatch(place)
	return scheme != nil && !slices.Contains([]string{"javascript", "vbscript", "data", "file"}, strings.ToLower(scheme[1]))
}
