package source

import (
	"path"
	"regexp"
	"slices"

	"deepoj/host/problem"
)

// TestlibName is the header with which setters write checkers, interactors and
// validators in C++.
const TestlibName = "testlib.h"

// includesTestlib is how a source says that it needs the header.
var includesTestlib = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">]*/)?testlib\.h[">]`)

// WithTestlib adds the testlib.h of the package to the files of a program that
// includes it and does not bring it: the nearest in a folder above the program, or the
// first there is.
func (r *Reader) WithTestlib(files []problem.File) []problem.File {
	needs := slices.IndexFunc(files, func(f problem.File) bool {
		if !IsSource(f.Path) {
			return false
		}
		b, err := r.Read(f.Path, MaxText) // what is wrong with it is said by whoever compiles it
		return err == nil && includesTestlib.Match(b)
	})
	if needs < 0 || slices.ContainsFunc(files, func(f problem.File) bool { return path.Base(f.Path) == TestlibName }) {
		return files
	}
	for dir := path.Dir(files[needs].Path); ; dir = path.Dir(dir) {
		if name := path.Join(dir, TestlibName); r.Has(name) {
			return append(slices.Clone(files), r.File(name))
		}
		if dir == "." {
			break
		}
	}
	if i := slices.IndexFunc(r.Package.Files, func(f problem.File) bool { return path.Base(f.Path) == TestlibName }); i >= 0 {
		return append(slices.Clone(files), r.Package.Files[i])
	}
	r.Warn(files[needs].Path, "", "includes testlib.h, which is not in the package: put the one that it was written with beside it")
	return files
}
