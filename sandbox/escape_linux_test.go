package sandbox_test

import (
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// attack is one way of escape.c to leave the box or to see the host.
type attack struct {
	args   []string
	tries  int    // how often it must have tried at least
	errors string // what every try must have ended with, one of these
	prints string // instead: exactly what it prints
	sealed bool   // needs a box that it cannot write to
}

// Errors of files that cannot be read or written, whichever layer is first to
// refuse. A masked file is /dev/null.
const (
	hidden     = "ENOENT EACCES ENOTDIR"
	unwritable = "EACCES EROFS EPERM ENOENT EEXIST masked"
)

// attacks returns all ways, by what must hold.
func attacks(t *testing.T, w *witness) map[string]attack {
	t.Helper()
	agents, self := children(t, os.Getpid()), strconv.Itoa(os.Getpid())
	read := func(errors string, paths ...string) attack {
		return attack{args: append([]string{"read"}, paths...), tries: len(paths), errors: errors}
	}
	write := func(paths ...string) attack {
		return attack{args: append([]string{"write"}, paths...), tries: len(paths), errors: unwritable}
	}
	way := func(name string, tries int, errors string) attack {
		return attack{args: []string{name}, tries: tries, errors: errors}
	}
	all := map[string]attack{
		// Other processes.
		"ptrace of the parent is denied":                  {args: append([]string{"ptrace", "1", self}, agents...), tries: 6, errors: "EPERM"},
		"the memory of another process cannot be reached": way("memory", 8, "EPERM EACCES EROFS ENOENT"),
		"a process of the host cannot be killed":          {args: append([]string{"kill", self}, agents...), tries: 2, errors: "ESRCH"},
		"the first process cannot be killed":              {args: []string{"kill", "1"}, tries: 1, errors: "EPERM"},
		"proc of the first process leads nowhere":         read(hidden+" empty", "/proc/1/root/", "/proc/1/root"+w.answer, "/proc/1/cwd/", "/proc/1/exe", "/proc/1/fd/0", "/proc/1/environ", "/proc/1/mem", "/proc/1/map_files/", "/proc/1/task/1/root"+w.answer),
		"proc of itself leads into the box only":          read(hidden, "/proc/self/root"+w.answer, "/proc/thread-self/root"+w.answer, "/proc/self/cwd/../.."+w.answer, "/proc/self/root/root", "/proc/self/root/etc/shadow"),
		"proc of a host's process is not there":           read(hidden, "/proc/"+self+"/environ", "/proc/"+agents[0]+"/environ", "/proc/"+agents[0]+"/root"+w.answer),
		"the environment of the host cannot be seen":      {args: []string{"environment"}, prints: "PATH=/usr/bin:/bin\nHOME=/tmp\nLANG=C.UTF-8\n/proc/1/environ: EACCES\n"},
		"what is masked of proc is empty":                 read(hidden+" masked", "/proc/kcore", "/proc/keys", "/proc/kallsyms", "/proc/kmsg", "/proc/timer_list", "/proc/slabinfo", "/proc/config.gz", "/proc/cmdline"),
		"sysrq cannot be triggered":                       write("/proc/sysrq-trigger", "/proc/sys/kernel/sysrq"),
		"core_pattern cannot be changed":                  write("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/core_pipe_limit"),
		"settings of the kernel cannot be changed":        write("/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/net/ipv4/ip_forward"),
		"its own settings in proc cannot be changed":      write("/proc/self/oom_score_adj", "/proc/self/mem", "/proc/self/uid_map", "/proc/self/attr/current", "/proc/self/loginuid"),

		// Files of the host.
		"test data and answers cannot be read":      read(hidden, w.answer, w.dir, "/box/../.."+w.answer, "../../../.."+w.answer, "/tmp/../"+w.answer),
		"test data and answers cannot be written":   write(w.answer, w.dir+"/new", "/box/.."+w.answer),
		"test data and answers cannot be changed":   {args: []string{"change", w.answer, w.dir}, tries: 10, errors: unwritable},
		"the file of passwords cannot be read":      read(hidden, "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_rsa_key", "/etc/machine-id"),
		"paths of the host cannot be seen":          read(hidden, "/root", "/home", "/var/lib", "/var/tmp/planted", "/run", "/mnt", "/media", "/opt", "/boot", "/srv", "/sys", "/sys/fs/cgroup", "/sys/kernel", "/lost+found"),
		"memory and disks cannot be seen":           read(hidden, "/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/kvm", "/dev/fuse", "/dev/tty", "/dev/ptmx", "/dev/net/tun", "/dev/loop-control"),
		"the root and /usr cannot be written":       {args: []string{"create", "", "/usr", "/usr/bin", "/bin", "/lib", "/etc", "/dev", "/proc", "/.empty", w.attic}, tries: 30, errors: unwritable},
		"what is shown of the host cannot change":   {args: []string{"change", "/etc/passwd", "/usr", w.program()}, tries: 15, errors: unwritable + " EISDIR EXDEV EBUSY"},
		"what was put into a box cannot be changed": {args: []string{"change", "/box/ours"}, tries: 5, errors: unwritable, sealed: true},
		"nothing can be put beside it":              {args: []string{"create", "/box"}, tries: 3, errors: unwritable, sealed: true},
		"device nodes cannot be made":               way("devices", 3, "EPERM EACCES"),
		"files cannot be opened by number":          way("handles", 2, "EPERM"),

		// What all boxes share of the host.
		"nobody is told what others do with files":        way("watch", 8, "ENOSYS EPERM EINVAL"),
		"the page cache is neither emptied nor looked at": way("cache", 9, "ENOSYS EOPNOTSUPP"),
		"no number can be kept with a file":               way("hint", 4, "EINVAL"),
		"no file can be locked":                           way("lock", 8, "free EINVAL"),
		"the times of devices cannot be changed":          way("touch", 7, "EROFS EACCES ENOENT"),
		"what is shown of the host is read without trace": {args: []string{"mounted", "noatime"}, prints: "that is all\n"},

		// Mounts, namespaces, privilege.
		"nothing can be mounted":                way("mount", 12, "EPERM"),
		"user namespaces and others are denied": way("namespaces", 18, "EPERM ENOSYS"),
		"a chroot leads nowhere":                way("chroot", 2, "EPERM ELOOP"),
		"a set-user-id program gives nothing":   {args: []string{"set-user-id", w.program()}, tries: 7, errors: "EPERM"},
		"it cannot become root":                 way("identity", 7, "EPERM"),
		"it has no privilege and gets none":     {args: []string{"credentials"}, prints: "CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\nCapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2\n"},

		// The network.
		"TCP to 127.0.0.1 fails":                            {args: []string{"tcp", "127.0.0.1", w.port, "127.0.0.1", "22", "::1", w.port}, tries: 3, errors: unreachable},
		"TCP to any address fails":                          {args: append([]string{"tcp"}, addresses(t, w.port)...), tries: 6, errors: unreachable},
		"UDP to any address fails":                          {args: append([]string{"udp", "127.0.0.1", w.port}, addresses(t, w.port)...), tries: 6, errors: unreachable},
		"AF_VSOCK is no family":                             way("vsock", 4, "EAFNOSUPPORT ENOENT"),
		"no family leads to the kernel or other machines":   way("families", 11, "EAFNOSUPPORT"),
		"raw sockets are denied":                            way("raw", 3, "EPERM EAFNOSUPPORT"),
		"abstract unix sockets of the host are not reached": {args: []string{"unix", w.name}, tries: 3, errors: "ECONNREFUSED EPERM EACCES"},
		"unix sockets of the host are not reached":          {args: []string{"unix", w.socket(), "/run/dbus/system_bus_socket", "/var/run/docker.sock"}, tries: 9, errors: "ENOENT EACCES"},
		"no socket or route of the host is seen":            {args: []string{"network"}},

		// The less travelled parts of the kernel.
		"keyctl is denied":                      way("keys", 5, "EPERM"),
		"io_uring is denied":                    way("io_uring", 3, "EPERM"),
		"bpf is denied":                         way("bpf", 2, "EPERM"),
		"perf is denied":                        way("perf", 2, "EPERM"),
		"userfaultfd is denied":                 way("userfaultfd", 3, "EPERM ENOENT"),
		"the machine is not its own to command": way("machine", 21, "EPERM"),
		"System V memory cannot be left":        way("system-v", 4, "EPERM"),
		"POSIX message queues cannot be left":   way("queue", 1, "EPERM"),
	}
	return all
}

// unreachable are the errors of addresses in a network without interfaces, or
// with Landlock, or where a family is missing.
const unreachable = "ENETUNREACH EACCES EADDRNOTAVAIL EAFNOSUPPORT EPERM"

// addresses returns addresses of this machine and of others, each with a port.
func addresses(t *testing.T, port string) []string {
	t.Helper()
	list := []string{"192.0.2.1", "80", "10.0.0.1", "80", "169.254.169.254", "80", "8.8.8.8", "53", "2001:db8::1", "80", "0.0.0.0", port}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n.IP.String(), port)
		}
	}
	return list
}

// children lists the processes that the process pid started.
func children(t *testing.T, pid int) []string {
	t.Helper()
	var found []string
	for _, p := range processes(t) {
		if p.parent == pid {
			found = append(found, strconv.Itoa(p.pid))
		}
	}
	return found
}

func TestNothingLeadsOutOfABox(t *testing.T) {
	t.Setenv("DEEPOJ_SECRET", "of the host") // agents start after this
	w := newWitness(t)
	onEveryDriverWith(t, sandbox.Config{Slots: 2, ReadOnly: []string{w.attic}}, func(t *testing.T, a *sandbox.Client) {
		for kind, writable := range map[string]bool{"in a box to run in": false, "in a box to compile in": true} {
			if writable && insideVM() {
				continue // control groups make no difference to that
			}
			t.Run(kind, func(t *testing.T) { nothingLeadsOutOfABox(t, a, w, writable) })
		}
	})
}

func nothingLeadsOutOfABox(t *testing.T, a *sandbox.Client, w *witness, writable bool) {
	b := newBench(t, a, "escape", sandbox.BoxOptions{Writable: writable})
	all := attacks(t, w)
	all["TCP cannot be offered"] = attack{args: []string{"listen"}, tries: 1, errors: "EAFNOSUPPORT"}
	if status(t, a).Rootless { // the host's options stay
		all["what is shown of the host is read without trace"] = attack{args: []string{"mounted"}, prints: "that is all\n"}
	}
	if oneID() {
		maps.Copy(all, attacksWithOneID(w, status(t, a).Landlock))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tt := all[name]
		if tt.sealed && writable {
			continue // there it may
		}
		t.Run(name, func(t *testing.T) {
			o := b.run(t, generous, tt.args...)
			if o.Verdict != sandbox.OK || o.stderr != "" {
				t.Fatalf("ended %v", o)
			}
			if tt.prints != "" && o.stdout != tt.prints {
				t.Errorf("printed %q, want %q", o.stdout, tt.prints)
			}
			if tt.prints == "" {
				tt.judge(t, o.stdout)
			}
			w.check(t)
		})
	}
}

// judge checks what the attempts ended with.
func (a attack) judge(t *testing.T, printed string) {
	t.Helper()
	if n := strings.Count(printed, "\n"); n < a.tries {
		t.Errorf("there were %d attempts, want %d at least:\n%s", n, a.tries, printed)
	}
	for line := range strings.Lines(printed) {
		_, how, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if !slices.Contains(strings.Fields(a.errors), how) {
			t.Errorf("an attempt ended with %q, want one of %s", strings.TrimSpace(line), a.errors)
		}
	}
}

func TestForeignSystemCallsAreKilled(t *testing.T) {
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "foreign", sandbox.BoxOptions{})
		for name, arch := range map[string]string{"int 0x80 is killed": "i386", "a system call of x32 is killed": "x32"} {
			t.Run(name, func(t *testing.T) {
				want := unix.SIGSYS
				if arch == "i386" && !takesInt80(t) {
					want = unix.SIGSEGV
				}
				if o := b.run(t, generous, arch); o.Verdict != sandbox.RE || o.Signal != int(want) {
					t.Errorf("ended %v, want %v", o, want)
				}
			})
		}
	})
}

// takesInt80 says whether the kernel takes system calls of 32-bit programs at all. One built without them faults at the
// instruction, before any filter is asked.
func takesInt80(t *testing.T) bool {
	t.Helper()
	f := hostile(t, "foreign")
	path := filepath.Join(t.TempDir(), f.Path)
	if err := os.WriteFile(path, f.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	err := exec.Command(path, "i386").Run()
	if !errors.As(err, &exit) {
		return err == nil
	}
	return exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSEGV
}

// A program that knows the paths at which the judge will look for its output
// leaves links there.
func TestNothingLeadsOutOfABoxByPlantedLinks(t *testing.T) {
	w := newWitness(t)
	onEveryDriver(t, func(t *testing.T, a *sandbox.Client) {
		b := newBench(t, a, "escape", sandbox.BoxOptions{Writable: true})
		plant := attack{args: []string{"plant", w.answer, w.dir}, tries: 12, errors: "worked EPERM EACCES"}
		o := b.run(t, generous, plant.args...)
		if o.Verdict != sandbox.OK {
			t.Fatalf("ended %v", o)
		}
		plant.judge(t, o.stdout)
		if n := strings.Count(o.stdout, "worked"); n != 11 { // all but the device
			t.Errorf("it could plant little:\n%s", o.stdout)
		}
		t.Run("a link is neither collected nor followed", func(t *testing.T) {
			got, err := b.box.Collect(t.Context(), []string{"link", "folder/**", "root/**", "pipe", "device", "c*/*", "plain", "hard", "set-*"}, 1000)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range got {
				names = append(names, f.Path+"="+string(f.Data))
				if f.Mode&^fs.ModePerm != 0 {
					t.Errorf("%s has mode %s", f.Path, f.Mode)
				}
			}
			if s := strings.Join(names, " "); s != "closed/file=mine hard=plain plain=plain set-user-id=x" {
				t.Errorf("collected %s", s)
			}
			w.check(t)
		})
		t.Run("a link is replaced and not written through", func(t *testing.T) {
			if err := b.box.Put(t.Context(), sandbox.File{Path: "link", Data: []byte("new")}); err != nil {
				t.Error(err)
			}
			got, err := b.box.Collect(t.Context(), []string{"link"}, 1000)
			if err != nil || len(got) != 1 || string(got[0].Data) != "new" {
				t.Errorf("it is now %v, %v", got, err)
			}
			w.check(t)
		})
		t.Run("a folder that is a link is not entered", func(t *testing.T) {
			for _, path := range []string{"folder/answer", "folder/new", "root/tmp/planted"} {
				if err := b.box.Put(t.Context(), sandbox.File{Path: path, Data: []byte("spoiled")}); err == nil {
					t.Errorf("Put(%s) worked", path)
				}
			}
			w.check(t)
		})
		t.Run("a link is not executed", func(t *testing.T) {
			r, err := b.box.Run(t.Context(), sandbox.Cmd{Program: "./folder/answer"})
			if err != nil || r.Verdict != sandbox.SE {
				t.Errorf("ended %+v, %v", r, err)
			}
			w.check(t)
		})
	})
	if b, err := os.ReadFile(w.answer); err != nil || string(b) != "forty-two\n" {
		t.Errorf("the host's file holds %q, %v", b, err)
	}
}
