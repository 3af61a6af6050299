package draft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"deepoj/host/problem"
)

// What comparing two versions may cost.
const (
	maxCompared  = 256 << 10       // bytes of a file whose lines are compared
	maxLines     = 128 << 10       // bytes of what is said of one file
	maxDiffs     = 100             // files whose lines are compared
	maxListed    = 1000            // files and tests that are listed
	compareWhile = 5 * time.Second // after which lines are compared no more
)

// Difference is how one version differs from another.
type Difference struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	Values []ValueDiff  `json:"values"` // limits and other settings
	Tests  TestDiff     `json:"tests"`
	Files  []FileChange `json:"files"`
	More   bool         `json:"more,omitempty"` // there are more files or tests than are listed
}

// ValueDiff is a setting that differs.
type ValueDiff struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// TestDiff names the tests that differ.
type TestDiff struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"` // their input, answer or flags
}

// FileChange is a file that differs.
type FileChange struct {
	Path      string `json:"path"`
	Change    string `json:"change"` // added, removed or changed
	FromBytes int64  `json:"from_bytes,omitempty"`
	ToBytes   int64  `json:"to_bytes,omitempty"`
	Lines     string `json:"lines,omitempty"` // unified diff
	Why       string `json:"why,omitempty"`   // why there is none: "binary", "long", "many" or "time"
}

// Compare says how b differs from a. Both are saved. It reads at most a bounded part of
// their files, for a bounded time.
func Compare(ctx context.Context, a, b *problem.Package) (Difference, error) {
	d := Difference{From: string(a.Version), To: string(b.Version), Values: values(a, b), Files: []FileChange{}}
	d.Tests = tests(a, b)
	before, after := byPath(a), byPath(b)
	for path, f := range before {
		if g, stays := after[path]; !stays {
			d.Files = append(d.Files, FileChange{Path: path, Change: "removed", FromBytes: f.Size})
		} else if f.Digest != g.Digest {
			d.Files = append(d.Files, FileChange{Path: path, Change: "changed", FromBytes: f.Size, ToBytes: g.Size})
		}
	}
	for path, g := range after {
		if _, was := before[path]; !was {
			d.Files = append(d.Files, FileChange{Path: path, Change: "added", ToBytes: g.Size})
		}
	}
	slices.SortFunc(d.Files, func(x, y FileChange) int { return strings.Compare(x.Path, y.Path) })
	for _, list := range []*[]string{&d.Tests.Added, &d.Tests.Removed, &d.Tests.Changed} {
		if len(*list) > maxListed {
			*list, d.More = (*list)[:maxListed], true
		}
	}
	if len(d.Files) > maxListed {
		d.Files, d.More = d.Files[:maxListed], true
	}
	end := time.Now().Add(compareWhile)
	for i := range d.Files {
		f := &d.Files[i]
		switch {
		case f.FromBytes > maxCompared || f.ToBytes > maxCompared:
			f.Why = "long"
		case i >= maxDiffs:
			f.Why = "many"
		case time.Now().After(end):
			f.Why = "time"
		default:
			if err := f.compare(ctx, a, b, before[f.Path], after[f.Path]); err != nil {
				return d, fmt.Errorf("compare versions of %s: %w", a.Slug, err)
			}
		}
	}
	return d, nil
}

// compare sets the lines that differ.
func (f *FileChange) compare(ctx context.Context, a, b *problem.Package, was, is problem.File) error {
	from, err := content(ctx, a, was)
	if err != nil {
		return err
	}
	to, err := content(ctx, b, is)
	if err != nil {
		return err
	}
	if !isText(from) || !isText(to) {
		f.Why = "binary"
		return nil
	}
	lines := diff.Diff("a", from, "b", to) // anchored: n log n, whatever the lines
	if _, rest, ok := bytes.Cut(lines, []byte("+++ b\n")); ok {
		lines = rest
	}
	if len(lines) > maxLines {
		f.Why = "long"
		return nil
	}
	f.Lines = string(lines)
	return nil
}

func content(ctx context.Context, p *problem.Package, f problem.File) ([]byte, error) {
	if f.Path == "" {
		return nil, nil
	}
	r, err := p.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxCompared))
	return b, errors.Join(err, r.Close())
}

// isText reports whether a file can be shown as lines.
func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

func byPath(p *problem.Package) map[string]problem.File {
	out := make(map[string]problem.File, len(p.Files))
	for _, f := range p.Files {
		if !problem.Derived(f.Path) { // what was made of others
			out[f.Path] = f
		}
	}
	return out
}

// values compares what packages say besides files and tests.
func values(a, b *problem.Package) []ValueDiff {
	out := []ValueDiff{}
	add := func(name, from, to string) {
		if from != to {
			out = append(out, ValueDiff{name, from, to})
		}
	}
	add("title", a.Title, b.Title)
	add("format", a.Format, b.Format)
	add("time limit", a.Limits.CPU.String()+" ("+a.Limits.CPUFrom+")", b.Limits.CPU.String()+" ("+b.Limits.CPUFrom+")")
	for _, l := range []struct {
		name, unit string
		from, to   int64
	}{
		{"memory", "MiB", a.Limits.MemoryMiB, b.Limits.MemoryMiB},
		{"output", "MiB", a.Limits.OutputMiB, b.Limits.OutputMiB},
		{"source", "KiB", a.Limits.CodeKiB, b.Limits.CodeKiB},
	} {
		add(l.name, strconv.FormatInt(l.from, 10)+" "+l.unit, strconv.FormatInt(l.to, 10)+" "+l.unit)
	}
	add("languages", orAll(a.Languages), orAll(b.Languages))
	add("checker", checkers(a), checkers(b))
	add("scoring", strconv.FormatBool(a.Scoring), strconv.FormatBool(b.Scoring))
	add("source of the problem", a.Source, b.Source)
	add("author", a.Author, b.Author)
	add("keywords", strings.Join(a.Keywords, ", "), strings.Join(b.Keywords, ", "))
	add("submissions", strconv.Itoa(len(a.Submissions)), strconv.Itoa(len(b.Submissions)))
	return out
}

func orAll(ids []string) string {
	if len(ids) == 0 {
		return "all"
	}
	return strings.Join(ids, ", ")
}

func checkers(p *problem.Package) string {
	var names []string
	for _, c := range p.Checkers {
		names = append(names, strings.Join(append([]string{c.Name()}, c.Flags...), " "))
	}
	if p.Interactor != nil {
		names = append(names, "interactor "+p.Interactor.Name())
	}
	return strings.Join(names, "; ")
}

// tests compares tests by their names.
func tests(a, b *problem.Package) TestDiff {
	d := TestDiff{Added: []string{}, Removed: []string{}, Changed: []string{}}
	before := map[string]*problem.Test{}
	for _, t := range a.Tests() {
		before[t.Name] = t
	}
	for _, t := range b.Tests() {
		was := before[t.Name]
		delete(before, t.Name)
		switch {
		case was == nil:
			d.Added = append(d.Added, t.Name)
		case was.Input.Digest != t.Input.Digest || was.Answer.Digest != t.Answer.Digest || !slices.Equal(was.Flags, t.Flags) || !slices.Equal(was.Args, t.Args):
			d.Changed = append(d.Changed, t.Name)
		}
	}
	for _, t := range a.Tests() {
		if before[t.Name] != nil {
			d.Removed = append(d.Removed, t.Name)
		}
	}
	return d
}

// Changed returns the paths of the files that b has otherwise than a, in order.
func Changed(a, b *problem.Package) (paths []string) {
	before, after := byPath(a), byPath(b)
	for path, f := range before {
		if after[path].Digest != f.Digest {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, was := before[path]; !was {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
