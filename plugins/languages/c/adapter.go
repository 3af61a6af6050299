// Package c is the adapter of C with the GNU compiler.
package c

import (
	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `#include <stdio.h>

int main(void) {
    puts("hello");
}
`

const broken = `#include <stdio.h>

int main(void) {
    printf("%d\n", undeclared);
}
`

// compiler defaults to the GNU dialect: plain c17 hides POSIX functions such as
// strdup, and what is hidden is then declared by its first use, wrongly.
var compiler = sdk.GCC{
	Tool:       "gcc",
	Standards:  []string{"gnu17", "c17", "gnu2x", "c2x", "gnu11", "c11", "gnu99", "c99", "gnu90", "c90"},
	Extensions: []string{"c"},
	Libraries:  []string{"-lm"},
}

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.c",
			Version: "1.0.0",
			Options: compiler.Options(),
			Language: &abi.Language{
				ID:         "c",
				Name:       "C",
				Extensions: []string{"c", "h"},
				Hints: []string{
					`(?m)^\s*#\s*include\s*<(stdio|stdlib|string|math|stdbool|stdint)\.h>`,
					`\bint\s+main\s*\(\s*(void)?\s*\)`,
				},
				Editor: "cpp",
				Tools: []abi.Tool{
					{Name: "gcc", Version: []string{"--version"}, Pattern: `\b(\d+\.\d+\.\d+)\b`, Package: "gcc"},
				},
				Hello:      []abi.Source{{Name: "hello.c", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.c", Text: broken}},
				BrokenLine: 4,
				Compiled:   true,
			},
		},
		Plan: compiler.Plan,
	}
}
