package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// witness is what the host has to lose: an answer that everybody on it may read
// and write, services that everybody may call, and a program that makes everybody
// root. It notices whoever comes near.
type witness struct {
	dir    string // holds the answer and a socket
	answer string
	attic  string // holds the program, and is shown in boxes: not in /tmp, which they have their own of
	port   string // of 127.0.0.1, TCP and UDP
	name   string // of an abstract socket

	watch    int           // inotify
	services []unix.PollFd // sockets that nobody may call
}

// newWitness makes a witness for the time of the test. Its program is escape.
func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{dir: publicFolder(t, os.TempDir()), attic: publicFolder(t, "/var/tmp")}
	w.answer, w.name = filepath.Join(w.dir, "answer"), "@"+filepath.Base(w.dir)
	for path, content := range map[string][]byte{w.answer: []byte("forty-two\n"), w.program(): hostile(t, "escape").Data} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(w.answer, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.program(), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	w.serve(t)
	w.look(t)
	return w
}

// publicFolder returns a folder below parent that everybody may enter and write,
// for the time of the test.
func publicFolder(t *testing.T, parent string) string {
	t.Helper()
	err := os.MkdirAll(parent, 0o1777) // a virtual machine has no /var/tmp
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(parent, "sandbox-host-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// serve opens the services.
func (w *witness) serve(t *testing.T) {
	t.Helper()
	raiseLoopback(t)
	add := func(family, kind int, addr unix.Sockaddr) int {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err == nil {
			t.Cleanup(func() { unix.Close(fd) })
			err = unix.Bind(fd, addr)
		}
		if err == nil && kind != unix.SOCK_DGRAM {
			err = unix.Listen(fd, 16)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.services = append(w.services, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		return fd
	}
	local := [4]byte{127, 0, 0, 1}
	tcp := add(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Addr: local})
	addr, err := unix.Getsockname(tcp)
	if err != nil {
		t.Fatal(err)
	}
	port := addr.(*unix.SockaddrInet4).Port
	w.port = strconv.Itoa(port)
	add(unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Addr: local, Port: port})
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET, unix.SOCK_DGRAM} {
		add(unix.AF_UNIX, kind, &unix.SockaddrUnix{Name: w.name})
	}
	add(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: w.socket()})
	if err := os.Chmod(w.socket(), 0o777); err != nil {
		t.Fatal(err)
	}
}

func (w *witness) socket() string  { return filepath.Join(w.dir, "socket") }
func (w *witness) program() string { return filepath.Join(w.attic, "escape") }

// raiseLoopback sees to it that 127.0.0.1 exists, which a virtual machine begins
// without.
func raiseLoopback(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		err = unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo)
	}
	if err == nil && lo.Uint16()&unix.IFF_UP == 0 {
		lo.SetUint16(lo.Uint16() | unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// look begins to look at the files: what happens to them from now on is noticed.
func (w *witness) look(t *testing.T) {
	t.Helper()
	var err error
	if w.watch, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(w.watch) })
	for _, path := range []string{w.dir, w.answer} {
		if _, err := unix.InotifyAddWatch(w.watch, path, unix.IN_ALL_EVENTS); err != nil {
			t.Fatal(err)
		}
	}
}

// noticed says what happened since it was asked last.
func (w *witness) noticed(t *testing.T) []string {
	t.Helper()
	var found []string
	buf := make([]byte, 4096)
	for {
		n, err := unix.Read(w.watch, buf)
		if err != nil || n == 0 {
			break // nothing more
		}
		found = append(found, fmt.Sprintf("%d bytes of events about %s", n, w.dir))
	}
	if n, err := unix.Poll(w.services, 0); err != nil || n != 0 {
		found = append(found, fmt.Sprintf("%d services were called (%v)", n, err))
	}
	for i := range w.services {
		w.services[i].Revents = 0
	}
	for _, p := range strangers(t, driverUID) {
		found = append(found, fmt.Sprintf("process %d %s is left", p.pid, p.name))
	}
	for _, dir := range []string{"", "/usr", "/usr/bin", "/etc", "/bin", "/lib", "/dev", "/dev/shm", "/tmp", "/var/tmp", "/root", "/box", w.dir, w.attic} {
		if _, err := os.Lstat(dir + "/planted"); err == nil {
			found = append(found, "the file "+dir+"/planted")
		}
	}
	return found
}

// check fails the test if something happened.
func (w *witness) check(t *testing.T) {
	t.Helper()
	if found := w.noticed(t); len(found) != 0 {
		t.Errorf("the host noticed %q", found)
	}
}

// A witness that notices nothing would prove nothing: outside of a box, attacks
// work.
func TestOutsideOfABoxAttacksWorkAndAreNoticed(t *testing.T) {
	needRoot(t)
	for name, tt := range map[string]struct {
		args    func(w *witness) []string
		want    string
		noticed bool
	}{
		"an answer is read":            {func(w *witness) []string { return []string{"read", w.answer} }, "worked\nit holds forty-two", true},
		"an answer is opened to write": {func(w *witness) []string { return []string{"write", w.answer} }, "worked", true},
		"a file is planted":            {func(w *witness) []string { return []string{"create", w.dir} }, "planted: worked", true},
		"a TCP service is called":      {func(w *witness) []string { return []string{"tcp", "127.0.0.1", w.port} }, "worked", true},
		"a UDP service is called":      {func(w *witness) []string { return []string{"udp", "127.0.0.1", w.port} }, "worked", true},
		"an abstract socket is called": {func(w *witness) []string { return []string{"unix", w.name} }, "worked", true},
		"a socket is called":           {func(w *witness) []string { return []string{"unix", w.socket()} }, "worked", true},
		"a program makes itself root":  {func(w *witness) []string { return []string{"set-user-id", w.program()} }, "to be root: worked", false},
		"System V memory is shared":    {func(*witness) []string { return []string{"system-v"} }, "shared memory: worked", false},
		"the environment is read":      {func(*witness) []string { return []string{"environment"} }, "DEEPOJ_SECRET=of the host", false},
		"the sockets are listed":       {func(*witness) []string { return []string{"network"} }, "unix: worked", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWitness(t)
			w.check(t)
			cmd := exec.Command(w.program(), tt.args(w)...)
			cmd.Env = []string{"DEEPOJ_SECRET=of the host"}
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
				Cloneflags: unix.CLONE_NEWIPC, // so that nothing is left
			}
			if unsuited(t, w.attic) {
				tt.want = strings.Replace(tt.want, "to be root: worked", "to be root: EPERM", 1)
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("it printed %q, %v, and not %q", out, err, tt.want)
			}
			if found := w.noticed(t); (len(found) != 0) != tt.noticed {
				t.Errorf("the host noticed %q", found)
			}
		})
	}
}

// unsuited reports whether no program in a folder of the host can have the
// set-user-id bit.
func unsuited(t *testing.T, dir string) bool {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return st.Flags&unix.ST_NOSUID != 0
}

// nobody is a user without privilege.
const nobody = 65534
