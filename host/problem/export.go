package problem

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"time"

	"deepoj/host/judge"
)

// VersionFile is what an export adds to the files of a package: what the version
// has and its files do not say. It is no file of the version that is read back.
const VersionFile = "deepoj-version.json"

// Inferred is where a time limit comes from that was found by measuring.
const Inferred = "inferred from the submissions"

// Exported is the content of VersionFile.
type Exported struct {
	Problem string               `json:"problem"`
	Version string               `json:"version"`
	CPU     time.Duration        `json:"cpu_ns,omitempty"`      // if it was inferred
	Default bool                 `json:"cpu_default,omitempty"` // it is the format's default, as versions have it that are older than measuring
	Tests   map[string]madeFiles `json:"tests,omitempty"`       // that were made, by name
	Given   *judge.Given         `json:"given,omitempty"`       // with the package, by whoever took it in
	Checker *Checker             `json:"checker,omitempty"`
	Talker  *Checker             `json:"interactor,omitempty"`
}

// madePath is what the files of tests are called that were made.
var madePath = regexp.MustCompile(`^made/`)

// IsMade reports whether a path is that of a file of a test that was made.
func IsMade(path string) bool { return madePath.MatchString(path) }

// madeFiles are the paths of the files of a test that were made.
type madeFiles struct {
	Input  string `json:"input,omitempty"`
	Answer string `json:"answer,omitempty"`
}

// Revision is what an archive of a version has otherwise than the version.
type Revision struct {
	// Files are the contents of files by path, new ones and others; nil = it is left out.
	Files map[string][]byte

	// Copies are new files by path, each with the path of the one whose content it has.
	Copies map[string]string

	Remade  bool // tests that were made are not kept, so that they are made again
	Measure bool // nor is a time limit that was found by measuring
	Unbound bool // nor an uploaded checker or interactor that was bound

	// Skim leaves the content of what is large, and of tests that are not shown, empty.
	// What is read of it has the same statement, limits and faults, but cannot be judged.
	Skim bool
}

// maxSkimmed bounds what a skimmed archive has of one file, in bytes.
const maxSkimmed = 1 << 20

// Export writes p, which is saved, as a ZIP file that gives the same version when it is imported under the same name.
func (p *Package) Export(ctx context.Context, w io.Writer) error {
	return p.Revise(ctx, w, Revision{})
}

// Revise writes p, which is saved, as a ZIP file with what a revision changes.
func (p *Package) Revise(ctx context.Context, w io.Writer, rev Revision) error {
	if p.from == nil {
		return fmt.Errorf("problem %s is not saved", p.Slug)
	}
	about, err := json.MarshalIndent(p.exported(rev), "", "  ")
	z := zip.NewWriter(w)
	if err == nil {
		err = entryOf(z, VersionFile, func(to io.Writer) error {
			_, err := to.Write(append(about, '\n'))
			return err
		})
	}
	empty := p.unskimmed(rev)
	paths := map[string]File{}
	for _, f := range p.Files {
		paths[f.Path] = f
		_, replaced := rev.Files[f.Path]
		if err != nil || replaced || Derived(f.Path) || rev.Remade && madePath.MatchString(f.Path) {
			continue
		}
		err = entryOf(z, f.Path, func(to io.Writer) error {
			if empty(f) {
				return nil
			}
			return p.copyTo(ctx, to, f)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(rev.Copies)) {
		if err == nil {
			err = entryOf(z, name, func(to io.Writer) error { return p.copyTo(ctx, to, paths[rev.Copies[name]]) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rev.Files)) {
		if content := rev.Files[name]; err == nil && content != nil {
			err = entryOf(z, name, func(to io.Writer) error { _, err := to.Write(content); return err })
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("export problem %s: %w", p.Slug, err)
	}
	return nil
}

// exported is what an archive says of the version besides its files.
func (p *Package) exported(rev Revision) Exported {
	x := Exported{Problem: p.Slug, Version: string(p.Version), Given: p.Given(), Tests: map[string]madeFiles{}}
	if p.Limits.CPUFrom == Inferred && !rev.Measure {
		x.CPU = p.Limits.CPU
	}
	x.Default = p.Limits.CPUFrom == "default" && p.Limits.Resolution == 0
	for _, t := range p.Tests() {
		if m := (madeFiles{t.Input.Path, t.Answer.Path}); !rev.Remade && (madePath.MatchString(m.Input) || madePath.MatchString(m.Answer)) {
			x.Tests[t.Name] = m
		}
	}
	if rev.Unbound {
		return x
	}
	for i, c := range p.Checkers {
		if c.Bound() {
			x.Checker = &p.Checkers[i]
		}
	}
	if p.Interactor != nil && p.Interactor.Bound() {
		x.Talker = p.Interactor
	}
	return x
}

// unskimmed says which files a skimmed archive has empty.
func (p *Package) unskimmed(rev Revision) func(File) bool {
	if !rev.Skim {
		return func(File) bool { return false }
	}
	secret := map[string]bool{}
	for _, t := range p.Tests() {
		if !t.Sample {
			secret[t.Input.Path], secret[t.Answer.Path] = true, true
		}
	}
	return func(f File) bool { return f.Size > maxSkimmed || secret[f.Path] }
}

func (p *Package) copyTo(ctx context.Context, to io.Writer, f File) error {
	from, err := p.Open(ctx, f)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, from.Close())
}

func entryOf(z *zip.Writer, name string, write func(io.Writer) error) error {
	to, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		err = write(to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Bound reports whether the checker is an uploaded plugin, which is no file.
func (c *Checker) Bound() bool { return c.Plugin != "" || c.Digest != "" }
