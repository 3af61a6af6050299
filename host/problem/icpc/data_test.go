package icpc_test

import (
	"reflect"
	"slices"
	"testing"

	"deepoj/host/problem"
	"deepoj/host/problem/problemtest"
)

func TestTestsComeInTheOrderOfTheirNamesGroupsAmongThem(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, map[string]string{
		"data/secret/1.in": "", "data/secret/1.ans": "",
		"data/secret/b.in": "1", "data/secret/b.ans": "1", "data/secret/d.in": "1", "data/secret/d.ans": "1",
		"data/secret/c/x.in": "1", "data/secret/c/x.ans": "1", "data/secret/a/y.in": "1", "data/secret/a/y.ans": "1",
	})
	var names []string
	for _, test := range p.Tests() {
		names = append(names, test.Name)
	}
	want := []string{"sample/1", "secret/a/y", "secret/b", "secret/c/x", "secret/d"}
	if !slices.Equal(names, want) {
		t.Errorf("tests are %q, want %q", names, want)
	}
	if !p.Tests()[0].Sample || p.Tests()[1].Sample {
		t.Error("sample tests are marked wrongly")
	}
}

func TestFoldersInheritTestdata(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, map[string]string{
		"problem.yaml":                "name: a\ntype: scoring\ngrading: {accept_score: 3}\n",
		"data/testdata.yaml":          "on_reject: continue\ngrader_flags: ignore_sample\noutput_validator_flags: case_sensitive\nrange: 0 100\n",
		"data/secret/testdata.yaml":   "grader_flags: first_error accept_if_any_accepted max\n",
		"data/secret/g/testdata.yaml": "on_reject: break\naccept_score: 40\nreject_score: -1\ngrader_flags: no_errors min\noutput_validator_flags: float_tolerance 0.1\n",
		"data/secret/g/1.in":          "x", "data/secret/g/1.ans": "x",
		"data/secret/h/1.in": "x", "data/secret/h/1.ans": "x",
	})
	secret := p.Root.Group("secret")
	tests := []struct {
		group *problem.Group
		want  problem.Grading
		flags []string
	}{
		{p.Root, problem.Grading{Verdict: problem.WorstError, Score: problem.Sum, IgnoreSample: true, AcceptScore: 3, Low: new(0.0), High: new(100.0)}, nil},
		{p.Root.Group("sample"), problem.Grading{Verdict: problem.WorstError, Score: problem.Sum, AcceptScore: 3}, []string{"case_sensitive"}},
		{secret, problem.Grading{Verdict: problem.FirstError, Score: problem.Max, AcceptAny: true, AcceptScore: 3}, []string{"case_sensitive"}},
		{secret.Group("g"), problem.Grading{Break: true, Verdict: problem.WorstError, Score: problem.Min, AcceptScore: 40, RejectScore: -1}, []string{"float_tolerance", "0.1"}},
		{secret.Group("h"), problem.Grading{Verdict: problem.FirstError, Score: problem.Max, AcceptAny: true, AcceptScore: 3}, []string{"case_sensitive"}},
	}
	for _, tt := range tests {
		got, want := tt.group.Grading, tt.want
		if !sameBound(got.Low, want.Low) || !sameBound(got.High, want.High) {
			t.Errorf("%q: the range is %v to %v", tt.group.Name, got.Low, got.High)
		}
		got.Low, got.High, want.Low, want.High = nil, nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: grading is %+v, want %+v", tt.group.Name, got, want)
		}
		for _, it := range tt.group.Items {
			if it.Test != nil && !slices.Equal(it.Test.Flags, tt.flags) {
				t.Errorf("%s: flags are %q, want %q", it.Test.Name, it.Test.Flags, tt.flags)
			}
		}
	}
}

func sameBound(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// Scores of pass-fail problems are not looked at.
func TestAPassFailProblemHasNoScores(t *testing.T) {
	t.Parallel()
	p, _ := problemtest.Read(t, map[string]string{"data/secret/testdata.yaml": "accept_score: 40\nrange: 0 40\n"})
	if g := p.Root.Group("secret").Grading; g.AcceptScore != 1 || g.High != nil || p.MaxScore() != nil {
		t.Errorf("grading is %+v, the highest score %v", g, p.MaxScore())
	}
}

func TestTheHighestScoreFollowsFromTheGroups(t *testing.T) {
	t.Parallel()
	scoring := "name: a\ntype: scoring\n"
	tests := map[string]struct {
		files map[string]string
		want  float64
	}{
		"each test is worth 1":      {map[string]string{"problem.yaml": scoring}, 2},
		"samples may be ignored":    {map[string]string{"problem.yaml": scoring, "data/testdata.yaml": "grader_flags: ignore_sample\n"}, 1},
		"a range decides":           {map[string]string{"problem.yaml": scoring, "data/testdata.yaml": "range: 0 77\n"}, 77},
		"an infinite range says no": {map[string]string{"problem.yaml": scoring, "data/testdata.yaml": "range: 0 +inf\n"}, 2},
		"min of equal scores":       {map[string]string{"problem.yaml": scoring, "data/testdata.yaml": "grader_flags: min\naccept_score: 9\n"}, 9},
		"the old place of the range": {map[string]string{
			"problem.yaml": scoring + "grading: {range: 0 50, show_test_data_groups: true}\n",
		}, 50},
		"rejections may be worth more": {map[string]string{"problem.yaml": scoring, "data/testdata.yaml": "accept_score: 1\nreject_score: 5\n"}, 10},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := problemtest.Read(t, tt.files)
			if top := p.MaxScore(); top == nil || *top != tt.want {
				t.Errorf("highest score is %v, want %g", top, tt.want)
			}
		})
	}
	p, _ := problemtest.Read(t, map[string]string{"problem.yaml": scoring + "validation: custom score\n", "output_validators/v.c": "x"})
	if top := p.MaxScore(); top != nil {
		t.Errorf("a checker gives the scores, yet the highest is %g", *top)
	}
}
