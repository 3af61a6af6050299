package clics

import (
	"fmt"
	"regexp"

	"deepoj/host/judge"
)

// statementLanguage is where the name of a statement says its language, as in problem.en.pdf.
var statementLanguage = regexp.MustCompile(`\.([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)\.pdf$`)

// StatementName is what the Contest Package Format calls one of the statements of a problem, which are PDF: statement.pdf, or
// with its language or its place where there are several.
func StatementName(all []judge.ProblemFile, i int) string {
	used := map[string]bool{}
	for j := range all {
		name := "statement.pdf"
		if m := statementLanguage.FindStringSubmatch(all[j].Name); m != nil {
			name = "statement." + m[1] + ".pdf"
		}
		if used[name] {
			name = fmt.Sprintf("statement.%d.pdf", j+1)
		}
		if used[name] = true; j == i {
			return name
		}
	}
	return ""
}

// ofStatement is how the path of a statement ends.
var ofStatement = regexp.MustCompile(`(^|/)problems/[^/]+/statement(\.[A-Za-z0-9-]+)?\.pdf$`)

// OfPackages reports whether a file of a package, or of a folder in it, belongs to the package of a problem: that is for who
// reads packages of problems. Statements that are there by themselves do not.
func OfPackages(name string) bool { return ofProblems(name) && !ofStatement.MatchString(name) }
