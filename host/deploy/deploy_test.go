// Package deploy_test proves what operators install beside the program: units of
// systemd and alerts of Prometheus, with the tools that read them.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tool runs a program. Without it the test is skipped, or fails when
// DEEPOJ_TEST=require.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

func TestEachAlertFiresWhenItShouldAndNotOtherwise(t *testing.T) {
	dir := t.TempDir() // with the token, which nobody ships
	if err := os.CopyFS(dir, os.DirFS("prometheus")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "deepoj.token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Log(tool(t, "promtool", "check", "config", filepath.Join(dir, "prometheus.yml")))
	t.Log(tool(t, "promtool", "check", "rules", "prometheus/deepoj.rules.yml"))
	t.Log(tool(t, "promtool", "test", "rules", "prometheus/deepoj.rules.test.yml"))
	rules, err := os.ReadFile("prometheus/deepoj.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := os.ReadFile("prometheus/deepoj.rules.test.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\S+)`).FindAllStringSubmatch(string(rules), -1)
	for _, a := range alerts {
		for _, proof := range []string{" fires", " is quiet"} {
			if !strings.Contains(string(proofs), "name: "+a[1]+proof+"\n") {
				t.Errorf("nothing proves that %s%s", a[1], proof)
			}
		}
	}
	if n := strings.Count(string(rules), " remedy: "); n != len(alerts) || n == 0 {
		t.Errorf("%d alerts, and %d say what to do", len(alerts), n)
	}
}

func TestTheUnitsAreUnderstood(t *testing.T) {
	units, err := filepath.Glob("systemd/*.service")
	if err != nil || len(units) < 4 {
		t.Fatalf("%d units, %v", len(units), err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var copies []string
	for _, u := range units {
		text, err := os.ReadFile(u)
		if err != nil {
			t.Fatal(err)
		}
		// A program that is there, in place of one that is not installed.
		there := strings.ReplaceAll(string(text), "/usr/bin/deepoj", self)
		if there == string(text) {
			t.Errorf("%s does not start deepoj", u)
		}
		to := filepath.Join(dir, filepath.Base(u))
		if err := os.WriteFile(to, []byte(there), 0o644); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, to)
	}
	out := tool(t, "systemd-analyze", append([]string{"verify", "--man=no", "--recursive-errors=no"}, copies...)...)
	for line := range strings.Lines(out) {
		if strings.Contains(line, dir) || strings.Contains(line, "deepoj") {
			t.Errorf("systemd-analyze: %s", line)
		}
	}
}

// TestTheUnitsTakeNoGuests reads what each unit starts: people may come to it through
// a proxy that nobody sees.
func TestTheUnitsTakeNoGuests(t *testing.T) {
	units, err := filepath.Glob("systemd/*.service")
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, u := range units {
		text, err := os.ReadFile(u)
		if err != nil {
			t.Fatal(err)
		}
		command := regexp.MustCompile(`(?m)^ExecStart=\S+ (up|api)\b(.*)$`).FindStringSubmatch(string(text))
		if command == nil {
			continue
		}
		pages++
		if !strings.Contains(command[2]+" ", " --auth required ") {
			t.Errorf("%s may take guests: %s", u, command[0])
		}
	}
	if pages < 2 {
		t.Errorf("%d units serve pages", pages)
	}
}

func TestTheUnitsWithoutRootAreClosed(t *testing.T) {
	for _, role := range []string{"api", "scheduler", "feed"} {
		out := tool(t, "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", "systemd/deepoj-"+role+".service")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		t.Log(lines[len(lines)-1])
	}
}
