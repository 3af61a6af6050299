package source

import (
	"time"

	"deepoj/host/problem"
)

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
