package source

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/problem"
)

// IsSource reports whether a file is of C or C++ by its name, and no header.
func IsSource(name string) bool { return checkerSource.MatchString(name) }

// IsHeader reports whether a file is a header of C or C++ by its name.
func IsHeader(name string) bool { return checkerHeader.MatchString(name) }

var (
	checkerSource = regexp.MustCompile(`\.(c|cc|cpp|cxx)$`)
	checkerHeader = regexp.MustCompile(`\.(h|hh|hpp)$`)
)

// Programs returns the programs in a folder, each of which is a file or a folder.
// Tell is told of what is none that can be run here.
func (r *Reader) Programs(dir string, tell func(file, key, format string, args ...any)) []problem.Program {
	names, folder := r.Children(dir)
	var all []problem.Program
	for _, name := range names {
		if !folder[name] && IsHeader(name) {
			continue
		}
		if why := Aside(name); why != "" {
			r.Leave(path.Join(dir, name), why)
			continue
		}
		if p := r.Program(path.Join(dir, name), folder[name], tell); p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// Program returns the program that is a file or a folder, nil if it is none that can
// be run here.
func (r *Reader) Program(full string, folder bool, tell func(file, key, format string, args ...any)) *problem.Program {
	files := []string{full}
	scripts := false
	if folder {
		files = r.Below(full)
		scripts = r.Has(path.Join(full, "build")) || r.Has(path.Join(full, "run"))
	}
	if !scripts { // which alone know what they need
		files = slices.DeleteFunc(slices.Clone(files), func(f string) bool { return folder && Aside(path.Base(f)) != "" })
	}
	p := problem.Program{Name: strings.TrimSuffix(path.Base(full), path.Ext(full))}
	languages := map[string]bool{}
	for _, f := range files {
		if id := problem.LanguageOf(f); id != "" {
			p.Language = id
			languages[id] = true
		}
		p.Files = append(p.Files, r.File(f))
	}
	switch {
	case scripts:
		p.Language = problem.LanguageScripts
	case !folder && path.Ext(full) == ".sh":
		p.Language = problem.LanguageShell
	case len(languages) == 0:
		tell(full, "", "is not run: its language is not one that programs are run in here")
		return nil
	case len(languages) > 1:
		tell(full, "", "is not run: its files are of several languages")
		return nil
	case slices.ContainsFunc(files, func(f string) bool { return folder && path.Dir(f) != full }):
		tell(full, "", "is not run: it has folders in it; put its files together")
		return nil
	}
	if p.Language == "cpp" {
		p.Files = r.WithTestlib(p.Files)
	}
	return &p
}

// LanguageIDs returns our ids of languages that a package names. What we do not
// have keeps its name.
func LanguageIDs(codes []string) []string {
	ids := slices.Clone(codes)
	for i, code := range ids {
		if code == "python3" {
			ids[i] = "python"
		}
	}
	return ids
}
