// Package python is the adapter of Python 3.
package python

import (
	"strings"

	"deepoj/plugins/abi"
	"deepoj/plugins/sdk/go"
)

const hello = `print("hello")
`

const broken = `def main():
    print("hello"

main()
`

// Adapter returns the adapter.
func Adapter() sdk.Adapter {
	return sdk.Adapter{
		Manifest: abi.Manifest{
			Name:    "deepoj.python",
			Version: "1.0.0",
			Language: &abi.Language{
				ID:         "python",
				Name:       "Python 3",
				Extensions: []string{"py", "py3"},
				Shebangs:   []string{"python3", "python"},
				Hints: []string{
					`(?m)^\s*def\s+\w+\s*\(.*\)\s*(->.*)?:\s*(#.*)?$`,
					`(?m)^\s*(from\s+\w[\w.]*\s+)?import\s+[\w.*, ]+(\s+as\s+\w+)?\s*(#.*)?$`,
					`(?m)^\s*print\s*\(`,
					`\binput\s*\(\s*\)`,
					`\bif\s+__name__\s*==`,
				},
				Editor: "python",
				Tools: []abi.Tool{
					{Name: "python3", Version: []string{"--version"}, Pattern: `Python (\d+\.\d+\.\d+)`, Package: "python3"},
				},
				Hello:      []abi.Source{{Name: "hello.py", Text: hello}},
				Broken:     []abi.Source{{Name: "broken.py", Text: broken}},
				BrokenLine: 2,
				Compiled:   true,
			},
		},
		Plan:        plan,
		Diagnostics: diagnostics,
	}
}

// plan checks the syntax of every file, so that a slip of the keyboard is a
// compile error and costs no test, and runs the main one from its source.
func plan(q abi.PlanRequest) (abi.Plan, error) {
	layout := place(q.Sources)
	modules := layout.With("py")
	if len(modules) == 0 {
		return abi.Plan{}, &sdk.SourceError{Message: "no file has the extension .py"}
	}
	return abi.Plan{
		Files: layout.Files(),
		Compile: []abi.Step{{
			Tool: "python3",
			// Isolated: a file called struct.py must not be imported here.
			Args:   append([]string{"-I", "-m", "py_compile"}, modules...),
			Limits: abi.StepLimits{CPUMillis: 10_000, MemoryMiB: 512, Processes: 16},
		}},
		Artifacts: layout,
		Run: abi.Step{
			Tool: "python3",
			Args: []string{"-B", layout.Start(q, []string{"main", "__main__"}, "py")},
			Env:  map[string]string{"PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "0"},
			// One allocation larger than the address space is refused by
			// Python itself; everything else meets the limit of the box.
			MemoryPolicy: "runtime+cgroup",
			MemoryExit:   `(?m)^MemoryError\b`,
		},
		Diagnostics: abi.Format{Name: "plugin"},
	}, nil
}

// place writes a single source as main.py.
func place(sources []abi.Source) sdk.Layout { return sdk.Place(sources, "py") }

// Python says where in one line, shows the source with a caret, and says what in a later line:
//
//	File "main.py", line 2
//	  print("hello"
//	       ^
//	SyntaxError: '(' was never closed
//
// Indentation errors come as one sentence instead:
//
//	Sorry: IndentationError: unexpected indent (main.py, line 2)
//
// quoteIndent is how far Python indents the line that it quotes, after taking the line's own indentation away.
const quoteIndent = 4

func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	source, line, column := -1, 0, 0
	add := func(message string) {
		if source >= 0 {
			found = append(found, abi.Diagnostic{
				File: q.Sources[source].Name, Line: line, Column: column, Severity: "error", Message: message,
			})
		}
		source, column = -1, 0
	}
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		for rest := text; rest != ""; {
			var s sentence
			if s, rest = nextSentence(rest); s.message != "" {
				source, line = layout.Find(s.file), s.line
				add(s.message)
			}
		}
		if file, n, ok := where(text); ok {
			source, line, column = layout.Find(file), n, 0
		} else if n := caret(text); n > 0 && source >= 0 {
			column = n - quoteIndent + indentation(q.Sources[source].Text, line)
		} else if isWhat(text) {
			add(text)
		}
	}
	return found
}

// indentation returns how many characters of white space start a line of text.
func indentation(text string, line int) int {
	lines := strings.SplitN(text, "\n", line+1)
	if line < 1 || line > len(lines) {
		return 0
	}
	return len(lines[line-1]) - len(strings.TrimLeft(lines[line-1], " \t\f"))
}

// where finds `File "main.py", line 2`.
func where(text string) (file string, line int, ok bool) {
	for {
		_, rest, found := strings.Cut(text, `File "`)
		if !found {
			return "", 0, false
		}
		text = rest
		file, rest, _ := strings.Cut(rest, `"`)
		rest, placed := strings.CutPrefix(rest, ", line ")
		if line, _, ok := sdk.CutNumber(rest); ok && placed && file != "" {
			return file, line, true
		}
	}
}

// caret returns the column of a caret with nothing but blanks before it, and one at least, or 0.
func caret(text string) int {
	if blanks := len(text) - len(strings.TrimLeft(text, " ")); blanks > 0 && strings.HasPrefix(text[blanks:], "^") {
		return blanks + 1
	}
	return 0
}

// isWhat reports whether a text is the name of an error and what it means.
func isWhat(text string) bool {
	name, _, ok := strings.Cut(text, ": ")
	for _, end := range []string{"Error", "Exception"} {
		if ok && isWord(name) && strings.HasSuffix(name, end) && name != end {
			return true
		}
	}
	return false
}

// sentence is a mistake that is told in one.
type sentence struct {
	message, file string
	line          int
}

// nextSentence returns the first sentence of a text, or none, and what follows.
func nextSentence(text string) (sentence, string) {
	for {
		_, rest, found := strings.Cut(text, "Sorry: ")
		if !found {
			return sentence{}, ""
		}
		text = rest
		name, said, ok := strings.Cut(text, ": ")
		if !ok || !isWord(name) {
			continue
		}
		for i := range said {
			place, ok := strings.CutPrefix(said[i:], " (")
			if !ok {
				continue
			}
			end := strings.IndexAny(place, "()")
			if end < 0 || place[end] == '(' {
				continue
			}
			if file, line, ok := sdk.CutLastNumber(place[:end], ", line "); ok && file != "" {
				return sentence{name + ": " + said[:i], file, line}, place[end+1:]
			}
		}
		return sentence{}, "" // what has no end here has none further on
	}
}

// isWord reports whether a text is a name of ASCII letters, digits and underscores.
func isWord(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) < 0
}
