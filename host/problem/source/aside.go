package source

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"deepoj/host/judge"
)

// Endings of files that people and tools leave beside programs.
var asideEndings = []string{
	".disabled", ".template", ".tmpl", ".skel", ".bak", ".orig", ".old", ".rej", ".swp", ".swo", ".tmp", "~",
	".o", ".obj", ".a", ".so", ".exe", ".class", ".jar", ".pyc", ".pyo", ".hi", ".beam", ".gch", ".d.ts", ".md", ".pdf", ".log",
}

// Names of files that build or describe a program and are no part of it.
var asideNames = []string{"makefile", "gnumakefile", "cmakelists.txt", "license", "copying", "authors", "todo", "__pycache__", "cargo.lock"}

// Aside says why a file that lies among programs, or a folder, is none of them and no
// part of one; "" = it may be.
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

// NoSubmission says why a file below a folder of submissions is not a program by its
// name; "" = it may be one.
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
