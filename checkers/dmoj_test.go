package checkers_test

import "testing"

// Where a standard checker decides otherwise than the one of DMOJ that it stands for, it
// is on purpose: why names what DMOJ does. Elsewhere it is empty, and both agree. What DMOJ
// decides was found by running it.
func TestWhereCheckersDecideOtherwiseThanThoseOfDMOJ(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, theirs, ours, flag, output, answer string

		accepts, accept bool // what DMOJ does, and what is done here
		why             string
	}{
		{"a line of white space alone", "floats", "rows", "--eps=1e-6", "1\n \n", "1\n", false, true, "there a line of white space alone is a line"},
		{"white space alone, and no answer", "floats", "rows", "--eps=1e-6", " \n", "", false, true, "there a line of white space alone is a line"},
		{"white space alone, and no answer", "standard", "rows", "", " \r\n\t", "", true, true, ""},
		{"a line of white space alone", "sorted", "sorted", "", "b\n\t\na\n", "a\nb\n", false, true, "there a line of white space alone is a line"},
		{"a line of white space alone", "linecount", "linecount", "--points=2", "a\n \n", "a\nb\n", false, false, ""},
		{"white space alone, and no answer", "easy", "letters", "", " \n", "", true, true, ""},
		{"nothing, and an answer of white space", "rstripped", "lines", "--blank-lines", "", " ", true, true, ""},
		{"nan is nan", "floats", "rows", "--eps=1e-6", "nan\n", "nan\n", false, true, "there nothing is close to nan or inf; here they are words"},
		{"nan is NaN", "floats", "rows", "--eps=1e-6", "NaN\n", "nan\n", false, false, ""},
		{"inf is inf", "floats", "rows", "--eps=1e-6", "inf\n", "inf\n", false, true, "there nothing is close to nan or inf; here they are words"},
		{"inf is inf", "floatsrel", "rows", "--relative=1e-6", "inf\n", "inf\n", true, true, ""},
		{"-inf is no inf", "floatsrel", "rows", "--relative=1e-6", "-inf\n", "inf\n", false, false, ""},
		{"inf is infinity", "floatsrel", "rows", "--relative=1e-6", "infinity\n", "inf\n", true, false, "there inf has several names; here it is a word"},
		{"inf is more than every number", "floats", "rows", "--eps=1e-6", "inf\n", "1\n", false, false, ""},
		{"a number beyond double precision is itself", "floats", "rows", "--eps=1e-6", "1e400\n", "1e400\n", false, true, "there numbers are doubles; here they have 18 digits and any exponent"},
		{"half a number beyond double precision", "floatsrel", "rows", "--relative=1e-6", "5e399\n", "1e400\n", true, false, "there numbers are doubles; here they have 18 digits and any exponent"},
		{"a number too small for double precision", "floats", "rows", "--eps=1e-6", "1e-400\n", "0\n", true, true, ""},
		{"a whole number that a double rounds", "floatsabs", "rows", "--absolute=1e-6", "9007199254740992\n", "9007199254740993\n", true, false, "there numbers are doubles; here they have 18 digits and any exponent"},
		{"exactly as far as may be", "floats", "rows", "--eps=1e-6", "0.999999\n", "1\n", false, true, "there a number on the border may be outside, as doubles are rounded"},
		{"digits with _ in the output", "floats", "rows", "--eps=1e-6", "1_000\n", "1000\n", true, false, "there Python reads numbers, in which _ may stand"},
		{"digits with _ in the answer", "floats", "rows", "--eps=1e-6", "1000\n", "1_000\n", true, false, "there Python reads numbers, in which _ may stand"},
		{"digits with _ in both", "floats", "rows", "--eps=1e-6", "1_000\n", "1_000\n", true, true, ""},
		{"hexadecimal", "floats", "rows", "--eps=1e-6", "16\n", "0x10\n", false, false, ""},
		{"a line ends with \\r\\n", "standard", "rows", "", "1 2\r\n3\r\n", "1 2\n3\n", true, true, ""},
		{"a line ends with \\r\\n", "rstripped", "lines", "--blank-lines", "a\r\nb\r\n", "a\nb\n", false, true, "there \\r and \\n end a line each, so \\r\\n ends two; here \\r at the end of a line is white space"},
		{"a line ends with \\r", "rstripped", "lines", "--blank-lines", "a\rb\n", "a\nb\n", true, false, "there \\r alone ends a line; here it is white space within one"},
		{"a line ends with \\r", "standard", "rows", "", "1\r2\n", "1\n2\n", true, true, ""},
		{"a line ends with \\r", "floats", "rows", "--eps=1e-6", "1\r2\n", "1\n2\n", true, true, ""},
		{"a line ends with \\r\\n", "identical", "exact", "", "a\r\n", "a\n", false, false, ""},
		{"a line ends with \\r", "sorted", "sorted", "", "b\ra\n", "a\nb\n", true, true, ""},
		{"a line ends with \\r", "linecount", "linecount", "--points=2", "a\rb\n", "a\nb\n", true, true, ""},
	} {
		var flags []string
		if tt.flag != "" {
			flags = append(flags, tt.flag)
		}
		o := check(t, tt.ours, tt.output, tt.answer, flags...)
		if (o.verdict == "accepted") != tt.accept {
			t.Errorf("%s: %s: output %q against answer %q is %s (%s), want accepted %t", tt.theirs, tt.name, tt.output, tt.answer, o.verdict, o.team, tt.accept)
		}
		if (tt.accepts != tt.accept) != (tt.why != "") {
			t.Errorf("%s: %s: decided as there %t, and the reason is %q", tt.theirs, tt.name, tt.accepts == tt.accept, tt.why)
		}
	}
}
