package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"deepoj/sandbox"
)

// onEveryDriver calls f with an agent of each control group driver that this
// machine can have.
func onEveryDriver(t *testing.T, f func(*testing.T, *sandbox.Agent)) {
	t.Helper()
	needRoot(t)
	found := false
	for _, driver := range []string{sandbox.DriverV2, sandbox.DriverHybrid, sandbox.DriverV1} {
		p, a, err := start(sandbox.Config{Slots: 2, FirstUID: 63000, Driver: driver})
		if err != nil {
			t.Logf("no driver %s here", driver)
			continue
		}
		found = true
		t.Logf("driver %s on %s", driver, kernelRelease())
		t.Run(driver, func(t *testing.T) { f(t, a) })
		if err := p.Close(); err != nil {
			t.Errorf("the agent ended with %v", err)
		}
		if left := traces(t, p.PID()); len(left) != 0 {
			t.Errorf("the agent left %q", left)
		}
	}
	if !found {
		missing(t, "control groups")
	}
}

func TestEveryDriverBoundsCPUTime(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Agent) {
		b := newBench(t, a, "process", sandbox.BoxOptions{})
		for _, args := range [][]string{{"spin"}, {"child-spin"}, {"orphan-spin"}, {"thread-spin", "4"}} {
			o := b.run(t, sandbox.Limits{CPU: 200 * ms, Wall: time.Minute}, args...)
			if o.Verdict != sandbox.TLE || o.CPU < 200*ms || o.CPU > 230*ms && !insideVM() {
				t.Errorf("%s ended %v", args[0], o)
			}
		}
	})
}

func TestRunningWithoutControlGroupsMustBeAllowed(t *testing.T) {
	needRoot(t)
	if p, _, err := start(sandbox.Config{Driver: sandbox.DriverNone}); err == nil {
		t.Error("an agent started without control groups", p.Close())
	}
	p, a, err := start(sandbox.Config{Driver: sandbox.DriverNone, AllowDegraded: true, Slots: 2, FirstUID: 63000})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := a.Status(t.Context())
	if err != nil || s.Driver != sandbox.DriverNone || len(s.Degraded) == 0 {
		t.Errorf("Status = %+v, %v", s, err)
	}
	b := newBench(t, a, "process", sandbox.BoxOptions{})
	limit := sandbox.Limits{CPU: 200 * ms, Wall: 700 * ms, Processes: 16, MemoryBytes: 64 * mib}
	for way, want := range map[string]sandbox.Verdict{
		"nothing": sandbox.OK, "spin": sandbox.TLE, "fork-bomb": sandbox.TLE, "orphan": sandbox.OK, "sleep": sandbox.TLE, "segv": sandbox.RE,
		"orphan-spin": sandbox.TLE,
	} {
		if o := b.run(t, limit, way); o.Verdict != want {
			t.Errorf("%s ended %v, want %s", way, o, want)
		}
	}
	m := newBench(t, a, "memory", sandbox.BoxOptions{})
	if o := m.run(t, limit, "heap", "1000"); o.Verdict != sandbox.MLE {
		t.Errorf("1000 MiB ended %v, want MLE", o)
	}
}

func TestAnAgentSaysWhatItCanDo(t *testing.T) {
	s, err := shared.get(t).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Slots != 3 || s.Driver == "" || s.Kernel == "" || !s.Seccomp || len(s.Cores) == 0 || s.SelfTest != "" {
		t.Errorf("Status = %+v", s)
	}
}

func TestABadConfigurationNamesEveryField(t *testing.T) {
	err := sandbox.Config{
		Slots: -1, Cores: []int{-1}, FirstUID: 5, Driver: "v3", ReadOnly: []string{"relative"},
		Tools: map[string]sandbox.Tool{"gcc": {Path: "gcc"}},
	}.Validate()
	if err == nil {
		t.Fatal("it is valid")
	}
	for _, field := range []string{"Slots", "Cores", "FirstUID", "Driver", "ReadOnly", "Tools"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%q does not name %s", err, field)
		}
	}
}
