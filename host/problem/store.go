package problem

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deepoj/host/blob"
	"deepoj/host/judge"
)

// ShownText is what the page shows of a sample that begins so and has size bytes.
func ShownText(b []byte, size int64) string {
	if size > int64(len(b)) {
		return Clean(string(b)) + "…\n"
	}
	return Clean(string(b))
}

// Clean makes text that every page and database takes: valid UTF-8 without NUL.
func Clean(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// manifestMax is the most that Load reads as a manifest, in bytes.
const manifestMax = 256 << 20

// Save stores the files of p and then its manifest, sets the digests in p, and returns the manifest's digest, the
// version. The same package gives the same version everywhere. A crash leaves unreferenced files and no version.
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
	p.EachFile(func(f *File) { f.Digest = digests[f.Path] })
	p.Title = cmp.Or(p.Title, p.Slug)
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

// Exhaustive stores and returns p, which is saved, without the early stops that leave tests out: each test is judged
// unless its group requires another. Verdicts and scores of the formats that have a version are those of p.
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

// WithCPU stores and returns p, which is saved, with another time limit. From says where it comes from.
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
	if err := q.ShowSamples(ctx, p.Open); err != nil {
		return nil, err
	}
	if _, err := q.saveManifest(ctx, p.from); err != nil {
		return nil, err
	}
	return &q, nil
}

// ShowSamples makes the samples that are shown of the files of the tests.
func (p *Package) ShowSamples(ctx context.Context, open func(context.Context, File) (io.ReadCloser, error)) error {
	p.Samples = nil
	left := int64(MaxSamples)
	for _, t := range p.Tests() {
		if !t.Sample {
			continue
		}
		s := judge.Sample{Name: strings.TrimPrefix(t.Name, SampleGroup+"/")}
		for _, part := range []struct {
			file File
			to   *string
		}{{t.Input, &s.Input}, {t.Answer, &s.Output}} {
			r, err := open(ctx, part.file)
			var b []byte
			if err == nil {
				b, err = io.ReadAll(io.LimitReader(r, min(MaxSample, left)))
				err = errors.Join(err, r.Close())
			}
			if err != nil {
				return fmt.Errorf("show sample %s of problem %s: %w", t.Name, p.Slug, err)
			}
			left -= int64(len(b))
			*part.to = ShownText(b, part.file.Size)
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

// Load returns the package of version d. The error is [blob.ErrNotFound] when s does not hold it.
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
		v.Files = append(v.Files, judge.ProblemFile{Name: p.documentName(i), Bytes: f.Size, Digest: string(f.Digest), Statement: true})
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
	if p.Root != nil {
		v.Tests = len(p.Tests())
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

// Tags returns the keywords of p as tags: in small letters, without those that are long or there twice.
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

// EachFile calls f for every place in p that names a file, except p.Files.
func (p *Package) EachFile(f func(*File)) {
	for _, t := range p.Tests() {
		f(&t.Input)
		f(&t.Answer)
		for i := range t.Files {
			f(&t.Files[i].File)
		}
	}
	for i := range p.Checkers {
		p.Checkers[i].EachFile(f)
	}
	if p.Binding != nil {
		for i := range p.Binding.Own {
			p.Binding.Own[i].EachFile(f)
		}
	}
	if p.Interactor != nil {
		p.Interactor.EachFile(f)
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
		p.Generators[i].EachFile(f)
	}
	for i := range p.Validators {
		p.Validators[i].EachFile(f)
		for j := range p.Validators[i].Tests {
			f(&p.Validators[i].Tests[j].Input)
		}
	}
	for i := range p.Invalid {
		f(&p.Invalid[i].File)
	}
	for _, one := range []*Program{p.Static, p.Grader} {
		if one != nil {
			one.EachFile(f)
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
