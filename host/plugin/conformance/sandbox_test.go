package conformance_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deepoj/host/intake/trial"
	"deepoj/host/judging"
	"deepoj/host/judging/judgingtest"
	"deepoj/host/plugin/conformance"
	"deepoj/host/problem/importing"
	"deepoj/plugins"
	"deepoj/plugins/abi"
)

// trials is the runner that all tests use.
var trials struct {
	once   sync.Once
	runner *trial.Runner
	err    error
}

func needRoot(t *testing.T) {
	t.Helper()
	switch {
	case os.Geteuid() == 0:
	case os.Getenv("DEEPOJ_TEST") == "require":
		t.Fatal("this test needs root")
	default:
		t.Skip("this test needs root")
	}
}

// runner runs programs in a real sandbox.
func runner(t *testing.T) conformance.Runner {
	t.Helper()
	rt, m := runtime(t), judgingtest.Get(t)
	trials.once.Do(func() {
		trials.err = func() error {
			dir := filepath.Join(shared.dir, "trial")
			if err := os.CopyFS(filepath.Join(dir, "judging"), os.DirFS(filepath.Join(m.Dir, "judging"))); err != nil {
				return err
			}
			adapters, err := plugins.Languages()
			if err != nil {
				return err
			}
			trials.runner, err = trial.New(dir, judging.Config{
				Sandbox: m.Agent, Plugins: rt, Adapters: adapters, Checker: plugins.Checker, SDK: plugins.SDK(),
			})
			return err
		}()
	})
	if trials.err != nil {
		t.Fatal(trials.err)
	}
	return trials.runner
}

// submissions are the options of a checker that is tried on a package: its
// answer is 3, these are its submissions, and more files take the place of its own.
func submissions(files map[string]string, more ...map[string]string) func(*testing.T) conformance.Options {
	return func(t *testing.T) conformance.Options {
		t.Helper()
		all := map[string]string{
			"problem.yaml": "name: Three\n", "data/secret/1.in": "", "data/secret/1.ans": "3\n",
		}
		for name, text := range files {
			all["submissions/"+name] = text
		}
		for _, m := range more {
			maps.Copy(all, m)
		}
		dir := t.TempDir()
		for name, text := range all {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		p, _, err := importing.Read(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		p.Slug = "three"
		o := as(abi.Testlib1)(t)
		o.Problem, o.Runner = p, runner(t)
		return o
	}
}

// optional are the languages whose tools may be missing even where all others
// must be there.
var optional = map[string]bool{"csharp": true, "kotlin": true}

func TestEveryLanguageAdapterConformsInTheSandbox(t *testing.T) {
	t.Parallel()
	needRoot(t)
	modules, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range modules.Names() {
		wasm, err := modules.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := prove(t, wasm, conformance.Options{Runner: runner(t)})
			for _, st := range r.Stages {
				if optional[id] && st.Outcome == conformance.NotRun && strings.Contains(st.Reason, "is not installed") {
					continue
				}
				if st.Outcome != conformance.Passed {
					t.Errorf("the stage %s is %s: %s", st.Name, st.Outcome, st.Reason)
				}
			}
			if !r.Conforms {
				t.Error(text(t, r))
			}
		})
	}
}
