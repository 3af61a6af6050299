package source

import (
	"cmp"
	"slices"
	"time"

	"deepoj/host/problem"
)

// maxAlso is how many of the other files a finding names.
const maxAlso = 3

// kind is what findings of several files have in common: what is wrong, and what is to be done.
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

// add takes note of something about a file. Says is the reason without what differs from file to file.
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

// MaxScore is the largest score: beyond it sums would not be exact.
const MaxScore = 1e12

// What programs get of which problem.yaml says nothing, and what this platform can honour.
const (
	DefaultCPU       = 2 * time.Second
	DefaultMemoryMiB = 2048
	MaxMemoryMiB     = 64 << 10
	MaxOutputMiB     = 4096
	maxCodeKiB       = 64 << 10
)

// ReadLimits reads the limits that mean the same in every format.
func (r *Reader) ReadLimits(k *Keys) {
	l := &r.Package.Limits
	if k.Node("time_limit") != nil {
		l.CPU = Seconds(k.Number("time_limit", DefaultCPU.Seconds(), 0.001, problem.MaxCPUSeconds))
		l.CPUFrom = ProblemYAML + ": limits.time_limit"
	}
	l.MemoryMiB = int64(k.Number("memory", DefaultMemoryMiB, 1, MaxMemoryMiB))
	l.OutputMiB = int64(k.Number("output", 8, 1, MaxOutputMiB))
	l.CodeKiB = int64(k.Number("code", 128, 1, maxCodeKiB))
	l.CompileCPU = Seconds(k.Number("compilation_time", 60, 0.1, problem.MaxCPUSeconds))
	l.CompileMemoryMiB = int64(k.Number("compilation_memory", 2048, 16, MaxMemoryMiB))
	l.CheckCPU = Seconds(k.Number("validation_time", 60, 0.1, problem.MaxCPUSeconds))
	l.CheckMemoryMiB = int64(k.Number("validation_memory", 2048, 16, MaxMemoryMiB))
	l.CheckOutputMiB = int64(k.Number("validation_output", 8, 1, MaxOutputMiB))
}

// Seconds is a time of so many seconds, to the millisecond.
func Seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}

// MaxTests is how many tests a package may have whose format lists them.
const MaxTests = 10_000

// MaxInclude bounds a file that is compiled with every submission, in bytes.
const MaxInclude = 1 << 20
