package sdk_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"deepoj/plugins/abi"
	"deepoj/plugins/languagestest"
	"deepoj/plugins/sdk/go"
)

func TestNumbersAreCutFromEitherEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		n    int
		rest string
		ok   bool
	}{
		"12:a": {12, ":a", true}, "007": {7, "", true}, "99999999999999999999x": {0, "x", true}, "": {}, "a1": {0, "a1", false}, "-1": {0, "-1", false},
	} {
		if n, rest, ok := sdk.CutNumber(text); n != want.n || rest != want.rest || ok != want.ok {
			t.Errorf("CutNumber(%q) = %d, %q, %t", text, n, rest, ok)
		}
	}
	for text, want := range map[string]struct {
		before string
		n      int
		ok     bool
	}{
		"a.c:1:23": {"a.c:1", 23, true}, ":4": {"", 4, true}, "a:99999999999999999999": {"a", 0, true},
	} {
		if before, n, ok := sdk.CutLastNumber(text, ":"); before != want.before || n != want.n || ok != want.ok {
			t.Errorf("CutLastNumber(%q) = %q, %d, %t", text, before, n, ok)
		}
	}
	for _, text := range []string{"", "a", "1", "a 1", "a:1 ", "a:"} {
		if before, n, ok := sdk.CutLastNumber(text, ":"); ok {
			t.Errorf("CutLastNumber(%q) = %q, %d", text, before, n)
		}
	}
}

func TestPlacesInParenthesesAreThoseOfAPattern(t *testing.T) {
	t.Parallel()
	placed := regexp.MustCompile(`^(.+?)\((\d+),(\d+)(?:,\d+)*\): (?:(error|warning) ([A-Z]+\d+): )?(.*)$`)
	unplaced := regexp.MustCompile(`^(error) ([A-Z]+\d+): (.*)$`)
	number := func(digits string) int {
		n, _, _ := sdk.CutNumber(digits)
		return n
	}
	found := 0
	for text := range languagestest.Texts(
		"a.cs", "a.cs", "(", "(1,2", "(3,4): ", "(3,4): ", "(5,6,7): ", ",", ",8", "9", ")", "): ", "error ", "warning ", "CS", "CS12: ", "TS3", ": ", "é", "b", "99999999999999999999",
	) {
		var want []abi.Diagnostic
		if m := placed.FindStringSubmatch(text); m != nil {
			if m[1] != "a.cs" {
				continue
			}
			d := abi.Diagnostic{File: "A", Line: number(m[2]), Column: number(m[3]), Severity: "note", Message: m[6]}
			if m[4] != "" {
				d.Severity, d.Message = m[4], m[6]+" ["+m[5]+"]"
			}
			want = append(want, d)
		} else if m := unplaced.FindStringSubmatch(text); m != nil {
			want = append(want, abi.Diagnostic{File: "A", Line: 1, Severity: m[1], Message: m[3] + " [" + m[2] + "]"})
		}
		if got := sdk.Parenthesized([]abi.Source{{Name: "A"}}, sdk.Layout{"a.cs"}, text); !slices.Equal(got, want) {
			t.Fatalf("%q\ngot  %+v\nwant %+v", text, got, want)
		}
		found += len(want)
	}
	if found < 100 {
		t.Errorf("%d texts have a place, want more to compare", found)
	}
}

// Compilers quote what contestants write. Reading these by the square of their length would take minutes.
func TestLongLinesInParenthesesAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"(", "(1", "(1,", "(1,2", "(1,2,", ",2", "1", "A", ": ", "error A1"} {
		for _, begin := range []string{"a(1,1", "error ", ""} {
			sdk.Parenthesized([]abi.Source{{Name: "a"}}, sdk.Layout{"a"}, begin+strings.Repeat(part, 1<<20/len(part)))
		}
	}
}
