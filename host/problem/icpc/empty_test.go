package icpc_test

import (
	"maps"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/host/problem/importing"
	"deepoj/host/problem/problemtest"
)

func TestAGroupWithoutTestsMayBeWorthNothing(t *testing.T) {
	t.Parallel()
	scoring := "name: a\ntype: scoring\n"
	for name, tt := range map[string]struct {
		files         map[string]string
		refused, warn string
	}{
		"worth points": {
			map[string]string{"problem.yaml": scoring, "data/secret/2/testdata.yaml": "range: 0 50\n"},
			"data/secret/2/testdata.yaml: range: gives up to 50 points, and the group holds no test", "",
		},
		"worth nothing": {map[string]string{"problem.yaml": scoring, "data/secret/2/testdata.yaml": "range: 0 0\n"}, "", "data/secret/2"},
		"that says nothing of points": {
			map[string]string{"problem.yaml": scoring, "data/secret/2/testdata.yaml": "on_reject: continue\n"}, "", "data/secret/2",
		},
		"of samples": {
			map[string]string{"problem.yaml": scoring, "data/sample/1.in": "", "data/sample/1.ans": "", "data/sample/testdata.yaml": "on_reject: continue\n"}, "", "data/sample",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, report, err := importing.Read(problemtest.Pack(tt.files))
			if tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) || tt.refused == "" && err != nil {
				t.Fatalf("error is %v, want it to say %q", err, tt.refused)
			}
			warned := false
			for _, w := range report.Warnings {
				warned = warned || w.File == tt.warn && w.Reason == "holds no test"
			}
			if tt.warn != "" && !warned {
				t.Errorf("warnings are %+v, want one of %s", report.Warnings, tt.warn)
			}
		})
	}
}

func TestAPackageSaysWhoReadsWhatItsCheckersSay(t *testing.T) {
	t.Parallel()
	own := map[string]string{"problem.yaml": "name: a\nvalidation: custom\n", "output_validators/v.c": "c"}
	for name, tt := range map[string]struct {
		text, refused string
		files         map[string]string
		want          judge.CheckerMessages
	}{
		"nobody":                             {text: "checker_messages: nobody\n", want: judge.ToldNobody},
		"nothing":                            {text: "checker: {name: tokens}\n"},
		"all, with a standard checker":       {text: "checker_messages: all\n", want: judge.ToldAll},
		"all, with a plugin":                 {text: "checker_messages: all\nchecker: {name: org.example.pair}\n", want: judge.ToldAll},
		"all, with a checker of its own":     {text: "checker_messages: all\n", files: own, refused: "deepoj.yaml: checker_messages: is all, and nobody has shown that"},
		"samples, with a checker of its own": {text: "checker_messages: samples\n", files: own, want: judge.ToldSamples},
		"a word that does not exist":         {text: "checker_messages: everybody\n", refused: "it must be one of nobody, samples, all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"deepoj.yaml": tt.text}
			maps.Copy(files, tt.files)
			p, _, err := importing.Read(problemtest.Pack(files))
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error is %v, want it to say %q", err, tt.refused)
				}
				return
			}
			if err != nil || p.CheckerMessages != tt.want || p.Judge().CheckerMessages != tt.want {
				t.Errorf("%q, %v, want %q", p.CheckerMessages, err, tt.want)
			}
		})
	}
}
