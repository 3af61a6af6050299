package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A machine with any layout of control groups tests pure cgroup v2 in a virtual
// one: an emulated processor, a kernel of Debian and this test binary as its first
// program (see vm_init_linux_test.go), which also runs that of the package of control
// groups. testdata/fetch-kernels gets the kernels.

// kernels are where kernels lie, one file for each of series.
const kernels = "../.build/vm/vmlinuz-"

// series are the kernels that matter: the peak of memory can be reset only from
// 6.12 on.
var series = []string{"6.1.0-", "6.12."}

// vmTimeout is how long a virtual machine may take. It takes a minute or two.
const vmTimeout = 22 * time.Minute

// vmArguments is a variable that adds arguments to all suites, to look into one
// test, as DEEPOJ_VM='-test.run=TestMany' make test-vm, and to see all that the
// virtual machines say.
const vmArguments = "DEEPOJ_VM"

func TestPureCgroupV2InAVirtualMachine(t *testing.T) {
	if insideVM() {
		t.Skip("this is the virtual machine")
	}
	qemu, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		missing(t, "qemu-system-x86_64, from the package qemu-system-x86")
	}
	image := filepath.Join(t.TempDir(), "initrd")
	if err := os.WriteFile(image, initramfs(t), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, s := range series {
		t.Run("Linux "+strings.Trim(s, "-."), func(t *testing.T) {
			t.Parallel()
			found, err := filepath.Glob(kernels + s + "*")
			if err != nil || len(found) == 0 {
				missing(t, "a kernel "+s+"* in .build/vm, from sandbox/testdata/fetch-kernels")
			}
			boot(t, qemu, found[len(found)-1], image)
		})
	}
}

// boot runs the virtual machine and judges what it says.
func boot(t *testing.T, qemu, kernel, image string) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), vmTimeout)
	defer cancel()
	// Emulation, even where the processor could do better, so that it is the
	// same everywhere; and nothing of the processor's flaws to work around. One
	// thread emulates both cores in turns: with one each they spend a third of
	// the time on keeping each other's memory in order, and two machines boot at
	// once anyway. A plain processor saves what the newest would be asked to do.
	cmd := exec.CommandContext(ctx, qemu, "-nographic", "-no-reboot", "-nic", "none", "-vga", "none",
		"-accel", "tcg,thread=single,tb-size=512", "-cpu", "Nehalem", "-m", "2048", "-smp", "2", "-kernel", kernel, "-initrd", image,
		"-append", "console=ttyS0 quiet panic=-1 cgroup_no_v1=all mitigations=off nokaslr audit=0")
	var said bytes.Buffer
	cmd.Stdout = &said
	if os.Getenv(vmArguments) != "" {
		cmd.Stdout = io.MultiWriter(&said, os.Stderr)
	}
	cmd.Stderr = cmd.Stdout
	runtime.LockOSThread() // the machine dies with the thread that starts it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	out := bytes.ReplaceAll(said.Bytes(), []byte("\r\n"), []byte("\n"))
	if err != nil {
		t.Errorf("the virtual machine ended: %v", err)
	}
	for _, s := range suites {
		_, said, ok := bytes.Cut(out, []byte(s.begin()))
		said, _, ended := bytes.Cut(said, []byte(s.end(0)))
		passed, skipped := len(passLine.FindAll(said, -1)), bytes.Count(said, []byte("--- SKIP: "))
		if !ok || !ended || !bytes.HasSuffix(bytes.TrimSpace(said), []byte("PASS")) || passed < s.least && os.Getenv(vmArguments) == "" {
			t.Errorf("as %s, %d tests passed of at least %d; the virtual machine said:\n%s", s.name, passed, s.least, out)
			return
		}
		t.Logf("%s, as %s: %d tests passed, %d skipped", filepath.Base(kernel), s.name, passed, skipped)
	}
	t.Logf("%s took %s, with %s of CPU time", filepath.Base(kernel), time.Since(begun).Round(time.Second),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second))
}

// passLine is printed for every test and subtest that passed.
var passLine = regexp.MustCompile(`(?m)^ *--- PASS: `)

// insideVM reports whether this process runs in the virtual machine.
func insideVM() bool {
	_, err := os.Stat(vmPrograms)
	return err == nil
}

// initramfs returns an archive that holds this program, statically linked, as
// /init, the tests of other packages beside it, the hostile programs, and the programs
// that map user ids with what they are linked to.
func initramfs(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for name, folder := range map[string]string{vmInit: ".", vmGroups: "./internal/cgroup"} {
		program := filepath.Join(dir, filepath.Base(name))
		build := exec.Command("go", "test", "-c", "-ldflags", "-s -w", "-o", program, folder)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		files[name[1:]] = program
	}
	sources, err := filepath.Glob("testdata/hostile/*.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		program := filepath.Join(dir, name)
		if out, err := exec.Command("gcc", "-O1", "-static", "-pthread", "-s", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		files[vmPrograms[1:]+"/"+name] = program
	}
	for _, program := range idPrograms {
		if _, err := os.Stat(program); err != nil {
			missing(t, program+", from the package uidmap")
		}
		out, err := exec.Command("ldd", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append(libraryPath.FindAllString(string(out), -1), program) {
			files[path[1:]] = path
		}
	}
	var image bytes.Buffer
	made := map[string]bool{".": true}
	for name, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archiveFolders(&image, made, filepath.Dir(name))
		archive(&image, name, 0o755, b)
	}
	for _, name := range []string{"proc", "sys", "dev", "tmp", "new"} {
		archiveFolders(&image, made, name)
	}
	archive(&image, vmArgumentsFile[1:], 0o644, []byte(os.Getenv(vmArguments)))
	archive(&image, "TRAILER!!!", 0, nil)
	return image.Bytes()
}

// libraryPath is a path in what ldd prints.
var libraryPath = regexp.MustCompile(`/[^ )]+`)

// archiveFolders appends the folder name and those above that were not made.
func archiveFolders(w io.Writer, made map[string]bool, name string) {
	if made[name] {
		return
	}
	made[name] = true
	archiveFolders(w, made, filepath.Dir(name))
	archive(w, name, fs.ModeDir|0o755, nil)
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
