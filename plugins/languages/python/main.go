// Command python is the adapter of Python 3.
package main

import (
	"regexp"
	"strconv"
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

func main() {
	sdk.Main(sdk.Adapter{
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
	})
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
var (
	where    = regexp.MustCompile(`File "([^"]+)", line (\d+)`)
	caret    = regexp.MustCompile(`^ +\^`)
	what     = regexp.MustCompile(`^(\w+(?:Error|Exception)): (.*)$`)
	sentence = regexp.MustCompile(`Sorry: (\w+): (.*?) \(([^()]+), line (\d+)\)`)
)

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
		for _, m := range sentence.FindAllStringSubmatch(text, -1) {
			source, line = layout.Find(m[3]), number(m[4])
			add(m[1] + ": " + m[2])
		}
		if m := where.FindStringSubmatch(text); m != nil {
			source, line, column = layout.Find(m[1]), number(m[2]), 0
		} else if m := caret.FindString(text); m != "" && source >= 0 {
			column = len(m) - quoteIndent + indentation(q.Sources[source].Text, line)
		} else if m := what.FindStringSubmatch(text); m != nil {
			add(m[1] + ": " + m[2])
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

// number reads what a pattern has found to be digits.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // more digits than any file has lines
	}
	return n
}
