package source

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
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

// Program returns the program that is a file or a folder, nil if it is none that can be run here.
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

// LanguageIDs returns our ids of languages that a package names. What we do not have keeps its name.
func LanguageIDs(codes []string) []string {
	ids := slices.Clone(codes)
	for i, code := range ids {
		if code == "python3" {
			ids[i] = "python"
		}
	}
	return ids
}

// TestlibName is the header with which setters write checkers, interactors and validators in C++.
const TestlibName = "testlib.h"

// includesTestlib is how a source says that it needs the header.
var includesTestlib = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">]*/)?testlib\.h[">]`)

// WithTestlib adds the testlib.h of the package to the files of a program that includes it and does not bring it: the
// nearest in a folder above the program, or the first there is.
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

// Endings of files that people and tools leave beside programs.
var asideEndings = []string{
	".disabled", ".template", ".tmpl", ".skel", ".bak", ".orig", ".old", ".rej", ".swp", ".swo", ".tmp", "~",
	".o", ".obj", ".a", ".so", ".exe", ".class", ".jar", ".pyc", ".pyo", ".hi", ".beam", ".gch", ".d.ts", ".md", ".pdf", ".log",
}

// Names of files that build or describe a program and are no part of it.
var asideNames = []string{"makefile", "gnumakefile", "cmakelists.txt", "license", "copying", "authors", "todo", "__pycache__", "cargo.lock"}

// Aside says why a file that lies among programs, or a folder, is none of them and no part of one; "" = it may be.
func Aside(name string) string {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "."):
		return "is a hidden file"
	case strings.HasPrefix(lower, "readme"), slices.Contains(asideNames, lower):
		return "is no program"
	}
	for _, ending := range asideEndings {
		if strings.HasSuffix(lower, ending) {
			return "is no program: it ends in " + ending
		}
	}
	return ""
}

// programEndings are those of source files in every language that judges of the field
// know, whether this platform has it or not.
var programEndings = strings.Fields(`.ada .adb .ads .apl .asm .awk .bas .bash .bf .c .c++ .cbl .cc .cl .clj .cob .coffee .cpp .cr .cs .cxx .d .dart
	.el .erl .ex .exs .f .f77 .f90 .f95 .for .fs .fsx .gbs .go .groovy .hs .ijs .java .jl .js .kt .kts .lean .lhs .lisp .lsp .lua .m .ml .mjs .mm .nim
	.odin .p .pas .php .pike .pl .pm .pp .pro .prolog .py .py2 .py3 .r .rb .rkt .rs .s .scala .scm .sed .sh .sim .sml .sno .sql .ss .st .swift .tcl
	.ts .v .vala .vb .vala .wat .ws .zig`)

// NoSubmission says why a file below a folder of submissions is not a program by its name; "" = it may be one.
func NoSubmission(name string) string {
	if why := Aside(name); why != "" {
		return why
	}
	if !slices.Contains(programEndings, strings.ToLower(path.Ext(name))) {
		return "is no program: its ending is that of no programming language"
	}
	return ""
}

// Leave warns of a file that is left out, and why.
func (r *Reader) Leave(name, why string) { r.Warn(name, "", "%s", why+", and is left out") }

// Binary reports whether a file is no text.
func (r *Reader) Binary(name string) bool {
	b, err := r.Read(name, 8<<10)
	return err == nil && bytes.IndexByte(b, 0) >= 0
}

// Printable reports whether a name has only signs that can be shown.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' })
}

// Rejections are the verdicts of a program that is not accepted but compiles.
var Rejections = []judge.Verdict{judge.WA, judge.TLE, judge.MLE, judge.OLE, judge.RE}

// PlainName is what files and folders are called in the format of 2025-09, and names of
// files in the working directory of programs.
var PlainName = regexp.MustCompile(`^([a-zA-Z0-9_][a-zA-Z0-9_.-]{0,254}(/|$))+$`)
