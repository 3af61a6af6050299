package verify_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/verify"
)

// inspected proves a package whose submissions are right, and returns what is wrong
// with its tests.
func inspected(t *testing.T, files map[string]string) (checked int, faults string) {
	t.Helper()
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, stored(t, files))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := verify.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	if r.OK() != (len(r.Faults) == 0) || slices.ContainsFunc(r.Faults, func(f string) bool { return !strings.Contains(out.String(), f) }) {
		t.Errorf("ok %t with faults %q:\n%s", r.OK(), r.Faults, out.String())
	}
	return r.Checked, strings.Join(r.Faults, "\n")
}

// small accepts numbers up to its first argument, or 100.
const small = "import sys\nn = int(input())\nmost = int(sys.argv[1]) if len(sys.argv) > 1 else 100\nprint('too large', file=sys.stderr) if n > most else 0\nsys.exit(42 if n <= most else 43)\n"

func TestValidatorsLookAtEveryInput(t *testing.T) {
	t.Parallel()
	legacy := func(files map[string]string) map[string]string {
		all := map[string]string{
			"problem.yaml": "name: Double\n", ".timelimit": "1", "input_validators/small.py": small, "submissions/accepted/right.py": right,
			"data/sample/1.in": "1\n", "data/sample/1.ans": "2\n", "data/secret/1.in": "50\n", "data/secret/1.ans": "100\n",
		}
		maps.Copy(all, files)
		return all
	}
	instead := func(files map[string]string) map[string]string {
		all := legacy(files)
		delete(all, "input_validators/small.py")
		return all
	}
	newer := func(files map[string]string) map[string]string {
		files["input_validators/small.py"], files["data/secret/1.in"], files["data/secret/1.ans"] = small, "50\n", "100\n"
		return versioned("2025-09", "", files)
	}
	for name, tt := range map[string]struct {
		files   map[string]string
		checked int
		faults  string
	}{
		"legacy":                      {legacy(nil), 2, ""},
		"legacy with flags":           {legacy(map[string]string{"data/secret/testdata.yaml": "input_validator_flags: 40\n"}), 2, "data/secret/1.in: validator small rejects it: exit status 43: too large"},
		"legacy by another name":      {legacy(map[string]string{"input_format_validators/other/v.py": "import sys\nsys.exit(43)\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "2\n"}), 2, "data/sample/1.in: validator other rejects it: exit status 43: "},
		"exit status 0":               {legacy(map[string]string{"input_validators/small.py": "print('fine')\n", "data/secret/1.in": "1\n", "data/secret/1.ans": "2\n"}), 1, "data/sample/1.in: validator small rejects it: exit status 0: fine"},
		"that never ends":             {legacy(map[string]string{"problem.yaml": "name: Double\nlimits: {validation_time: 1}\n", "input_validators/small.py": forever, "data/secret/1.in": "1\n", "data/secret/1.ans": "2\n"}), 0, "data/sample/1.in: validator small used more than 1s of CPU time"},
		"in shell":                    {instead(map[string]string{"input_validators/small.sh": "read n; [ $n -le 40 ] && exit 42; echo too large; exit 43\n"}), 2, "data/secret/1.in: validator small rejects it: exit status 43: too large"},
		"with a script that runs it":  {instead(map[string]string{"input_validators/s/run": "#!/bin/sh\nexec python3 check.py 40\n", "input_validators/s/check.py": small}), 2, "data/secret/1.in: validator s rejects it: exit status 43: too large"},
		"that does not compile":       {legacy(map[string]string{"input_validators/small.py": broken}), 0, "validator small does not compile:\n"},
		"newer":                       {newer(map[string]string{"data/invalid_input/1.in": "101\n"}), 3, ""},
		"newer with a bad input":      {newer(map[string]string{"data/invalid_input/1.in": "99\n"}), 3, "data/invalid_input/1.in: every validator accepts it, and one must not"},
		"newer with arguments":        {newer(map[string]string{"data/secret/1.yaml": "input_validator_args: ['40']\n"}), 2, "data/secret/1.in: validator small rejects it: exit status 43: too large"},
		"newer with arguments of one": {newer(map[string]string{"data/secret/1.yaml": "input_validator_args: {small: ['40'], other: ['1']}\n"}), 2, "data/secret/1.in: validator small rejects it: exit status 43: too large"},
		"newer with outputs": {newer(map[string]string{
			"data/valid_output/1.in": "1\n", "data/valid_output/1.ans": "2\n", "data/valid_output/1.out": " 2 \n",
			"data/invalid_output/1.in": "1\n", "data/invalid_output/1.ans": "2\n", "data/invalid_output/1.out": "2.0\n",
			"data/invalid_output/2.in": "1\n", "data/invalid_output/2.ans": "2\n", "data/invalid_output/2.out": "2\n",
			"data/invalid_output/2.yaml": "output_validator_args: [case_sensitive]\n",
		}), 8, "data/invalid_output/2.out: the checker says accepted, must say rejected: "},
		"newer with outputs of no input": {newer(map[string]string{
			"data/valid_output/1.in": "101\n", "data/valid_output/1.ans": "2\n", "data/valid_output/1.out": "2\n",
		}), 4, "data/valid_output/1.in: validator small rejects it: exit status 43: too large"},
		"newer with arguments of a bad input": {newer(map[string]string{
			"data/invalid_input/1.in": "50\n", "data/invalid_input/test_group.yaml": "input_validator_args: {small: ['40']}\n",
		}), 3, ""},
		"newer with an output of a sample": {newer(map[string]string{
			"data/sample/7.in": "1\n", "data/sample/7.ans": "2\n", "data/sample/7.out": "3\n",
		}), 3, "data/sample/7.out: the checker says rejected, must say accepted: "},
		"of Polygon": {polygon("", `<tests><test method="manual" sample="true"/></tests>`, words+`<validators><validator><source path="files/val.py" type="python.3"/>
<testset><tests><test verdict="valid"/><test verdict="invalid"/><test verdict="invalid"/></tests></testset></validator></validators>`+mainOnly, map[string]string{
			"tests/01": "1\n", "tests/01.a": "2\n", "files/val.py": "import sys\nassert '--testset' in sys.argv or len(sys.argv) == 1\nsys.exit(3 if int(input()) > 100 else 0)\n",
			"files/tests/validator-tests/01": "7\n", "files/tests/validator-tests/02": "101\n", "files/tests/validator-tests/03": "100\n",
		}), 4, "files/tests/validator-tests/03: validator val accepts it, and must not"},
		"of Polygon's checkers": {polygon("", `<tests><test method="manual" sample="true"/></tests>`, `<checker name="std::wcmp.cpp" type="testlib">
<testset><tests><test verdict="ok"/><test verdict="wrong-answer"/><test verdict="crashed"/></tests></testset></checker>`+mainOnly, map[string]string{
			"tests/01": "1\n", "tests/01.a": "2\n",
			"files/tests/checker-tests/01": "1\n", "files/tests/checker-tests/01.o": "2\n", "files/tests/checker-tests/01.a": "2\n",
			"files/tests/checker-tests/02": "1\n", "files/tests/checker-tests/02.o": "3\n", "files/tests/checker-tests/02.a": "2\n",
			"files/tests/checker-tests/03": "1\n", "files/tests/checker-tests/03.o": "3\n", "files/tests/checker-tests/03.a": "2\n",
		}), 3, "files/tests/checker-tests/03.o: the checker says rejected, must say failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checked, faults := inspected(t, tt.files)
			if checked != tt.checked || !strings.HasPrefix(faults, tt.faults) || (faults == "") != (tt.faults == "") {
				t.Errorf("%d looks, faults %q: want %d and %q", checked, faults, tt.checked, tt.faults)
			}
		})
	}
}
