//go:build amd64

package plugin_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin"
	"deepoj/host/plugin/plugintest"
	"deepoj/host/plugin/walls"
)

// prisoner is a child in whose place system calls are made: what a guest could do
// that broke out of the engine, with exactly the walls that a child has.
type prisoner struct {
	t      *testing.T
	pid    int
	tid    int
	mem    *os.File
	at     uint64 // of a system call instruction
	before unix.PtraceRegs
	memory uint64 // of its own, a page
}

// capture starts a child as the runtime does, but with things that it should not
// have inherited, and stops it once its walls stand.
func capture(t *testing.T, command string, limits map[string]any, inherited ...*os.File) *prisoner {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal("this test needs root, to look into a process that hides")
		}
		t.Skip("this test needs root, to look into a process that hides")
	}
	s, err := plugintest.Open()
	if err != nil {
		t.Fatal(err)
	}
	arg, err := json.Marshal(limits)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.Exe, command, string(arg))
	cmd.Env, cmd.ExtraFiles, cmd.Stderr = []string{"SECRET=a password"}, inherited, t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &prisoner{t: t, pid: cmd.Process.Pid}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it never ends by itself
		if p.tid != 0 {
			for { // whoever traces a thread learns of its end first
				var status unix.WaitStatus
				_, err := unix.Wait4(p.tid, &status, unix.WALL, nil)
				if errors.Is(err, unix.EINTR) {
					continue
				}
				if err != nil || !status.Stopped() {
					break
				}
			}
		}
		_ = cmd.Wait()
	})
	await(t.Context(), t, "the walls of "+command, func() bool {
		status, err := os.ReadFile(p.proc("status"))
		return err == nil && strings.Contains(string(status), "Seccomp:\t2\n")
	})
	p.seize()
	return p
}

func (p *prisoner) proc(name string) string { return fmt.Sprintf("/proc/%d/%s", p.pid, name) }

// must ends the test on an error.
func (p *prisoner) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// trace is ptrace(2).
func (p *prisoner) trace(request int, addr, data uintptr) {
	p.t.Helper()
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(p.tid), addr, data, 0, 0); errno != 0 {
		p.t.Fatalf("ptrace %#x: %v", request, errno)
	}
}

func (p *prisoner) wait() {
	p.t.Helper()
	var status unix.WaitStatus
	_, err := unix.Wait4(p.tid, &status, unix.WALL, nil)
	p.must(err)
	if !status.Stopped() {
		p.t.Fatalf("it did not stop but %v", status)
	}
}

// seize stops a thread of the child and gives it a page of memory.
func (p *prisoner) seize() {
	p.t.Helper()
	runtime.LockOSThread() // a tracer is a thread; the test ends with it
	threads, err := os.ReadDir(p.proc("task"))
	p.must(err)
	_, err = fmt.Sscan(threads[len(threads)-1].Name(), &p.tid)
	p.must(err)
	p.trace(unix.PTRACE_SEIZE, 0, 0)
	p.trace(unix.PTRACE_INTERRUPT, 0, 0)
	p.wait()
	p.must(unix.PtraceGetRegs(p.tid, &p.before))
	p.mem, err = os.OpenFile(p.proc("mem"), os.O_RDWR, 0)
	p.must(err)
	p.t.Cleanup(func() { _ = p.mem.Close() })
	maps, err := os.ReadFile(p.proc("maps"))
	p.must(err)
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x r-xp", &from, &to); err != nil || strings.Contains(line, "[") {
			continue
		}
		code := make([]byte, to-from)
		_, err := p.mem.ReadAt(code, int64(from))
		p.must(err)
		if i := bytes.Index(code, []byte{0x0f, 0x05}); i >= 0 {
			p.at = from + uint64(i)
			break
		}
	}
	const size = 4096
	none := ^uint64(0)
	p.memory = uint64(p.call(unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON, none, 0))
}

// call makes a system call in the child and returns what came of it.
func (p *prisoner) call(number uint64, args ...uint64) int64 {
	p.t.Helper()
	regs := p.before
	regs.Rip, regs.Rax, regs.Orig_rax = p.at, number, ^uint64(0)
	for i, to := range []*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8, &regs.R9} {
		*to = 0
		if i < len(args) {
			*to = args[i]
		}
	}
	p.must(unix.PtraceSetRegs(p.tid, &regs))
	p.trace(unix.PTRACE_SINGLESTEP, 0, 0)
	p.wait()
	p.must(unix.PtraceGetRegs(p.tid, &regs))
	return int64(regs.Rax)
}

// text puts a text, or any bytes, into the memory of the child.
func (p *prisoner) text(s string, at ...uint64) uint64 {
	p.t.Helper()
	to := p.memory
	if len(at) > 0 {
		to += at[0]
	}
	_, err := p.mem.WriteAt(append([]byte(s), 0), int64(to))
	p.must(err)
	return to
}

// cwd is AT_FDCWD.
const cwd = ^uint64(99)

func (p *prisoner) open(path string, flags uint64) int64 {
	return p.call(unix.SYS_OPENAT, cwd, p.text(path), flags, 0o600)
}

// beyond tries all that the walls are against.
func (p *prisoner) beyond(files map[string]string) {
	p.t.Helper()
	parent := uint64(os.Getpid())
	self := uint64(p.pid)
	buffer := p.memory + 2048
	words := func(list ...uint64) uint64 {
		var b []byte
		for _, w := range list {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return p.text(string(b), 1024)
	}
	for name, path := range files {
		for how, flags := range map[string]uint64{"read": unix.O_RDONLY, "write": unix.O_WRONLY, "change": unix.O_RDWR, "make": unix.O_WRONLY | unix.O_CREAT} {
			if n := p.open(path, flags); n >= 0 {
				p.t.Errorf("it can %s %s", how, name)
			}
		}
	}
	path := files["a database file"]
	for name, made := range map[string]func() int64{
		"see whether its parent lives":  func() int64 { return p.call(unix.SYS_KILL, parent, 0) },
		"end all that it may":           func() int64 { return p.call(unix.SYS_KILL, ^uint64(0), 0) },
		"signal its parent's group":     func() int64 { return p.call(unix.SYS_KILL, 0, 0) },
		"signal a thread of its parent": func() int64 { return p.call(unix.SYS_TGKILL, parent, parent, 0) },
		"signal any thread":             func() int64 { return p.call(unix.SYS_TKILL, parent, 0) },
		"queue a signal":                func() int64 { return p.call(unix.SYS_RT_SIGQUEUEINFO, parent, 0, p.text("")) },
		"own what signals its parent":   func() int64 { return p.call(unix.SYS_FCNTL, 1, unix.F_SETOWN, parent) },
		"open its parent":               func() int64 { return p.call(unix.SYS_PIDFD_OPEN, parent, 0) },
		"take a descriptor":             func() int64 { return p.call(unix.SYS_PIDFD_GETFD, 0, 0, 0) },
		"signal by a descriptor":        func() int64 { return p.call(unix.SYS_PIDFD_SEND_SIGNAL, 0, 0, 0, 0) },
		"read its parent's limits":      func() int64 { return p.call(unix.SYS_PRLIMIT64, parent, unix.RLIMIT_NOFILE, 0, buffer) },
		"read its parent's memory": func() int64 {
			return p.call(unix.SYS_PROCESS_VM_READV, parent, words(buffer, 8), 1, words(buffer, 8), 1, 0)
		},
		"trace its parent":               func() int64 { return p.call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, parent, 0, 0) },
		"compare itself with its parent": func() int64 { return p.call(unix.SYS_KCMP, self, parent, 0, 0, 0) },
		"slow its parent down":           func() int64 { return p.call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, parent, 19) },
		"move its parent":                func() int64 { return p.call(unix.SYS_SCHED_SETAFFINITY, parent, 8, words(1)) },
		"become another program":         func() int64 { return p.call(unix.SYS_EXECVE, p.text("/bin/true"), 0, 0) },
		"make a process":                 func() int64 { return p.call(unix.SYS_CLONE, uint64(unix.SIGCHLD), 0, 0, 0, 0) },
		"make a process in the old way":  func() int64 { return p.call(unix.SYS_FORK) },
		"make a process in the new way":  func() int64 { return p.call(unix.SYS_CLONE3, words(0, 0, 0, 0, uint64(unix.SIGCHLD), 0, 0, 0), 64) },
		"speak to the local machine":     func() int64 { return p.call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0) },
		"speak to the network":           func() int64 { return p.call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) },
		"connect":                        func() int64 { return p.call(unix.SYS_CONNECT, 0, p.text("\x02\x00\x00\x50\x7f\x00\x00\x01"), 16) },
		"use a ring":                     func() int64 { return p.call(unix.SYS_IO_URING_SETUP, 1, p.text(strings.Repeat("\x00", 120))) },
		"share memory":                   func() int64 { return p.call(unix.SYS_SHMGET, 0x5151, 4096, unix.IPC_CREAT|0o600) },
		"change a mode":                  func() int64 { return p.call(unix.SYS_CHMOD, p.text(path), 0o777) },
		"change a mode in the new way":   func() int64 { return p.call(unix.SYS_FCHMODAT, cwd, p.text(path), 0o777) },
		"change an owner":                func() int64 { return p.call(unix.SYS_FCHOWNAT, cwd, p.text(path), 1, 1, 0) },
		"change times":                   func() int64 { return p.call(unix.SYS_UTIMENSAT, cwd, p.text(path), 0, 0) },
		"cut a file":                     func() int64 { return p.call(unix.SYS_TRUNCATE, p.text(path), 0) },
		"remove a file":                  func() int64 { return p.call(unix.SYS_UNLINKAT, cwd, p.text(path), 0) },
		"rename a file":                  func() int64 { return p.call(unix.SYS_RENAMEAT2, cwd, p.text(path), cwd, p.text(path+"x", 1024), 0) },
		"link a file":                    func() int64 { return p.call(unix.SYS_LINKAT, cwd, p.text(path), cwd, p.text(path+"x", 1024), 0) },
		"make a folder":                  func() int64 { return p.call(unix.SYS_MKDIRAT, cwd, p.text(path+"d"), 0o700) },
		"set an attribute": func() int64 {
			return p.call(unix.SYS_SETXATTR, p.text(path), p.text("user.x", 1024), p.text("x", 1100), 1, 0)
		},
		"mount": func() int64 {
			return p.call(unix.SYS_MOUNT, 0, p.text(filepath.Dir(path)), p.text("tmpfs", 1024), 0, 0)
		},
		"have namespaces":                     func() int64 { return p.call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) },
		"become somebody else":                func() int64 { return p.call(unix.SYS_SETUID, 65534) },
		"watch files":                         func() int64 { return p.call(unix.SYS_INOTIFY_INIT1, 0) },
		"use the kernel's machine":            func() int64 { return p.call(unix.SYS_BPF, 0, p.text(strings.Repeat("\x00", 64)), 64) },
		"handle faults":                       func() int64 { return p.call(unix.SYS_USERFAULTFD, 1) },
		"make a call that nobody knows yet":   func() int64 { return p.call(600) },
		"make a call of another convention":   func() int64 { return p.call(1<<30 | unix.SYS_GETPID) },
		"open a file in a way that is hidden": func() int64 { return p.call(unix.SYS_OPENAT2, cwd, p.text(path), words(0, 0, 0), 24) },
	} {
		if n := made(); n >= 0 {
			p.t.Errorf("it can %s: %d", name, n)
		}
	}
	if n := p.call(unix.SYS_GETPID); n != int64(p.pid) {
		p.t.Errorf("it does not know itself: %d", n)
	}
	if n := p.call(unix.SYS_TGKILL, self, uint64(p.tid), 0); n != 0 {
		p.t.Errorf("it cannot signal a thread of its own, which the Go runtime does: %d", n)
	}
	if n := p.call(unix.SYS_PRCTL, unix.PR_GET_DUMPABLE); n != 0 {
		p.t.Errorf("others may look into it: %d", n)
	}
}

// holds says what the child has open.
func (p *prisoner) holds() []string {
	p.t.Helper()
	open, err := os.ReadDir(p.proc("fd"))
	p.must(err)
	var held []string
	for _, fd := range open {
		to, err := os.Readlink(p.proc("fd/" + fd.Name()))
		p.must(err)
		if strings.HasPrefix(to, "/sys/fs/cgroup/") || strings.HasPrefix(to, "anon_inode:[event") {
			continue // Go's own
		}
		to, _, _ = strings.Cut(to, ":[")
		held = append(held, fd.Name()+" "+strings.TrimPrefix(to, filepath.Dir(os.DevNull)+"/"))
	}
	return held
}

// prey is what lies around a child that it must not reach.
func prey(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	at := map[string]string{
		"the memory of its parent":      fmt.Sprintf("/proc/%d/mem", os.Getpid()),
		"the environment of its parent": fmt.Sprintf("/proc/%d/environ", os.Getpid()),
		"the accounts":                  "/etc/passwd",
		"its own memory":                "/proc/self/mem",
		"a device":                      "/dev/zero",
		"a database file":               filepath.Join(dir, "pg_hba.conf"),
		"a blob":                        filepath.Join(dir, "blobs", "ab", "abc"),
	}
	for _, name := range []string{"a database file", "a blob"} {
		if err := os.MkdirAll(filepath.Dir(at[name]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at[name], []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// folders says which folders a process must not list.
func (p *prisoner) lists(dirs ...string) {
	p.t.Helper()
	for _, dir := range dirs {
		if p.open(dir, unix.O_RDONLY|unix.O_DIRECTORY) >= 0 {
			p.t.Errorf("it can list %s", dir)
		}
	}
}

// standing ends the test where this machine has not all walls.
func standing(t *testing.T) {
	t.Helper()
	for _, w := range walls.All() {
		if w.Missing == "" || strings.Contains(w.Missing, "cgo") { // the children are built without
			continue
		}
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal(w.Missing)
		}
		t.Skip(w.Missing)
	}
}

func TestAWorkerReachesNothingBeyondItsCache(t *testing.T) {
	standing(t)
	dir := t.TempDir()
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o700); err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(module, "module.wasm")
	if err := os.WriteFile(wasm, accepting, 0o600); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "host")
	defer near.Close()
	defer far.Close()
	passwd, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer passwd.Close()
	p := capture(t, plugin.WorkerCommand, map[string]any{"dir": dir, "guest_bytes": 1 << 20, "data_bytes": 1 << 30}, far, passwd)
	if held := p.holds(); strings.Join(held, ", ") != "0 null, 1 null, 2 pipe, 3 socket" {
		t.Errorf("it holds %q", held)
	}
	files := prey(t)
	p.beyond(files)
	p.lists("/", "/proc", "/etc", filepath.Dir(files["a database file"]), filepath.Dir(dir), fmt.Sprintf("/proc/%d/fd", os.Getpid()))
	if n := p.open(wasm, unix.O_RDONLY); n < 0 {
		t.Errorf("it cannot read its own cache: %v", syscall.Errno(-n))
	}
	for how, flags := range map[string]uint64{"changed": unix.O_RDWR, "overwritten": unix.O_WRONLY | unix.O_TRUNC, "emptied": unix.O_RDONLY | unix.O_TRUNC} {
		if p.open(wasm, flags) >= 0 {
			t.Errorf("a module can be %s", how)
		}
	}
	if p.open(filepath.Join(dir, "code", "new"), unix.O_WRONLY|unix.O_CREAT) >= 0 {
		t.Error("machine code can be added")
	}
}

func TestACompilerReachesNothingButMachineCode(t *testing.T) {
	standing(t)
	dir := t.TempDir()
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(module, "module.wasm"), 0o600); err != nil { // it waits for somebody to write it
		t.Fatal(err)
	}
	passwd, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer passwd.Close()
	p := capture(t, plugin.CompileCommand, map[string]any{"dir": module, "data_bytes": 1 << 30}, passwd)
	if held := p.holds(); strings.Join(held, ", ") != "0 null, 1 null, 2 pipe" {
		t.Errorf("it holds %q", held)
	}
	files := prey(t)
	p.beyond(files)
	p.lists("/", "/proc", "/etc", dir)
	code := filepath.Join(dir, "code", "new")
	if n := p.open(code, unix.O_WRONLY|unix.O_CREAT); n < 0 {
		t.Errorf("it cannot write machine code: %v", syscall.Errno(-n))
	}
	if _, err := os.Stat(code); err != nil {
		t.Error(err)
	}
	for _, path := range []string{filepath.Join(module, "new"), filepath.Join(dir, "new")} {
		if p.open(path, unix.O_WRONLY|unix.O_CREAT) >= 0 {
			t.Errorf("it can make %s", path)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
