package sdk

import (
	"regexp"
	"strconv"
	"strings"

	"deepoj/plugins/abi"
)

// Parenthesized reads messages with the place in parentheses, as the compilers that come from Microsoft's write them:
//
//	main.ts(2,5): error TS2322: Type '{ a: string; }' is not assignable to type 'P'.
//	  Types of property 'a' are incompatible.
//	main.cs(4,17): error CS0029: Cannot implicitly convert type `string' to `int'
//	error CS5001: Program `main.exe' does not contain a static `Main' method
//
// What concerns no place is told of the first source. Indented lines continue the message above.
func Parenthesized(sources []abi.Source, layout Layout, words string) []abi.Diagnostic {
	// Adapters that do not come here need no regular expressions.
	placed := regexp.MustCompile(`^(.+?)\((\d+),(\d+)(?:,\d+)*\): (?:(error|warning) ([A-Z]+\d+): )?(.*)$`)
	unplaced := regexp.MustCompile(`^(error) ([A-Z]+\d+): (.*)$`)
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
		if m := placed.FindStringSubmatch(text); m != nil {
			source, d.Message = layout.Find(m[1]), m[6]
			d.Line, d.Column = number(m[2]), number(m[3])
			if m[4] != "" {
				d.Severity, d.Message = m[4], m[6]+" ["+m[5]+"]"
			}
		} else if m := unplaced.FindStringSubmatch(text); m != nil && len(sources) > 0 {
			source, d.Line, d.Severity, d.Message = 0, 1, m[1], m[3]+" ["+m[2]+"]"
		}
		if continued = source >= 0 && source < len(sources); continued {
			d.File = sources[source].Name
			found = append(found, d)
		}
	}
	return found
}

// number reads what a pattern has found to be digits.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // more digits than any file has lines
	}
	return n
}
