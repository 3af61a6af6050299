package main

import (
	"regexp"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// Node names the place, quotes the line, points at the column, and says what
// was wrong after an empty line:
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
