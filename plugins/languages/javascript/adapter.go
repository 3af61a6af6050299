// Package javascript is the adapter of JavaScript on Node.js.
package javascript

import (
	"path"
	"slices"
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

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
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
	}
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
	if len(sources) == 1 && path.Ext(layout[0]) == ".js" && isModule(sources[0].Text) {
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
		if path.Ext(name) == ".js" && isModule(sources[i].Text) {
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
func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	source, line, column := -1, 0, 0
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		if file, n, ok := where(text); ok {
			source, line, column = layout.Find(file), n, 0
		} else if source < 0 {
			continue
		} else if n := caret(text); n > 0 && column == 0 {
			column = n
		} else if message := what(text); message != "" {
			found = append(found, abi.Diagnostic{
				File: q.Sources[source].Name, Line: line, Column: column, Severity: "error", Message: message,
			})
			source = -1
		}
	}
	return found
}

// where takes apart "file:///box/main.mjs:2".
func where(text string) (file string, line int, ok bool) {
	file, line, ok = sdk.CutLastNumber(text, ":")
	file = strings.TrimPrefix(file, "file://")
	extension := strings.TrimPrefix(path.Ext(file), ".")
	isFile := slices.Contains(extensions, extension) && len(file) > len(extension)+len(".")
	return file, line, ok && isFile && length(file, "./-") == len(file)
}

// caret returns the column of a caret with nothing but white space before it, or 0.
func caret(text string) int {
	if rest := strings.TrimLeft(text, " \t"); strings.HasPrefix(rest, "^") {
		return len(text) - len(rest) + 1
	}
	return 0
}

// what returns the name of an error and what it means, without the code that may stand between them: "TypeError
// [ERR_X]: message". Without an error it returns "".
func what(text string) string {
	name, rest := text[:length(text, "")], text[length(text, ""):]
	if code, ok := strings.CutPrefix(rest, " ["); ok && length(code, "") > 0 {
		if after, ok := strings.CutPrefix(code[length(code, ""):], "]"); ok {
			rest = after
		}
	}
	isError := len(name) > len("Error") && strings.HasSuffix(name, "Error") && 'A' <= name[0] && name[0] <= 'Z'
	if !isError || !strings.HasPrefix(rest, ": ") {
		return ""
	}
	return name + rest
}

// isModule reports whether a script has, at the start of a line, what only an ECMAScript module may have: an import or
// export.
func isModule(text string) bool {
	for line := text; line != ""; _, line, _ = strings.Cut(line, "\n") {
		if rest, ok := strings.CutPrefix(line, "import"); ok && imports(trim(rest)) {
			return true
		}
		if rest, ok := strings.CutPrefix(line, "export"); ok && exports(rest) {
			return true
		}
	}
	return false
}

// imports reports whether what follows "import" makes it one: `"a.js"`, `{a} from`, `* as a`, `a, {b}`, `a from`.
func imports(rest string) bool {
	if rest != "" && strings.Contains("\"'{*", rest[:1]) {
		return true
	}
	name := length(rest, "$")
	after := trim(rest[name:])
	if name == 0 || strings.HasPrefix(after, ",") {
		return name > 0
	}
	return len(after) < len(rest)-name && after[:length(after, "")] == "from"
}

// exports reports whether what follows "export" makes it one: a list, or white space and a word that begins something.
func exports(rest string) bool {
	after := trim(rest)
	if strings.HasPrefix(after, "{") {
		return true
	}
	switch after[:length(after, "")] {
	case "default", "const", "let", "var", "function", "class", "async":
		return len(after) < len(rest)
	}
	return false
}

// trim passes over white space, and over ends of lines.
func trim(text string) string { return strings.TrimLeft(text, " \t\n\f\r") }

// length returns how many ASCII letters, digits, underscores and other signs a text begins with.
func length(text, others string) int {
	end := strings.IndexFunc(text, func(c rune) bool {
		isWord := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		return !isWord && !strings.ContainsRune(others, c)
	})
	if end < 0 {
		return len(text)
	}
	return end
}
