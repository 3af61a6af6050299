// Package samples holds six small problems of our own, as packages in the ICPC legacy format. They are imported at the
// first start, they show what a package looks like, and tests judge every submission that they bring.
//
// Tests that would be large or dull to keep are made by generators, as of every package
// whose deepoj.yaml asks for that. The first start of a server need not wait for that:
// [FS] holds these tests as Go code writes them (tests.go), the same to the byte.
package samples

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed all:testdata
var packages embed.FS

// Slugs returns the short names of the problems, in the order in which a beginner should meet them.
func Slugs() []string {
	return []string{"aplusb", "ferry", "schedule", "lockers", "boxes", "pairs"}
}

// FS returns the package of a problem, as [deepoj/host/problem/importing.Read] takes it.
func FS(slug string) (fs.FS, error) {
	if !slices.Contains(Slugs(), slug) {
		return nil, fmt.Errorf("there is no sample problem %q: there are %s", slug, strings.Join(Slugs(), ", "))
	}
	kept, err := fs.Sub(packages, "testdata/"+slug)
	if err != nil {
		return nil, fmt.Errorf("sample problem %s: %w", slug, err)
	}
	f := folder{FS: kept, made: map[string][]byte{}}
	for _, t := range tests[slug] {
		input, answer := t.write(newRandom(t.name))
		f.made["data/"+t.name+".in"], f.made["data/"+t.name+".ans"] = input, answer
	}
	return f, nil
}

// folder is a file system with more files than another one. Their folders exist in the other one.
type folder struct {
	fs.FS
	made map[string][]byte
}

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if b, ok := f.made[name]; ok {
		return &made{Reader: bytes.NewReader(b), about: about{path.Base(name), int64(len(b))}}, nil
	}
	return f.FS.Open(name)
}

// Stat implements fs.StatFS.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if b, ok := f.made[name]; ok {
		return about{path.Base(name), int64(len(b))}, nil
	}
	return fs.Stat(f.FS, name)
}

// ReadDir implements fs.ReadDirFS.
func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	if err != nil {
		return nil, err
	}
	for file, b := range f.made {
		if path.Dir(file) == name {
			entries = append(entries, about{path.Base(file), int64(len(b))})
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// made is an open file that was made.
type made struct {
	io.Reader
	about about
}

// Stat implements fs.File.
func (m *made) Stat() (fs.FileInfo, error) { return m.about, nil }

// Close implements fs.File.
func (m *made) Close() error { return nil }

// about describes a file that was made.
type about struct {
	name string
	size int64
}

func (a about) Name() string               { return a.name }
func (a about) Size() int64                { return a.size }
func (a about) Mode() fs.FileMode          { return 0o444 }
func (a about) Type() fs.FileMode          { return 0 }
func (a about) ModTime() time.Time         { return time.Time{} }
func (a about) IsDir() bool                { return false }
func (a about) Sys() any                   { return nil }
func (a about) Info() (fs.FileInfo, error) { return a, nil }

// random is a small generator of numbers that gives the same ones everywhere
// and forever, which the standard library does not promise.
type random struct{ state uint64 }

// newRandom returns the generator that belongs to a name.
func newRandom(name string) *random {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return &random{h.Sum64()}
}

// next is SplitMix64.
func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// numbers returns n numbers from low to high.
func (r *random) numbers(n, low, high int) []int {
	xs := make([]int, n)
	for i := range xs {
		xs[i] = low + r.below(high-low+1)
	}
	return xs
}

// shuffle puts xs in another order.
func (r *random) shuffle(xs []int) {
	for i := len(xs) - 1; i > 0; i-- {
		j := r.below(i + 1)
		xs[i], xs[j] = xs[j], xs[i]
	}
}
