package problem

import (
	"path"
	"slices"
	"strings"
)

// submissionsJSON is where DOMjudge has what it wants to know of submissions. It may
// lie at the top, too.
const submissionsJSON = submissionsDir + "/submissions.json"

// readEntryPoints reads which files of submissions are started, as DOMjudge's
// submissions.json says.
func (r *reader) readEntryPoints() {
	for _, file := range []string{"submissions.json", submissionsJSON} {
		if !r.has(file) {
			continue
		}
		k := r.yaml(file) // of which JSON is a part
		for _, name := range k.order {
			m := k.mapping(name)
			entry, given := m.text("entry_point")
			m.text("team") // whose submission it is shown as
			m.unknown()
			full := path.Clean(name)
			at := slices.IndexFunc(r.p.Submissions, func(s Submission) bool { return s.Path == full })
			switch {
			case at < 0:
				r.warn(file, name, "is no submission of the package")
			case given:
				r.startWith(&r.p.Submissions[at], entry, file, name+".entry_point")
			}
		}
	}
}

// startWith puts the file of a submission first that is its entry point, which is a
// file or a class: programs are started with a file called main, else with the first.
func (r *reader) startWith(s *Submission, entry, file, key string) {
	if len(s.Files) == 1 {
		return // it is this one, whatever it is called
	}
	at := slices.IndexFunc(s.Files, func(f File) bool { return starts(strings.TrimPrefix(f.Path, s.Path+"/"), f.Path, entry) })
	if at < 0 {
		r.refuse(file, key, "is %q, which is no file and no class of %s", entry, s.Path)
		return
	}
	first := s.Files[at]
	if !startsFirst(first.Path) {
		for i, f := range s.Files {
			if i != at && startsFirst(f.Path) && path.Ext(f.Path) == path.Ext(first.Path) {
				r.refuse(file, key, "is %q, but %s is started where there is one: give that another name", entry, f.Path)
				return
			}
		}
	}
	s.Files = slices.Insert(slices.Delete(s.Files, at, at+1), 0, first)
}

// starts reports whether an entry point means a file: its path in the submission, its
// name, or its class.
func starts(inside, full, entry string) bool {
	name := path.Base(full)
	class := strings.ReplaceAll(entry, ".", "/")
	stem := strings.TrimSuffix(inside, path.Ext(inside))
	return entry == inside || entry == name || class == stem || path.Base(class) == strings.TrimSuffix(name, path.Ext(name)) && path.Ext(entry) != path.Ext(name)
}

// startsFirst reports whether a file is started before others of its language.
func startsFirst(name string) bool {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch path.Ext(name) {
	case ".py":
		return stem == "main" || stem == "__main__"
	case ".js", ".mjs", ".cjs", ".ts":
		return stem == "main" || stem == "index"
	}
	return false
}
