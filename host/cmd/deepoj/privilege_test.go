package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs this program as an ordinary user that nothing is delegated to, and
// returns what it says and its exit status.
func asNobody(t *testing.T, dir string, env []string, args ...string) (string, int) {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal("only root can become nobody")
		}
		t.Skip("only root can become nobody")
	}
	program := filepath.Join(dir, "deepoj") // whose name makes the test binary the program
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(program, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// openFolder returns a folder that everybody may enter and write.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAnOrdinaryUserWhoCannotContainProgramsStartsNothing(t *testing.T) {
	dir := openFolder(t)
	data := filepath.Join(dir, "data")
	said, status := asNobody(t, dir, []string{"PATH=" + dir}, "up", "--data", data)
	if status != 1 || !strings.Contains(said, "nothing was started") || !strings.Contains(said, "sudo "+filepath.Join(dir, "deepoj")+" up --data "+data) {
		t.Errorf("it ended with status %d and said:\n%s", status, said)
	}
	if !strings.Contains(said, "systemd.unified_cgroup_hierarchy=1") && !strings.Contains(said, "Delegate=yes") {
		t.Errorf("it names no remedy for control groups:\n%s", said)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the data folder was made: %v", err)
	}
}

func TestAnOrdinaryUserGoesOnThroughSudoWhenItAsksForNoPassword(t *testing.T) {
	dir := openFolder(t)
	sudo := "#!/bin/sh\n[ \"$*\" = '-n true' ] && exit 0\nfor a in \"$@\"; do echo \"<$a>\"; done\nexit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "sudo"), []byte(sudo), 0o755); err != nil {
		t.Fatal(err)
	}
	said, status := asNobody(t, dir, []string{"PATH=" + dir + ":/bin", "HOME=/x", "REDIS_URL=redis://:secret@127.0.0.1:1"}, "up", "--listen", "127.0.0.1:0")
	want := "<-n>\n<--preserve-env=REDIS_URL>\n<env>\n<PATH=" + dir + ":/bin>\n<HOME=/x>\n<" + filepath.Join(dir, "deepoj") + ">\n<up>\n<--listen>\n<127.0.0.1:0>\n"
	if status != 3 || !strings.HasSuffix(said, want) || strings.Contains(said, "secret") {
		t.Errorf("it ended with status %d and said:\n%s\nwant at the end:\n%s", status, said, want)
	}
}
