package source

import (
	"cmp"
	"slices"

	"deepoj/host/problem"
)

// maxAlso is how many of the other files a finding names.
const maxAlso = 3

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
	problem.Finding
	last string // the file that was the last one to join
}

// add takes note of something about a file. Says is the reason without what differs
// from file to file.
func (fs *findings) add(says string, f problem.Finding) {
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
func (fs *findings) ordered() []problem.Finding {
	slices.SortStableFunc(fs.all, func(a, b *alike) int { return cmp.Compare(a.File, b.File) })
	var all []problem.Finding
	for _, f := range fs.all {
		all = append(all, f.Finding)
	}
	return all
}
