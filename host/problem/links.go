package problem

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// judgeLinks refuses the links that lead out of the package, and those that lead to
// nothing where a file would be read; it warns of the others.
func (r *reader) judgeLinks() {
	for _, name := range slices.Sorted(maps.Keys(r.links)) {
		switch {
		case leaves(r.fsys, name):
			r.refuse(name, "", "is a link that leads out of the package: put the file itself there, or make the archive with zip -r, which follows links")
		case r.reads(name):
			r.refuse(name, "", "is a link that leads nowhere: put the file there, or remove the link")
		default:
			r.warn(name, "", "is a link that leads nowhere; nothing reads it, and it is left out")
		}
	}
}

// lacks reports whether the package has not a file, and no link in its place either,
// of which there is something else to say.
func (r *reader) lacks(name string) bool { return !r.has(name) && !r.links[name] }

// reads reports whether a file of this name would be read.
func (r *reader) reads(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	switch top {
	case problemYAML, nativeYAML, sideLimit, sideINI:
		return true
	case dataDir:
		folder, _, _ := strings.Cut(rest, "/")
		return folder != sampleDir && folder != secretDir && folder != invalidInput && folder != invalidOutput && folder != validOutput ||
			slices.Contains([]string{"", ".in", ".ans", ".out", ".yaml"}, path.Ext(name)) || filesFolder.MatchString(name)
	case statementDir, newStatementDir:
		return rest == "" || statementFile.MatchString(rest)
	case submissionsDir:
		return rest == "" || noSubmission(path.Base(name)) == ""
	case inputValidators, oldValidators, outputValidator, outputValidators, includeDir, gradersDir, staticValidator:
		return aside(path.Base(name)) == ""
	}
	return false
}

// leaves reports whether a link leads out of its package, whether or not there is
// anything.
func leaves(fsys fs.FS, name string) bool {
	done, hops := ".", 0
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "." || part == "":
			continue
		case part == ".." && done == ".":
			return true
		case part == "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		target, err := fs.ReadLink(fsys, next)
		if err != nil { // it is no link
			done = next
			continue
		}
		if path.IsAbs(target) {
			return true
		}
		if hops++; hops > maxHops {
			return false
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return false
}
