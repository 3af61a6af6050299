package statement

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"deepoj/host/problem/statement/safe"
)

// Picture is a file of the package that statements show.
type Picture struct {
	Name    string // what pages call it: the digest of the file, and the extension of what is shown
	Path    string // of the file in the package
	Type    string // media type of what is shown
	Convert string // "pdf" or "eps" if the file is still to be turned into Type; "" if not
	Clean   []byte // what is shown instead of the file, of SVG; else nil
}

// Pictures returns what the statements so far show, ordered by name.
func (r *Renderer) Pictures() []Picture {
	byName := map[string]Picture{}
	for _, p := range r.pictures {
		if p == nil {
			continue
		}
		if q, twice := byName[p.Name]; !twice || p.Path < q.Path {
			byName[p.Name] = *p
		}
	}
	all := make([]Picture, 0, len(byName))
	for _, p := range byName {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Picture) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// kinds are the files that a picture may be, by how they begin.
var kinds = []struct{ begins, extension, media, convert string }{
	{"\x89PNG\r\n\x1a\n", ".png", "image/png", ""},
	{"\xff\xd8\xff", ".jpg", "image/jpeg", ""},
	{"GIF87a", ".gif", "image/gif", ""},
	{"GIF89a", ".gif", "image/gif", ""},
	{"%PDF-", ".png", "image/png", "pdf"},
	{"%!PS", ".png", "image/png", "eps"},
	{"\xc5\xd0\xd3\xc6", ".png", "image/png", "eps"},
}

// tried are what a name without an extension may end in, as TeX would look.
var tried = []string{"", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".eps", ".PNG", ".JPG", ".mps", ".ps"}

// found returns the path of the file that a statement calls name.
func (p *page) found(name string) (string, bool) {
	names := []string{name}
	if plain, err := url.PathUnescape(name); err == nil && plain != name {
		names = append(names, plain)
	}
	for _, n := range names {
		n = strings.TrimSpace(n)
		if n == "" || strings.HasPrefix(n, "/") {
			continue
		}
		for _, place := range []string{p.beside(n), path.Clean(n), p.beside("images/" + n), p.beside("img/" + n), p.beside("figures/" + n)} {
			for _, extension := range tried {
				if full := place + extension; p.pkg.Has(full) {
					return full, true
				}
			}
		}
	}
	return "", false
}

// pictureOf returns the picture that a statement calls name, or nil.
func (p *page) pictureOf(name string) *Picture {
	if scheme, _, ok := strings.Cut(name, ":"); ok && !strings.Contains(scheme, "/") || strings.HasPrefix(name, "//") {
		p.note("shows pictures that are not in the package, so that the page leaves them out: %s", name)
		return nil
	}
	file, ok := p.found(name)
	if !ok {
		p.note("shows pictures that are not in the package: %s", name)
		return nil
	}
	if known, seen := p.pictures[file]; seen {
		if known == nil {
			p.note("shows pictures that cannot be shown: %s", name)
		}
		return known
	}
	pic, why := p.load(file)
	if p.pictures[file] = pic; pic == nil {
		p.note("shows pictures that cannot be shown: %s", name+" ("+why+")")
	}
	return pic
}

// load reads a picture, or says why there is none.
func (p *page) load(file string) (*Picture, string) {
	content, err := p.pkg.Read(file, maxPicture+1)
	switch {
	case err != nil:
		return nil, err.Error()
	case len(content) > maxPicture:
		return nil, fmt.Sprintf("it has more than %d MiB", maxPicture>>20)
	}
	sum := sha256.Sum256(content)
	pic := &Picture{Name: hex.EncodeToString(sum[:]), Path: file}
	for _, k := range kinds {
		if bytes.HasPrefix(content, []byte(k.begins)) {
			pic.Name += k.extension
			pic.Type, pic.Convert = k.media, k.convert
			return pic, ""
		}
	}
	if !strings.EqualFold(path.Ext(file), ".svg") && !bytes.Contains(content[:min(len(content), 1000)], []byte("<svg")) {
		return nil, "it is neither PNG, JPEG, GIF, SVG, PDF nor EPS"
	}
	clean, left, err := safe.SVG(content)
	if err != nil {
		return nil, "its SVG cannot be read: " + err.Error()
	}
	if len(left) > 0 {
		p.pkg.Warn(file, "holds what a picture may not have, which is left out: "+strings.Join(left, " "))
	}
	pic.Name += ".svg"
	pic.Type, pic.Clean = "image/svg+xml", clean
	return pic, ""
}

// picture returns the file name of the picture that a statement calls name, or "".
func (p *page) picture(name string) string {
	if pic := p.pictureOf(name); pic != nil {
		return pic.Name
	}
	return ""
}
