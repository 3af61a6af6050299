package doctor_test

import (
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/doctor"
)

// well is a Deep-OJ that root started, with nothing that is weak.
func well() doctor.Running {
	deepoj := doctor.Process{UID: 999, NoNewPrivs: true}
	as := func(role string, change func(*doctor.Process)) doctor.Process {
		p := deepoj
		p.Role = role
		if change != nil {
			change(&p)
		}
		return p
	}
	return doctor.Running{Account: "deepoj", Processes: []doctor.Process{
		{Role: doctor.RoleLauncher, Capabilities: 0x1ff},
		{Role: doctor.RoleAgent, Capabilities: 0x1ff},
		as(doctor.RoleProgram, func(p *doctor.Process) {
			p.Hidden, p.Ports = true, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080")}
		}),
		as(doctor.RolePostgres, nil),
		as(doctor.RoleRedis, nil),
		as(doctor.RolePlugin, func(p *doctor.Process) { p.Filtered = true; p.Hidden = true }),
	}}
}

func TestWhatIsWeakOrMissingIsSaidWithARemedy(t *testing.T) {
	of := func(role string, change func(*doctor.Process)) func(*doctor.Running) {
		return func(r *doctor.Running) {
			i := slices.IndexFunc(r.Processes, func(p doctor.Process) bool { return p.Role == role })
			change(&r.Processes[i])
		}
	}
	listens := func(at string) func(*doctor.Process) {
		return func(p *doctor.Process) { p.Ports = []netip.AddrPort{netip.MustParseAddrPort(at)} }
	}
	for name, c := range map[string]struct {
		change func(*doctor.Running)
		check  string // "" = none is weak
		ok     bool
		remedy string
	}{
		"nothing":                      {func(*doctor.Running) {}, "", true, ""},
		"one account for everything":   {func(r *doctor.Running) { r.Processes = r.Processes[2:] }, "account", true, "start deepoj as root"},
		"an account of others":         {func(r *doctor.Running) { r.Shared = "PostgreSQL of this machine runs as it" }, "account", true, "start without --user"},
		"strangers":                    {func(r *doctor.Running) { r.Others = 2 }, "account", true, "ps -u deepoj"},
		"guests":                       {func(r *doctor.Running) { r.Guests = true }, "guests", true, "--auth required"},
		"guests through a proxy":       {func(r *doctor.Running) { r.Guests, r.Proxied = true, true }, "guests", false, "--auth required"},
		"an open address":              {of(doctor.RoleProgram, listens("[::]:8080")), "address [::]:8080", true, "proxy with TLS"},
		"a listening PostgreSQL":       {of(doctor.RolePostgres, listens("127.0.0.1:5432")), "address 127.0.0.1:5432", false, "which setting"},
		"a listening launcher":         {of(doctor.RoleLauncher, listens("127.0.0.1:1")), "address 127.0.0.1:1", false, "which setting"},
		"addresses that are not seen":  {of(doctor.RoleRedis, func(p *doctor.Process) { p.Closed = true }), "address", true, "as root"},
		"a program of root":            {of(doctor.RoleProgram, func(p *doctor.Process) { p.UID = 0 }), "process program", false, "report this"},
		"a program with a capability":  {of(doctor.RoleProgram, func(p *doctor.Process) { p.Capabilities = 1 }), "process program", false, "report this"},
		"a program that can be read":   {of(doctor.RoleProgram, func(p *doctor.Process) { p.Hidden = false }), "process program", true, "start deepoj anew"},
		"a program that may gain more": {of(doctor.RoleProgram, func(p *doctor.Process) { p.NoNewPrivs = false }), "process program", true, "start deepoj as root"},
		"Redis of root":                {of(doctor.RoleRedis, func(p *doctor.Process) { p.UID = 0 }), "process Redis", false, "report this"},
		"plugins that can be read":     {of(doctor.RolePlugin, func(p *doctor.Process) { p.Hidden = false }), "process plugin worker", true, "start deepoj anew"},
		"plugins without a filter":     {of(doctor.RolePlugin, func(p *doctor.Process) { p.Filtered = false }), "process plugin worker", false, "CONFIG_SECCOMP_FILTER"},
	} {
		r := well()
		c.change(&r)
		var weak []string
		for _, found := range doctor.Protection(r)(t.Context()) {
			if found.OK && !found.Degraded {
				continue
			}
			weak = append(weak, found.Name)
			// One account for everything comes with a program that may gain more.
			if found.Name == c.check && (found.OK != c.ok || !strings.Contains(found.Remedy, c.remedy)) {
				t.Errorf("%s: %+v", name, found)
			}
		}
		if want := strings.Fields(c.check); len(want) == 0 && len(weak) > 0 || len(want) > 0 && !slices.Equal(weak, []string{c.check}) {
			t.Errorf("%s: weak are %q, want %q", name, weak, c.check)
		}
	}
}

func TestTheVersionOfLandlockSaysWhatItDenies(t *testing.T) {
	for version, weak := range map[int]string{0: "plugin workers reach the files", 3: "files alone", 5: "files and TCP", 6: ""} {
		checks := doctor.Layers(fstest.MapFS{}, version)(t.Context())
		i := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == "landlock" })
		if c := checks[i]; c.Degraded != (weak != "") || !strings.Contains(c.Detail, weak) || (c.Remedy == "") != (weak == "") {
			t.Errorf("version %d: %+v", version, c)
		}
	}
}

// TestAProcessIsReadAsTheKernelSaysIt looks at this test and a child of it.
func TestAProcessIsReadAsTheKernelSaysIt(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	ps, err := doctor.FindProcesses("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ps, func(p doctor.Process) bool { return p.PID == child.Process.Pid })
	if i < 0 || ps[i].UID != uint32(os.Geteuid()) || ps[i].Hidden || ps[i].Filtered != ps[0].Filtered || (ps[i].Capabilities != 0) != (os.Geteuid() == 0) || ps[0].PID != os.Getpid() {
		t.Errorf("this process and %d: %+v", child.Process.Pid, ps)
	}
	if n := doctor.Others("/proc", nil, ps[0].UID); n < 2 {
		t.Errorf("%d processes of this user, want at least two", n)
	}
}
