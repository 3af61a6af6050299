package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deepoj/host/judge"
)

// Finding is something about a package that a setter should know.
type Finding = judge.Finding

// Report lists what was understood in a package but is not honoured, and what
// was taken by default.
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
