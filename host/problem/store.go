package problem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// manifestMax is the most that Load reads as a manifest, in bytes.
const manifestMax = 256 << 20

// Save stores the files of p and then its manifest, sets the digests in p, and
// returns the manifest's digest, the version. The same package gives the same
// version everywhere. A crash leaves unreferenced files and no version.
func (p *Package) Save(ctx context.Context, s blob.Store) (blob.Digest, error) {
	digests := make(map[string]blob.Digest, len(p.Files))
	for i := range p.Files {
		f := &p.Files[i]
		r, err := p.Open(ctx, *f)
		if err != nil {
			return "", fmt.Errorf("save problem %s: %w", p.Slug, err)
		}
		g, n, err := s.Put(ctx, r)
		if cerr := r.Close(); err == nil {
			err = cerr
		}
		if err == nil && n != f.Size {
			err = fmt.Errorf("%s changed while it was read: %d bytes, then %d", f.Path, f.Size, n)
		}
		if err != nil {
			return "", fmt.Errorf("save problem %s: %s: %w", p.Slug, f.Path, err)
		}
		f.Digest = g
		digests[f.Path] = g
	}
	p.each(func(f *File) { f.Digest = digests[f.Path] })
	return p.saveManifest(ctx, s)
}

// saveManifest stores the manifest of a package whose files are stored.
func (p *Package) saveManifest(ctx context.Context, s blob.Store) (blob.Digest, error) {
	manifest, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("save problem %s: %w", p.Slug, err)
	}
	g, _, err := s.Put(ctx, bytes.NewReader(manifest))
	if err != nil {
		return "", fmt.Errorf("save problem %s: %w", p.Slug, err)
	}
	p.Version, p.from = g, s
	return g, nil
}

// Exhaustive stores and returns p, which is saved, without the early stops that
// leave tests out: each test is judged unless its group requires another. Verdicts
// and scores of the formats that have a version are those of p.
func (p *Package) Exhaustive(ctx context.Context) (*Package, error) {
	if p.from == nil {
		return nil, fmt.Errorf("problem %s is not saved", p.Slug)
	}
	q := *p
	q.Root = p.Root.exhaustive()
	if _, err := q.saveManifest(ctx, p.from); err != nil {
		return nil, err
	}
	return &q, nil
}

// WithCPU stores and returns p, which is saved, with another time limit. From says
// where it comes from.
func (p *Package) WithCPU(ctx context.Context, limit time.Duration, from string) (*Package, error) {
	if p.from == nil {
		return nil, fmt.Errorf("problem %s is not saved", p.Slug)
	}
	q := *p
	q.Limits.CPU, q.Limits.CPUFrom = limit, from
	if _, err := q.saveManifest(ctx, p.from); err != nil {
		return nil, err
	}
	return &q, nil
}

func (g *Group) exhaustive() *Group {
	all := *g
	all.Grading.Break = false
	all.Items = slices.Clone(g.Items)
	for i, it := range all.Items {
		if it.Group != nil {
			all.Items[i].Group = it.Group.exhaustive()
		}
	}
	return &all
}

// Load returns the package of version d. The error is [blob.ErrNotFound] when s
// does not hold it.
func Load(ctx context.Context, s blob.Store, d blob.Digest) (*Package, error) {
	b, err := blob.ReadAll(ctx, s, d, manifestMax)
	if err != nil {
		return nil, fmt.Errorf("load problem %s: %w", d, err)
	}
	p := &Package{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("load problem %s: %w", d, err)
	}
	if p.Schema != schema {
		return nil, fmt.Errorf("load problem %s: schema %d is not %d", d, p.Schema, schema)
	}
	p.Version, p.from = d, s
	return p, nil
}

// Open returns the content of a file of p.
func (p *Package) Open(ctx context.Context, f File) (io.ReadCloser, error) {
	if p.from != nil {
		return p.from.Open(ctx, f.Digest)
	}
	return p.src.Open(f.Path)
}

// Judge returns what the pages show of p. Updated is the time of the call.
func (p *Package) Judge() judge.Problem {
	v := judge.Problem{
		Slug: p.Slug, Title: p.Title, Version: string(p.Version), Statement: p.Statement, Samples: p.Samples,
		Scoring: p.Scoring, CPUMillis: p.Limits.CPU.Milliseconds(), MemoryMiB: p.Limits.MemoryMiB,
		OutputMiB: p.Limits.OutputMiB, CodeKiB: p.Limits.CodeKiB, Languages: p.Languages, Source: p.Source, License: p.License,
		Updated: time.Now().UTC(),
	}
	for _, c := range p.Checkers {
		v.Checkers = append(v.Checkers, c.Name())
	}
	if p.Interactor != nil {
		v.Checkers = append(v.Checkers, p.Interactor.Name())
	}
	if top := p.MaxScore(); p.Scoring && top != nil {
		v.MaxScore = *top
	}
	return v
}

// Name returns what people call the checker: its name, its digest, or its file.
func (c Checker) Name() string {
	switch {
	case c.Wasm != nil:
		return c.Wasm.Path
	case len(c.Sources) > 0:
		return c.Sources[0].Path
	}
	return c.Standard + c.Plugin + c.Digest
}

// WithChecker returns p judged by another checker, not yet saved. What the
// package says about flags and points stays.
func (p *Package) WithChecker(c Checker) *Package {
	q := *p
	if len(p.Checkers) > 0 {
		c.Flags, c.Points = p.Checkers[0].Flags, p.Checkers[0].Points
	}
	q.Checkers, q.Version = []Checker{c}, ""
	return &q
}

// WithInteractor returns p, an interactive problem, with another interactor, not
// yet saved. What the package says about flags and points stays.
func (p *Package) WithInteractor(c Checker) *Package {
	q := *p
	if p.Interactor != nil {
		c.Flags, c.Points = p.Interactor.Flags, p.Interactor.Points
	}
	q.Interactor, q.Version = &c, ""
	return &q
}

// Tests returns every test of p in judging order.
func (p *Package) Tests() []*Test { return p.Root.Tests() }

// Tests returns every test below g in judging order.
func (g *Group) Tests() []*Test {
	var all []*Test
	for _, it := range g.Items {
		if it.Test != nil {
			all = append(all, it.Test)
		} else {
			all = append(all, it.Group.Tests()...)
		}
	}
	return all
}

// each calls f for the files of c.
func (c *Checker) each(f func(*File)) {
	if c.Wasm != nil {
		f(c.Wasm)
	}
	for i := range c.Sources {
		f(&c.Sources[i])
	}
}

// each calls f for every place in p that names a file, except p.Files.
func (p *Package) each(f func(*File)) {
	for _, t := range p.Tests() {
		f(&t.Input)
		f(&t.Answer)
	}
	for i := range p.Checkers {
		p.Checkers[i].each(f)
	}
	if p.Interactor != nil {
		p.Interactor.each(f)
	}
	for i := range p.Submissions {
		for j := range p.Submissions[i].Files {
			f(&p.Submissions[i].Files[j])
		}
	}
	for i := range p.Includes {
		for j := range p.Includes[i].Files {
			f(&p.Includes[i].Files[j])
		}
	}
	for i := range p.Attachments {
		f(&p.Attachments[i])
	}
}
