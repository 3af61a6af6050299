// Command rust is the adapter of Rust with rustc alone, without Cargo.
package main

import (
	"regexp"
	"strconv"
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

func main() {
	sdk.Main(sdk.Adapter{
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
	})
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
var (
	what  = regexp.MustCompile(`^(error|warning)(\[E\d+\])?: (.*)$`)
	where = regexp.MustCompile(`^ *--> (.+):(\d+):(\d+)$`)
)

func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	var said []string // what, while its place is awaited
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		if m := what.FindStringSubmatch(text); m != nil {
			said = m
		} else if m := where.FindStringSubmatch(text); m != nil && said != nil {
			line, _ := strconv.Atoi(m[2])   // digits; too many of them are no line of ours
			column, _ := strconv.Atoi(m[3]) // likewise
			if source := layout.Find(m[1]); source >= 0 {
				found = append(found, abi.Diagnostic{
					File: q.Sources[source].Name, Line: line, Column: column, Severity: said[1], Message: message(said),
				})
			}
			said = nil
		}
	}
	return found
}

// message is the text of a match of what, with the error's code behind it.
func message(m []string) string {
	if m[2] == "" {
		return m[3]
	}
	return m[3] + " " + m[2]
}
