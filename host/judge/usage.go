package judge

import (
	"strconv"
	"strings"
	"time"
)

// Usage is what a run or a compilation used. Times are there twice: in whole milliseconds, rounded down, as they always
// were, and in microseconds, which results of before the field do not have. [Usage.CPU] and [Usage.Wall] return what is
// known.
type Usage struct {
	CPUMillis  int64 `json:"cpu_ms"`
	WallMillis int64 `json:"wall_ms"`
	CPUMicros  int64 `json:"cpu_us,omitempty"`  // 0 = as CPUMillis says
	WallMicros int64 `json:"wall_us,omitempty"` // 0 = as WallMillis says

	// MemoryKiB is the highest memory use, to about 256 KiB. 0 = not known, in results of before every run had a figure.
	MemoryKiB int64 `json:"memory_kib"`

	// ChargedKiB is the limit that MemoryKiB is held against, where it is not the problem's alone: a language's
	// runtime has memory of its own on top of it. 0 = the problem's.
	ChargedKiB int64 `json:"charged_kib,omitempty"`
}

// UsageOf returns the usage with these times, to the microsecond, and this memory.
func UsageOf(cpu, wall time.Duration, memoryKiB int64) Usage {
	return Usage{
		CPUMillis: cpu.Milliseconds(), WallMillis: wall.Milliseconds(),
		CPUMicros: cpu.Microseconds(), WallMicros: wall.Microseconds(), MemoryKiB: memoryKiB,
	}
}

// CPU returns the CPU time as exactly as it is known.
func (u Usage) CPU() time.Duration { return finest(u.CPUMicros, u.CPUMillis) }

// Wall returns the time on the clock as exactly as it is known.
func (u Usage) Wall() time.Duration { return finest(u.WallMicros, u.WallMillis) }

func finest(micros, millis int64) time.Duration {
	if micros > 0 {
		return time.Duration(micros) * time.Microsecond
	}
	return time.Duration(millis) * time.Millisecond
}

// Worst returns the highest of each figure.
func (u Usage) Worst(v Usage) Usage {
	if v.CPU() > u.CPU() {
		u.CPUMillis, u.CPUMicros = v.CPUMillis, v.CPUMicros
	}
	if v.Wall() > u.Wall() {
		u.WallMillis, u.WallMicros = v.WallMillis, v.WallMicros
	}
	u.MemoryKiB, u.ChargedKiB = max(u.MemoryKiB, v.MemoryKiB), max(u.ChargedKiB, v.ChargedKiB)
	return u
}

// After returns what u and v used one after the other: the sum of their times, and the higher memory.
func (u Usage) After(v Usage) Usage {
	sum := UsageOf(u.CPU()+v.CPU(), u.Wall()+v.Wall(), max(u.MemoryKiB, v.MemoryKiB))
	sum.ChargedKiB = max(u.ChargedKiB, v.ChargedKiB)
	return sum
}

// TimeText writes a time that was measured, or a limit of one, for people: in milliseconds to a tenth below a second,
// and in seconds to a thousandth from there on, without needless zeros, such as 1.3 ms, 500 ms and 2.11 s. What took any
// time took 0.1 ms.
func TimeText(d time.Duration) string {
	const tenth = time.Millisecond / 10
	if d > 0 {
		d = max(d, tenth)
	}
	unit, places, name := time.Millisecond, 1, " ms"
	if d = d.Round(tenth); d >= time.Second {
		unit, places, name = time.Second, 3, " s"
	}
	text := strconv.FormatFloat(float64(d)/float64(unit), 'f', places, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + name
}
