package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"deepoj/sandbox"
	"deepoj/sandbox/oneshot"
)

// onEveryDriver calls f with an agent of each control group driver that this
// machine can have, and of "none", which every machine can. What none does not
// promise is said where it is expected.
func onEveryDriver(t *testing.T, f func(*testing.T, *sandbox.Client)) {
	t.Helper()
	onEveryDriverWith(t, sandbox.Config{Slots: 2}, f)
}

// onEveryDriverWith is onEveryDriver with a configuration.
func onEveryDriverWith(t *testing.T, cfg sandbox.Config, f func(*testing.T, *sandbox.Client)) {
	t.Helper()
	wellOnEveryDriver(t, cfg, func(t *testing.T, _ *oneshot.Process, a *sandbox.Client) { f(t, a) })
}

// wellOnEveryDriver is startOnEveryDriver, and sees to it that each agent ends well and
// leaves nothing.
func wellOnEveryDriver(t *testing.T, cfg sandbox.Config, f func(*testing.T, *oneshot.Process, *sandbox.Client), args ...string) {
	t.Helper()
	startOnEveryDriver(t, cfg, func(t *testing.T, p *oneshot.Process, a *sandbox.Client) {
		t.Run(status(t, a).Driver, func(t *testing.T) { f(t, p, a) })
		if err := p.Close(); err != nil {
			t.Errorf("the agent ended with %v", err)
		}
		if left := traces(t, p.PID()); len(left) != 0 {
			t.Errorf("the agent left %q", left)
		}
		if left := strangers(t, driverUID); len(left) != 0 {
			t.Errorf("the agent left %v", left)
		}
	}, args...)
}

// startOnEveryDriver starts an agent of each driver with args, one after the other, and
// calls f with it, which ends it.
func startOnEveryDriver(t *testing.T, cfg sandbox.Config, f func(*testing.T, *oneshot.Process, *sandbox.Client), args ...string) {
	t.Helper()
	needRoot(t)
	drivers := []string{sandbox.DriverV2, sandbox.DriverHybrid, sandbox.DriverV1, sandbox.DriverNone}
	if insideVM() {
		drivers = drivers[:1] // that is what it is there for; the others run outside
	}
	found := false
	for _, driver := range drivers {
		cfg.Driver, cfg.FirstUID, cfg.AllowDegraded = driver, driverUID, driver == sandbox.DriverNone
		p, a, err := startWith(cfg, append([]string{agentCommand}, args...))
		if err != nil {
			t.Logf("no driver %s here", driver)
			continue
		}
		found = found || driver != sandbox.DriverNone
		t.Logf("driver %s on %s", driver, kernelRelease())
		f(t, p, a)
	}
	if !found {
		missing(t, "control groups")
	}
}

// driverUID is the first user id of the agents that onEveryDriver starts. It is
// this process's own: another one may run the same tests at the same time.
var driverUID = 100_000 + os.Getpid()%1000*100

// status asks an agent what it is able to do.
func status(t testing.TB, a *sandbox.Client) sandbox.Status {
	t.Helper()
	s, err := a.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bounded reports whether an agent has control groups.
func bounded(t testing.TB, a *sandbox.Client) bool {
	t.Helper()
	return status(t, a).Driver != sandbox.DriverNone
}

func TestRunningWithoutControlGroupsMustBeAllowed(t *testing.T) {
	needRoot(t)
	if p, _, err := start(sandbox.Config{Driver: sandbox.DriverNone}); err == nil {
		t.Error("an agent started without control groups", p.Close())
	}
	p, a, err := start(sandbox.Config{Driver: sandbox.DriverNone, AllowDegraded: true, Slots: 2, FirstUID: driverUID})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := a.Status(t.Context())
	if err != nil || s.Driver != sandbox.DriverNone || len(s.Degraded) == 0 {
		t.Errorf("Status = %+v, %v", s, err)
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
