package icpc

import (
	"path"
	"slices"
	"strings"

	"deepoj/host/problem"
	"deepoj/host/problem/source"
)

// submissionsJSON is where DOMjudge has what it wants to know of submissions. It may
// lie at the top, too.
const submissionsJSON = source.SubmissionsDir + "/submissions.json"

// readEntryPoints reads which files of submissions are started, as DOMjudge's
// submissions.json says.
func (r *reader) readEntryPoints() {
	for _, file := range []string{"submissions.json", submissionsJSON} {
		if !r.Has(file) {
			continue
		}
		k := r.YAML(file) // of which JSON is a part
		for _, name := range k.Order {
			m := k.Mapping(name)
			entry, given := m.Text("entry_point")
			m.Text("team") // whose submission it is shown as
			m.WarnUnknown()
			full := path.Clean(name)
			at := slices.IndexFunc(r.Package.Submissions, func(s problem.Submission) bool { return s.Path == full })
			switch {
			case at < 0:
				r.Warn(file, name, "is no submission of the package")
			case given:
				r.startWith(&r.Package.Submissions[at], entry, file, name+".entry_point")
			}
		}
	}
}

// startWith makes a file of a submission its entry point, which is a file or a class.
// The file comes first, too: so an adapter sees it that is not told of entry points.
func (r *reader) startWith(s *problem.Submission, entry, file, key string) {
	if len(s.Files) == 1 {
		return // it is this one, whatever it is called
	}
	at := slices.IndexFunc(s.Files, func(f problem.File) bool { return starts(strings.TrimPrefix(f.Path, s.Path+"/"), f.Path, entry) })
	if at < 0 {
		r.Refuse(file, key, "is %q, which is no file and no class of %s", entry, s.Path)
		return
	}
	first := s.Files[at]
	s.Entry = strings.TrimPrefix(first.Path, s.Path+"/")
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
