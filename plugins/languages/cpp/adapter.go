// Package cpp is the adapter of C++ with the GNU compiler.
package cpp

import (
	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `#include <iostream>

int main() {
    std::cout << "hello\n";
}
`

const broken = `#include <iostream>

int main() {
    std::cout << undeclared << "\n";
}
`

// compiler defaults to the GNU dialect: it is a superset of the standard, and
// programs that people bring use __int128 and POSIX functions.
var compiler = sdk.GCC{
	Tool:       "g++",
	Standards:  []string{"gnu++20", "c++20", "gnu++23", "c++23", "gnu++17", "c++17", "gnu++14", "c++14", "gnu++11", "c++11"},
	Extensions: []string{"cpp", "cc", "cxx", "c++", "C"},
}

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.cpp",
			Version: "1.0.0",
			Options: compiler.Options(),
			Language: &abi.Language{
				ID:         "cpp",
				Name:       "C++",
				Extensions: []string{"cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx"},
				Hints: []string{
					`(?m)^\s*#\s*include\s*<(iostream|bits/stdc\+\+\.h|vector|string|algorithm|map|set|queue|cstdio|cmath)>`,
					`\bstd::`,
					`\busing\s+namespace\s+std\b`,
				},
				Editor: "cpp",
				Tools: []abi.Tool{
					{Name: "g++", Version: []string{"--version"}, Pattern: `\b(\d+\.\d+\.\d+)\b`, Package: "g++"},
				},
				Hello:      []abi.Source{{Name: "hello.cpp", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.cpp", Text: broken}},
				BrokenLine: 4,
				Compiled:   true,
			},
		},
		Plan: compiler.Plan,
	}
}
