package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"deepoj/host/judge"
	"deepoj/sandbox"
)

const (
	mountV2    = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	mountV1    = "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 20 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	mountMixed = mountV1 + "33 20 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)

// machine returns the files of a machine that is well, changed by change.
func machine(change map[string]string) fstest.MapFS {
	files := map[string]string{
		"proc/self/mountinfo":                   mountV2,
		"sys/fs/cgroup/cgroup.controllers":      "cpuset cpu io memory pids\n",
		"proc/sys/kernel/seccomp/actions_avail": "kill_process kill_thread trap errno trace log allow\n",
		"sys/kernel/security/lsm":               "lockdown,capability,landlock,yama\n",
		"proc/swaps":                            "Filename Type Size Used Priority\n",
	}
	for _, n := range needed {
		files["proc/self/ns/"+n] = ""
	}
	maps.Copy(files, change)
	m := fstest.MapFS{}
	for name, text := range files {
		if text != "-" {
			m[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return m
}

func TestEachLackOfTheKernelIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change   map[string]string
		uid      int
		check    string
		ok       bool
		degraded bool
		detail   string
	}{
		"the v2 layout is well":                {nil, 0, "cgroups", true, false, "v2 at /sys/fs/cgroup"},
		"the hybrid layout is well":            {map[string]string{"proc/self/mountinfo": mountMixed}, 0, "cgroups", true, false, "hybrid"},
		"v1 alone is degraded":                 {map[string]string{"proc/self/mountinfo": mountV1}, 0, "cgroups", true, true, "v1 only"},
		"v2 without its controllers is a lack": {map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu\n"}, 0, "cgroups", false, false, "memory pids"},
		"no control groups are a lack":         {map[string]string{"proc/self/mountinfo": "-"}, 0, "cgroups", false, false, "cannot be bounded"},
		"no pid namespace is a lack":           {map[string]string{"proc/self/ns/pid": "-"}, 0, "namespaces", false, false, "pid"},
		"no seccomp is a lack":                 {map[string]string{"proc/sys/kernel/seccomp/actions_avail": "-"}, 0, "seccomp", false, false, "filtered"},
		"no Landlock is degraded":              {map[string]string{"sys/kernel/security/lsm": "capability\n"}, 0, "landlock", true, true, "second layer"},
		"swap is degraded":                     {map[string]string{"proc/swaps": "Filename\n/dev/sda2 partition 1 0 -2\n"}, 0, "swap", true, true, "/dev/sda2"},
		"not being root is degraded":           {nil, 1000, "privilege", true, true, "1000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range Kernel(machine(tt.change), tt.uid)(t.Context()) {
				if c.Name != tt.check {
					if !c.OK || c.Degraded || c.Remedy != "" {
						t.Errorf("%s is to blame too: %+v", c.Name, c)
					}
					continue
				}
				if c.OK != tt.ok || c.Degraded != tt.degraded || !strings.Contains(c.Detail, tt.detail) {
					t.Errorf("%+v, want ok %t, degraded %t, detail with %q", c, tt.ok, tt.degraded, tt.detail)
				}
				if (c.Remedy == "") != (tt.ok && !tt.degraded) {
					t.Errorf("%+v: a remedy belongs to a lack and to nothing else", c)
				}
			}
		})
	}
}

func TestThisMachineIsExamined(t *testing.T) {
	t.Parallel()
	checks := Kernel(os.DirFS("/"), os.Geteuid())(t.Context())
	if len(checks) != 6 {
		t.Fatalf("%d checks, want 6", len(checks))
	}
	for _, c := range checks {
		if c.Detail == "" || (!c.OK && c.Remedy == "") {
			t.Errorf("%+v says too little", c)
		}
	}
}

func TestTheSandboxSpeaksForItself(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status       sandbox.Status
		err          error
		ok, degraded bool
		detail       string
	}{
		"a sandbox that is well":   {sandbox.Status{Driver: "v2", Slots: 2, Kernel: "6.1"}, nil, true, false, "driver v2, 2 slots"},
		"a sandbox without root":   {sandbox.Status{Driver: "v2", Rootless: true}, nil, true, false, "without root"},
		"a weak sandbox":           {sandbox.Status{Driver: "v2", Degraded: []string{"no Landlock"}}, nil, true, true, "no Landlock"},
		"a sandbox that fails":     {sandbox.Status{SelfTest: "a program saw the host's files"}, nil, false, false, "saw the host"},
		"a sandbox that is absent": {sandbox.Status{}, sandbox.ErrAgentGone, false, false, sandbox.ErrAgentGone.Error()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exam := Sandbox(func(context.Context) (sandbox.Status, error) { return tt.status, tt.err })
			c := exam(t.Context())[0]
			if c.OK != tt.ok || c.Degraded != tt.degraded || !strings.Contains(c.Detail, tt.detail) {
				t.Errorf("%+v, want ok %t, degraded %t, detail with %q", c, tt.ok, tt.degraded, tt.detail)
			}
		})
	}
}

func TestAMissingToolDegradesAndNoToolAtAllFails(t *testing.T) {
	t.Parallel()
	find := func(_ context.Context, name string) (sandbox.Tool, error) {
		if name == "gcc" {
			return sandbox.Tool{Name: name, Path: "/usr/bin/gcc"}, nil
		}
		return sandbox.Tool{}, sandbox.ErrNoTool
	}
	gcc, rustc := Tool{"gcc", "apt-get install gcc"}, Tool{"rustc", "apt-get install rustc"}
	some := Examine(t.Context(), Tools(find, gcc, rustc))
	if !some.Healthy() || some.Checks[0].Degraded || !some.Checks[1].Degraded || some.Checks[1].Remedy != rustc.Remedy {
		t.Errorf("with gcc only: %+v", some.Checks)
	}
	if none := Examine(t.Context(), Tools(find, rustc)); none.Healthy() {
		t.Errorf("without any tool: %+v", none.Checks)
	}
	if none := Examine(t.Context(), Languages(func(context.Context) []judge.Language {
		return []judge.Language{{ID: "rust", Unavailable: "rustc is missing: apt-get install rustc"}}
	})); none.Healthy() || !strings.Contains(none.Checks[0].Remedy, "apt-get install rustc") {
		t.Errorf("without any language: %+v", none.Checks)
	}
}

func TestAReportIsReadByPeopleAndByMachines(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")
	r := Examine(t.Context(),
		Disk(t.TempDir(), 1),
		Services(
			Service{Name: "postgresql", Remedy: "start it", Ask: func(context.Context) (string, error) { return "15.18", nil }},
			Service{Name: "redis", Optional: true, Remedy: "start redis", Ask: func(context.Context) (string, error) { return "", down }},
		))
	if !r.Healthy() {
		t.Errorf("an optional service that is down makes the machine unhealthy: %+v", r.Checks)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ok        postgresql  15.18\n", "degraded  redis       connection refused\n", "mend: start redis\n", "can judge; 1 of 3"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	var raw strings.Builder
	if err := r.WriteJSON(&raw); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Healthy bool
		Checks  []Check
	}
	if err := json.Unmarshal([]byte(raw.String()), &back); err != nil || !back.Healthy || len(back.Checks) != 3 {
		t.Errorf("JSON (%v): %s", err, raw.String())
	}

	full := Examine(t.Context(), Disk(t.TempDir(), 1<<62), Disk("/nonexistent", 1))
	if full.Healthy() || full.Checks[0].OK || full.Checks[1].OK {
		t.Errorf("a full disk and a missing folder are well: %+v", full.Checks)
	}
}

func TestWhatDoesNotContainPluginsIsNamed(t *testing.T) {
	t.Parallel()
	all := Plugins(Layer{Name: "Landlock 6"}, Layer{Name: "seccomp"})(t.Context())[0]
	if !all.OK || all.Degraded || all.Detail != "contained by Landlock 6, seccomp" || all.Remedy != "" {
		t.Errorf("with all layers: %+v", all)
	}
	one := Plugins(Layer{Name: "Landlock", Missing: "the kernel has none"}, Layer{Name: "seccomp"})(t.Context())[0]
	if !one.OK || !one.Degraded || one.Detail != "contained by seccomp; not by Landlock: the kernel has none" || !strings.Contains(one.Remedy, "5.13") {
		t.Errorf("without Landlock: %+v", one)
	}
}

func TestCompilersThatLackSomethingAreNamedWithTheirRemedy(t *testing.T) {
	t.Parallel()
	r := Examine(t.Context(), Compilers(func(context.Context) ([]judge.Language, error) {
		return []judge.Language{
			{Name: "C", Available: true, Version: "clang 14.0.6"},
			{Name: "C++", Unavailable: "clang++ needs what is not installed: libc++-14-dev-wasm32: apt-get install libc++-14-dev-wasm32"},
		}, nil
	}))
	want := []Check{
		{Name: "checkers in C", OK: true, Detail: "clang 14.0.6"},
		{
			Name: "checkers in C++", OK: true, Degraded: true, Detail: "cannot be compiled: clang++ needs what is not installed: libc++-14-dev-wasm32",
			Remedy: "apt-get install libc++-14-dev-wasm32",
		},
	}
	if !r.Healthy() || !slices.Equal(r.Checks, want) {
		t.Errorf("%+v", r.Checks)
	}
}
