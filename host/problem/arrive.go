package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"time"

	"deepoj/host/problem/statement/safe"
)

// Arrived returns a package that another process has read and that comes as JSON, with its files in fsys. That process
// worked on what strangers made, so nothing is believed of it: the error says what cannot come from
// host/problem/importing.
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
	case p.Schema != schema || !slices.Contains([]string{FormatLegacy, Format202307, Format202509, FormatPolygon, FormatDMOJ, FormatPlain}, p.Format):
		return fmt.Errorf("schema %d and format %q are unknown", p.Schema, p.Format)
	case p.Root == nil:
		return errors.New("there are no tests")
	case p.Limits.CPU < 0 || p.Limits.CPU > MaxCPUSeconds*time.Second || p.Limits.MemoryMiB < 0 || p.Limits.OutputMiB < 0 || p.Limits.CodeKiB < 0:
		return fmt.Errorf("the limits %+v are out of range", p.Limits)
	}
	if err := p.soundFiles(); err != nil {
		return err
	}
	shown := 0
	for _, s := range p.Samples {
		shown += len(s.Input) + len(s.Output)
	}
	if shown > 4*MaxSamples { // bytes that are no text become longer
		return fmt.Errorf("the samples have %d bytes", shown)
	}
	for _, c := range append(slices.Clone(p.Checkers), orNone(p.Interactor)...) {
		if !c.sound() {
			return fmt.Errorf("%+v is no checker", c)
		}
	}
	for language, page := range p.Statements {
		if err := safe.Check(page); err != nil {
			return fmt.Errorf("statement in %q: %w", language, err)
		}
	}
	if err := safe.Check(p.Statement); err != nil {
		return fmt.Errorf("statement: %w", err)
	}
	for _, pic := range p.Pictures {
		if err := pic.sound(); err != nil {
			return err
		}
	}
	return p.Root.sound()
}

var pictureName = regexp.MustCompile(`^[0-9a-f]{64}(\.png|\.jpg|\.gif|\.svg)$`)

// pictureTypes are the media types of pictures by extension.
var pictureTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".svg": "image/svg+xml"}

// sound reports what cannot be a picture.
func (p Picture) sound() error {
	m := pictureName.FindStringSubmatch(p.Name)
	converted := p.Convert == "" || (p.Convert == "pdf" || p.Convert == "eps") && p.Type == "image/png"
	if m == nil || p.Type != pictureTypes[m[1]] || !converted {
		return fmt.Errorf("%q of %q is no picture of a statement", Brief(p.Name), Brief(p.Type))
	}
	return nil
}

// soundFiles looks at the files, and at every place that names one.
func (p *Package) soundFiles() error {
	sizes, total := make(map[string]int64, len(p.Files)), int64(0)
	for _, f := range p.Files {
		_, twice := sizes[f.Path]
		total += max(f.Size, 0)
		if twice || !fs.ValidPath(f.Path) || f.Path == "." || f.Size < 0 || f.Digest != "" || total > MaxBytes || len(sizes) >= MaxFiles {
			return fmt.Errorf("the file %q of %d bytes cannot be", f.Path, f.Size)
		}
		sizes[f.Path] = f.Size
	}
	if err := p.Root.complete(); err != nil { // each goes through all of it
		return err
	}
	var err error
	p.EachFile(func(f *File) {
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
