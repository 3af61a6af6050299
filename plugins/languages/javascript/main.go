// Command javascript is the adapter of JavaScript on Node.js.
package main

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `console.log("hello");
`

const broken = `function main() {
    console.log("hello";
}

main();
`

// extensions are those of JavaScript: a script or module as it may be, a module, and a CommonJS script.
var extensions = []string{"js", "mjs", "cjs"}

// moduleSyntax is what only an ECMAScript module has at the start of a line.
var moduleSyntax = regexp.MustCompile(`(?m)^(import\s*(["'{*]|[\w$]+\s*(,|\s+from\b))|export\s+(default|const|let|var|function|class|async)\b|export\s*\{)`)

func main() {
	sdk.Main(sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.javascript",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "javascript",
				Name:       "JavaScript (Node.js)",
				Extensions: extensions,
				Shebangs:   []string{"node", "nodejs"},
				Hints: []string{
					`\brequire\s*\(\s*['"](node:)?(fs|readline|os|util)['"]`,
					`\bconsole\.log\s*\(`,
					`\bprocess\.(stdin|stdout|argv)\b`,
					`(?m)^\s*(const|let)\s+[\w{\[]`,
				},
				Editor:     "javascript",
				Tools:      []abi.Tool{sdk.NodeTool},
				Hello:      []abi.Source{{Name: "hello.js", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.js", Text: broken}},
				BrokenLine: 2,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	})
}

// plan checks the syntax of every file and runs the main one.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := place(q.Sources)
	entry := layout.Start(q, []string{"main", "index"}, extensions...)
	if entry == "" {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .js, .mjs or .cjs"}
	}
	var check []abi.Step
	for _, file := range layout.With(extensions...) { // node checks one file a call
		check = append(check, abi.Step{
			Tool:   "node",
			Args:   []string{"--check", file},
			Limits: abi.StepLimits{CPUMillis: 10_000, MemoryMiB: 512, Processes: 32},
		})
	}
	files := append(layout.Files(), declaration(q.Sources, layout)...)
	artifacts := make([]string, len(files))
	for i, f := range files {
		artifacts[i] = f.Path
	}
	return abi.Plan{
		Files:       files,
		Compile:     check,
		Artifacts:   artifacts,
		Run:         sdk.Node(entry, q.Limits.MemoryMiB),
		Diagnostics: abi.Format{Name: "plugin"},
	}, nil
}

// place turns the extension of a single file with module syntax into .mjs.
func place(sources []abi.Source) sdk.Layout {
	layout := sdk.Place(sources, extensions...)
	if len(sources) == 1 && path.Ext(layout[0]) == ".js" && moduleSyntax.MatchString(sources[0].Text) {
		layout[0] = strings.TrimSuffix(layout[0], ".js") + ".mjs"
	}
	return layout
}

// declaration returns a package.json that makes all .js files modules, if one of several has module syntax and they
// bring no package.json of their own. Their names must stay: they import each other by them.
func declaration(sources []abi.Source, layout sdk.Layout) []abi.File {
	if len(sources) == 1 || slices.Contains(layout, declarationFile) {
		return nil
	}
	for i, name := range layout {
		if path.Ext(name) == ".js" && moduleSyntax.MatchString(sources[i].Text) {
			return []abi.File{{Path: declarationFile, Text: `{"type":"module"}` + "\n"}}
		}
	}
	return nil
}

const declarationFile = "package.json"

// Node names the place, quotes the line, points at the column, and says what was wrong after an empty line:
//
//	/box/main.js:2
//	    console.log("hello";
//	                ^^^^^^^
//
//	SyntaxError: missing ) after argument list
var (
	where = regexp.MustCompile(`^(?:file://)?(/?[\w./-]+\.[mc]?js):(\d+)$`)
	caret = regexp.MustCompile(`^[ \t]*\^`)
	what  = regexp.MustCompile(`^(SyntaxError|[A-Z]\w*Error)(?: \[\w+\])?: (.*)$`)
)

func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	source, line, column := -1, 0, 0
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		if m := where.FindStringSubmatch(text); m != nil {
			source, column = layout.Find(m[1]), 0
			line, _ = strconv.Atoi(m[2]) // digits; too many of them are no line of ours
		} else if source < 0 {
			continue
		} else if m := caret.FindString(text); m != "" && column == 0 {
			column = len(m)
		} else if m := what.FindStringSubmatch(text); m != nil {
			found = append(found, abi.Diagnostic{
				File: q.Sources[source].Name, Line: line, Column: column, Severity: "error", Message: m[1] + ": " + m[2],
			})
			source = -1
		}
	}
	return found
}
