package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/embedded"
	"deepoj/web/client"
)

// TestNobodyOfTheAccountGetsThroughTheDoor looks from outside at a Deep-OJ that root
// started, with a descriptor open and a secret in the environment that are root's.
func TestNobodyOfTheAccountGetsThroughTheDoor(t *testing.T) {
	needRoot(t)
	private := folder(t)
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(private, "data")
	const inherited = "/usr/bin/env" // some file
	p := startProgram(t, "/bin/sh", []string{"SECRET_OF_ROOT=zq"}, "-c", `exec 7<`+inherited+`; exec "$0" "$@"`, binary, "up", "--data", data, "--listen", "127.0.0.1:0")
	url := p.await(`Deep-OJ is ready: (http://\S+)`)[1]
	c, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	submitted := submitAndWait(t.Context(), t, c, "aplusb", verdictPrograms[0])
	if submitted.Result == nil || submitted.Result.Verdict != "AC" {
		t.Fatalf("a right answer got %s", describe(submitted))
	}
	account, err := embedded.Unprivileged("deepoj")
	if err != nil {
		t.Fatal(err)
	}
	program := p.inner()
	doors := doorsOf(t, p.cmd.Process.Pid, program)

	t.Run("NoChildHasADescriptorBeyondItsOwn", func(t *testing.T) {
		above := append(descriptors(p.cmd.Process.Pid), descriptors(program)...)
		below := descendants(program)[1:]
		seen := map[string]bool{}
		for _, pid := range descendants(p.cmd.Process.Pid)[1:] {
			line := cmdline(pid)
			for fd, to := range descriptorsOf(pid) {
				switch {
				case to == inherited:
					t.Errorf("process %d (%s) has what was open when deepoj was started", pid, line)
				case pid == program || !slices.Contains(below, pid) && !slices.Contains(doors, to):
				case slices.Contains(doors, to):
					t.Errorf("process %d (%s) has %s as descriptor %s", pid, line, to, fd)
				case slices.Contains(below, pid) && len(fd) == 1 && fd < "3":
				case slices.Contains(below, pid) && slices.Contains(above, to):
					t.Errorf("process %d (%s) has %s, which is not its own, as descriptor %s", pid, line, to, fd)
				}
			}
			for _, name := range []string{"/bin/postgres", "postgres: ", "deepoj deepoj", "redis-server", "plugin-worker", "sandbox agent"} {
				seen[name] = seen[name] || strings.Contains(line, name)
			}
		}
		if len(seen) < 6 || slices.Contains(mapValues(seen), false) {
			t.Errorf("some kind of process was not seen: %v", seen)
		}
		listed := programOfPostgres(t, p, program, data)
		if !strings.Contains(listed, "/proc/") && !strings.Contains(listed, "pipe:") {
			t.Errorf("what PostgreSQL ran says: %s", listed)
		}
		for to := range strings.FieldsSeq(listed) {
			if slices.Contains(above, to) || to == inherited {
				t.Errorf("a program that PostgreSQL runs has %s", to)
			}
		}
	})

	t.Run("NothingOfRootsEnvironmentIsThere", func(t *testing.T) {
		for _, pid := range descendants(p.cmd.Process.Pid)[1:] {
			environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if err == nil && bytes.Contains(environment, []byte("SECRET_OF_ROOT")) {
				t.Errorf("process %d (%s) has root's environment", pid, cmdline(pid))
			}
		}
	})

	t.Run("NoOtherProcessOfTheAccountReachesIntoTheProgram", func(t *testing.T) {
		for ofRedis, pid := range map[bool]int{false: program, true: processOf(t, p, "redis-server")} {
			cmd := exec.Command("/usr/bin/python3", "-c", reach, fmt.Sprint(pid))
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account.UID, Gid: account.GID}}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				// Redis shows that the attempts can succeed.
				if what, got, _ := strings.Cut(strings.TrimSpace(line), ": "); (got == "done") != ofRedis {
					t.Errorf("%s of process %d (%s): %s", what, pid, cmdline(pid), got)
				}
			}
			if n := strings.Count(string(out), "\n"); n != 5 {
				t.Errorf("%d attempts: %s", n, out)
			}
		}
		if status(program, "NoNewPrivs:") != "1" {
			t.Error("the program may gain privileges")
		}
	})

	t.Run("TheDoctorSaysWhatProtectsIt", func(t *testing.T) { checkProtection(t, data, account) })

	t.Run("CommandsOfOthersSayThatTheyNeedSudo", func(t *testing.T) {
		if err := os.Chmod(private, 0o711); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, "audit", "--data", data)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "open to the account deepoj alone: run this with sudo") {
			t.Errorf("%v: %s", err, out)
		}
		if err := os.Chmod(private, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][]string{{"audit", "--data", data}, {"problem", "import", "--samples", "--data", data}, {"user", "list", "--data", data}} {
			if out, errs, status := deepoj(t, nil, command...); status != 0 {
				t.Errorf("deepoj %s of root: status %d\n%s%s", strings.Join(command, " "), status, out, errs)
			}
		}
	})

	// A folder of versions before belongs to another account.
	p.stop()
	if err := filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 65534, 65534))
	}); err != nil {
		t.Fatal(err)
	}
	p, url, c = up(t, data, []string{"SUDO_USER=nobody"})
	p.await("took over the data folder")
	if s, err := c.Get(t.Context(), submitted.JobID); err != nil || s.Result == nil || s.Result.Verdict != "AC" {
		t.Errorf("the submission from before: %v, %v", s, err)
	}
	if s := submitAndWait(t.Context(), t, c, "aplusb", verdictPrograms[0]); s.Result == nil || s.Result.Verdict != "AC" {
		t.Errorf("after the takeover a right answer got %s at %s", describe(s), url)
	}
	for _, pid := range descendants(p.inner()) {
		if got := status(pid, "Uid:"); !strings.HasPrefix(got, fmt.Sprint(account.UID)+"\t") && cmdline(pid) != "" {
			t.Errorf("process %d (%s) runs as %s", pid, cmdline(pid), got)
		}
	}
	if err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		info, infoErr := os.Lstat(path)
		if err != nil || infoErr != nil {
			return nil //nolint:nilerr // PostgreSQL removes files at any time
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != account.UID {
			t.Errorf("%s belongs to user %d", path, uid)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// reach tries what a process of an account may do to another one of it, if that lets
// it, and says how it went.
const reach = `
import ctypes, os, sys
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
def system(number, *args):
    r = libc.syscall(number, *args)
    if r < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r
def attempt(what, do):
    try:
        do()
        print(what + ": done")
    except OSError as e:
        print(what + ": " + e.strerror)
attempt("reading the environment", lambda: open(f"/proc/{pid}/environ", "rb").read())
attempt("opening the memory", lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR))
attempt("listing the descriptors", lambda: os.listdir(f"/proc/{pid}/fd"))
attempt("taking a descriptor", lambda: system(438, system(434, pid, 0), 3, 0))
attempt("reading the map of the memory", lambda: open(f"/proc/{pid}/maps").read())
`

// descriptorsOf returns where each descriptor of a process leads.
func descriptorsOf(pid int) map[string]string {
	all := map[string]string{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is well formed
	for _, l := range links {
		to, err := os.Readlink(l)
		if err == nil && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/dev/") && !strings.HasPrefix(to, "/sys/fs/cgroup/") { // the last are of each Go program
			all[filepath.Base(l)] = to
		}
	}
	return all
}

func descriptors(pid int) (to []string) { return mapValues(descriptorsOf(pid)) }

func mapValues[V any](m map[string]V) (vs []V) {
	for _, v := range m {
		vs = append(vs, v)
	}
	return vs
}

// doorsOf are the sockets that a launcher made and its program has: to the keeper,
// and to the agent once it was asked for.
func doorsOf(t *testing.T, launcher, program int) (doors []string) {
	t.Helper()
	ours := descriptors(launcher)
	for _, to := range descriptors(program) {
		if strings.HasPrefix(to, "socket:") && slices.Contains(ours, to) {
			doors = append(doors, to)
		}
	}
	if len(doors) == 0 {
		t.Fatal("the program shares no socket with its launcher")
	}
	return doors
}

// processOf returns the pid of a process of deepoj whose command line has a word.
func processOf(t *testing.T, p *process, word string) int {
	t.Helper()
	for _, pid := range descendants(p.cmd.Process.Pid) {
		if strings.Contains(cmdline(pid), word) {
			return pid
		}
	}
	t.Fatalf("no process %s", word)
	return 0
}

// programOfPostgres has PostgreSQL run a program, as only its superuser can, whom
// root lets in for that; and returns where the program's descriptors lead.
func programOfPostgres(t *testing.T, p *process, program int, data string) string {
	t.Helper()
	postmaster := processOf(t, p, "/bin/postgres")
	cluster := fmt.Sprintf("/proc/%d/cwd", postmaster)
	rules := filepath.Join(cluster, "pg_hba.conf")
	before, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	change := func(text []byte) {
		t.Helper()
		if err := errors.Join(os.WriteFile(rules, text, 0o600), syscall.Kill(postmaster, syscall.SIGHUP)); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(folder(t), "descriptors")
	if err := os.Chmod(filepath.Dir(out), 0o777); err != nil {
		t.Fatal(err)
	}
	binaries, err := embedded.FindPostgres(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := func() ([]byte, error) {
		statement := fmt.Sprintf("COPY (SELECT 1) TO PROGRAM 'cat > %[1]s.in; for f in /proc/self/fd/*; do readlink $f; done > %[1]s; true'", out)
		return exec.CommandContext(ctx, filepath.Join(binaries.Dir, "psql"), "-XAtq", "-h", fmt.Sprintf("/proc/%d/root/run/deepoj-%d/postgres/run", program, p.cmd.Process.Pid),
			"-U", "deepoj_superuser", "-d", "deepoj", "-c", statement).CombinedOutput()
	}
	if said, err := run(); err == nil || !bytes.Contains(said, []byte("no pg_hba.conf entry")) {
		t.Errorf("the superuser can log in: %v: %s", err, said)
	}
	change(append([]byte("local all deepoj_superuser trust\n"), before...))
	defer change(before)
	for {
		said, err := run()
		if err == nil {
			break
		}
		if ctx.Err() != nil || !bytes.Contains(said, []byte("pg_hba.conf")) {
			t.Fatalf("%v: %s", err, said)
		}
		pause(ctx, t, 20*time.Millisecond) // until the rules are read
	}
	if checks, status := protection(t, "--data", data); status == 0 || checks["database role"].OK || !strings.Contains(checks["database role"].Remedy, "pg_hba.conf") {
		t.Errorf("while the superuser is let in the doctor says (status %d): %+v", status, checks["database role"])
	}
	listed, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(listed)
}
