package problem

import (
	"time"

	"deepoj/host/judge"
)

// GivenWith is where a limit comes from that was given with the package.
const GivenWith = "given with the package"

// Give names a package that was just read, and gives it what it does not say itself.
// It returns what of it has no effect. The title of a folder of tests is its name if
// nobody says another.
func (p *Package) Give(slug string, g judge.Given) []Finding {
	var idle []Finding
	p.Slug = slug
	unsaid := p.Format == FormatPlain || p.Format == FormatDMOJ
	where := "package"
	if unsaid {
		where = NativeYAML
	}
	switch {
	case g.Title == "" || g.Title == p.Title:
	case unsaid && p.Title == "":
		p.Title = g.Title
	default:
		idle = append(idle, NewFinding(where, "title", "is %q, so the one that was given, %q, has no effect", p.Title, g.Title))
	}
	if unsaid && p.Title == "" {
		p.Title = slug
	}
	l, cpu := &p.Limits, time.Duration(g.CPUMillis)*time.Millisecond
	switch {
	case cpu == 0 || cpu == l.CPU && l.CPUFrom != Unsaid:
	case unsaid && l.CPUFrom == Unsaid:
		l.CPU, l.CPUFrom = cpu, GivenWith
	default:
		idle = append(idle, NewFinding(where, "limits.time_limit", "comes from %s, so the %s that were given have no effect", l.CPUFrom, cpu))
	}
	switch {
	case g.MemoryMiB == 0 || g.MemoryMiB == l.MemoryMiB && l.MemoryFrom != Unsaid:
	case unsaid && l.MemoryFrom == Unsaid:
		l.MemoryMiB, l.MemoryFrom = g.MemoryMiB, GivenWith
	default:
		idle = append(idle, NewFinding(where, "limits.memory", "is %d MiB, so the %d MiB that were given have no effect", l.MemoryMiB, g.MemoryMiB))
	}
	return idle
}

// Given is what an export keeps of it.
func (p *Package) Given() *judge.Given {
	if p.Format != FormatPlain && p.Format != FormatDMOJ {
		return nil
	}
	g := &judge.Given{Title: p.Title}
	if p.Limits.CPUFrom == GivenWith {
		g.CPUMillis = p.Limits.CPU.Milliseconds()
	}
	if p.Limits.MemoryFrom == GivenWith {
		g.MemoryMiB = p.Limits.MemoryMiB
	}
	return g
}

// Unsaid is where a limit comes from that a package does not state.
const Unsaid = "default"
