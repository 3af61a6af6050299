package sdk

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// Layout is where the sources of a submission are written: one path, relative to the working directory, for each
// source. The same sources always get the same layout, so a compiler's words can be traced back without the plan.
type Layout []string

// Place gives every source a path that is safe as an argument of a program: letters,
// digits, blanks and a few signs that patterns of files and shells' expansions do
// without, never starting with what makes a flag, a list of arguments or a hidden file.
//
// A single source is called main, whatever its author called it, so that "queue.py" does not hide a library of that
// name; it keeps its extension if that is one of extensions and otherwise gets the first of them. Several sources keep
// their names and folders, because they refer to each other.
func Place(sources []abi.Source, extensions ...string) Layout {
	if len(sources) == 1 {
		extension := strings.TrimPrefix(path.Ext(sources[0].Name), ".")
		if !slices.Contains(extensions, extension) {
			extension = extensions[0]
		}
		return Layout{"main." + extension}
	}
	layout := make(Layout, 0, len(sources))
	for i, source := range sources {
		name := safePath(source.Name)
		if name == "" {
			name = "file" + strconv.Itoa(i+1) + "." + extensions[0]
		}
		stem, extension := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
		for n := 2; slices.Contains(layout, name); n++ {
			name = stem + "_" + strconv.Itoa(n) + extension
		}
		layout = append(layout, name)
	}
	return layout
}

// Files returns the layout as a plan's files.
func (l Layout) Files() []abi.File {
	files := make([]abi.File, len(l))
	for i, name := range l {
		files[i] = abi.File{Path: name, Source: &i}
	}
	return files
}

// With returns the paths that have one of the extensions, in order.
func (l Layout) With(extensions ...string) []string {
	with, _ := l.split(extensions)
	return with
}

// Without returns the paths that have none of the extensions, in order.
func (l Layout) Without(extensions ...string) []string {
	_, without := l.split(extensions)
	return without
}

func (l Layout) split(extensions []string) (with, without []string) {
	for _, name := range l {
		if slices.Contains(extensions, strings.TrimPrefix(path.Ext(name), ".")) {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
	}
	return with, without
}

// Main returns the path where the program starts: the first of extensions whose name without extension is one of stems,
// or else the first of extensions, or "" without any.
func (l Layout) Main(stems []string, extensions ...string) string {
	paths := l.With(extensions...)
	for _, name := range paths {
		if slices.Contains(stems, strings.TrimSuffix(path.Base(name), path.Ext(name))) {
			return name
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return paths[0]
}

// Start returns the path where the program starts: that of the source that the request
// names, if it has one of the extensions, and otherwise that of [Layout.Main].
func (l Layout) Start(q abi.PlanRequest, stems []string, extensions ...string) string {
	if i := Entry(q); i >= 0 && slices.Contains(extensions, strings.TrimPrefix(path.Ext(l[i]), ".")) {
		return l[i]
	}
	return l.Main(stems, extensions...)
}

// Entry returns the index of the source that the request names as the start, or -1.
func Entry(q abi.PlanRequest) int {
	if q.Entry == "" {
		return -1
	}
	return slices.IndexFunc(q.Sources, func(s abi.Source) bool { return s.Name == q.Entry })
}

// Find returns the index of the source that a compiler calls file, or -1. A
// compiler may write "./a.go" or "/box/a.go" for "a.go".
func (l Layout) Find(file string) int {
	file = path.Clean(strings.TrimPrefix(file, "file://"))
	if i := slices.Index(l, file); i >= 0 {
		return i
	}
	return slices.IndexFunc(l, func(name string) bool { return strings.HasSuffix(file, "/"+name) })
}

// safePath cleans every folder and the name of a path.
func safePath(name string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(name, `\`, "/"), "/") {
		part = strings.Map(safeRune, part)
		if part = strings.TrimLeft(part, ".-@ "); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// safeRune keeps what names of files are made of. Sources refer to each other by them:
// #include "a+b (1).h".
func safeRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("_.-+,=@#%~() ", r):
		return r
	}
	return '_'
}
