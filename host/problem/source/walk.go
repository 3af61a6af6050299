package source

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"deepoj/host/problem"
)

// walked is what was met while the files were listed. Links make few entries many: a ladder of folders whose links all
// lead to the next one has more paths than anybody can count, and none of them is deep. So what is counted is visits.
type walked struct {
	visits  int         // of files and folders
	bytes   int64       // of the files that were visited
	above   []any       // which folders the walk is in
	reached map[any]int // how often each folder was reached
}

// walk lists the files below dir, following links.
func (r *Reader) walk(dir string, depth int) {
	if depth > maxDepth {
		r.Refuse(dir, "", "is %d folders deep: at most %d are read; does a link lead in a circle?", depth, maxDepth)
		return
	}
	if !r.enter(dir) {
		return
	}
	entries, err := fs.ReadDir(r.FS, dir)
	if err != nil {
		r.Refuse(dir, "", "cannot be read: %v", err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Name() == ".git" || e.Name() == ".DS_Store" || e.Name() == "__MACOSX" {
			continue
		}
		if r.walked.visits++; r.walked.visits > problem.MaxFiles {
			r.Refuse(name, "", "is one too many: at most %d files and folders are read, each as often as links lead to it", problem.MaxFiles)
		} else {
			r.visit(name, e, depth)
		}
		if r.walked.visits > problem.MaxFiles || r.walked.bytes > problem.MaxBytes || r.Refusals >= maxReasons {
			break
		}
	}
	if n := len(r.walked.above); n > 0 {
		r.walked.above = r.walked.above[:n-1]
	}
	if depth == 0 {
		slices.SortFunc(r.Package.Files, func(a, b problem.File) int { return cmp.Compare(a.Path, b.Path) })
	}
}

// visit takes note of an entry of a folder.
func (r *Reader) visit(name string, e fs.DirEntry, depth int) {
	info, err := fs.Stat(r.FS, name)
	switch {
	case err != nil && e.Type()&fs.ModeSymlink != 0:
		r.links[name] = true
	case err != nil:
		r.Refuse(name, "", "cannot be read: %v", err)
	case info.IsDir():
		r.walk(name, depth+1)
	case !info.Mode().IsRegular():
		r.Refuse(name, "", "is neither a file nor a folder nor a link to one")
	case problem.Derived(name):
		r.Refuse(name, "", "is in a folder that holds what Deep-OJ makes of packages: call the folder otherwise, or leave it out")
	case name == problem.VersionFile:
		r.WasExported = true
	default:
		if r.walked.bytes += info.Size(); r.walked.bytes > problem.MaxBytes {
			r.Refuse(name, "", "is too much: the files have more than %d GiB together, each counted as often as links lead to it", problem.MaxBytes>>30)
			return
		}
		r.Sizes[name] = info.Size()
		r.Package.Files = append(r.Package.Files, problem.File{Path: name, Size: info.Size()})
	}
}

// enter takes note of a folder, and reports whether it may be read: not if the walk is in it already, or was too often.
func (r *Reader) enter(dir string) bool {
	info, err := fs.Stat(r.FS, dir)
	if err != nil {
		r.Refuse(dir, "", "cannot be read: %v", err)
		return false
	}
	id := identity(info)
	if id == nil { // links lead to no folder here
		id = dir
	}
	if slices.Contains(r.walked.above, id) {
		r.Refuse(dir, "", "is a link to a folder that it is in: links must not lead in a circle")
		return false
	}
	if r.walked.reached == nil {
		r.walked.reached = map[any]int{}
	}
	if r.walked.reached[id]++; r.walked.reached[id] > maxReached {
		r.Refuse(dir, "", "is one link too many to the same folder: at most %d ways may lead to it", maxReached)
		return false
	}
	r.walked.above = append(r.walked.above, id)
	return true
}

// identity is what two names of the same folder have in common; nil = it cannot be told.
func identity(info fs.FileInfo) any {
	switch sys := info.Sys().(type) {
	case *syscall.Stat_t:
		return [2]uint64{uint64(sys.Dev), sys.Ino} //nolint:unconvert // elsewhere a device has another type
	case resolved:
		return sys
	}
	return nil
}

// resolved is the name of an entry of an archive without links.
type resolved string

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

// leaves reports whether a link leads out of its package, whether or not there is anything.
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
