// Package rust is the adapter of Rust with rustc alone, without Cargo.
package rust

import (
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `fn main() {
    println!("hello");
}
`

const broken = `fn main() {
    let n: i32 = "one";
    println!("{}", n);
}
`

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.rust",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "rust",
				Name:       "Rust",
				Extensions: []string{"rs"},
				Hints: []string{
					`\bfn\s+main\s*\(\s*\)`,
					`(?m)^\s*use\s+std::`,
					`\bprintln!\s*\(`,
					`\blet\s+mut\s+\w`,
				},
				Editor: "rust",
				Tools: []abi.Tool{
					{Name: "rustc", Version: []string{"--version"}, Pattern: `rustc (\d+\.\d+\.\d+)`, Package: "rustc"},
					{Name: "gcc", Version: []string{"--version"}, Pattern: `\b(\d+\.\d+\.\d+)\b`, Package: "gcc"}, // links
				},
				Hello:      []abi.Source{{Name: "hello.rs", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.rs", Text: broken}},
				BrokenLine: 2,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	}
}

// plan compiles the crate whose root is the main file; others are its modules.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := place(q.Sources)
	root := layout.Start(q, []string{"main"}, "rs")
	if root == "" {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .rs"}
	}
	return abi.Plan{
		Files: layout.Files(),
		Compile: []abi.Step{{
			Tool: "rustc",
			Args: []string{
				"--edition=2021", "-O", "-Cstrip=symbols", "-Clinker=gcc", "--cfg=online_judge", "--color=never",
				"--crate-name=main", "-o", "main", root,
			},
			Limits: abi.StepLimits{CPUMillis: 30_000, MemoryMiB: 1536, Processes: 64},
		}},
		Artifacts:   []string{"main"},
		Run:         abi.Step{Program: "./main"},
		Diagnostics: abi.Format{Name: "plugin"},
	}, nil
}

// place writes a single source as main.rs.
func place(sources []abi.Source) sdk.Layout { return sdk.Place(sources, "rs") }

// rustc says what first and where in the next line:
//
//	error[E0308]: mismatched types
//	 --> main.rs:2:18
//
// Summaries at the end ("aborting due to 2 previous errors") have no place.
func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	var said abi.Diagnostic // what, while its place is awaited
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		if d, ok := what(text); ok {
			said = d
		} else if file, line, column, ok := where(text); ok && said.Severity != "" {
			if source := layout.Find(file); source >= 0 {
				said.File, said.Line, said.Column = q.Sources[source].Name, line, column
				found = append(found, said)
			}
			said = abi.Diagnostic{}
		}
	}
	return found
}

// what takes apart "error[E0308]: message", and puts the code, which may be missing, behind the message.
func what(text string) (d abi.Diagnostic, ok bool) {
	kind, message, ok := strings.Cut(text, ": ")
	severity, code, coded := strings.Cut(kind, "[")
	if coded {
		message += " [" + code
		digits, rest, found := strings.Cut(code, "]")
		before, _, numbered := sdk.CutLastNumber(digits, "E")
		ok = ok && found && rest == "" && numbered && before == ""
	}
	return abi.Diagnostic{Severity: severity, Message: message}, ok && (severity == "error" || severity == "warning")
}

// where takes apart " --> file:line:column".
func where(text string) (file string, line, column int, ok bool) {
	text, arrow := strings.CutPrefix(strings.TrimLeft(text, " "), "--> ")
	text, column, last := sdk.CutLastNumber(text, ":")
	file, line, ok = sdk.CutLastNumber(text, ":")
	return file, line, column, arrow && last && ok && file != ""
}
