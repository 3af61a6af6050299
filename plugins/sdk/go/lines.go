package sdk

import (
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// CutNumber returns the number that a text begins with and what follows its digits; ok tells whether there are any. A
// number with more digits than any file has lines is 0.
func CutNumber(text string) (n int, rest string, ok bool) {
	rest = strings.TrimLeft(text, digits)
	return number(text[:len(text)-len(rest)]), rest, rest != text
}

// CutLastNumber returns the number that a text ends with, as [CutNumber] does, and what stands before the separator in
// front of it.
func CutLastNumber(text, separator string) (before string, n int, ok bool) {
	before = strings.TrimRight(text, digits)
	n = number(text[len(before):])
	if before == text {
		return "", 0, false
	}
	before, ok = strings.CutSuffix(before, separator)
	return before, n, ok
}

const digits = "0123456789"

// number reads digits.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// Parenthesized reads messages with the place in parentheses, as the compilers that come from Microsoft's write them:
//
//	main.ts(2,5): error TS2322: Type '{ a: string; }' is not assignable to type 'P'.
//	  Types of property 'a' are incompatible.
//	main.cs(4,17): error CS0029: Cannot implicitly convert type `string' to `int'
//	error CS5001: Program `main.exe' does not contain a static `Main' method
//
// What concerns no place is told of the first source. Indented lines continue the message above.
func Parenthesized(sources []abi.Source, layout Layout, words string) []abi.Diagnostic {
	var found []abi.Diagnostic
	continued := false // whether the message above is in found
	for text := range strings.Lines(words) {
		text = strings.TrimRight(text, "\r\n")
		d, source := abi.Diagnostic{Severity: "note"}, -1
		if rest := strings.TrimLeft(text, " \t"); rest != text {
			if continued {
				found[len(found)-1].Message += "\n" + rest
			}
			continue
		}
		if file, line, column, message, ok := parenthesis(text); ok {
			source, d.Line, d.Column, d.Message = layout.Find(file), line, column, message
			for _, severity := range []string{"error", "warning"} {
				if message, ok := coded(message, severity); ok {
					d.Severity, d.Message = severity, message
				}
			}
		} else if message, ok := coded(text, "error"); ok && len(sources) > 0 {
			source, d.Line, d.Severity, d.Message = 0, 1, "error", message
		}
		if continued = source >= 0 && source < len(sources); continued {
			d.File = sources[source].Name
			found = append(found, d)
		}
	}
	return found
}

// parenthesis takes apart "file(line,column): message", where more numbers may follow the column.
func parenthesis(text string) (file string, line, column int, message string, ok bool) {
	for i := 1; i < len(text); i++ {
		if text[i] != '(' {
			continue
		}
		line, rest, ok := CutNumber(text[i+1:])
		if !ok || !strings.HasPrefix(rest, ",") {
			continue
		}
		column, rest, ok := CutNumber(rest[1:])
		for ok && strings.HasPrefix(rest, ",") {
			_, rest, ok = CutNumber(rest[1:])
		}
		if message, found := strings.CutPrefix(rest, "): "); ok && found {
			return text[:i], line, column, message, true
		}
	}
	return "", 0, 0, "", false
}

// coded takes apart "error CS5001: message" and puts the code behind the message.
func coded(text, severity string) (string, bool) {
	text, ok := strings.CutPrefix(text, severity+" ")
	code, message, found := strings.Cut(text, ": ")
	letters := strings.TrimRight(code, digits)
	if !ok || !found || letters == code || letters == "" || strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", false
	}
	return message + " [" + code + "]", true
}
