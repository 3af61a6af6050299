package verify_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem"
	"deepoj/host/verify"
)

// legacy is a legacy package that states no time limit and asks for two times what
// the slowest program takes.
func legacy(files map[string]string) map[string]string {
	all := map[string]string{
		"problem.yaml":     "name: Double\nlimits: {time_multiplier: 2}\n",
		"data/sample/1.in": "1\n", "data/sample/1.ans": "2\n", "data/secret/2.in": "4\n", "data/secret/2.ans": "8\n",
	}
	maps.Copy(all, files)
	return all
}

func TestALegacyPackageWithoutATimeLimitGetsOneByItsMultiplier(t *testing.T) {
	t.Parallel()
	var told []verify.Stage
	cfg := verify.Config{Judge: judgingtest.Get(t).Judge, Stage: func(s verify.Stage) { told = append(told, s) }}
	pkg := stored(t, legacy(map[string]string{
		"submissions/accepted/slow.py":   burn + "0.8" + burnt, // with the start of Python: two times that is 2 s
		"submissions/accepted/fast.py":   right,
		"submissions/accepted/wrong.py":  "import time\nwhile time.process_time() < 3: pass\nprint(0)\n", // is not accepted
		"submissions/slow/accepted.py":   "import time\nwhile time.process_time() < 3: pass\nprint(2 * int(input()))\n",
		"submissions/accepted/main.cbl":  "STOP RUN.\n",
		"submissions/wrong_answer/no.py": "print(0)\n",
	}))
	limited, err := verify.Infer(t.Context(), cfg, pkg)
	if err != nil {
		t.Fatal(err)
	}
	if l := limited.Limits; l.CPU != 2*time.Second || l.CPUFrom != problem.Inferred || !verify.Finished(limited) {
		t.Errorf("the limit is %s, %s", l.CPU, l.CPUFrom)
	}
	if len(told) < 5 || told[0].Total != 4 || told[len(told)-1].Step != verify.StepMeasure || !strings.HasPrefix(told[len(told)-1].What, "accepted/slow.py alone on s") {
		t.Errorf("told of %+v", told)
	}
	again, err := problem.Load(t.Context(), judgingtest.Get(t).Blobs, limited.Version)
	if err != nil || again.Limits.CPU != 2*time.Second {
		t.Errorf("stored: %v, %v", again, err)
	}
}

func TestPartlyAcceptedProgramsGiveALimitIfThereAreNoOthers(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"problem.yaml":                "name: Double\ntype: scoring\nlimits: {time_multiplier: 2}\n",
		"data/testdata.yaml":          "on_reject: continue\ngrader_flags: ignore_sample\n",
		"data/secret/testdata.yaml":   "on_reject: continue\ngrader_flags: first_error accept_if_any_accepted\n",
		"data/secret/a/testdata.yaml": "accept_score: 40\ngrader_flags: min\n", "data/secret/a/1.in": "1\n", "data/secret/a/1.ans": "2\n",
		"data/secret/b/testdata.yaml": "accept_score: 60\ngrader_flags: min\n", "data/secret/b/1.in": "7\n", "data/secret/b/1.ans": "14\n",
		"submissions/accepted/half.py": "import time\nwhile time.process_time() < 0.8: pass\nprint(2)\n",
	}
	cfg := verify.Config{Judge: judgingtest.Get(t).Judge}
	for _, tt := range []struct {
		more string
		want time.Duration
	}{{"", 2 * time.Second}, {right, time.Second}} {
		if tt.more != "" {
			files["submissions/accepted/right.py"] = tt.more
		}
		all := legacy(files)
		delete(all, "data/secret/2.in")
		delete(all, "data/secret/2.ans")
		limited, err := verify.Infer(t.Context(), cfg, stored(t, all))
		if err != nil || limited.Limits.CPU != tt.want {
			t.Errorf("the limit is %v, want %s (%v)", limited, tt.want, err)
		}
	}
}

func TestAPackageOfWhichNoProgramShowsALimitSaysSo(t *testing.T) {
	t.Parallel()
	cfg := verify.Config{Judge: judgingtest.Get(t).Judge}
	for name, files := range map[string]map[string]string{
		"without programs": {"submissions/wrong_answer/no.py": "print(0)\n"},
		"all fail":         {"submissions/accepted/no.py": "print(0)\n"},
	} {
		pkg := stored(t, legacy(files))
		same, err := verify.Infer(t.Context(), cfg, pkg)
		if err != nil || same != pkg {
			t.Errorf("%s: %v", name, err)
		}
		r, err := verify.Run(t.Context(), cfg, pkg)
		if err != nil || r.OK() || len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "limits.time_limit: is missing") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := verify.Infer(t.Context(), cfg, stored(t, legacy(map[string]string{"submissions/accepted/a.cbl": "STOP RUN.\n"}))); !verify.AtFault(err) ||
		!strings.Contains(err.Error(), "accepted/a.cbl: no language has this extension") {
		t.Errorf("only a language that nobody has here: %v", err)
	}
}

func TestOnlyProgramsThatAreWhollyAcceptedCountForAdvice(t *testing.T) {
	t.Parallel()
	pkg := double(t, map[string]string{
		"problem.yaml":                         "name: Double\ntype: scoring\nlimits: {time_limit: 1}\n",
		"submissions/accepted/right.py":        right,
		"submissions/accepted/a.cbl":           "STOP RUN.\n",
		"submissions/partially_accepted/p.py":  "n = int(input())\nwhile n == 7: pass\nprint(2 * n)\n", // 1.1 s until it is ended
		"submissions/time_limit_exceeded/a.py": forever,
	})
	r, err := verify.Run(t.Context(), verify.Config{Judge: judgingtest.Get(t).Judge}, pkg)
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.SlowestMillis >= 1000 || r.SuggestedMillis > 4000 {
		t.Errorf("slowest %d ms, suggested %d ms", r.SlowestMillis, r.SuggestedMillis)
	}
	for _, row := range r.Rows {
		if row.Path == "partially_accepted/p.py" && row.Slack != 0 || row.Path == "accepted/a.cbl" && row.Skipped != "no language has this extension" {
			t.Errorf("%+v", row)
		}
	}
	var out strings.Builder
	if err := verify.Write(&out, r); err != nil || !strings.Contains(out.String(), "accepted/a.cbl: not judged: no language has this extension") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}
