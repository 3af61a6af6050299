package intake_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"deepoj/host/blob"
	"deepoj/host/intake"
	"deepoj/host/intake/trial"
	"deepoj/host/judge"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/problem/importing"
	"deepoj/plugins"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// bench is an intake on a database of its own with one problem, echo.
type bench struct {
	*intake.Intake

	store *sqltest.Store
	judge *judging.Judge
}

func newBench(t *testing.T) *bench {
	t.Helper()
	m := judgingtest.Get(t)
	b := &bench{store: sqltest.DB(t)}
	var err error
	b.judge, err = m.Open(func(c *judging.Config) { c.Uploaded = b.store.ActivePlugins })
	must(t, err)
	runner, err := sharedRunner(m)
	must(t, err)
	b.Intake, err = intake.New(intake.Config{Store: b.store.Site, Blobs: m.Blobs, Plugins: m.Runtime, Judge: b.judge, Runner: runner, TempDir: t.TempDir()})
	must(t, err)
	p, _, err := importing.Read(fstest.MapFS{
		"problem.yaml":                  {Data: []byte("name: Echo\nlimits: {time_limit: 1}\n")},
		"submissions/accepted/a.py":     {Data: []byte("print(input())\n")},
		"submissions/wrong_answer/w.py": {Data: []byte("print(7)\n")},
		"data/sample/1.in":              {Data: []byte("1\n")},
		"data/sample/1.ans":             {Data: []byte("1\n")},
		"data/secret/1.in":              {Data: []byte("2 3\n")},
		"data/secret/1.ans":             {Data: []byte("2 3\n")},
	})
	must(t, err)
	p.Slug = "echo"
	_, err = p.Save(t.Context(), m.Blobs)
	must(t, err)
	must(t, b.store.SaveProblem(t.Context(), p.Judge(), "setter"))
	return b
}

// runner tries programs for all tests, so that the tools of this machine are looked
// at once.
var runner struct {
	sync.Once

	*trial.Runner

	err error
}

func sharedRunner(m *judgingtest.Machine) (*trial.Runner, error) {
	runner.Do(func() {
		adapters, err := plugins.Languages()
		if err != nil {
			runner.err = err
			return
		}
		runner.Runner, runner.err = trial.New(filepath.Join(m.Dir, "trial"), judging.Config{
			Sandbox: m.Agent, Plugins: m.Runtime, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(),
		})
	})
	return runner.Runner, runner.err
}

// told is what a job reported.
type told struct {
	result   judge.Result
	report   judge.PluginReport
	progress []judge.Progress
}

// rules returns the rules of the findings, in order.
func (x told) rules() []string {
	var rules []string
	for _, p := range x.progress {
		var f struct{ Rule string }
		if p.Kind == judge.EventFinding && json.Unmarshal(p.Finding, &f) == nil && f.Rule != "" {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// execute runs a job the way a worker does: through the queue.
func (b *bench) execute(t *testing.T, p judge.PluginPayload) told {
	t.Helper()
	p.SchemaVersion, p.ContentType, p.By = judge.PayloadVersion, judge.PluginType, "setter"
	payload, err := json.Marshal(p)
	must(t, err)
	r, err := b.store.Submit(t.Context(), sql.NewJob{Author: "setter", Kind: judge.KindPluginTest, Payload: payload})
	must(t, err)
	job := b.claim(t, r.JobID)
	var x told
	x.result, err = b.Execute(t.Context(), job, func(p judge.Progress) { x.progress = append(x.progress, p) })
	must(t, err)
	must(t, b.store.Progress(t.Context(), job.Attempt, x.progress))
	must(t, b.store.Finalize(t.Context(), job.Attempt, x.result))
	must(t, json.Unmarshal(x.result.Report, &x.report))
	return x
}

// claim takes a job as a worker does.
func (b *bench) claim(t *testing.T, id int64) judge.Claim {
	t.Helper()
	jobs, rejected, err := b.store.Claim(t.Context(), []int64{id}, "w", "00000000-0000-4000-8000-000000000001", time.Minute)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %+v, %+v, %v", jobs, rejected, err)
	}
	return jobs[0]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func module(t *testing.T, name string) judge.PluginFile {
	t.Helper()
	wasm, err := plugins.Checker(name)
	must(t, err)
	return judge.PluginFile{Name: name + ".wasm", Data: wasm}
}

// numbers is a checker in C that wants the output to hold the answer's numbers.
const numbers = `#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	FILE *out = fopen(argv[2], "r"), *ans = fopen(argv[3], "r");
	char a[64], b[64];
	if (argc < 4 || !out || !ans)
		return 3;
	for (;;) {
		int x = fscanf(ans, "%63s", a), y = fscanf(out, "%63s", b);
		if (x != y || (x == 1 && strcmp(a, b))) {
			fprintf(stderr, "the tokens differ\n");
			return 1;
		}
		if (x != 1)
			return 0;
	}
}
`

func TestAnUploadIsCompiledProvedAndKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	x := b.execute(t, judge.PluginPayload{
		Op: judge.PluginUpload, Name: "org.example.numbers", Version: "2", Problem: "echo", Files: []judge.PluginFile{{Name: "numbers.c", Data: []byte(numbers)}},
	})
	p := x.report.Plugin
	if p == nil || !p.Conforms || p.Name != "org.example.numbers" || p.Version != "2" || p.Protocol != "testlib/1" || p.By != "setter" || p.Active {
		t.Fatalf("kept %+v; findings %q; %s %+v", p, x.rules(), x.result.JudgeNote, x.report.Conformance)
	}
	if x.result.Verdict != judge.AC || x.result.Compile == nil || !x.result.Compile.OK {
		t.Errorf("verdict %s, compiled %+v", x.result.Verdict, x.result.Compile)
	}
	if x.progress[0].Kind != judge.EventCompiled || !slices.ContainsFunc(x.progress, func(p judge.Progress) bool { return p.Kind == judge.EventStage }) {
		t.Errorf("told %d steps, none of a stage", len(x.progress))
	}
	// A module is kept under the digest of its bytes, whoever uploads it again.
	again := b.execute(t, judge.PluginPayload{Op: judge.PluginTest, Digest: p.Digest})
	if again.result.Verdict != judge.AC || again.report.Plugin.Digest != p.Digest || again.report.Plugin.JobID <= p.JobID {
		t.Errorf("again: %s %+v", again.result.Verdict, again.report.Plugin)
	}
	must(t, b.store.ActivatePlugin(t.Context(), p.Digest, "setter"))
	if active, err := b.store.ActivePlugins(t.Context(), "checker"); err != nil || len(active) != 1 {
		t.Errorf("active: %+v, %v", active, err)
	}
}

func TestWhatIsWrongWithAnUploadIsToldAndItIsNotActivated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tests := map[string]struct {
		file judge.PluginFile
		want judge.Verdict
		rule string
		kept bool
	}{
		"it does not compile":      {judge.PluginFile{Name: "a.c", Data: []byte("int main(void) { return undeclared; }\n")}, judge.CE, "", false},
		"it is no module":          {judge.PluginFile{Name: "a.wasm", Data: []byte("\x00asm\x01\x00\x00\x00garbage")}, judge.WA, "", false},
		"it accepts everything":    {judge.PluginFile{Name: "a.c", Data: []byte("int main(void) { return 0; }\n")}, judge.WA, "", true},
		"it fails on every output": {judge.PluginFile{Name: "a.c", Data: []byte("int main(void) { return 3; }\n")}, judge.WA, "", true},
		"it traps":                 {judge.PluginFile{Name: "a.c", Data: []byte("int main(void) { __builtin_trap(); }\n")}, judge.WA, "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := b.execute(t, judge.PluginPayload{Op: judge.PluginUpload, Name: "org.example." + strings.ReplaceAll(name, " ", "-"), Problem: "echo", Files: []judge.PluginFile{tt.file}})
			if x.result.Verdict != tt.want || (x.report.Plugin != nil) != tt.kept {
				t.Fatalf("verdict %s, kept %t, findings %q, stages %+v", x.result.Verdict, x.report.Plugin != nil, x.rules(), x.report.Conformance.Stages)
			}
			if tt.want == judge.CE && (len(x.result.Compile.Diagnostics) == 0 || x.result.Compile.Diagnostics[0].Line != 1) {
				t.Errorf("diagnostics %+v", x.result.Compile)
			}
			if tt.want == judge.WA && len(x.rules()) == 0 {
				t.Error("nothing is said to be wrong")
			}
			if tt.kept {
				if err := b.store.ActivatePlugin(t.Context(), x.report.Plugin.Digest, "setter"); err == nil {
					t.Error("it was activated")
				}
			}
		})
	}
}

func TestARequestThatCannotBeCarriedOutSaysWhy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tests := map[string]struct {
		p    judge.PluginPayload
		says string
	}{
		"an unknown plugin":    {judge.PluginPayload{Op: judge.PluginBind, Digest: "sha256:00", Problem: "echo"}, "upload it first"},
		"an unknown problem":   {judge.PluginPayload{Op: judge.PluginUpload, Problem: "nosuch", Files: []judge.PluginFile{module(t, "tokens")}}, "no problem nosuch"},
		"an unknown operation": {judge.PluginPayload{Op: "conjure"}, "unknown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := b.execute(t, tt.p)
			if x.result.Verdict != judge.JE || !strings.Contains(x.report.Error, tt.says) {
				t.Errorf("verdict %s, error %q", x.result.Verdict, x.report.Error)
			}
		})
	}
	bad := judge.Claim{Payload: []byte(`{"schema_version":9}`)}
	if _, err := b.Execute(t.Context(), bad, func(judge.Progress) {}); err == nil {
		t.Error("an unknown schema was taken")
	}
}

// submitted judges a program for real and stores its verdict.
func (b *bench) submitted(t *testing.T, python string) int64 {
	t.Helper()
	sources := []judge.Source{{Name: "a.py", Text: python}}
	r, err := b.store.Submit(t.Context(), sql.NewJob{Problem: "echo", Language: "python", Author: "alice", Sources: sources})
	must(t, err)
	job := b.claim(t, r.JobID)
	result, err := b.verdict(t, sources)
	must(t, err)
	must(t, b.store.Finalize(t.Context(), job.Attempt, result))
	return r.JobID
}

func (b *bench) verdict(t *testing.T, sources []judge.Source) (judge.Result, error) {
	t.Helper()
	p, err := b.store.Problem(t.Context(), "echo")
	must(t, err)
	return b.judge.Judge(t.Context(), judge.Payload{Problem: "echo", Language: "python", Sources: sources}, problemVersion(p), nil)
}

func TestAPreviewListsWhatWouldChangeAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	right := b.submitted(t, "print(input())\n")
	shouting := b.submitted(t, "print(input() + '   ')\n") // the usual checker overlooks blanks
	x := b.execute(t, judge.PluginPayload{Op: judge.PluginUpload, Files: []judge.PluginFile{module(t, "exact")}})
	if x.report.Plugin == nil || !x.report.Plugin.Conforms {
		t.Fatalf("the standard checker exact does not conform: %q", x.rules())
	}
	digest := x.report.Plugin.Digest
	x = b.execute(t, judge.PluginPayload{Op: judge.PluginPreview, Digest: digest, Problem: "echo"})
	if x.report.Checked != 2 || len(x.report.Changes) != 1 {
		t.Fatalf("checked %d, changes %+v", x.report.Checked, x.report.Changes)
	}
	c := x.report.Changes[0]
	if c.JobID != shouting || c.Before != judge.AC || c.After != judge.WA || c.Test != "sample/1" || c.Author != "alice" || x.result.Verdict != judge.WA {
		t.Errorf("change %+v, verdict %s", c, x.result.Verdict)
	}
	for _, id := range []int64{right, shouting} {
		if s, err := b.store.Submission(t.Context(), id); err != nil || s.Result.Verdict != judge.AC || s.Generation != 1 {
			t.Errorf("submission %d: %+v, %v", id, s.Result, err)
		}
	}
}

func TestABindingMakesAVersionOfTheProblem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before, err := b.store.Problem(t.Context(), "echo")
	must(t, err)
	x := b.execute(t, judge.PluginPayload{Op: judge.PluginUpload, Files: []judge.PluginFile{module(t, "exact")}})
	kept := x.report.Plugin
	x = b.execute(t, judge.PluginPayload{Op: judge.PluginBind, Digest: kept.Digest, Problem: "echo"})
	pinned, err := b.store.Problem(t.Context(), "echo")
	if err != nil || x.report.Binding != "digest" || pinned.Version == before.Version || pinned.Version != x.report.Version || !slices.Equal(pinned.Checkers, []string{kept.Digest}) {
		t.Fatalf("bound %+v: %+v, %v", x.report, pinned, err)
	}
	blanks := []judge.Source{{Name: "a.py", Text: "print(input() + ' ')\n"}}
	if r, err := b.verdict(t, blanks); err != nil || r.Verdict != judge.WA || r.Checker != kept.Digest {
		t.Errorf("judged %s by %s, %v", r.Verdict, r.Checker, err)
	}
	// Once it is active the problem is bound to the name, and follows it.
	must(t, b.store.ActivatePlugin(t.Context(), kept.Digest, "setter"))
	x = b.execute(t, judge.PluginPayload{Op: judge.PluginBind, Digest: kept.Digest, Problem: "echo"})
	named, err := b.store.Problem(t.Context(), "echo")
	if err != nil || x.report.Binding != "name" || !slices.Equal(named.Checkers, []string{kept.Name}) {
		t.Fatalf("bound %+v: %+v, %v", x.report, named, err)
	}
	lenient := b.execute(t, judge.PluginPayload{
		Op: judge.PluginUpload, Name: kept.Name, Version: "9", Problem: "echo", Files: []judge.PluginFile{{Name: "numbers.c", Data: []byte(numbers)}},
	})
	must(t, b.store.ActivatePlugin(t.Context(), lenient.report.Plugin.Digest, "setter"))
	if r, err := b.verdict(t, blanks); err != nil || r.Verdict != judge.AC || r.Checker != lenient.report.Plugin.Digest {
		t.Errorf("after the activation: %s by %s, %v", r.Verdict, r.Checker, err)
	}
	if _, err := b.store.RollBackPlugin(t.Context(), "checker", kept.Name, "setter"); err != nil {
		t.Fatal(err)
	}
	if r, err := b.verdict(t, blanks); err != nil || r.Verdict != judge.WA || r.Checker != kept.Digest {
		t.Errorf("after the roll-back: %s by %s, %v", r.Verdict, r.Checker, err)
	}
}

// The package has a wrong submission that a lenient checker accepts.
func TestABindingThatIsNotProvedChangesNothingUntilStaffOverrideIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, _, err := importing.Read(fstest.MapFS{
		"problem.yaml":                      {Data: []byte("name: Blanks\n")},
		"submissions/accepted/a.py":         {Data: []byte("print(input())\n")},
		"submissions/wrong_answer/blank.py": {Data: []byte("print(input() + ' ')\n")},
		"data/secret/1.in":                  {Data: []byte("2 3\n")},
		"data/secret/1.ans":                 {Data: []byte("2 3\n")},
	})
	must(t, err)
	p.Slug = "blanks"
	_, err = p.Save(t.Context(), judgingtest.Get(t).Blobs)
	must(t, err)
	must(t, b.store.SaveProblem(t.Context(), p.Judge(), "setter"))
	kept := b.execute(t, judge.PluginPayload{
		Op: judge.PluginUpload, Name: "org.example.numbers", Version: "1", Files: []judge.PluginFile{{Name: "numbers.c", Data: []byte(numbers)}},
	}).report.Plugin
	x := b.execute(t, judge.PluginPayload{Op: judge.PluginBind, Digest: kept.Digest, Problem: "blanks"})
	now, err := b.store.Problem(t.Context(), "blanks")
	if err != nil || x.result.Verdict != judge.WA || x.report.Live || now.Version != string(p.Version) {
		t.Fatalf("bound %+v, verdict %s, live is %s, %v", x.report, x.result.Verdict, now.Version, err)
	}
	v, err := b.store.ProblemVersion(t.Context(), "blanks", x.report.Version)
	if err != nil || v.Proved == nil || *v.Proved || v.Live || !strings.Contains(string(v.Report), "got AC, may get WA") {
		t.Fatalf("kept %+v, %v", v, err)
	}
	must(t, b.store.ActivateVersion(t.Context(), sql.Activation{Problem: "blanks", Version: x.report.Version, By: "stan", Override: true}))
	if now, err = b.store.Problem(t.Context(), "blanks"); err != nil || now.Version != x.report.Version {
		t.Errorf("after the override live is %s, %v", now.Version, err)
	}
}

func TestAnAdapterIsTakenInLikeAChecker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all, err := plugins.Languages()
	must(t, err)
	python, err := all.Read("python")
	must(t, err)
	x := b.execute(t, judge.PluginPayload{Op: judge.PluginUpload, Kind: "toolchain", Files: []judge.PluginFile{{Name: "python.wasm", Data: python}}})
	if x.result.Verdict != judge.AC || x.report.Plugin == nil || x.report.Plugin.Kind != "toolchain" {
		t.Fatalf("verdict %s, %q, %+v", x.result.Verdict, x.rules(), x.report.Plugin)
	}
	if y := b.execute(t, judge.PluginPayload{Op: judge.PluginBind, Digest: x.report.Plugin.Digest, Problem: "echo"}); y.result.Verdict != judge.JE {
		t.Errorf("an adapter was bound as a checker: %+v", y.report)
	}
}

func problemVersion(p *judge.Problem) blob.Digest { return blob.Digest(p.Version) }
