package javascript

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
		"an unclosed call, with its column": {
			[]abi.Source{{Name: "a.js"}},
			"/box/main.js:2\n    console.log(\"hello\";\n                ^^^^^^^\n\nSyntaxError: missing ) after argument list\n    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n\nNode.js v20.20.2\n",
			[]abi.Diagnostic{{File: "a.js", Line: 2, Column: 17, Severity: "error", Message: "SyntaxError: missing ) after argument list"}},
		},
		"a module is named by a URL": {
			[]abi.Source{{Name: "a.js", Text: "import fs from 'fs';\nlet x = ;\n"}},
			"file:///box/main.mjs:2\nlet x = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n",
			[]abi.Diagnostic{{File: "a.js", Line: 2, Column: 9, Severity: "error", Message: "SyntaxError: Unexpected token ';'"}},
		},
		"one of several files": {
			[]abi.Source{{Name: "main.js"}, {Name: "lib/b.js"}},
			"/box/lib/b.js:7\n}\n^\n\nSyntaxError: Unexpected token '}'\n",
			[]abi.Diagnostic{{File: "lib/b.js", Line: 7, Column: 1, Severity: "error", Message: "SyntaxError: Unexpected token '}'"}},
		},
		"a place outside the submission": {
			[]abi.Source{{Name: "a.js"}},
			"node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/box/x.js'\n",
			nil,
		},
		"silence": {[]abi.Source{{Name: "a.js"}}, "", nil},
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
