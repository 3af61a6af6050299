package conformance_test

import (
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
