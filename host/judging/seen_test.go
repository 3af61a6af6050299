package judging_test

import (
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
)

// sayTestlib and sayICPC reject, with words.
const (
	sayTestlib = "#include <stdio.h>\nint main(void) { fprintf(stderr, \"expected 77753\"); return 1; }\n"
	sayICPC    = "#include <stdio.h>\nint main(int n, char **a) { char p[99]; snprintf(p, 99, \"%steammessage.txt\", a[3]); FILE *f = fopen(p, \"w\"); fprintf(f, \"look again\"); fclose(f);\n" +
		"snprintf(p, 99, \"%sjudgemessage.txt\", a[3]); f = fopen(p, \"w\"); fprintf(f, \"expected 77753\"); fclose(f); return 43; }\n"
)

func TestAResultSaysWhoWroteItsMessage(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	for name, tt := range map[string]struct {
		files   map[string]string
		program string
		by      judge.Speaker
		want    string
	}{
		"a checker of testlib/1": {map[string]string{"deepoj.yaml": "checker: {file: c.c, protocol: testlib/1}\n", "c.c": sayTestlib}, cat, judge.ByChecker, "expected 77753"},
		"the team's file of icpc/1": {
			map[string]string{"problem.yaml": "name: Echo\nvalidation: custom\n", "output_validators/v.c": sayICPC}, cat, judge.ByTeam, "look again",
		},
		"the judge": {nil, "raise SystemExit(3)\n", judge.ByJudge, "exit status 3"},
		"nobody":    {nil, cat, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judged(t, j, python(tt.program), echo(t, tt.files))
			if r.MessageBy != tt.by || r.Tests[0].MessageBy != tt.by || !strings.Contains(r.Message, tt.want) || !strings.Contains(r.Tests[0].Message, tt.want) {
				t.Errorf("%s by %q: %q; the test by %q: %q", r.Verdict, r.MessageBy, r.Message, r.Tests[0].MessageBy, r.Tests[0].Message)
			}
			if tt.by == judge.ByTeam && strings.Contains(r.Message+r.Tests[0].Message, "77753") {
				t.Errorf("the judges' words are in the team's: %q", r.Message)
			}
		})
	}
}

func TestAPartOfThePointsIsJudgedPartlyAccepted(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	pkg := echo(t, map[string]string{
		"problem.yaml": "name: Echo\ntype: scoring\n", "data/testdata.yaml": "grader_flags: ignore_sample\n",
		"data/secret/testdata.yaml": "on_reject: continue\ngrader_flags: sum accept_if_any_accepted\nrange: 0 2\n",
		"data/secret/2.in":          "3\n", "data/secret/2.ans": "3\n",
	})
	for program, want := range map[string]struct {
		verdict, group judge.Verdict
		score          float64
	}{
		cat: {judge.AC, judge.AC, 2}, "n = input()\nprint(2 if n == '2' else 0)\n": {judge.PA, judge.PA, 1}, "print(0)\n": {judge.WA, judge.WA, 0},
	} {
		r := judged(t, j, python(program), pkg)
		secret := r.Groups[len(r.Groups)-1]
		if r.Verdict != want.verdict || secret.Verdict != want.group || r.Score == nil || *r.Score != want.score {
			t.Errorf("%q: %s, %s %+v, want %+v", program, r.Verdict, secret.Name, secret, want)
		}
	}
}

func TestAKeptVersionWhoseGroupHasPointsAndNoTestIsAJudgingError(t *testing.T) {
	t.Parallel()
	j := judgingtest.Get(t).Judge
	pkg := echo(t, map[string]string{"problem.yaml": "name: Echo\ntype: scoring\n", "data/secret/2/testdata.yaml": "range: 0 0\n"})
	secret := pkg.Root.Group("secret")
	at := -1
	for i, it := range secret.Items {
		if it.Group != nil {
			at = i
		}
	}
	secret.Items[at].Group.Grading.High = new(50.0) // as it was read before such packages were refused
	version, err := pkg.Save(t.Context(), judgingtest.Get(t).Blobs)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := problem.Load(t.Context(), judgingtest.Get(t).Blobs, version)
	if err != nil {
		t.Fatal(err)
	}
	r := judged(t, j, python(cat), loaded)
	if r.Verdict != judge.JE || !strings.Contains(r.JudgeNote, "group secret/2 is worth up to 50 points and has no test") {
		t.Errorf("%s, %q", r.Verdict, r.JudgeNote)
	}
}
