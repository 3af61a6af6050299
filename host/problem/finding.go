package problem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Finding is something about a package that a setter should know.
type Finding struct {
	File   string `json:"file"`
	Key    string `json:"key,omitempty"` // such as "limits.memory"
	Reason string `json:"reason"`

	// Count is of how many files the same is true and the same is to be done; 0 = of
	// File alone. Also are the first of the others, in the order of their names.
	Count int      `json:"count,omitempty"`
	Also  []string `json:"also,omitempty"`
}

// maxAlso is how many of the other files a finding names.
const maxAlso = 3

func (f Finding) String() string {
	s := f.File
	if f.Key != "" {
		s += ": " + f.Key
	}
	s += ": " + f.Reason
	if more := f.More(); more != "" {
		s += " (" + more + ")"
	}
	return s
}

// More says which other files have the same fault, such as "27 files like this: also
// data/secret/02.in, data/secret/03.in, …"; "" if none has.
func (f Finding) More() string {
	if f.Count < 2 {
		return ""
	}
	more := fmt.Sprintf("%d files like this: also %s", f.Count, strings.Join(f.Also, ", "))
	if f.Count > len(f.Also)+1 {
		more += ", …"
	}
	return more
}

// kind is what findings of several files have in common: what is wrong, and what is
// to be done.
type kind struct{ key, says string }

// findings are what was found, like ones together.
type findings struct {
	all   []*alike
	kinds map[kind]*alike
}

// alike are findings of one kind.
type alike struct {
	Finding
	last string // the file that was the last one to join
}

// add takes note of something about a file. Says is the reason without what differs
// from file to file.
func (fs *findings) add(says string, f Finding) {
	if fs.kinds == nil {
		fs.kinds = map[kind]*alike{}
	}
	k := kind{f.Key, says}
	if known := fs.kinds[k]; known != nil && known.last == f.File {
		k.says = f.Reason // the same of another word of the file
	}
	known := fs.kinds[k]
	switch {
	case known == nil && len(fs.all) < maxReasons:
		known = &alike{f, f.File}
		fs.all, fs.kinds[k] = append(fs.all, known), known
	case known != nil && known.last != f.File:
		known.Count, known.last = max(known.Count, 1)+1, f.File
		if len(known.Also) < maxAlso {
			known.Also = append(known.Also, f.File)
		}
	}
}

// ordered returns the findings in the order of their files.
func (fs *findings) ordered() []Finding {
	slices.SortStableFunc(fs.all, func(a, b *alike) int { return cmp.Compare(a.File, b.File) })
	var all []Finding
	for _, f := range fs.all {
		all = append(all, f.Finding)
	}
	return all
}

// Report lists what was understood in a package but is not honoured, and what
// was taken by default.
type Report struct {
	Warnings []Finding `json:"warnings"`
}

// Error is a reason to refuse a package.
type Error struct{ Finding }

func (e *Error) Error() string { return e.String() }

// Findings lists the reasons for which a package was refused.
func Findings(err error) []Finding {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Finding
		for _, one := range many.Unwrap() {
			all = append(all, Findings(one)...)
		}
		return all
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return []Finding{known.Finding}
	}
	return []Finding{{File: "package", Reason: err.Error()}}
}
