package clics

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"deepoj/host/contest"
)

// statementLanguage is where the name of a statement says its language, as in problem.en.pdf.
var statementLanguage = regexp.MustCompile(`\.([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)\.pdf$`)

// FileNames are what the Contest API calls the statements of a problem, and then its attachments: statement.pdf, or with its
// language, and the end of the path of an attachment, which a statement may name. What has the name of one before it has its place
// in it, too.
func FileNames(p contest.ProblemData) []string {
	names, used := []string{}, map[string]bool{"package.zip": true} // which is what our packages call that of a problem
	add := func(stem, end string) {
		name := stem + end
		if used[name] {
			name = fmt.Sprintf("%s-%d%s", stem, len(names)+1, end)
		}
		used[name] = true
		names = append(names, name)
	}
	for _, f := range p.Statement {
		end := ".pdf"
		if m := statementLanguage.FindStringSubmatch(f.Name); m != nil {
			end = "." + m[1] + ".pdf"
		}
		add("statement", end)
	}
	for _, f := range p.Attachments {
		name := plainFile(path.Base(f.Name))
		end := path.Ext(name)
		add(strings.TrimSuffix(name, end), end)
	}
	return names
}

// plainFile is a name of a file that every system takes.
func plainFile(name string) string {
	const longest = 200
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, name)
	name = strings.Trim(name[max(len(name)-longest, 0):], ".-")
	if name == "" {
		return "file"
	}
	return name
}

// ofFile is how the path of a file ends that a problem of the Contest API has, and its package may.
var ofFile = regexp.MustCompile(`(^|/)problems/[^/]+/[^/]+$`)

// OfPackages reports whether a file of a package, or of a folder in it, belongs to nothing but the package of a problem: that is for
// who reads packages of problems.
func OfPackages(name string) bool {
	return ofProblems(name) && (!ofFile.MatchString(name) || strings.HasSuffix(name, ".zip"))
}
