package judge_test

import (
	"testing"

	"deepoj/host/judge"
)

func TestASentenceLosesOnlyWhatACheckerSaid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		r    judge.Result
		told judge.CheckerMessages
		want string
	}{
		"of a secret test":                 {judge.Result{Verdict: judge.WA, Message: "Wrong answer on test 3 of 6: expected 7"}, "", "Wrong answer on test 3 of 6"},
		"of a secret test, in lines":       {judge.Result{Verdict: judge.WA, Message: "Wrong answer on test 3 of 6: a\nb (c): d"}, judge.ToldSamples, "Wrong answer on test 3 of 6"},
		"that imitates a sample":           {judge.Result{Verdict: judge.WA, Message: "Wrong answer on test 3 of 6:  (sample/1): 7"}, judge.ToldSamples, "Wrong answer on test 3 of 6"},
		"of a sample":                      {judge.Result{Verdict: judge.WA, Message: "Wrong answer on test 1 of 6 (sample/1): expected 7"}, judge.ToldSamples, "Wrong answer on test 1 of 6 (sample/1): expected 7"},
		"of a sample, for nobody":          {judge.Result{Verdict: judge.WA, Message: "Wrong answer on test 1 of 6 (sample/1 (a)): expected 7"}, judge.ToldNobody, "Wrong answer on test 1 of 6 (sample/1 (a))"},
		"of a limit, from before":          {judge.Result{Verdict: judge.TLE, Message: "Time limit exceeded on test 2 of 6: used more than 1s of CPU time"}, judge.ToldNobody, "Time limit exceeded on test 2 of 6: used more than 1s of CPU time"},
		"for the team":                     {judge.Result{Verdict: judge.WA, MessageBy: judge.ByTeam, Message: "Wrong answer on test 3 of 6: read 5"}, judge.ToldNobody, "Wrong answer on test 3 of 6: read 5"},
		"without words":                    {judge.Result{Verdict: judge.RE, Message: "Run-time error on test 3 of 6"}, judge.ToldNobody, "Run-time error on test 3 of 6"},
		"of a compiler":                    {judge.Result{Verdict: judge.CE, Message: "main.c:1: error"}, judge.ToldNobody, "main.c:1: error"},
		"of a run of the samples":          {judge.Result{Verdict: judge.WA, MessageBy: judge.ByChecker, Message: "expected 7"}, judge.ToldNobody, ""},
		"of a run of the samples, default": {judge.Result{Verdict: judge.WA, MessageBy: judge.ByChecker, Message: "expected 7"}, "", "expected 7"},
	} {
		if got := tt.told.Sentence(&tt.r); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestAPartOfThePointsIsNeverAccepted(t *testing.T) {
	t.Parallel()
	third := 1.0 / 3
	for name, tt := range map[string]struct {
		v              judge.Verdict
		score, highest *float64
		want           judge.Verdict
	}{
		"half of the points":                {judge.AC, new(50.0), new(100.0), judge.PA},
		"all points":                        {judge.AC, new(100.0), new(100.0), judge.AC},
		"all points, in thirds":             {judge.AC, new(third + third + third), new(1.0), judge.AC},
		"more than all":                     {judge.AC, new(101.0), new(100.0), judge.AC},
		"no points":                         {judge.AC, new(0.0), new(100.0), judge.PA},
		"no points of none":                 {judge.AC, new(0.0), new(0.0), judge.AC},
		"points without a highest":          {judge.AC, new(7.0), nil, judge.AC},
		"no points at all":                  {judge.AC, nil, nil, judge.AC},
		"a wrong answer with some":          {judge.WA, new(50.0), new(100.0), judge.WA},
		"partly accepted stays what it was": {judge.PA, new(50.0), nil, judge.PA},
	} {
		if got := tt.v.Named(tt.score, tt.highest); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if judge.PA.InPackage() != judge.AC || judge.WA.InPackage() != judge.WA {
		t.Error("package formats know no part")
	}
}
