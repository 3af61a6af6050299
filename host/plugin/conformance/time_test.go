package conformance_test

import (
	"slices"
	"testing"
	"time"

	"deepoj/host/plugin/conformance"
	"deepoj/plugins/abi"
)

// Plugins that loop without end, with all the fuel that they can ask for, are done with
// when their processor time is over, and do not conform. What else the machine does has
// no part in that: the suite says how much it gave.
func TestAPluginThatNeverEndsIsDoneWithInTime(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"loops", "divides", "rolls"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := checker(abi.Testlib1, abi.Test{Input: "1\n", Output: "1\n", Answer: "1\n", Expect: "accepted"})
			m.Limits.FuelM = 100_000
			r := prove(t, buildC(t, name), conformance.Options{Manifest: m, Time: time.Second})
			i := slices.IndexFunc(r.Findings, func(f conformance.Finding) bool { return f.Rule == "time" })
			if r.Conforms || i < 0 || r.Findings[i].Severity != conformance.Failure || r.Findings[i].Remedy == "" {
				t.Errorf("%s", text(t, r))
			}
			if last := r.Stages[len(r.Stages)-1]; last.Outcome != conformance.Failed || len(r.Stages) > 3 {
				t.Errorf("the suite went on to %+v", last)
			}
		})
	}
}

// A plugin that needs little has the time that this takes, however busy the machine is.
func TestAPluginIsNotBlamedForABusyMachine(t *testing.T) {
	t.Parallel()
	const most = 2 * time.Second
	slept := false
	r := prove(t, buildC(t, "checker"), conformance.Options{
		Manifest: checker(abi.Testlib1, abi.Test{Input: "1\n", Output: "1\n", Answer: "1\n", Expect: "accepted"}), LargeBytes: 1000, Time: most,
		Event: func(e conformance.Event) {
			if e.Finding != nil && !slept { // in the midst of a stage, somebody else is served
				time.Sleep(most + most/10)
				slept = true
			}
		},
	})
	if !r.Conforms || !slept {
		t.Errorf("slept %t: %s", slept, text(t, r))
	}
}
