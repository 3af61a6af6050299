package build

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"deepoj/sandbox"
)

// testlibHeader is the header that setters bring for checkers in C++. Its functions are not inline and it has a state
// of its own, so one source of a program may include it, and no other may be made to.
const testlibHeader = "testlib.h"

// wrapTestlib lets each testlib.h among files compile for WASI. Whatever includes it, from wherever, finds in its place
// the header with what deepoj/begin.h and deepoj/end.h of the SDK put around it. Sources that do not include it are
// compiled as they are.
func wrapTestlib(files []sandbox.File) []sandbox.File {
	all := slices.Clone(files)
	for i, f := range files {
		if path.Base(f.Path) != testlibHeader {
			continue
		}
		apart := path.Join(sdkFolder, "brought", f.Path)
		all[i].Data = fmt.Appendf(nil, "#include <deepoj/begin.h>\n#include <brought/%s>\n#include <deepoj/end.h>\n", path.Clean(f.Path))
		// The compiler speaks of the header as its author knows it.
		all = append(all, sandbox.File{Path: apart, Mode: f.Mode, Data: slices.Concat(fmt.Appendf(nil, "#line 1 %q\n", f.Path), f.Data)})
	}
	return all
}

// headerFolders returns the flags by which C++ sources find headers in the folders of
// sources, and testlib.h wherever it is.
func headerFolders(files []sandbox.File) (flags []string) {
	for _, f := range files {
		source := slices.Contains([]string{".cc", ".cpp", ".cxx"}, path.Ext(f.Path))
		if dir := path.Dir(f.Path); dir != "." && (source || path.Base(f.Path) == testlibHeader) && !slices.Contains(flags, dir) {
			flags = append(flags, "-I", dir)
		}
	}
	return flags
}

// missingTestlib is what the compiler says of sources without the header that they
// include, and adviceTestlib how to mend that.
const (
	missingTestlib = "'testlib.h' file not found"
	adviceTestlib  = "The sources include testlib.h, which is not among their files: add the testlib.h that the checker was written with."
)

// advise adds to what the compiler said how to mend it, where that is known.
func advise(said string) string {
	if strings.Contains(said, missingTestlib) {
		return adviceTestlib + "\n" + said
	}
	return said
}
