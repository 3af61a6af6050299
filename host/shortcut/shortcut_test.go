package shortcut

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asProgram makes this program say that it did not become another one.
const asProgram = "SHORTCUT_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		fmt.Println("itself")
		fmt.Fprintln(os.Stderr, "itself") // for whom the output is closed to
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// copyOfThis puts this program into a folder.
func copyOfThis(t *testing.T, path string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestJudgeIsTheProgramBesideThisOne(t *testing.T) {
	dir := t.TempDir()
	program, judge := filepath.Join(dir, "deepoj"), filepath.Join(dir, "deepoj-judge")
	copyOfThis(t, program)
	beside := "#!/bin/sh\necho \"$0 $* $MARK\"\nexit 3\n"
	taken := judge + " --job-id 1 mark"
	for name, test := range map[string]struct {
		args    []string
		beside  string
		config  bool
		environ []string
		want    string
		status  int
	}{
		"it has the arguments, the environment and the exit status": {[]string{"judge", "--job-id", "1"}, beside, false, nil, taken, 3},
		"not where there is none":                                   {[]string{"judge", "--job-id", "1"}, "", false, nil, "itself", 0},
		"not where there is none that can be executed":              {[]string{"judge", "--job-id", "1"}, "nothing", false, nil, "itself", 0},
		"not for another command":                                   {[]string{"doctor", "judge"}, beside, false, nil, "itself", 0},
		"not without a command":                                     {nil, beside, false, nil, "itself", 0},
		"not beside a configuration file":                           {[]string{"judge"}, beside, true, nil, "itself", 0},
		"not with a limit of output": {
			[]string{"judge"}, beside, false, []string{"JUDGE_STDERR_LIMIT_BYTES=5"}, "itself", 0,
		},
		"not for a worker": {
			[]string{"judge"}, beside, false, []string{"DEEPOJ_SANDBOX_AGENT={}"}, "itself", 0,
		},
		"also with another limit": {
			[]string{"judge", "--job-id", "1"}, beside, false, []string{"JUDGE_STDERR_LIMIT=5"}, taken, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(judge); err != nil {
				t.Fatal(err)
			}
			if test.beside != "" {
				if err := os.WriteFile(judge, []byte(test.beside), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), program, test.args...)
			cmd.Dir = t.TempDir()
			cmd.Env = append([]string{asProgram + "=1", "MARK=mark"}, test.environ...)
			if test.config {
				if err := os.WriteFile(filepath.Join(cmd.Dir, "config.yaml"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := cmd.Output()
			if status := cmd.ProcessState.ExitCode(); strings.TrimSpace(string(out)) != test.want || status != test.status {
				t.Errorf("it said %q and ended with %d, %v; want %q and %d", out, status, err, test.want, test.status)
			}
		})
	}
}

func TestVersionIsAnsweredBeforeTheProgramBegins(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"version alone":                          {[]string{"version"}, "deepoj " + Version},
		"not with a flag, which the command has": {[]string{"version", "--json"}, "itself"},
		"not for another command":                {[]string{"config"}, "itself"},
		"not as an argument of another command":  {[]string{"help", "version"}, "itself"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", test.args...)
			cmd.Env = []string{asProgram + "=1"}
			out, err := cmd.Output()
			if strings.TrimSpace(string(out)) != test.want || err != nil {
				t.Errorf("it said %q, %v; want %q", out, err, test.want)
			}
		})
	}
}

// The command itself says what is wrong then.
func TestVersionThatCannotBeWrittenIsLeftToTheCommand(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "version")
	var said strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{asProgram + "=1"}, full, &said
	if err := cmd.Run(); err != nil || strings.TrimSpace(said.String()) != "itself" {
		t.Errorf("it said %q, %v; want %q", said.String(), err, "itself")
	}
}
