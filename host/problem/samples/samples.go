// Package samples holds six small problems of our own, as packages in the ICPC
// legacy format. They are imported at the first start, they show what a package
// looks like, and tests judge every submission that they bring.
//
// Tests that would be large or dull to keep are made by generators, as of every package
// whose deepoj.yaml asks for that. The first start of a server need not wait for that:
// [FS] holds these tests as Go code writes them (tests.go), the same to the byte.
package samples

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed all:testdata
var packages embed.FS

// Slugs returns the short names of the problems, in the order in which a
// beginner should meet them.
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
