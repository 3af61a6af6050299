package icpc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/problem"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

func TestABadPackageIsRefusedWithFileKeyAndReason(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"without problem.yaml":           {map[string]string{"problem.yaml": ""}, "problem.yaml: is missing"},
		"with broken YAML":               {map[string]string{"problem.yaml": "name: [\n"}, "problem.yaml: is not YAML"},
		"that is a list":                 {map[string]string{"problem.yaml": "- a\n"}, "problem.yaml: must be a mapping"},
		"with a key twice":               {map[string]string{"problem.yaml": "name: a\nname: b\n"}, "name: is given twice, and not the same"},
		"of a newer format":              {map[string]string{"problem.yaml": "name: a\nproblem_format_version: 2099-01\n"}, "problem_format_version: is \"2099-01\""},
		"of an unknown type":             {map[string]string{"problem.yaml": "name: a\ntype: quiz\n"}, "type: is \"quiz\": it must be one of pass-fail, scoring"},
		"with too much memory":           {map[string]string{"problem.yaml": "name: a\nlimits: {memory: 1e9}\n"}, "limits.memory: is 1e9: this platform can honour 1 to 65536"},
		"with a limit of words":          {map[string]string{"problem.yaml": "name: a\nlimits: {output: much}\n"}, "limits.output: is \"much\": it must be a number"},
		"with a limit that is no number": {map[string]string{"problem.yaml": "name: a\nlimits: {output: .nan}\n"}, "limits.output: is \".nan\": it must be a number"},
		"with so many passes":            {map[string]string{"problem.yaml": "name: a\nlimits: {validation_passes: 1000}\n"}, "limits.validation_passes"},
		"that talks with two programs": {
			map[string]string{"problem.yaml": "name: a\nvalidation: custom interactive\n", "output_validators/a.c": "int a;", "output_validators/b.c": "int b;"}, "holds several programs",
		},
		"that takes several passes without a checker": {map[string]string{"problem.yaml": "name: a\nvalidation: custom multi-pass\n", "deepoj.yaml": "checker: {name: tokens}\n"}, "problem.yaml: validation: asks for several passes: one checker"},
		"that takes several passes by the default":    {map[string]string{"problem.yaml": "name: a\nvalidation: default multi-pass\n"}, "validation: holds \"multi-pass\""},
		"that is interactive by the default":          {map[string]string{"problem.yaml": "name: a\nvalidation: default interactive\n"}, "validation: holds \"interactive\""},
		"with a checker behind its validator":         {map[string]string{"deepoj.yaml": "checker: {name: tokens}\ninteractor: {file: i.c}\n", "i.c": "int i;"}, "deepoj.yaml: checker: has nothing to decide"},
		"with a standard interactor":                  {map[string]string{"deepoj.yaml": "interactor: {name: tokens}\n"}, "deepoj.yaml: interactor.name: is \"tokens\""},
		"with a strange validation":                   {map[string]string{"problem.yaml": "name: a\nvalidation: special\n"}, "validation: is \"special\""},
		"without its checker":                         {map[string]string{"problem.yaml": "name: a\nvalidation: custom\n"}, "output_validators: is empty"},
		"with a checker in COBOL":                     {map[string]string{"problem.yaml": "name: a\nvalidation: custom\n", "output_validators/check.cob": "x"}, "output_validators/check.cob: is not run: its language is not one"},
		"with a build script":                         {map[string]string{"problem.yaml": "name: a\nvalidation: custom\n", "output_validators/v/v.cob": "x"}, "output_validators/v: is not run: its language is not one"},
		"with a time limit of words":                  {map[string]string{".timelimit": "soon\n"}, ".timelimit: is \"soon\": it must be a number of seconds"},
		"with a negative time limit":                  {map[string]string{".timelimit": "-1\n"}, ".timelimit: is \"-1\""},
		"with a program of another judge":             {map[string]string{"domjudge-problem.ini": "special_compare='x'\n"}, "domjudge-problem.ini: special_compare: names a program outside"},
		"without secret tests":                        {map[string]string{"data/secret/1.in": "", "data/secret/1.ans": ""}, "data/secret: holds no test"},
		"with an input without answer":                {map[string]string{"data/secret/2.in": "x"}, "data/secret/2.in: has no answer"},
		"with an answer without input":                {map[string]string{"data/secret/2.ans": "x"}, "data/secret/2.ans: has no input"},
		"with a custom grader":                        {map[string]string{"data/secret/testdata.yaml": "grading: custom\n"}, "data/secret/testdata.yaml: grading: asks for a custom grader, but graders holds none"},
		"with two custom graders":                     {map[string]string{"graders/a.py": "x", "graders/b.py": "x"}, "graders: holds 2 programs"},
		"with a strange on_reject":                    {map[string]string{"data/testdata.yaml": "on_reject: explode\n"}, "data/testdata.yaml: on_reject: is \"explode\""},
		"with a strange range":                        {map[string]string{"problem.yaml": "name: a\ntype: scoring\n", "data/testdata.yaml": "range: 0 to 5\n"}, "data/testdata.yaml: range: is \"0 to 5\""},
		"with an unknown standard checker":            {map[string]string{"deepoj.yaml": "checker: {name: fuzzy}\n"}, "deepoj.yaml: checker.name: is \"fuzzy\": the standard checkers are"},
		"with a checker file that is away":            {map[string]string{"deepoj.yaml": "checker: {file: ../x.c}\n"}, "deepoj.yaml: checker.file: is \"../x.c\""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := importing.Read(problemtest.Pack(tt.files))
			if err == nil || p != nil {
				t.Fatalf("it was read: %v", p)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %q, want it to say %q", err, tt.want)
			}
			if _, ok := errors.AsType[*problem.Error](err); !ok {
				t.Errorf("error is a %T, want an *Error in it", err)
			}
		})
	}
}

func TestAllReasonsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, _, err := importing.Read(problemtest.Pack(map[string]string{
		"problem.yaml": "name: a\ntype: quiz\nlimits: {memory: -1}\n", ".timelimit": "x", "data/secret/9.in": "x",
	}))
	for _, want := range []string{"type:", "limits.memory:", ".timelimit:", "data/secret/9.in:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not mention %s", err, want)
		}
	}
}

func TestUnknownKeysWarnAndDoNotRefuse(t *testing.T) {
	t.Parallel()
	_, report := problemtest.Read(t, map[string]string{
		"problem.yaml":              "name: a\ncolour: red\nlimits: {patience: 3}\ngrading: {mood: good}\n",
		"data/secret/testdata.yaml": "weather: fine\ngrader_flags: first_error min subtask_score=12\n",
		"data/secret/notes.pdf":     "x", "generators/gen.py": "x", "input_validators/v.cob": "x", "input_validators/x/a/v.c": "x", "input_validators/w/a.c": "x", "input_validators/w/b.py": "x",
		"problem_statement/problem.en.md": "Hello <b>you</b> <marquee>x</marquee> ![a cat](cat.png)\n",
	})
	var all []string
	for _, w := range report.Warnings {
		all = append(all, w.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"problem.yaml: colour: is not known", "limits.patience: is not known", "grading.mood: is not known",
		"data/secret/testdata.yaml: weather: is not known", "grader_flags: holds \"subtask_score=12\"",
		"data/secret/notes.pdf: is not part of a test", "generators: is kept but has no meaning", "input_validators/v.cob: is not run: its language", "input_validators/x: is not run: it has folders in it", "input_validators/w: is not run: its files are of several",
		"holds elements of HTML that are left out, though not the text in them: <marquee>", "shows pictures that are not in the package: cat.png",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning says %q:\n%s", want, text)
		}
	}
}

func TestLimitsComeFromWhereTheyAreGiven(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		want  time.Duration
		from  string
	}{
		"the side file":               {map[string]string{".timelimit": " 1.5\n"}, 1500 * time.Millisecond, ".timelimit"},
		"problem.yaml before it":      {map[string]string{"problem.yaml": "name: a\nlimits: {time_limit: 3}\n"}, 3 * time.Second, "problem.yaml: limits.time_limit"},
		"the ini where nothing else":  {map[string]string{".timelimit": "", "domjudge-problem.ini": "; x\ntimelimit = '4'\n"}, 4 * time.Second, "domjudge-problem.ini: timelimit"},
		"the default if nobody cares": {map[string]string{".timelimit": ""}, 2 * time.Second, "default"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := problemtest.Read(t, tt.files)
			if p.Limits.CPU != tt.want || p.Limits.CPUFrom != tt.from {
				t.Errorf("limit is %s from %q, want %s from %q", p.Limits.CPU, p.Limits.CPUFrom, tt.want, tt.from)
			}
		})
	}
	p, _ := problemtest.Read(t, map[string]string{"problem.yaml": "name: a\n"})
	if l := p.Limits; l.MemoryMiB != 2048 || l.OutputMiB != 8 || l.CodeKiB != 128 || l.Multiplier != 5 || l.SafetyMargin != 2 {
		t.Errorf("the defaults are %+v", l)
	}
}

func TestNamesMayHaveLanguages(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, map[string]string{"problem.yaml": "name:\n  sv: Hej\n  en: Hello\n"})
	if p.Title != "Hello" {
		t.Errorf("title is %q", p.Title)
	}
	p, _ = problemtest.Read(t, map[string]string{"problem.yaml": "author: x\n", "domjudge-problem.ini": "name=\"Other\"\nshort-name = B\n"})
	if p.Title != "Other" || p.Slug != "B" {
		t.Errorf("title is %q, slug %q", p.Title, p.Slug)
	}
}

func TestCheckersAreFound(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		want  problem.Checker
	}{
		"default with flags": {
			map[string]string{"problem.yaml": "name: a\nvalidator_flags: float_tolerance 1E-6\n"},
			problem.Checker{Standard: "default", Protocol: "icpc/1", Flags: []string{"float_tolerance", "1E-6"}},
		},
		"a file with a header": {
			map[string]string{"problem.yaml": "name: a\nvalidation: custom score\n", "output_validators/v.c": "c", "output_validators/v.h": "h"},
			problem.Checker{Protocol: "icpc/1", Points: true, Sources: []problem.File{{Path: "output_validators/v.c", Size: 1}, {Path: "output_validators/v.h", Size: 1}}},
		},
		"a folder": {
			map[string]string{"problem.yaml": "name: a\nvalidation: custom\n", "output_validators/v/a.c": "c", "output_validators/v/b.h": "h"},
			problem.Checker{Protocol: "icpc/1", Sources: []problem.File{{Path: "output_validators/v/a.c", Size: 1}, {Path: "output_validators/v/b.h", Size: 1}}},
		},
		"a module": {
			map[string]string{"problem.yaml": "name: a\nvalidation: custom\n", "output_validators/v.wasm": "wasm"},
			problem.Checker{Protocol: "icpc/1", Wasm: &problem.File{Path: "output_validators/v.wasm", Size: 4}},
		},
		"a standard one by name": {
			map[string]string{"deepoj.yaml": "checker: {name: floats, args: [\"eps=1e-9\"]}\n"},
			problem.Checker{Standard: "floats", Protocol: "icpc/1", Flags: []string{"eps=1e-9"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := problemtest.Read(t, tt.files)
			if len(p.Checkers) != 1 {
				t.Fatalf("%d checkers", len(p.Checkers))
			}
			got := p.Checkers[0]
			if got.Standard != tt.want.Standard || got.Protocol != tt.want.Protocol || got.Points != tt.want.Points ||
				!slices.Equal(got.Flags, tt.want.Flags) || !slices.Equal(got.Sources, tt.want.Sources) ||
				(got.Wasm == nil) != (tt.want.Wasm == nil) || got.Wasm != nil && *got.Wasm != *tt.want.Wasm {
				t.Errorf("checker is %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSubmissionsSayWhatTheyMustGet(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, map[string]string{
		"submissions/accepted/b.py":              "# @EXPECTED_RESULTS@: WRONG-ANSWER is ignored here\n",
		"submissions/wrong_answer/c/main.c":      "x",
		"submissions/wrong_answer/c/main.h":      "x",
		"submissions/run_time_error/d.c":         "x",
		"submissions/mixed/e.c":                  "// @EXPECTED_RESULTS@: TIMELIMIT, wrong_answer\n",
		"submissions/partially_accepted/f.c":     "// @EXPECTED_SCORE@: 12.5\n",
		"submissions/output_limit/g.c":           "x",
		"submissions/compiler_error/h.c":         "x",
		"submissions/unheard_of/i.c":             "x",
		"submissions/time_limit_exceeded/slow.c": "x",
	})
	want := map[string][]judge.Verdict{
		"submissions/accepted/a.py": {judge.AC}, "submissions/accepted/b.py": {judge.AC}, "submissions/wrong_answer/c": {judge.WA},
		"submissions/run_time_error/d.c": {judge.RE, judge.MLE}, "submissions/mixed/e.c": {judge.TLE, judge.WA},
		"submissions/partially_accepted/f.c": {judge.AC}, "submissions/output_limit/g.c": {judge.OLE},
		"submissions/compiler_error/h.c": {judge.CE}, "submissions/unheard_of/i.c": nil, "submissions/time_limit_exceeded/slow.c": {judge.TLE},
	}
	if len(p.Submissions) != len(want) {
		t.Errorf("%d submissions, want %d", len(p.Submissions), len(want))
	}
	for _, s := range p.Submissions {
		if !slices.Equal(s.Allowed, want[s.Path]) {
			t.Errorf("%s may get %s, want %s", s.Path, s.Allowed, want[s.Path])
		}
		switch s.Path {
		case "submissions/wrong_answer/c":
			if len(s.Files) != 2 {
				t.Errorf("%s has %d files", s.Path, len(s.Files))
			}
		case "submissions/partially_accepted/f.c":
			if !s.Partial || s.Score == nil || *s.Score != 12.5 {
				t.Errorf("%s must get %v, partial %t", s.Path, s.Score, s.Partial)
			}
		}
	}
}

func TestASavedPackageLoadsAsItWas(t *testing.T) {
	t.Parallel()
	store, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, _ := problemtest.Read(t, map[string]string{"data/secret/2.in": "2\n", "data/secret/2.ans": "two\n"})
	v, err := p.Save(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	q, err := problem.Load(t.Context(), store, v)
	if err != nil {
		t.Fatal(err)
	}
	tests := q.Tests()
	if len(tests) != 3 || tests[1].Input.Digest != tests[2].Input.Digest || tests[0].Input.Digest == tests[1].Input.Digest {
		t.Errorf("the tests are %+v", tests)
	}
	for _, f := range q.Files {
		r, err := q.Open(t.Context(), f)
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		r.Close()
	}
	if again, err := q.Save(t.Context(), store); err != nil || again != v {
		t.Errorf("saved again it is %s, %v; want %s", again, err, v)
	}
	if other, err := problem.Load(t.Context(), store, blob.Of([]byte("x"))); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("an unknown version gives %v, %v", other, err)
	}
}
