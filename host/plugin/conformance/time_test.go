package conformance_test

import (
	"slices"
	"testing"
	"time"

	"deepoj/host/plugin/conformance"
	"deepoj/plugins/abi"
)

// A plugin that loops without end, with all the fuel that it can ask for, is done with
// when the time is over, and does not conform.
func TestAPluginThatNeverEndsIsDoneWithInTime(t *testing.T) {
	t.Parallel()
	m := checker(abi.Testlib1, abi.Test{Input: "1\n", Output: "1\n", Answer: "1\n", Expect: "accepted"})
	m.Limits.FuelM = 100_000
	began := time.Now()
	const most = 3 * time.Second
	r := prove(t, buildC(t, "loops"), conformance.Options{Manifest: m, Time: most})
	took := time.Since(began)
	i := slices.IndexFunc(r.Findings, func(f conformance.Finding) bool { return f.Rule == "time" })
	if r.Conforms || i < 0 || r.Findings[i].Severity != conformance.Failure || r.Findings[i].Remedy == "" {
		t.Errorf("%s", text(t, r))
	}
	if took > 20*most { // whoever waits for a CPU may wait long
		t.Errorf("it took %s", took)
	}
}
