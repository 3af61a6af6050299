package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/host/embedded"
	"deepoj/host/embedded/accounttest"
	"deepoj/host/launch"
)

// former is the account that data folders belonged to before.
const former = 65534

// forRoot skips the test, or fails it where tests are required.
func forRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatal("this test needs root")
	}
	t.Skip("this test needs root")
}

// formerFolder returns a data folder below one that only root may enter, with
// some files, which belongs to the former account.
func formerFolder(t *testing.T, files int) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "home", "data")
	err := errors.Join(os.MkdirAll(filepath.Join(data, "blobs", "ab"), 0o700), os.MkdirAll(filepath.Join(data, "postgres", "cluster", "base"), 0o700),
		os.Chmod(filepath.Dir(data), 0o700), os.WriteFile(filepath.Join(data, "postgres", "lock"), nil, 0o644), os.WriteFile(filepath.Join(data, launch.InstanceFile), nil, 0o600),
		syscall.Mkfifo(filepath.Join(data, "postgres", "pipe"), 0o600))
	for i := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(data, "blobs", "ab", fmt.Sprint(i)), nil, 0o640))
	}
	if err != nil {
		t.Fatal(err)
	}
	giveAll(t, data, former)
	return data
}

func giveAll(t *testing.T, dir string, uid int) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Lchown(path, uid, uid)) }); err != nil {
		t.Fatal(err)
	}
}

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

// notOf returns what below dir does not belong to an account.
func notOf(t *testing.T, dir string, a *embedded.Account) (others []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && ownerOf(t, path) != a.UID {
			others = append(others, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return others
}

func TestADataFolderOfAnotherAccountIsTakenOver(t *testing.T) {
	forRoot(t)
	data := formerFolder(t, 10)
	outside := filepath.Join(t.TempDir(), "outside")
	err := errors.Join(os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "file"), nil, 0o644),
		os.Symlink(outside, filepath.Join(data, "cache")), os.Symlink(filepath.Join(outside, "file"), filepath.Join(data, "blobs", "link")))
	if err != nil {
		t.Fatal(err)
	}
	giveAll(t, data, former)
	t.Setenv("SUDO_USER", "nobody")
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	a, err := launch.ChooseAccount(t.Context(), "", data, log)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != launch.AccountName {
		t.Errorf("root becomes %s", a.Name)
	}
	if others := notOf(t, data, a); len(others) > 0 {
		t.Errorf("not taken over: %v", others)
	}
	for _, path := range []string{outside, filepath.Join(outside, "file"), filepath.Dir(data)} {
		if owner := ownerOf(t, path); owner != 0 {
			t.Errorf("%s, which is not in the folder, was given to user %d", path, owner)
		}
	}
	if info, err := os.Stat(filepath.Dir(data)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder above: %v, %v", info.Mode(), err)
	}
	for _, part := range []string{"taking over the data folder", "from=nobody", "to=deepoj", "a link in the data folder leads elsewhere", "took over the data folder"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("the log does not say %q:\n%s", part, &said)
		}
	}
	said.Reset()
	if _, err := launch.ChooseAccount(t.Context(), "", data, log); err != nil || said.Len() > 0 {
		t.Errorf("the next start: %v: %s", err, &said)
	}
}

func TestWhatIsPlainlyNoDataFolderIsNotTakenOver(t *testing.T) {
	forRoot(t)
	log := slog.New(slog.DiscardHandler)
	shadow := filepath.Join(t.TempDir(), "shadow")
	for name, c := range map[string]struct {
		spoil func(data string) error
		want  string
	}{
		"a home folder": {func(data string) error { return os.WriteFile(filepath.Join(data, ".bashrc"), nil, 0o644) }, "it holds .bashrc; name another folder with --data, or move that away"},
		"another name of a foreign file": {func(data string) error {
			return errors.Join(os.WriteFile(shadow, nil, 0o600), os.Link(shadow, filepath.Join(data, "blobs", "ab", "shadow")))
		}, "has another name elsewhere (a hard link) and belongs to root: remove it"},
		"a device": {func(data string) error {
			return syscall.Mknod(filepath.Join(data, "blobs", "zero"), syscall.S_IFCHR|0o600, 1<<8|5)
		}, "is a device"},
	} {
		data := formerFolder(t, 1)
		if err := c.spoil(data); err != nil {
			t.Fatal(err)
		}
		_, err := launch.ChooseAccount(t.Context(), "", data, log)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if owner := ownerOf(t, data); owner != former {
			t.Errorf("%s: the folder belongs to user %d", name, owner)
		}
	}
	if owner := ownerOf(t, shadow); owner != 0 {
		t.Errorf("a file of root was given to user %d", owner)
	}
}

func TestAFolderInUseIsNotTakenOver(t *testing.T) {
	forRoot(t)
	data := formerFolder(t, 1)
	lock, err := os.Open(filepath.Join(data, "postgres", "lock"))
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err = launch.ChooseAccount(t.Context(), "", data, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("%v, want that it is in use", err)
	}
	if others := notOf(t, data, &embedded.Account{UID: former}); len(others) > 0 {
		t.Errorf("%v changed hands while a Deep-OJ uses them", others)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err = launch.ChooseAccount(t.Context(), "", data, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// TestATakeoverThatIsKilledIsBegunAgain kills the program with SIGKILL when it has
// given away some of many files.
func TestATakeoverThatIsKilledIsBegunAgain(t *testing.T) {
	forRoot(t)
	data := formerFolder(t, 30_000)
	a, err := embedded.Unprivileged(launch.AccountName)
	if err != nil {
		t.Fatal(err)
	}
	program := programIn(t)
	cmd := exec.Command(program, "worker", "--data", data)
	cmd.Env = append(os.Environ(), "DATABASE_URL=postgres://127.0.0.1:1/none")
	runtime.LockOSThread() // the end of the thread would be the child's
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	inside := filepath.Join(data, "blobs", "ab")
	for begun := false; !begun && time.Now().Before(deadline); {
		for _, n := range []string{"0", "1", "2", "100", "20000"} {
			begun = begun || ownerOf(t, filepath.Join(inside, n)) == a.UID
		}
	}
	if err := errors.Join(cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	left := notOf(t, data, a)
	if len(left) == 0 || ownerOf(t, data) != former {
		t.Fatalf("it was killed when %d files were left and the folder was of user %d: too late for this test", len(left), ownerOf(t, data))
	}
	t.Logf("killed with %d files left", len(left))
	if _, err := launch.ChooseAccount(t.Context(), "", data, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if left := notOf(t, data, a); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}

// programIn returns this program in a folder that everybody can reach.
func programIn(t *testing.T) string {
	t.Helper()
	program := filepath.Join(openFolder(t), "deepoj") // whose name makes the test binary the program
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(program, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestRootMakesTheAccountOrSaysHow starts a role where there is no account deepoj,
// with a /etc of its own.
func TestRootMakesTheAccountOrSaysHow(t *testing.T) {
	forRoot(t)
	program := programIn(t)
	const machine = "/etc/passwd" // the command has another one
	before, err := os.ReadFile(machine)
	if err != nil {
		t.Fatal(err)
	}
	run := func(change, script string) string {
		cmd := accounttest.Command(change, "sh", "-c", script, program)
		cmd.Env = append(os.Environ(), "DATABASE_URL=postgres://127.0.0.1:1/none?connect_timeout=1", "SUDO_USER=nobody", "PATH="+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out)
	}
	// It goes no further than the account, because of a folder that is not its own.
	const start = `mkdir -p "${0%/*}/home" && touch "${0%/*}/home/.bashrc" && "$0" worker --data "${0%/*}/home"; `
	made := run(accounttest.WithoutAccount, start+`getent passwd deepoj; grep ^deepoj: /etc/shadow`)
	if !strings.Contains(made, ":Deep-OJ:/var/lib/deepoj:/usr/sbin/nologin") || !strings.Contains(made, "\ndeepoj:!") || !strings.Contains(made, "not Deep-OJ's alone") {
		t.Errorf("the account is not made, or somebody can log in as it:\n%s", made)
	}
	units, err := os.ReadFile("../../deploy/systemd/deepoj.sysusers") // as the Debian package makes it
	if err != nil || !strings.Contains(string(units), `"Deep-OJ" /var/lib/deepoj`) {
		t.Errorf("the package makes another account: %v: %s", err, units)
	}
	refused := run(accounttest.ReadOnly, `"$0" api --listen 127.0.0.1:0; echo "status $?"`)
	if !strings.Contains(refused, "make it with: useradd --system ") || !strings.Contains(refused, "--shell /usr/sbin/nologin") || !strings.Contains(refused, "status 1") {
		t.Errorf("where no account can be made it says:\n%s", refused)
	}
	if after, err := os.ReadFile(machine); err != nil || !bytes.Equal(before, after) {
		t.Errorf("accounts changed outside of it: %v", err)
	}
}

func TestNothingOfRootsEnvironmentIsHandedDownButWhatIsListed(t *testing.T) {
	environment := map[string]string{
		"PATH": "/bin", "TZ": "UTC", "SSL_CERT_FILE": "/x", "https_proxy": "http://proxy", "PGPASSWORD": "of-the-database",
		"AWS_SECRET_ACCESS_KEY": "s", "HOME": "/root", "SUDO_USER": "ann", "SSH_AUTH_SOCK": "/tmp/s", "LD_PRELOAD": "x.so", "REDIS_URL": "redis://x", "REDIS_URL_FILE": "/root/redis", "BASH_ENV": "x",
	}
	lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	if got := strings.Join(launch.HandedDown(lookup, false), " "); got != "PATH=/bin TZ=UTC SSL_CERT_FILE=/x https_proxy=http://proxy" {
		t.Errorf("handed down: %s", got)
	}
	if got := strings.Join(launch.HandedDown(lookup, true), " "); got != "PATH=/bin TZ=UTC SSL_CERT_FILE=/x https_proxy=http://proxy PGPASSWORD=of-the-database" {
		t.Errorf("with a database of others: %s", got)
	}
}
