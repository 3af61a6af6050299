package build

import (
	"slices"
	"testing"

	"deepoj/host/judge"
	"deepoj/plugins/abi"
)

func TestCompilersAreUnderstood(t *testing.T) {
	t.Parallel()
	gcc := "main.cpp: In function 'int main()':\n" +
		"main.cpp:4:18: error: 'undeclared' was not declared in this scope\n    4 |     std::cout << undeclared;\n      |                  ^~~~~~~~~~\n" +
		"main.cpp:7: warning: something\n" +
		"util.h:1:10: fatal error: nothing.h: No such file or directory\ncompilation terminated.\n"
	javac := "Main.java:3: error: incompatible types: String cannot be converted to int\n        int n = \"one\";\n                ^\n" +
		"Main.java:9: warning: [x] y\n  foo();\n  ^\n1 error\n1 warning\n"
	kotlinc := "lib/b_c.kt:3:19: error: expecting '}'\n    val unused = 1\n                  ^\n" +
		"main.kt:4:9: warning: variable 'unused' is never used\n    val unused = 1\n        ^\n"
	tests := map[string]struct {
		got  []judge.Diagnostic
		want []judge.Diagnostic
	}{
		"gcc": {parse(gccFormat, gcc), []judge.Diagnostic{
			{File: "main.cpp", Line: 4, Column: 18, Severity: "error", Message: "'undeclared' was not declared in this scope"},
			{File: "main.cpp", Line: 7, Severity: "warning", Message: "something"},
			{File: "util.h", Line: 1, Column: 10, Severity: "error", Message: "nothing.h: No such file or directory"},
		}},
		"kotlinc": {parse(gccFormat, kotlinc), []judge.Diagnostic{
			{File: "lib/b_c.kt", Line: 3, Column: 19, Severity: "error", Message: "expecting '}'"},
			{File: "main.kt", Line: 4, Column: 9, Severity: "warning", Message: "variable 'unused' is never used"},
		}},
		"javac": {columns(parse(javacFormat, javac), javac), []judge.Diagnostic{
			{File: "Main.java", Line: 3, Column: 17, Severity: "error", Message: "incompatible types: String cannot be converted to int"},
			{File: "Main.java", Line: 9, Column: 3, Severity: "warning", Message: "[x] y"},
		}},
	}
	for name, tt := range tests {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: got  %+v\nwant %+v", name, tt.got, tt.want)
		}
	}
}

func TestFilesHaveTheNamesUnderWhichTheyWereHandedIn(t *testing.T) {
	t.Parallel()
	p := &Program{Plan: abi.Plan{Files: []abi.File{{Path: "Main.java", Source: new(0)}, {Path: "made.h", Text: "x"}}}}
	sources := []abi.Source{{Name: "my solution.java"}}
	for name, want := range map[string]string{
		"Main.java": "my solution.java", "./Main.java": "my solution.java", "/box/Main.java": "my solution.java",
		"made.h": "made.h", "/usr/include/stdio.h": "/usr/include/stdio.h",
	} {
		if got := p.submitted(name, sources); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}
