package clics_test

import (
	"slices"
	"strings"
	"testing"

	"deepoj/host/contest"
	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

func TestEachFileOfAProblemHasANameOfItsOwn(t *testing.T) {
	var p contest.ProblemData
	for _, name := range []string{"problem.pdf", "problem.en.pdf", "problem.pt-BR.pdf", "statement.en.pdf", "text.pdf", "a.statement.2.pdf"} {
		p.Statement = append(p.Statement, judge.ProblemFile{Name: name})
	}
	for _, name := range []string{"tools/tester.py", "other/tester.py", "a b\u00e9.txt", "...", ".bashrc", strings.Repeat("x", 300) + ".zip", "statement.pdf", "noend", "package.zip"} {
		p.Attachments = append(p.Attachments, judge.ProblemFile{Name: name})
	}
	want := []string{
		"statement.pdf", "statement.en.pdf", "statement.pt-BR.pdf", "statement-4.en.pdf", "statement-5.pdf", "statement-6.pdf",
		"tester.py", "tester-8.py", "a_b_.txt", "file", "bashrc", strings.Repeat("x", 196) + ".zip", "statement-13.pdf", "noend", "package-15.zip",
	}
	if got := clics.FileNames(p); !slices.Equal(got, want) {
		t.Errorf("the files are called\n%q, want\n%q", got, want)
	}
	for name, want := range map[string]bool{
		"problems/a/statement.pdf": false, "fall/problems/a/tester.py": false, "problems/a/problem.yaml": false, "problems/a.zip": true, "problems/a/package.zip": true,
		"problems/a/data/1.in": true, "problems/statement.pdf": true, "problems.json": false, "teams.json": false,
	} {
		if got := clics.OfPackages(name); got != want {
			t.Errorf("%s is of the package of a problem: %v", name, got)
		}
	}
}
