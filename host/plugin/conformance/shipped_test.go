package conformance_test

import (
	"errors"
	"os"
	"testing"

	"deepoj/host/plugin/conformance"
	"deepoj/plugins"
)

func TestEveryStandardCheckerConforms(t *testing.T) {
	t.Parallel()
	for _, name := range plugins.Checkers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm, err := plugins.Checker(name)
			if err != nil {
				t.Fatal(err)
			}
			r := prove(t, wasm, conformance.Options{})
			if !r.Conforms || r.Cost == nil || r.Cost.Fuel == 0 {
				t.Error(text(t, r))
			}
			for _, st := range r.Stages {
				if st.Outcome == conformance.NotRun && st.Name != "oracle" && st.Name != "submissions" && st.Name != "equal-accepts" {
					t.Errorf("the stage %s was not run: %s", st.Name, st.Reason)
				}
			}
			t.Log(text(t, r))
		})
	}
}

func TestEveryLanguageAdapterConforms(t *testing.T) {
	t.Parallel()
	modules, err := plugins.Languages()
	if errors.Is(err, plugins.ErrNotBuilt) && os.Getenv("DEEPOJ_TEST") != "require" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for id, wasm := range modules {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := prove(t, wasm, conformance.Options{})
			if !r.Conforms || len(r.Findings) > 0 {
				t.Error(text(t, r))
			}
			t.Log(text(t, r))
		})
	}
}
