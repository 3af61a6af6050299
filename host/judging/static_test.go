package judging_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// reviewer rejects programs that say "forbidden", and gives as a score how few bytes
// the entry point has below 100, if it is asked for one. It tells what it sees.
const reviewer = `import os, sys
language, entry, feedback, args = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
open(feedback + "judgemessage.txt", "w").write("%s %s %s %s" % (language, entry, sorted(os.listdir(".")), args))
text = open(entry).read()
if "forbidden" in text:
    open(feedback + "teammessage.txt", "w").write("do without it")
    sys.exit(43)
if "score" in args:
    open(feedback + "score.txt", "w").write(str(100 - len(text)))
if "part" in args:
    open(feedback + "score_multiplier.txt", "w").write("0.5")
if "crash" in args:
    sys.exit(1)
sys.exit(42)
`

// reviewed is a scoring package whose first group also looks at the files, with
// arguments.
func reviewed(args string, files map[string]string) map[string]string {
	all := map[string]string{
		"output_validator/scorer.c": "", "data/secret/b/1.in": "yes\n", "data/secret/b/2.in": "no\n",
		"data/secret/b/1.ans": "yes\n", "data/secret/b/2.ans": "no\n", "data/secret/b/3.in": "", "data/secret/b/3.ans": "",
		"data/secret/a/1.ans": "yes\n", "data/sample/1.in": "1\n",
		"static_validator/reviewer.py": reviewer, "static_validator/notes.h": "",
		"data/secret/a/test_group.yaml": "max_score: 40\nscore_aggregation: sum\nstatic_validation_score: 10\nstatic_validator_args: [" + args + "]\n",
		"data/secret/b/test_group.yaml": "max_score: 60\nstatic_validation_score: pass-fail\n",
	}
	maps.Copy(all, files)
	return versioned(all)
}

func TestAStaticValidatorLooksAtTheSubmittedFiles(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, tt := range map[string]struct {
		args    string
		program string
		files   map[string]string
		want    string // verdicts of the tests
		score   float64
		formula string // of the first secret group
		note    string // of the first secret test
	}{
		"it accepts": {
			program: cat, want: "AC AC AC AC= AC= AC", score: 100, formula: "sum(static 10, 30)",
			note: `python3 main.py ['main.py'] []`,
		},
		"it rejects": {
			program: cat + "# forbidden\n", want: "AC WA AC WA= - -", score: 30, formula: "sum(static 0, 30)",
		},
		"it gives a part": {
			program: cat, args: "part", want: "AC AC AC AC AC= AC", score: 95, formula: "sum(static 5, 30)", note: "['part']",
		},
		"it gives points": {
			program: cat + strings.Repeat("#", 99-len(cat)-4) + "\n", args: "score", want: "AC AC AC AC AC= AC", score: 94, formula: "sum(static 4, 30)",
		},
		"it sees what the package adds": {
			program: cat, files: map[string]string{"include/default/extra.txt": "x"},
			want: "AC AC AC AC= AC= AC", score: 100, formula: "sum(static 10, 30)", note: `my program.py ['extra.txt', 'my program.py']`,
		},
	} {
		r := judged(t, j, python(tt.program), echo(t, reviewed(tt.args, tt.files)))
		if verdicts(r) != tt.want || r.Score == nil || *r.Score != tt.score || r.MaxScore == nil || *r.MaxScore != 100 {
			t.Errorf("%s: %s, score %v of %v, want %s, %g\n%s", name, verdicts(r), r.Score, r.MaxScore, tt.want, tt.score, r.JudgeNote)
			continue
		}
		if got := r.Groups[3].Formula; got != tt.formula {
			t.Errorf("%s: the formula of %s is %q, want %q", name, r.Groups[3].Name, got, tt.formula)
		}
		if got := r.Tests[1]; got.Name != "secret/a/static_validation" || !strings.Contains(got.JudgeNote, tt.note) {
			t.Errorf("%s: test %s says %q, want %q", name, got.Name, got.JudgeNote, tt.note)
		}
	}
}

func TestWhatAStaticValidatorDoesWrongIsAJudgingError(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	unbounded := map[string]string{"output_validator/scorer.c": scorer, "data/secret/a/1.in": "yes 3\n", "data/secret/test_group.yaml": "max_score: unbounded\n"}
	for name, tt := range map[string]struct {
		args  string
		files map[string]string
		want  string
	}{
		"it crashes":                             {"crash", nil, "exit status 1 means nothing"},
		"it gives too much":                      {"score", nil, "more than the 10 that the test can give"},
		"it gives too much of what has no bound": {"score", unbounded, "more than the static_validation_score 10"},
		"it gives nothing of what has no bound":  {"", unbounded, "accepts without score.txt"},
		"it gives a score twice":                 {"part, score", nil, "both score.txt and score_multiplier.txt"},
		"it does not compile":                    {"", map[string]string{"static_validator/reviewer.py": "(\n"}, "does not compile"},
		"it gives to who fails":                  {"", map[string]string{"static_validator/reviewer.py": "import sys\nopen(sys.argv[3] + 'score.txt', 'w').write('1')\nsys.exit(43)\n"}, "does not accept"},
		"a score of pass or fail":                {"", map[string]string{"data/secret/b/test_group.yaml": "max_score: 60\nstatic_validation_score: pass-fail\nstatic_validator_args: [part]\n"}, "passes or fails as a whole"},
	} {
		files := reviewed(tt.args, tt.files)
		if tt.files["data/secret/test_group.yaml"] != "" {
			files["data/secret/a/test_group.yaml"] = strings.Replace(files["data/secret/a/test_group.yaml"], "max_score: 40", "max_score: unbounded", 1)
		}
		r := judged(t, j, python(cat), echo(t, files))
		if r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, tt.want) {
			t.Errorf("%s: %s %q, want JE with %q", name, r.Verdict, r.JudgeNote, tt.want)
		}
	}
}

// A file of a submission must not take the place of one that a judges' program
// imports, and a pass-fail problem has the verdict of the files before its tests.
func TestAStaticValidatorIsSafeFromTheFilesItLooksAt(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: Echo\nuuid: 1\nlimits: {time_limit: 1}\n", ".timelimit": "",
		"statement/problem.en.md": "x\n", "static_validator/reviewer.py": "import ast\n" + reviewer,
		"data/secret/test_group.yaml": "static_validation_score: pass-fail\n",
	})
	p := judge.Payload{Problem: "echo", Language: "python", Sources: []judge.Source{
		{Name: "main.py", Text: cat + "# forbidden\n"}, {Name: "ast.py", Text: "import os\nos._exit(42)\n"}, {Name: "reviewer.py", Text: "raise SystemExit(42)\n"},
	}}
	r := judged(t, judgingtest.Get(t).Judge, p, pkg)
	if r.Verdict != judge.WA || verdicts(r) != "AC WA -" || r.Tests[1].Message != "do without it" {
		t.Errorf("%s\n%s", told(r), r.JudgeNote)
	}
}

// The entry points are those of the languages' adapters.
func TestAStaticValidatorIsToldWhereAProgramBegins(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	pkg := echo(t, reviewed("", map[string]string{"static_validator/reviewer.py": strings.Replace(reviewer, "text = open(entry).read()", `text = ""`, 1)}))
	for language, tt := range map[string]struct {
		source judge.Source
		want   string
	}{
		"cpp":  {judge.Source{Name: "fast.cpp", Text: "#include <iostream>\nint main() { std::cout << std::cin.rdbuf(); }\n"}, "cpp main.cpp ['main', 'main.cpp']"},
		"java": {judge.Source{Name: "Fast.java", Text: "public class Fast { public static void main(String[] a) throws Exception { System.in.transferTo(System.out); } }\n"}, "java Fast ['Fast.java', 'out']"},
	} {
		r := judged(t, j, judge.Payload{Problem: "echo", Language: language, Sources: []judge.Source{tt.source}}, pkg)
		if len(r.Tests) < 2 || !strings.HasPrefix(r.Tests[1].JudgeNote, tt.want) {
			t.Errorf("%s: it was told %+v, want %q", language, r.Tests, tt.want)
		}
	}
}
