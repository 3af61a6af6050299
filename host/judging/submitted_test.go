package judging_test

import (
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
)

// handedIn is a submission of answers, as pairs of names and texts.
func handedIn(files ...string) judge.Payload {
	p := judge.Payload{Problem: "echo", Language: judge.AnswerLanguage}
	for i := 0; i < len(files); i += 2 {
		p.Sources = append(p.Sources, judge.Source{Name: files[i], Text: files[i+1]})
	}
	return p
}

func TestAnswersThatAreHandedInAreCheckedLikeOutputs(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	files := versioned(map[string]string{
		"problem.yaml": "problem_format_version: 2025-09\nname: Echo\nuuid: 1\ntype: [scoring, submit-answer]\n", "output_validator/scorer.c": "",
		"data/sample/1.in": "", "data/secret/a/1.in": "x\n", "data/secret/a/1.ans": "10\n",
		"data/secret/b/1.in": "x\n", "data/secret/b/1.ans": "21\n", "data/secret/b/2.in": "y\n", "data/secret/b/2.ans": "22\n",
		"data/secret/b/3.in": "y\n", "data/secret/b/3.ans": "22\n", "data/sample/1.ans": "", "data/secret/b/test_group.yaml": "max_score: 60\nscore_aggregation: sum\n",
	})
	pkg := echo(t, files)
	if !pkg.Answers || len(pkg.Languages) != 1 || pkg.Languages[0] != judge.AnswerLanguage {
		t.Fatalf("the package takes %q, answers %t", pkg.Languages, pkg.Answers)
	}
	for name, tt := range map[string]struct {
		files    []string
		verdicts string
		score    float64
	}{
		"all of them":                        {[]string{"secret-a-1.out", "10\n", "secret-b-1.ans", "21", "2.txt", "22", "3", "22\n"}, "AC AC AC AC", 100},
		"one wrong":                          {[]string{"secret-a-1", "10\n", "secret-b-1", "20", "2", "22", "3", "22\n"}, "AC WA AC AC", 80},
		"some only":                          {[]string{"secret-b-1.out", "21\n"}, "WA AC WA WA=", 20},
		"two of the same test and other one": {[]string{"secret-a-1", "10\n", "secret-b-1", "21", "2", "22", "3", "23\n"}, "AC AC AC WA", 80},
		"in folders, as packages have them":  {[]string{"secret/a/1.out", "10\n"}, "AC WA WA WA=", 40},
	} {
		r := judged(t, j, handedIn(tt.files...), pkg)
		if verdicts(r) != tt.verdicts || r.Score == nil || *r.Score != tt.score {
			t.Errorf("%s: %s (%s), score %v, want %s with %g", name, verdicts(r), r.Message, r.Score, tt.verdicts, tt.score)
		}
	}
	for name, tt := range map[string]struct {
		files []string
		want  string
	}{
		"a name that may be two tests": {[]string{"1.out", "10\n"}, "1.out may be the answer to 2 tests"},
		"a name that is none":          {[]string{"7.out", "10\n"}, "7.out is the answer to no test"},
		"two answers to one test":      {[]string{"2.out", "22", "2.ans", "22"}, "are both the answer to 2"},
		"more than the code limit":     {[]string{"2.out", strings.Repeat("x", 200<<10)}, "more than the 131072"},
	} {
		if r := judged(t, j, handedIn(tt.files...), pkg); r.Verdict != judge.CE || !strings.Contains(r.Message, tt.want) {
			t.Errorf("%s: %s %q, want CE with %q", name, r.Verdict, r.Message, tt.want)
		}
	}
	if r := judged(t, j, python(cat), pkg); r.Verdict != judge.CE || !strings.Contains(r.Message, "takes the answers themselves") {
		t.Errorf("a program: %s %q", r.Verdict, r.Message)
	}
	if r := judged(t, j, handedIn("1", "1\n"), echo(t, nil)); r.Verdict != judge.CE || !strings.Contains(r.Message, "takes programs") {
		t.Errorf("answers to a problem that takes programs: %s %q", r.Verdict, r.Message)
	}
}

// With one test the name of the file says nothing.
func TestTheAnswerToTheOnlyTestHasAnyName(t *testing.T) {
	t.Parallel()
	pkg := echo(t, map[string]string{
		"problem.yaml":            "problem_format_version: 2023-07\nname: Echo\nuuid: 1\ntype: submit-answer\n",
		"statement/problem.en.md": "x\n", "data/sample/1.in": "", "data/sample/1.ans": "",
	})
	if r := judged(t, judgingtest.Get(t).Judge, handedIn("main", " 2 "), pkg); r.Verdict != judge.AC {
		t.Errorf("%s %q", r.Verdict, r.Message)
	}
}
