package source

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// JudgeLinks refuses the links that lead out of the package, and those that lead to
// nothing where a file would be read; it warns of the others.
func (r *Reader) JudgeLinks(reads func(name string) bool) {
	for _, name := range slices.Sorted(maps.Keys(r.links)) {
		switch {
		case leaves(r.FS, name):
			r.Refuse(name, "", "is a link that leads out of the package: put the file itself there, or make the archive with zip -r, which follows links")
		case reads(name):
			r.Refuse(name, "", "is a link that leads nowhere: put the file there, or remove the link")
		default:
			r.Warn(name, "", "is a link that leads nowhere; nothing reads it, and it is left out")
		}
	}
}

// Lacks reports whether the package has not a file, and no link in its place either,
// of which there is something else to say.
func (r *Reader) Lacks(name string) bool { return !r.Has(name) && !r.links[name] }

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
