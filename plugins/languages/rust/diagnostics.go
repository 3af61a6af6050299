package main

import (
	"regexp"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

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
