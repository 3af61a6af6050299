package verify_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/verify"
)

// stored reads and saves a package.
func stored(t *testing.T, files map[string]string) *problem.Package {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	pkg, _, err := importing.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	pkg.Slug = "double"
	if _, err := pkg.Save(t.Context(), judgingtest.Get(t).Blobs); err != nil {
		t.Fatal(err)
	}
	return pkg
}

// versioned is a package that doubles numbers, in a format that has a version.
func versioned(version, more string, files map[string]string) map[string]string {
	all := map[string]string{
		"problem.yaml": "problem_format_version: " + version + "\nname: Double\nuuid: 1\nconstants: {factor: 2}\n" +
			"limits: {time_limit: 1, time_multipliers: {ac_to_time_limit: 1.5}}\n" + more,
		"statement/problem.en.md": "Multiply by {{factor}}.\n",
		"data/sample/1.in":        "1\n", "data/sample/1.ans": "2\n",
		"submissions/accepted/right.py": "print(int(input()) * {{factor}})\n",
	}
	maps.Copy(all, files)
	return all
}

// proved proves a package and compares what is wrong with each submission.
func proved(t *testing.T, pkg *problem.Package, want map[string]string) {
	t.Helper()
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != len(want) || r.Version != string(pkg.Version) {
		t.Errorf("%d rows of version %s", len(r.Rows), r.Version)
	}
	for _, row := range r.Rows {
		if wanted, ok := want[row.Path]; !ok || row.Problem != wanted {
			t.Errorf("%s: %q, want %q", row.Path, row.Problem, wanted)
		}
	}
	var out bytes.Buffer
	if err := verify.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// The second test is judged though the first is rejected: the rules of a folder
// are about all tests.
func TestAPackageOf202307IsProved(t *testing.T) {
	t.Parallel()
	proved(t, stored(t, versioned("2023-07", "", map[string]string{
		"data/secret/1.in": "0\n", "data/secret/1.ans": "0\n", "data/secret/2.in": "3\n", "data/secret/2.ans": "6\n",
		"submissions/wrong_answer/three.py":       wrong,
		"submissions/wrong_answer/raises.py":      "n = int(input())\nprint(n * 2 if n == 1 else [7, 7, 7, 1 / (3 - n) if n == 3 else 7][n])\n",
		"submissions/run_time_error/raises.py":    "print(1 // 0)\n",
		"submissions/rejected/right.py":           right,
		"submissions/brute_force/raises.py":       "n = int(input())\nprint(2 * n if n < 3 else 1 // 0)\n",
		"submissions/time_limit_exceeded/loop.py": forever,
	})), map[string]string{
		"accepted/right.py": "", "wrong_answer/three.py": "", "run_time_error/raises.py": "", "brute_force/raises.py": "", "time_limit_exceeded/loop.py": "",
		"wrong_answer/raises.py": "got RE on secret/2, each test may get AC or WA or PE",
		"rejected/right.py":      "got AC, may get WA or TLE or MLE or OLE or RE",
	})
}

func TestAPackageOf202509IsProved(t *testing.T) {
	t.Parallel()
	pkg := stored(t, versioned("2025-09", "type: scoring\n", map[string]string{
		"data/secret/a/1.in": "0\n", "data/secret/a/1.ans": "0\n", "data/secret/a/test_group.yaml": "max_score: 40\nrequire_pass: sample\n",
		"data/secret/b/1.in": "3\n", "data/secret/b/1.ans": "6\n", "data/secret/b/2.in": "0\n", "data/secret/b/2.ans": "0\n",
		"data/secret/b/test_group.yaml":  "max_score: 60\nscore_aggregation: sum\nrequire_pass: secret/a\n",
		"submissions/partly/half.py":     "n = int(input())\nprint(n * 2 if n < 2 else 0)\n",
		"submissions/partly/none.py":     "print(2 if input() == '1' else 5)\n",
		"submissions/partly/other.py":    "n = int(input())\nprint(n * 2 if n < 2 else 0)\n",
		"submissions/accepted/c.txt":     "#include <stdio.h>\nint main(void) { int n; scanf(\"%d\", &n); printf(\"%d\\n\", {{factor}} * n); }\n",
		"submissions/submissions.yaml":   "accepted/c.txt: {language: c}\npartly/half.py: {score: 70, secret/a: {permitted: [AC], score: 40}, secret/b: {required: [WA], score: 30}}\npartly/none.py: {score: 0, \"secret/{a,b}\": {permitted: [WA], score: 0}}\npartly/other.py: {score: [71, 100]}\n",
		"submissions/wrong_answer/x.py":  wrong,
		"submissions/wrong_answer/ac.py": right,
	}))
	proved(t, pkg, map[string]string{
		"accepted/right.py": "", "accepted/c.txt": "", "partly/half.py": "", "partly/none.py": "", "wrong_answer/x.py": "",
		"partly/other.py":    "scored 70, must score 71 to 100",
		"wrong_answer/ac.py": "no test got WA or PE",
	})
}

// Programs count the CPU time that they have used, so that the machine's other
// work does not matter.
const (
	burn  = "import time\nwhile time.process_time() < "
	burnt = ": pass\nprint(int(input()) * 2)\n"
)

func TestATimeLimitIsInferredFromTheSubmissions(t *testing.T) {
	t.Parallel()
	cfg := verify.Config{Judge: judgingtest.Get(t).Judge}
	files := map[string]string{
		"problem.yaml":     "problem_format_version: 2025-09\nname: Double\nuuid: 1\nlimits: {time_resolution: 0.5}\n",
		"data/secret/1.in": "0\n", "data/secret/1.ans": "0\n",
		"submissions/accepted/slow.py":            burn + "0.3" + burnt, // with the start of Python, and doubled
		"submissions/time_limit_exceeded/loop.py": forever,
	}
	limited, err := verify.Infer(t.Context(), cfg, stored(t, versioned("2025-09", "", files)))
	if err != nil {
		t.Fatal(err)
	}
	if l := limited.Limits; l.CPU < time.Second || l.CPU%(500*time.Millisecond) != 0 || l.CPUFrom != "inferred from the submissions" {
		t.Errorf("the limit is %s, %s", l.CPU, l.CPUFrom)
	}
	if again, err := verify.Infer(t.Context(), cfg, limited); err != nil || again != limited {
		t.Errorf("a package with a limit: %v", err)
	}
	files["submissions/time_limit_exceeded/loop.py"] = right
	if _, err := verify.Infer(t.Context(), cfg, stored(t, versioned("2025-09", "", files))); err == nil || !strings.Contains(err.Error(), "time_limit_exceeded/loop.py must be too slow") {
		t.Errorf("a slow program that is fast: %v", err)
	}
}

func TestAPackageThatTakesAnswersIsProvedByAnswers(t *testing.T) {
	pkg := stored(t, map[string]string{
		"problem.yaml":            "problem_format_version: 2025-09\nname: Sevens\nuuid: 1\ntype: submit-answer\n",
		"statement/problem.en.md": "Write what the files ask for.\n",
		"data/secret/a.in":        "7\n", "data/secret/a.ans": "49\n", "data/secret/b.in": "8\n", "data/secret/b.ans": "64\n",
		"submissions/accepted/all/a.out": "49\n", "submissions/accepted/all/b.out": "64\n",
		"submissions/wrong_answer/half/a.out": "49\n",
	})
	if !verify.Finished(pkg) {
		t.Error("a time limit is missed though nothing is run")
	}
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil || !r.OK() || len(r.Rows) != 2 || r.Rows[1].Verdict != judge.WA {
		t.Errorf("%+v, %v", r, err)
	}
}
