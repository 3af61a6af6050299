package verify_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/verify"
)

// strict is a validator that takes one number of two digits and one kind of line end.
const strict = "import re, sys\nsys.exit(0 if re.fullmatch(rb'\\d\\d?%s', sys.stdin.buffer.read()) else 3)\n"

func TestAValidatorThatWasWrittenForWindowsIsAskedWithItsLineEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ends  string // that the validator takes
		tests string // line ends of the package
		files map[string]string

		checked int
		note    bool
		faults  []string
	}{
		"Windows, tests of Windows":       {ends: `\r\n`, tests: "\r\n", checked: 4 + 1 + 4, note: true},
		"Windows, tests of this system":   {ends: `\r\n`, tests: "\n", checked: 4 + 1 + 4, note: true},
		"this system, tests of Windows":   {ends: `\n`, tests: "\r\n", checked: 4},
		"this system, tests of its own":   {ends: `\n`, tests: "\n", checked: 4},
		"whatever comes":                  {ends: `\r?\n`, tests: "\r\n", checked: 4},
		"Windows, and a test is no input": {ends: `\r\n`, tests: "\r\n", files: map[string]string{"tests/02": "100\r\n"}, checked: 4 + 1 + 4, note: true, faults: []string{"tests/02: validator val rejects it: exit status 3: "}},
		"this system, and a test is none": {ends: `\n`, tests: "\r\n", files: map[string]string{"tests/02": "100\r\n"}, checked: 4 + 1, faults: []string{"tests/02: validator val rejects it: exit status 3: "}},
		"a wrong input that is accepted":  {ends: `\r\n`, tests: "\r\n", files: map[string]string{"files/tests/validator-tests/02": "7\r\n"}, checked: 4 + 1 + 4, note: true, faults: []string{"files/tests/validator-tests/02: validator val accepts it, and must not"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := polygon("", `<tests><test method="manual" sample="true"/><test method="manual"/></tests>`,
				words+`<validators><validator><source path="files/val.py" type="python.3"/>
<testset><tests><test verdict="valid"/><test verdict="invalid"/></tests></testset></validator></validators>`+mainOnly, map[string]string{
					"files/val.py": fmt.Sprintf(strict, tt.ends), "tests/01.a": "2\n", "tests/02.a": "4\n",
					"tests/01": "1" + tt.tests, "tests/02": "2" + tt.tests,
					"files/tests/validator-tests/01": "7" + tt.tests, "files/tests/validator-tests/02": "x" + tt.tests,
				})
			maps.Copy(files, tt.files)
			if files["tests/02"] != "2"+tt.tests {
				files["tests/02.a"] = "200\n"
			}
			r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, stored(t, files))
			if err != nil {
				t.Fatal(err)
			}
			noted := slices.ContainsFunc(r.Notes, func(n string) bool {
				return strings.Contains(n, "validator val is asked with the line ends of Windows") && strings.Contains(n, "tests/01")
			})
			if r.Checked != tt.checked || noted != tt.note || !slices.Equal(r.Faults, tt.faults) {
				t.Errorf("asked %d times, notes %q, faults %q: want %d, a note %t and %q", r.Checked, r.Notes, r.Faults, tt.checked, tt.note, tt.faults)
			}
			for _, row := range r.Rows {
				if row.Problem != "" {
					t.Errorf("%s: %s: programs are given the line ends of this system", row.Path, row.Problem)
				}
			}
		})
	}
}
