// Package draft changes versions of problems, and compares them.
//
// A version never changes: what a setter changes of one is a [Changes], which becomes the [problem.Revision] that a new
// archive is written with. That archive is taken in as any upload is, so it is read, completed and proved before
// anybody can make it live. This package only knows which files of a package stand for what people mean.
package draft

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deepoj/host/judge"
	"deepoj/host/problem"
)

// Changes are what one save changes. What is nil or empty stays.
type Changes struct {
	Limits      *Limits           `json:"limits,omitempty"`
	Names       map[string]string `json:"names,omitempty"`     // of the problem, by language; "" removes one
	Languages   *[]string         `json:"languages,omitempty"` // ids that may be used; an empty list = all
	Statements  []Statement       `json:"statements,omitempty"`
	Tests       []Test            `json:"tests,omitempty"`
	Submissions []Submission      `json:"submissions,omitempty"`
	Checker     *Checker          `json:"checker,omitempty"`
	Files       []File            `json:"files,omitempty"` // any others
}

// Limits are those of programs. Nil stays as it is.
type Limits struct {
	TimeMillis *int64 `json:"time_ms,omitempty"` // 0 = as the package's programs need
	MemoryMiB  *int64 `json:"memory_mib,omitempty"`
	OutputMiB  *int64 `json:"output_mib,omitempty"`
	CodeKiB    *int64 `json:"code_kib,omitempty"`
}

// Statement is the statement in a language.
type Statement struct {
	Language string `json:"language"`
	Format   string `json:"format,omitempty"` // md or tex; "" = as it is, md if it is new
	Text     string `json:"text,omitempty"`
	Remove   bool   `json:"remove,omitempty"`
}

// Test is a test by its name, such as "sample/1" or "secret/group1/03". A test that is
// not there is added. Nil parts stay.
type Test struct {
	Name   string  `json:"name,omitempty"` // "" = the next number of the secret tests
	Input  *string `json:"input,omitempty"`
	Answer *string `json:"answer,omitempty"`
	Remove bool    `json:"remove,omitempty"`

	// Command makes the input with a generator of the package, such as "gen 10 7", where the format has such tests.
	Command string `json:"command,omitempty"`
}

// Submission is a program of the package, by the folder that says what it must get and its name there.
type Submission struct {
	Place  string  `json:"place"` // such as "accepted"
	Name   string  `json:"name"`
	Text   *string `json:"text,omitempty"` // nil = it stays
	To     string  `json:"to,omitempty"`   // moves it to another folder
	Remove bool    `json:"remove,omitempty"`
}

// Checker decides on outputs: one that comes with the platform, or a source file.
type Checker struct {
	Standard string   `json:"standard,omitempty"` // such as "default"
	Flags    []string `json:"flags,omitempty"`    // of the standard checker "default"
	Name     string   `json:"name,omitempty"`     // of the file
	Text     string   `json:"text,omitempty"`
}

// File is a file of the package by its path.
type File struct {
	Path   string  `json:"path"`
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"` // instead of text
	Remove bool    `json:"remove,omitempty"`
}

// Empty reports whether nothing is changed.
func (c *Changes) Empty() bool {
	return c.Limits == nil && c.Names == nil && c.Languages == nil && c.Checker == nil &&
		len(c.Statements)+len(c.Tests)+len(c.Submissions)+len(c.Files) == 0
}

// Read returns the content of a small text file of the version; the error is none of whoever changes it.
type Read func(path string) (string, error)

// editor collects what is changed.
type editor struct {
	pkg   *problem.Package
	read  Read
	rev   problem.Revision
	wrong []*judge.FieldError
	err   error
}

// Plan returns the revision that makes changes to a version. Wrong is everything that
// is wrong with them, each with the name of its field.
func Plan(pkg *problem.Package, c Changes, read Read) (rev problem.Revision, wrong []*judge.FieldError, err error) {
	e := &editor{pkg: pkg, read: read, rev: problem.Revision{Files: map[string][]byte{}, Copies: map[string]string{}}}
	for i, f := range c.Files {
		e.file(field("files", i), f)
	}
	if pkg.Format == problem.FormatPolygon {
		e.polygon(c)
	} else {
		e.icpc(c)
	}
	return e.rev, e.wrong, e.err
}

// refuse notes what is wrong with a field, in a sentence for people.
func (e *editor) refuse(field, reason, format string, args ...any) {
	e.wrong = append(e.wrong, judge.Wrong(field, reason, format, args...))
}

// deep says that what is judged changes: what was made and measured is no more right.
func (e *editor) deep() { e.rev.Remade, e.rev.Measure = true, true }

// has reports whether there is a file, as far as is changed.
func (e *editor) has(name string) bool {
	content, changed := e.rev.Files[name]
	if _, copied := e.rev.Copies[name]; copied || changed {
		return copied || content != nil
	}
	return e.kept(name)
}

// kept reports whether the version has a file.
func (e *editor) kept(name string) bool {
	return slices.ContainsFunc(e.pkg.Files, func(f problem.File) bool { return f.Path == name })
}

// text returns a text file as far as it is changed.
func (e *editor) text(name string) string {
	if content, changed := e.rev.Files[name]; changed {
		return string(content)
	}
	if e.err != nil || !e.kept(name) {
		return ""
	}
	text, err := e.read(name)
	if err != nil {
		e.err = err
	}
	return text
}

// put gives a file a content. Made files are written by imports alone.
func (e *editor) put(field, name string, content []byte) {
	if !goodPath(name) {
		e.refuse(field, "invalid", "The path is no name in a folder, such as attachments/notes.txt.")
		return
	}
	delete(e.rev.Copies, name)
	if content == nil {
		content = []byte{}
	}
	e.rev.Files[name] = content
}

// drop removes a file.
func (e *editor) drop(name string) {
	delete(e.rev.Copies, name)
	if e.kept(name) {
		e.rev.Files[name] = nil
	} else {
		delete(e.rev.Files, name)
	}
}

// below returns the paths of the files of the version in a folder.
func (e *editor) below(dir string) (names []string) {
	for _, f := range e.pkg.Files {
		if strings.HasPrefix(f.Path, dir+"/") {
			names = append(names, f.Path)
		}
	}
	return names
}

// file changes any file.
func (e *editor) file(field string, f File) {
	switch {
	case f.Path == problem.VersionFile || strings.HasPrefix(f.Path, "made/"):
		e.refuse(field+".path", "invalid", "The import writes this file itself.")
		return
	case f.Remove && !e.has(f.Path):
		e.refuse(field+".path", "unknown", "The version has no file of this path.")
		return
	case f.Remove:
		e.drop(f.Path)
	case f.Text == nil && f.Base64 == nil:
		e.refuse(field+".text", "missing", "Send text or base64, or remove: true.")
		return
	case f.Text != nil && f.Base64 != nil:
		e.refuse(field+".text", "invalid", "Send either text or base64.")
		return
	case f.Text != nil:
		e.put(field+".path", f.Path, []byte(*f.Text))
	default:
		e.put(field+".path", f.Path, f.Base64)
	}
	if !harmless(f.Path) {
		e.deep()
	}
}

// harmless reports whether a file says nothing about judging.
func harmless(name string) bool {
	dir, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{"attachments", "problem_statement", "statement", "statements", "statement-sections"}, dir) && dir != name
}

// Limits of names in packages.
const (
	maxPath  = 200 // bytes
	maxDepth = 12  // folders in folders
)

// goodPath reports whether a path may be that of a file of a package.
func goodPath(name string) bool {
	if name == "" || len(name) > maxPath || !utf8.ValidString(name) || path.Clean(name) != name || path.IsAbs(name) || strings.Count(name, "/") > maxDepth {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "." {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}

// plain is the name of one file or folder.
var plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$`)

// language is a tag as names of statements have it.
var language = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]+)?$`)

func field(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }
