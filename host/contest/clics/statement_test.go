package clics_test

import (
	"testing"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
)

func TestEachStatementOfAProblemHasANameOfItsOwn(t *testing.T) {
	var all []judge.ProblemFile
	for _, name := range []string{"problem.pdf", "problem.en.pdf", "problem.pt-BR.pdf", "statement.en.pdf", "text.pdf", "a.statement.2.pdf"} {
		all = append(all, judge.ProblemFile{Name: name})
	}
	for i, want := range []string{"statement.pdf", "statement.en.pdf", "statement.pt-BR.pdf", "statement.4.pdf", "statement.5.pdf", "statement.6.pdf"} {
		if got := clics.StatementName(all, i); got != want {
			t.Errorf("%s is called %s, want %s", all[i].Name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"problems/a/statement.pdf": false, "fall/problems/a/statement.en.pdf": false, "problems/a/problem.yaml": true, "problems/a.zip": true,
		"problems/a/statement/problem.pdf": true, "problems/a/statement.tex": true, "problems/statement.pdf": true, "problems.json": false, "teams.json": false,
	} {
		if got := clics.OfPackages(name); got != want {
			t.Errorf("%s is of the package of a problem: %v", name, got)
		}
	}
}
