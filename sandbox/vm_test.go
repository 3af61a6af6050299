package sandbox_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A machine with a hybrid layout tests pure cgroup v2 in a virtual one: an
// emulated processor, a kernel of Debian and this test binary as its first and
// only program. testdata/fetch-kernels gets the kernels.

// vmTests are the tests that need no tool chains.
const vmTests = "Test(MemoryIsBounded|ProcessesAre|OutputIs|NothingLeads|Foreign|ARunLeaves|EveryDriver|ManyRuns|AnAgent|TwoAgents|WhoWaits|ABoxThatIsClosed)"

// vmPrograms is where the virtual machine has the hostile programs.
const vmPrograms = "/hostile"

// kernels are where kernels may lie.
const kernels = "../.build/vm/vmlinuz-*"

// vmTimeout is how long a virtual machine may take: an emulated processor is
// forty times slower.
const vmTimeout = 10 * time.Minute

func TestPureCgroupV2InAVirtualMachine(t *testing.T) {
	if insideVM() {
		t.Skip("this is the virtual machine")
	}
	found, err := filepath.Glob(kernels)
	if err != nil {
		t.Fatal(err)
	}
	qemu, err := exec.LookPath("qemu-system-x86_64")
	if err != nil || len(found) == 0 {
		t.Skip("this test needs qemu-system-x86 and kernels from testdata/fetch-kernels")
	}
	image := filepath.Join(t.TempDir(), "initrd")
	if err := os.WriteFile(image, initramfs(t), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, kernel := range found {
		t.Run(filepath.Base(kernel), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), vmTimeout)
			defer cancel()
			cmd := exec.CommandContext(ctx, qemu, "-nographic", "-no-reboot", "-m", "2048", "-smp", "2", "-cpu", "max",
				"-kernel", kernel, "-initrd", image, "-append", "console=ttyS0 quiet panic=-1 cgroup_no_v1=all")
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("\nPASS\r\n")) && !bytes.Contains(out, []byte("\nPASS\n")) || bytes.Contains(out, []byte("--- FAIL")) {
				t.Errorf("the virtual machine said (%v):\n%s", err, out)
			}
			if n := bytes.Count(out, []byte("--- PASS: ")); n < 50 {
				t.Errorf("only %d tests passed:\n%s", n, out)
			} else {
				t.Logf("%d tests passed", n)
			}
		})
	}
}

// insideVM reports whether this process runs in the virtual machine.
func insideVM() bool {
	_, err := os.Stat(vmPrograms)
	return err == nil
}

// initramfs returns an archive that holds this program, statically linked, as
// /init, and the hostile programs.
func initramfs(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "test", "-c", "-o", filepath.Join(dir, "init"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sources, err := filepath.Glob("testdata/hostile/*.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		out, err := exec.Command("gcc", "-O1", "-static", "-pthread", "-o", filepath.Join(dir, name), source).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	var image bytes.Buffer
	z := gzip.NewWriter(&image)
	for _, name := range []string{"proc", "sys", "dev", "tmp", "usr", "usr/bin", "etc", "root", "new", strings.TrimPrefix(vmPrograms, "/")} {
		archive(z, name, fs.ModeDir|0o755, nil)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		name := "init"
		if f.Name() != name {
			name = strings.TrimPrefix(vmPrograms, "/") + "/" + f.Name()
		}
		archive(z, name, 0o755, b)
	}
	archive(z, "TRAILER!!!", 0, nil)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return image.Bytes()
}

// archive appends one entry in the "newc" format.
func archive(w io.Writer, name string, mode fs.FileMode, data []byte) {
	bits := uint32(mode.Perm()) | unix.S_IFREG
	if mode.IsDir() {
		bits = uint32(mode.Perm()) | unix.S_IFDIR
	}
	head := "070701"
	for _, v := range []uint32{0, bits, 0, 0, 1, 0, uint32(len(data)), 0, 0, 0, 0, uint32(len(name) + 1), 0} {
		head += fmt.Sprintf("%08x", v)
	}
	pad := func(n int) string { return strings.Repeat("\x00", (4-n%4)%4) }
	fmt.Fprint(w, head, name, "\x00", pad(len(head)+len(name)+1))
	w.Write(data)
	fmt.Fprint(w, pad(len(data)))
}

// initVM is the first process of the virtual machine. It moves to a root that can
// be left, runs the tests and switches the machine off.
func initVM() {
	err := prepareVM()
	if err == nil {
		cmd := exec.Command("/init", "-test.v", "-test.run", vmTests)
		cmd.Env = []string{"PATH=/usr/bin", "HOME=/root", "TMPDIR=/tmp"}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err = cmd.Start(); err == nil {
			err = reap(cmd.Process.Pid)
		}
	}
	fmt.Println("the tests ended:", err)
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// reap waits for the process pid and all others that end meanwhile, as the first
// process must.
func reap(pid int) error {
	for {
		var ws unix.WaitStatus
		ended, err := unix.Wait4(-1, &ws, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if ended == pid {
			return fmt.Errorf("status %d", ws.ExitStatus())
		}
	}
}

func prepareVM() error {
	mounts := []struct{ source, target, kind string }{
		{"root", "/new", "tmpfs"},
		{"proc", "/new/proc", "proc"},
		{"sys", "/new/sys", "sysfs"},
		{"dev", "/new/dev", "devtmpfs"},
		{"cgroup", "/new/sys/fs/cgroup", "cgroup2"},
		{"tmp", "/new/tmp", "tmpfs"},
	}
	for i, m := range mounts {
		if err := unix.Mount(m.source, m.target, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
		if i > 0 {
			continue
		}
		for _, dir := range []string{"proc", "sys", "dev", "tmp", "usr/bin", "etc", "root", vmPrograms} {
			if err := os.MkdirAll("/new/"+dir, 0o755); err != nil {
				return err
			}
		}
		programs, err := filepath.Glob(vmPrograms + "/*")
		if err != nil {
			return err
		}
		for _, path := range append(programs, "/init") {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile("/new"+path, b, 0o755); err != nil {
				return err
			}
		}
	}
	if err := unix.Chdir("/new"); err != nil {
		return err
	}
	if err := unix.Mount(".", "/", "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("move the root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// vmProgram returns a program that the virtual machine brought along.
func vmProgram(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vmPrograms, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kernelRelease returns the release of the kernel that runs.
func kernelRelease() string {
	f, err := os.Open("/proc/version")
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Scan()
	return s.Text()
}
