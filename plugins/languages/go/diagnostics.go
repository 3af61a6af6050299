package main

import (
	"regexp"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// The compiler says all in one line, and sometimes goes on in lines that start
// with a tab:
//
//	./main.go:6:10: not enough arguments in call to f
//		have (number)
//		want (int, int)
//
// The linker misses a main function without naming a place.
var message = regexp.MustCompile(`^(\S+\.go):(\d+)(?::(\d+))?: (.*)$`)

const noMain = "function main is undeclared in the main package"

func diagnostics(q abi.DiagnosticsRequest) []abi.Diagnostic {
	var found []abi.Diagnostic
	layout := place(q.Sources)
	for text := range strings.Lines(q.Stderr) {
		text = strings.TrimRight(text, "\r\n")
		if rest, more := strings.CutPrefix(text, "\t"); more && len(found) > 0 {
			found[len(found)-1].Message += "\n" + strings.TrimSpace(rest)
			continue
		}
		if strings.HasSuffix(text, noMain) && len(q.Sources) > 0 {
			found = append(found, abi.Diagnostic{File: q.Sources[0].Name, Line: 1, Severity: "error", Message: noMain})
			continue
		}
		m := message.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		source := layout.Find(m[1])
		if source < 0 {
			continue
		}
		line, _ := strconv.Atoi(m[2])   // digits; too many of them are no line of ours
		column, _ := strconv.Atoi(m[3]) // likewise, and 0 when absent
		found = append(found, abi.Diagnostic{
			File: q.Sources[source].Name, Line: line, Column: column, Severity: "error", Message: m[4],
		})
	}
	return found
}
