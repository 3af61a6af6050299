package problem

import (
	"path"
	"regexp"
	"slices"
)

// testlibName is the header with which setters write checkers, interactors and
// validators in C++.
const testlibName = "testlib.h"

// includesTestlib is how a source says that it needs the header.
var includesTestlib = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">]*/)?testlib\.h[">]`)

// withTestlib adds the testlib.h of the package to the files of a program that
// includes it and does not bring it: the nearest in a folder above the program, or the
// first there is.
func (r *reader) withTestlib(files []File) []File {
	needs := slices.IndexFunc(files, func(f File) bool {
		if !isSource(f.Path) {
			return false
		}
		b, err := r.read(f.Path, maxText) // what is wrong with it is said by whoever compiles it
		return err == nil && includesTestlib.Match(b)
	})
	if needs < 0 || slices.ContainsFunc(files, func(f File) bool { return path.Base(f.Path) == testlibName }) {
		return files
	}
	for dir := path.Dir(files[needs].Path); ; dir = path.Dir(dir) {
		if name := path.Join(dir, testlibName); r.has(name) {
			return append(slices.Clone(files), r.file(name))
		}
		if dir == "." {
			break
		}
	}
	if i := slices.IndexFunc(r.p.Files, func(f File) bool { return path.Base(f.Path) == testlibName }); i >= 0 {
		return append(slices.Clone(files), r.p.Files[i])
	}
	r.warn(files[needs].Path, "", "includes testlib.h, which is not in the package: put the one that it was written with beside it")
	return files
}
