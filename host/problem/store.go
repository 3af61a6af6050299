package problem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
			return "", fmt.Errorf("save problem %s: %w", p.Slug, &unreadable{err})
		}
		g, n, err := s.Put(ctx, source{r})
		if cerr := r.Close(); err == nil && cerr != nil {
			err = &unreadable{cerr}
		}
		if err == nil && n != f.Size {
			err = &unreadable{fmt.Errorf("it changed while it was read: %d bytes, then %d", f.Size, n)}
		}
		if err != nil {
			return "", fmt.Errorf("save problem %s: %s: %w", p.Slug, f.Path, err)
		}
		f.Digest = g
		digests[f.Path] = g
	}
	p.each(func(f *File) { f.Digest = digests[f.Path] })
	if p.Title == "" {
		p.Title = p.Slug
	}
	return p.saveManifest(ctx, s)
}

// source marks the errors of a package that is read.
type source struct{ io.Reader }

func (s source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = &unreadable{err}
	}
	return n, err
}

// unreadable is an error of what is saved and not of where it goes.
type unreadable struct{ err error }

func (e *unreadable) Error() string { return e.err.Error() }

func (e *unreadable) Unwrap() error { return e.err }

// Unreadable reports whether [Package.Save] failed because the package itself
// cannot be read, such as an archive that is damaged.
func Unreadable(err error) bool {
	_, ok := errors.AsType[*unreadable](err)
	return ok
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

// Put stores a file that p, which is saved, is to have under a name.
func (p *Package) Put(ctx context.Context, name string, content io.Reader) (File, error) {
	if p.from == nil {
		return File{}, fmt.Errorf("problem %s is not saved", p.Slug)
	}
	g, n, err := p.from.Put(ctx, content)
	if err != nil {
		return File{}, fmt.Errorf("store %s of problem %s: %w", name, p.Slug, err)
	}
	return File{Path: name, Size: n, Digest: g}, nil
}

// WithTests stores and returns p, which is saved, with the inputs and answers of
// tests that were made, by the names of the tests. Those of samples are shown.
func (p *Package) WithTests(ctx context.Context, inputs, answers map[string]File) (*Package, error) {
	if p.from == nil {
		return nil, fmt.Errorf("problem %s is not saved", p.Slug)
	}
	q := *p
	q.Files, q.Samples = slices.Clone(p.Files), nil
	q.Root = p.Root.mapped(func(t *Test) *Test {
		made := *t
		for _, part := range []struct {
			file *File
			made map[string]File
		}{{&made.Input, inputs}, {&made.Answer, answers}} {
			if f, ok := part.made[t.Name]; ok {
				*part.file = f
				q.Files = append(q.Files, f)
			}
		}
		return &made
	})
	slices.SortFunc(q.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if err := q.showSamples(ctx, p.Open); err != nil {
		return nil, err
	}
	if _, err := q.saveManifest(ctx, p.from); err != nil {
		return nil, err
	}
	return &q, nil
}

// showSamples makes the samples that are shown of the files of the tests.
func (p *Package) showSamples(ctx context.Context, open func(context.Context, File) (io.ReadCloser, error)) error {
	p.Samples = nil
	left := int64(maxSamples)
	for _, t := range p.Tests() {
		if !t.Sample {
			continue
		}
		s := judge.Sample{Name: strings.TrimPrefix(t.Name, sampleDir+"/")}
		for _, part := range []struct {
			file File
			to   *string
		}{{t.Input, &s.Input}, {t.Answer, &s.Output}} {
			r, err := open(ctx, part.file)
			var b []byte
			if err == nil {
				b, err = io.ReadAll(io.LimitReader(r, min(maxSample, left)))
				err = errors.Join(err, r.Close())
			}
			if err != nil {
				return fmt.Errorf("show sample %s of problem %s: %w", t.Name, p.Slug, err)
			}
			left -= int64(len(b))
			*part.to = shownText(b, part.file.Size)
		}
		p.Samples = append(p.Samples, s)
	}
	return nil
}

// mapped returns the group with other tests.
func (g *Group) mapped(test func(*Test) *Test) *Group {
	all := *g
	all.Items = slices.Clone(g.Items)
	for i, it := range all.Items {
		if it.Group != nil {
			all.Items[i].Group = it.Group.mapped(test)
		} else if it.Test != nil {
			all.Items[i].Test = test(it.Test)
		}
	}
	return &all
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
		OutputMiB: p.Limits.OutputMiB, CodeKiB: p.Limits.CodeKiB, Languages: p.Languages, Source: p.Source, License: p.License, Author: p.Author, Tags: p.Tags(),
		CheckerMessages: p.CheckerMessages, Updated: time.Now().UTC(),
	}
	for i, f := range p.Documents {
		v.Files = append(v.Files, judge.ProblemFile{Name: p.documentName(i), Bytes: f.Size, Digest: string(f.Digest)})
	}
	for _, f := range p.Attachments {
		v.Files = append(v.Files, judge.ProblemFile{Name: strings.TrimPrefix(f.Path, "attachments/"), Bytes: f.Size, Digest: string(f.Digest)})
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

// What tags of problems may be.
const (
	MaxTags = 20
	MaxTag  = 40 // runes of one
)

// Tags returns the keywords of p as tags: in small letters, without those that are
// long or there twice.
func (p *Package) Tags() []string {
	var tags []string
	for _, k := range p.Keywords {
		tag := strings.ToLower(strings.Join(strings.Fields(k), " "))
		if tag != "" && utf8.RuneCountInString(tag) <= MaxTag && utf8.ValidString(tag) && !strings.Contains(tag, ",") && !slices.Contains(tags, tag) && len(tags) < MaxTags {
			tags = append(tags, tag)
		}
	}
	return tags
}

// AsProgram returns a checker made of sources as one that runs natively.
func (c Checker) AsProgram() Checker {
	p := Program{Name: path.Base(c.Sources[0].Path), Dialect: c.Dialect, Files: c.Sources}
	for _, f := range c.Sources {
		if id := programLanguages[path.Ext(f.Path)]; id != "" {
			p.Name, p.Language = strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)), id
		}
	}
	c.Sources, c.Program = nil, &p
	return c
}

// Name returns what people call the checker: its name, its digest, or its file.
func (c Checker) Name() string {
	switch {
	case c.Wasm != nil:
		return c.Wasm.Path
	case len(c.Sources) > 0:
		return c.Sources[0].Path
	case c.Program != nil:
		return c.Program.Files[0].Path
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

// Tests returns every test of p that has an input, in judging order.
func (p *Package) Tests() []*Test { return p.Root.Tests() }

// Tests returns every test below g that has an input, in judging order.
func (g *Group) Tests() []*Test {
	return slices.DeleteFunc(g.cases(func(it Item) *Test { return it.Test }), func(t *Test) bool { return t == nil })
}

// Cases returns every test of p in judging order, those of the submitted files too.
func (p *Package) Cases() []*Test { return p.Root.Cases() }

// Cases returns every test below g in judging order, those of the submitted files
// too.
func (g *Group) Cases() []*Test { return g.cases(Item.Case) }

// cases returns what each item below g is.
func (g *Group) cases(of func(Item) *Test) []*Test {
	var all []*Test
	for _, it := range g.Items {
		if it.Group != nil {
			all = append(all, it.Group.cases(of)...)
		} else {
			all = append(all, of(it))
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
	if c.Program != nil {
		c.Program.each(f)
	}
}

// each calls f for every place in p that names a file, except p.Files.
func (p *Package) each(f func(*File)) {
	for _, t := range p.Tests() {
		f(&t.Input)
		f(&t.Answer)
		for i := range t.Files {
			f(&t.Files[i].File)
		}
	}
	for i := range p.Checkers {
		p.Checkers[i].each(f)
	}
	if p.Binding != nil {
		for i := range p.Binding.Own {
			p.Binding.Own[i].each(f)
		}
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
	for i := range p.Documents {
		f(&p.Documents[i])
	}
	for i := range p.Pictures {
		f(&p.Pictures[i].File)
	}
	for i := range p.Generators {
		p.Generators[i].each(f)
	}
	for i := range p.Validators {
		p.Validators[i].each(f)
		for j := range p.Validators[i].Tests {
			f(&p.Validators[i].Tests[j].Input)
		}
	}
	for i := range p.Invalid {
		f(&p.Invalid[i].File)
	}
	for _, one := range []*Program{p.Static, p.Grader} {
		if one != nil {
			one.each(f)
		}
	}
	for i := range p.CheckerTests {
		t := &p.CheckerTests[i]
		if t.Valid != nil {
			f(&t.Valid.File)
		}
		f(&t.Input)
		f(&t.Output)
		f(&t.Answer)
	}
}
