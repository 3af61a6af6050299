// Package strict_test reads the compose file and the Kubernetes manifests with the
// libraries of those who read them in earnest, which refuse what they do not know,
// and compares what they name with the program: its commands, flags and settings.
//
// It is a module of its own, so that Deep-OJ does not depend on these libraries.
package strict_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// top is the folder of Deep-OJ's own module.
const top = "../../.."

// program is deepoj, built once for all tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deepoj-strict-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "deepoj")
		build := exec.Command("go", "build", "-trimpath", "-o", program, "./host/cmd/deepoj")
		build.Dir, build.Env = top, append(os.Environ(), "CGO_ENABLED=0")
		if said, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build deepoj: %v\n%s", err, said)
			return 1
		}
		return m.Run()
	}())
}

// process is what a container of Deep-OJ starts.
type process struct {
	where  string // for messages
	image  string
	args   []string
	env    map[string]string
	mounts []string // where files and folders of others appear
}

// check compares what is started with the program.
func (p process) check(t *testing.T) {
	t.Helper()
	if len(p.args) == 0 {
		t.Errorf("%s starts no command", p.where)
		return
	}
	said, err := exec.Command(program, p.args[0], "--help").CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("usage: deepoj "+p.args[0]+" ")) {
		t.Errorf("%s: deepoj has no command %s: %v", p.where, p.args[0], err)
	}
	for _, a := range p.args[1:] {
		flag, ok := strings.CutPrefix(a, "--")
		if ok && !regexp.MustCompile(`(?m)^  --`+regexp.QuoteMeta(flag)+`\b`).Match(said) {
			t.Errorf("%s: deepoj %s has no flag --%s:\n%s", p.where, p.args[0], flag, said)
		}
	}
	hostless(t, p.where, p.image)
	p.checkSettings(t)
}

// checkSettings starts the program with the settings: it must know each, take its
// value, and know it as a secret if it comes from a file.
func (p process) checkSettings(t *testing.T) {
	t.Helper()
	cmd := exec.Command(program, "config", "--json")
	for name, value := range p.env {
		if base, ok := strings.CutSuffix(name, "_FILE"); ok {
			if !slices.ContainsFunc(p.mounts, func(m string) bool { return value == m || strings.HasPrefix(value, m+"/") }) {
				t.Errorf("%s: nothing is mounted where %s says: %s of %v", p.where, name, value, p.mounts)
			}
			value = filepath.Join(t.TempDir(), "secret")
			if err := os.WriteFile(value, []byte("of-"+base+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: the settings are refused: %v", p.where, err)
		return
	}
	var rows []struct{ Name, Value, Origin string }
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	for name, value := range p.env {
		base, inFile := strings.CutSuffix(name, "_FILE")
		known := false
		for _, r := range rows {
			if r.Name == base {
				known = r.Origin == "secret file" && r.Value == "(secret)"
				if !inFile {
					known = r.Origin == "env" && (r.Value == value || r.Value == "(secret)")
				}
			}
		}
		if !known {
			t.Errorf("%s: %s=%s is no setting", p.where, name, value)
		}
	}
}

// hostless complains about an image that names a host: where images come from is for
// whoever starts them.
func hostless(t *testing.T, where, image string) {
	t.Helper()
	first, _, several := strings.Cut(image, "/")
	if image == "" || several && (strings.ContainsAny(first, ".:") || first == "localhost") {
		t.Errorf("%s: the image %q names a host, or nothing", where, image)
	}
}

// TestTheContainerfileStartsTheProgram reads what the image is made of.
func TestTheContainerfileStartsTheProgram(t *testing.T) {
	text, err := os.ReadFile("../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, want := range []string{"FROM scratch", "ADD deepoj-root.tar /", `ENTRYPOINT ["/usr/bin/deepoj"]`} {
		if !slices.Contains(lines, want) {
			t.Errorf("the Containerfile lacks the line %q", want)
		}
	}
	if !strings.Contains(string(makefile), ".build/deepoj-root.tar") {
		t.Error("make does not make .build/deepoj-root.tar")
	}
}
