package golang

import (
	"slices"
	"testing"

	"deepoj/plugins/abi"
)

func TestDiagnosticsNameTheSubmittedPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sources []abi.Source
		stderr  string
		want    []abi.Diagnostic
	}{
		"an error that goes on": {
			[]abi.Source{{Name: "a.go"}},
			"# command-line-arguments\n./main.go:6:6: too many arguments in call to f\n\thave (number, number)\n\twant (int)\n./main.go:9:2: declared and not used: x\n",
			[]abi.Diagnostic{
				{File: "a.go", Line: 6, Column: 6, Severity: "error", Message: "too many arguments in call to f\nhave (number, number)\nwant (int)"},
				{File: "a.go", Line: 9, Column: 2, Severity: "error", Message: "declared and not used: x"},
			},
		},
		"a package that does not exist": {
			[]abi.Source{{Name: "a.go"}},
			"main.go:3:8: package example.org/x is not in std (/usr/local/go/src/example.org/x)\n",
			[]abi.Diagnostic{{
				File: "a.go", Line: 3, Column: 8, Severity: "error",
				Message: "package example.org/x is not in std (/usr/local/go/src/example.org/x)",
			}},
		},
		"one of several files": {
			[]abi.Source{{Name: "a.go"}, {Name: "b.go"}},
			"./b.go:4:1: syntax error: non-declaration statement outside function body\n",
			[]abi.Diagnostic{{
				File: "b.go", Line: 4, Column: 1, Severity: "error", Message: "syntax error: non-declaration statement outside function body",
			}},
		},
		"no main function": {
			[]abi.Source{{Name: "a.go"}},
			"# command-line-arguments\nruntime.main_main·f: function main is undeclared in the main package\n",
			[]abi.Diagnostic{{File: "a.go", Line: 1, Severity: "error", Message: "function main is undeclared in the main package"}},
		},
		"silence": {[]abi.Source{{Name: "a.go"}}, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := diagnostics(abi.DiagnosticsRequest{Sources: tt.sources, Stderr: tt.stderr})
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
