package rust

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
		"errors and warnings, and no summary": {
			[]abi.Source{{Name: "a.rs"}},
			"warning: unused variable: `x`\n --> main.rs:2:9\n  |\n2 |     let x = 1;\n  |         ^ help: ...\n\nerror[E0308]: mismatched types\n  --> main.rs:12:18\n   |\n\nerror: aborting due to 1 previous error; 1 warning emitted\n\nFor more information about this error, try `rustc --explain E0308`.\n",
			[]abi.Diagnostic{
				{File: "a.rs", Line: 2, Column: 9, Severity: "warning", Message: "unused variable: `x`"},
				{File: "a.rs", Line: 12, Column: 18, Severity: "error", Message: "mismatched types [E0308]"},
			},
		},
		"the second place of one error is not another error": {
			[]abi.Source{{Name: "a.rs"}, {Name: "b.rs"}},
			"error[E0433]: failed to resolve\n --> b.rs:1:1\n  |\nnote: defined here\n --> a.rs:5:1\n",
			[]abi.Diagnostic{{File: "b.rs", Line: 1, Column: 1, Severity: "error", Message: "failed to resolve [E0433]"}},
		},
		"a place in the standard library": {
			[]abi.Source{{Name: "a.rs"}},
			"error: this arithmetic operation will overflow\n --> /rustc/5980761/library/core/src/num/mod.rs:3:1\n",
			nil,
		},
		"silence": {[]abi.Source{{Name: "a.rs"}}, "", nil},
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
