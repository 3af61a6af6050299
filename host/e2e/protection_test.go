package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"deepoj/host/doctor"
	"deepoj/host/embedded"
	"deepoj/host/platform"
)

// protection is what `deepoj doctor --security` says, by the names of its checks.
func protection(t *testing.T, args ...string) (map[string]doctor.Check, int) {
	t.Helper()
	out, errs, status := deepoj(t, nil, append([]string{"doctor", "--security", "--json"}, args...)...)
	var report doctor.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	checks := map[string]doctor.Check{}
	for _, c := range report.Checks {
		checks[c.Name] = c
		if (!c.OK || c.Degraded) && c.Remedy == "" {
			t.Errorf("%s is weak and has no remedy: %s", c.Name, c.Detail)
		}
	}
	return checks, status
}

// checkProtection asks the doctor about a Deep-OJ of root that runs on a data folder
// with guests, and about its account with a foreign process.
func checkProtection(t *testing.T, data string, account *embedded.Account) {
	t.Helper()
	checks, status := protection(t, "--data", data)
	if status != 0 {
		t.Errorf("status %d: %+v", status, checks)
	}
	uid := fmt.Sprint(account.UID)
	for name, want := range map[string]string{
		"namespaces":            "ok pid",
		"seccomp":               "ok errno",
		"sandbox":               "ok driver ",
		"guests":                "weak on: ",
		"process launcher":      "ok 1 as user 0, capabilities ",
		"process sandbox agent": "ok 1 as user 0, capabilities ",
		"process program":       "ok 1 as user " + uid + ", capabilities 0, no new privileges, memory hidden",
		"process PostgreSQL":    "ok as user " + uid + ", capabilities 0, no new privileges",
		"process Redis":         "ok 1 as user " + uid + ", capabilities 0, no new privileges",
		"process plugin worker": "ok as user " + uid + ", capabilities 0, no new privileges, system calls filtered",
		"database role":         "ok deepoj, which owns its database and may do nothing else",
	} {
		c, found := checks[name]
		mark, part, _ := strings.Cut(want, " ")
		if !found || c.Degraded != (mark == "weak") || !c.OK || !strings.Contains(c.Detail, part) {
			t.Errorf("%s is %+v, want %s", name, c, want)
		}
	}
	// Others of this machine may have a Deep-OJ of the same account, which then is weak
	// for that alone.
	if c := checks["account"]; !c.OK || c.Degraded != strings.Contains(c.Detail, "other process") ||
		c.Detail != "deepoj, which is Deep-OJ's alone" && !strings.HasPrefix(c.Detail, "deepoj, as which ") {
		t.Errorf("account is %+v, want deepoj, which only processes of its own may share", c)
	}
	addresses := 0
	for name, c := range checks {
		if strings.HasPrefix(name, "address 127.0.0.1:") && c.OK && !c.Degraded {
			addresses++
		}
	}
	if _, some := checks["landlock"]; !some || addresses != 1 || checks["process other"].Name != "" {
		t.Errorf("landlock, one address or no unknown process is missing in %+v", checks)
	}

	stranger := exec.Command("sleep", "600")
	stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account.UID, Gid: account.GID}}
	platform.DieWithParent(stranger.SysProcAttr, syscall.SIGKILL)
	runtime.LockOSThread() // the end of the thread would be the child's
	defer runtime.UnlockOSThread()
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	checks, _ = protection(t, "--data", data)
	_ = stranger.Process.Kill()
	_ = stranger.Wait()
	if c := checks["account"]; !c.Degraded || !strings.Contains(c.Detail, "other process") || !strings.Contains(c.Remedy, "ps -u deepoj") {
		t.Errorf("with a stranger the account is %+v", c)
	}
	text, _, _ := deepoj(t, nil, "doctor", "--security", "--data", data)
	if !strings.Contains(text, "\nweak      guests") || !strings.Contains(text, "layers of protection are weaker than they could be") {
		t.Errorf("for people it says:\n%s", text)
	}
}

// TestTheDoctorSaysWhatIsMissing asks about a Deep-OJ that runs as everybody's account
// on an address that others reach, and about a database role that is a superuser.
func TestTheDoctorSaysWhatIsMissing(t *testing.T) {
	needRoot(t)
	data := filepath.Join(folder(t), "data")
	if c, status := protection(t, "--data", data); status != 0 || !c["instance"].Degraded || !strings.Contains(c["instance"].Detail, "no Deep-OJ is running") {
		t.Errorf("of a folder on which nothing runs: %d, %+v", status, c["instance"])
	}
	p := start(t, []string{"CACHE_DIR="}, "up", "--data", data, "--listen", "0.0.0.0:0", "--user", "nobody", "--auth", "required")
	p.await("the account is not Deep-OJ's alone")
	p.await("dispatching") // its file is written then
	checks, status := protection(t, "--data", data)
	if c := checks["account"]; status != 0 || !c.OK || !c.Degraded || !strings.Contains(c.Remedy, "start without --user") {
		t.Errorf("of everybody's account: %d, %+v, among %+v", status, c, checks)
	}
	if c := checks["guests"]; !c.OK || c.Degraded {
		t.Errorf("with --auth required: %+v", c)
	}
	open := 0
	for name, c := range checks {
		if strings.HasPrefix(name, "address ") && c.OK && c.Degraded && strings.Contains(c.Remedy, "proxy with TLS") {
			open++
		}
	}
	if open != 1 {
		t.Errorf("of an open address: %+v", checks)
	}
	p.stop()

	c := newCluster(t)
	if found := c.protectionOfDatabase(); found.OK || !strings.Contains(found.Detail, "superuser") {
		t.Errorf("the role that a superuser is: %+v", found)
	}
}

// protectionOfDatabase is what the doctor says about the superuser of a database of
// others.
func (c *cluster) protectionOfDatabase() doctor.Check {
	c.t.Helper()
	out, errs, _ := deepoj(c.t, []string{"DATABASE_URL=" + c.pg.SuperuserDSN("deepoj")}, "doctor", "--security", "--json", "--data", folder(c.t))
	var report doctor.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		c.t.Fatalf("%v: %s%s", err, out, errs)
	}
	for _, check := range report.Checks {
		if check.Name == "database role" {
			return check
		}
	}
	c.t.Fatalf("nothing about the role: %s", out)
	return doctor.Check{}
}
