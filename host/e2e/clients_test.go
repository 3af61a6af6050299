package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
)

// keyOf is the secret of a key of a client with a scope.
func keyOf(t *testing.T, c *client.Client, scope judge.Scope) string {
	t.Helper()
	_, secret, err := c.CreateKey(t.Context(), client.NewKey{Label: "examples", Scope: string(scope)})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// TestClientsOfEveryLanguageGetRealVerdicts runs every example of the guide of clients as it stands there, and the tests
// of the Python client.
func TestClientsOfEveryLanguageGetRealVerdicts(t *testing.T) {
	needRoot(t)
	dir := folder(t)
	p, url, _ := up(t, filepath.Join(dir, "data"), nil)
	c, _, _ := firstAdmin(t, p, url)
	archive := filepath.Join(dir, "sumoftwo.zip")
	if err := os.WriteFile(archive, sumPackage(t, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("../sdk/python")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "DEEPOJ_URL="+url, "DEEPOJ_KEY="+keyOf(t, c, judge.ScopeSetter), "PACKAGE="+archive, "PYTHONPATH="+sdk, "PYTHONDONTWRITEBYTECODE=1", "CGO_ENABLED=0")
	run := func(t *testing.T, in string, command ...string) (stdout, stderr string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env, cmd.Dir = env, in
		var out, errs lockedBuffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s%s", strings.Join(command, " "), err, &out, &errs)
		}
		return strings.TrimSpace(out.String()), errs.String()
	}
	guide, err := os.ReadFile("../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	with := map[string][]string{"bash": {"bash", "-eu", "-o", "pipefail"}, "python": {"python3"}, "go": {"go", "run"}, "js": {"node"}}
	extension := map[string]string{"bash": "sh", "python": "py", "go": "go", "js": "mjs"}
	shown := map[string]int{}
	for i, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1) {
		language, text, want := m[1], m[2], "AC"
		if strings.Contains(text, "upload_package") {
			want = "True"
		}
		if shown[language]++; with[language] == nil {
			t.Errorf("nothing runs an example in %s", language)
			continue
		}
		t.Run(fmt.Sprint(language, " ", i), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, fmt.Sprintf("example%d.%s", i, extension[language]))
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, errs := run(t, ".", append(with[language], file)...); out != want {
				t.Errorf("it says %q, want %q\n%s", out, want, errs)
			}
		})
	}
	if len(shown) != 4 || shown["python"] < 2 {
		t.Errorf("the guide has examples in %v", shown)
	}
	t.Run("the tests of the Python client", func(t *testing.T) {
		t.Parallel()
		if _, errs := run(t, sdk, "python3", "-W", "error", "-m", "unittest", "discover", "-s", "tests"); !regexp.MustCompile(`(?m)^Ran (\d\d) tests`).MatchString(errs) || strings.Contains(errs, "skipped") {
			t.Errorf("not all were run:\n%s", errs)
		}
	})
}
