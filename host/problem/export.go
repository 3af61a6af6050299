package problem

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// versionFile is what an export adds to the files of a package: what the version
// has and its files do not say. It is no file of the version that is read back.
const versionFile = "deepoj-version.json"

// Inferred is where a time limit comes from that was found by measuring.
const Inferred = "inferred from the submissions"

// exported is the content of versionFile.
type exported struct {
	Problem string               `json:"problem"`
	Version string               `json:"version"`
	CPU     time.Duration        `json:"cpu_ns,omitempty"` // if it was inferred
	Tests   map[string]madeFiles `json:"tests,omitempty"`  // that were made, by name
	Checker *Checker             `json:"checker,omitempty"`
	Talker  *Checker             `json:"interactor,omitempty"`
}

// madePath is what the files of tests are called that were made.
var madePath = regexp.MustCompile(`^made/`)

// madeFiles are the paths of the files of a test that were made.
type madeFiles struct {
	Input  string `json:"input,omitempty"`
	Answer string `json:"answer,omitempty"`
}

// Export writes p, which is saved, as a ZIP file that gives the same version when it
// is imported under the same name.
func (p *Package) Export(ctx context.Context, w io.Writer) error {
	if p.from == nil {
		return fmt.Errorf("problem %s is not saved", p.Slug)
	}
	x := exported{Problem: p.Slug, Version: string(p.Version), Tests: map[string]madeFiles{}}
	if p.Limits.CPUFrom == Inferred {
		x.CPU = p.Limits.CPU
	}
	for _, t := range p.Tests() {
		if m := (madeFiles{t.Input.Path, t.Answer.Path}); madePath.MatchString(m.Input) || madePath.MatchString(m.Answer) {
			x.Tests[t.Name] = m
		}
	}
	for i, c := range p.Checkers {
		if c.bound() {
			x.Checker = &p.Checkers[i]
		}
	}
	if p.Interactor != nil && p.Interactor.bound() {
		x.Talker = p.Interactor
	}
	z := zip.NewWriter(w)
	about, err := json.MarshalIndent(x, "", "  ")
	if err == nil {
		err = entryOf(z, versionFile, func(to io.Writer) error {
			_, err := to.Write(append(about, '\n'))
			return err
		})
	}
	for _, f := range p.Files {
		if err != nil {
			break
		}
		err = entryOf(z, f.Path, func(to io.Writer) error {
			from, err := p.Open(ctx, f)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, from)
			return errors.Join(err, from.Close())
		})
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("export problem %s: %w", p.Slug, err)
	}
	return nil
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

// bound reports whether the checker is an uploaded plugin, which is no file.
func (c *Checker) bound() bool { return c.Plugin != "" || c.Digest != "" }

// restore gives the package what an export says of its version.
func (r *reader) restore() {
	if !r.wasExported {
		return
	}
	var x exported
	if err := json.Unmarshal([]byte(r.text(versionFile)), &x); err != nil {
		r.refuse(versionFile, "", "is no export that can be read: %v; remove it to import the files alone", err)
		return
	}
	if l := &r.p.Limits; x.CPU > 0 && x.CPU <= maxCPUSeconds*time.Second && l.CPUFrom == "default" {
		l.CPU, l.CPUFrom = x.CPU, Inferred
	}
	made := false
	for _, t := range r.p.Tests() {
		m := x.Tests[t.Name]
		for _, part := range []struct {
			file *File
			path string
		}{{&t.Input, m.Input}, {&t.Answer, m.Answer}} {
			if part.file.Path == "" && part.path != "" && madePath.MatchString(part.path) && r.has(part.path) {
				*part.file, made = r.file(part.path), true
			}
		}
	}
	if made {
		if err := r.p.showSamples(context.Background(), r.p.Open); err != nil {
			r.refuse(versionFile, "tests", "names a sample that cannot be read: %v", err)
		}
	}
	if c := x.Checker; c != nil {
		r.rebind(c, "checker", func(c Checker) { r.p.Checkers = []Checker{c} })
	}
	if c := x.Talker; c != nil && r.p.Interactor != nil {
		r.rebind(c, "interactor", func(c Checker) { r.p.Interactor = &c })
	}
}

// rebind gives the package an uploaded plugin as its checker or interactor.
func (r *reader) rebind(c *Checker, key string, set func(Checker)) {
	protocol := c.Protocol == "icpc/1" || c.Protocol == "testlib/1"
	if !c.bound() || c.Plugin != "" && c.Digest != "" || !protocol || c.Digest != "" && !pluginDigest.MatchString(c.Digest) {
		r.refuse(versionFile, key, "must name an uploaded plugin by its name or digest, and its protocol")
		return
	}
	set(Checker{Plugin: c.Plugin, Digest: c.Digest, Protocol: c.Protocol, Flags: c.Flags, Points: c.Points})
}
