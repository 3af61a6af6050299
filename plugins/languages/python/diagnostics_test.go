package python

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
		"an open bracket, with its column behind the indentation": {
			[]abi.Source{{Name: "a.py", Text: "if 1:\n    print(\"hello\"\n"}},
			"  File \"main.py\", line 2\n    print(\"hello\"\n         ^\nSyntaxError: '(' was never closed\n",
			[]abi.Diagnostic{{File: "a.py", Line: 2, Column: 10, Severity: "error", Message: "SyntaxError: '(' was never closed"}},
		},
		"a sentence about tabs": {
			[]abi.Source{{Name: "a.py"}},
			"Sorry: TabError: inconsistent use of tabs and spaces in indentation (main.py, line 3)",
			[]abi.Diagnostic{{File: "a.py", Line: 3, Severity: "error", Message: "TabError: inconsistent use of tabs and spaces in indentation"}},
		},
		"sentences about several files, on one line": {
			[]abi.Source{{Name: "a.py"}, {Name: "lib/b.py"}},
			"Sorry: IndentationError: unexpected indent (a.py, line 2)Sorry: IndentationError: unindent (x) (lib/b.py, line 5)",
			[]abi.Diagnostic{
				{File: "a.py", Line: 2, Severity: "error", Message: "IndentationError: unexpected indent"},
				{File: "lib/b.py", Line: 5, Severity: "error", Message: "IndentationError: unindent (x)"},
			},
		},
		"a source that is not UTF-8": {
			[]abi.Source{{Name: "a.py", Text: "print(\"\\xff\")"}},
			"  File \"main.py\", line 1\n    print(\"?\")\n             ^\nSyntaxError: (unicode error) bad byte\n",
			[]abi.Diagnostic{{File: "a.py", Line: 1, Column: 10, Severity: "error", Message: "SyntaxError: (unicode error) bad byte"}},
		},
		"a place outside the submission": {
			[]abi.Source{{Name: "a.py"}},
			"Traceback (most recent call last):\n  File \"/usr/lib/python3.11/py_compile.py\", line 144, in compile\n    x\nValueError: source code string cannot contain null bytes\n",
			nil,
		},
		"silence": {[]abi.Source{{Name: "a.py"}}, "", nil},
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
