package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deepoj/host/judge"
)

// Finding is something about a package that a setter should know.
type Finding = judge.Finding

// Report lists what was understood in a package but is not honoured, and what was taken by default.
type Report struct {
	Warnings []Finding `json:"warnings"`
}

// statementFolders are where statements and their pictures lie in any format.
var statementFolders = []string{"problem_statement", "statement", "statements", "statement-sections"}

// AboutStatement reports whether a file of a package is a statement or a picture of one.
func AboutStatement(file string) bool {
	top, _, _ := strings.Cut(file, "/")
	return slices.Contains(statementFolders, top) || file == "problem.pdf"
}

// OfStatements is the part of r that is about statements and their pictures.
func (r Report) OfStatements() Report {
	return Report{Warnings: slices.DeleteFunc(slices.Clone(r.Warnings), func(f Finding) bool { return !AboutStatement(f.File) })}
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

// NewFinding is a finding that is not endless, whatever the names in the package.
func NewFinding(file, key, format string, args ...any) Finding {
	return Finding{File: Brief(file), Key: Brief(key), Reason: Brief(fmt.Sprintf(format, args...))}
}

// Brief is s, cut where it is longer than a finding may be.
func Brief(s string) string {
	if len(s) <= MaxReason {
		return s
	}
	return strings.ToValidUTF8(s[:MaxReason], "") + "…"
}

// What a package may be at most. They bound the work of reading a hostile one.
const (
	MaxReason = 2000 // bytes of one of them
)

// GivenWith is where a limit comes from that was given with the package.
const GivenWith = "given with the package"

// Give names a package that was just read, and gives it what it does not say itself. It returns what of it has no
// effect. The title of a folder of tests is its name if nobody says another.
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
