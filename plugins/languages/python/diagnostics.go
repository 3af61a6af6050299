package main

import (
	"regexp"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// Python says where in one line, shows the source with a caret, and says what
// in a later line:
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

// quoteIndent is how far Python indents the line that it quotes, after taking
// the line's own indentation away.
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
