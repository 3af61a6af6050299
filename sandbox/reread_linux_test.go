package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// A program fills its limit with data and goes on reading its files. The kernel takes
// the pages of these away to let it live, for as long as it likes. That is a want of
// memory; and what a run was the first to read is not read again by the next.
func TestAProgramThatHasNoMemoryLeftForItsOwnTextIsMLE(t *testing.T) {
	if insideVM() {
		return // where all files are in memory, which no limit takes away
	}
	dir, err := os.MkdirTemp("/var/tmp", "deepoj") // a box has a /tmp of its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own := hostile(t, "reread")
	path := filepath.Join(dir, own.Path)
	if err := os.WriteFile(path, append(own.Data, make([]byte, 24*mib)...), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tools := map[string]sandbox.Tool{"reread": {Path: path, Roots: []string{dir}}}
	onEveryDriverWith(t, sandbox.Config{Slots: 1, Tools: tools}, func(t *testing.T, a *sandbox.Client) {
		exact := bounded(t, a)
		b := newBench(t, a, "memory", sandbox.BoxOptions{})
		run := func(data, times int) outcome {
			l := generous
			l.CPU, l.Wall, l.MemoryBytes = 20*time.Second, 2*time.Minute, 128*mib
			return b.runCmd(t, sandbox.Cmd{Tool: "reread", Args: []string{path, fmt.Sprint(data), fmt.Sprint(times)}, Limits: l})
		}
		forget(t, path)
		if o := run(1, 1); o.Verdict != sandbox.OK {
			t.Errorf("a program that reads its file once ended %v", o)
		}
		if n := resident(t, path); n < 20*mib {
			t.Errorf("%d KiB of a file are left in the kernel's cache that a run has read: the next reads it again", n>>10)
		}
		if !exact {
			return
		}
		for _, data := range []int{0, 90} {
			forget(t, path)
			if o := run(data, 20); o.Verdict != sandbox.OK {
				t.Errorf("a program with %d MiB of data and room for its file ended %v", data, o)
			}
		}
		for _, data := range []int{115, 122} { // with the second, the kernel gives up by itself
			forget(t, path)
			if o := run(data, 1<<30); o.Verdict != sandbox.MLE {
				t.Errorf("a program with %d MiB of data and no room for its file ended %v", data, o)
			}
		}
	})
}

// forget takes a file out of the kernel's cache.
func forget(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fsync(int(f.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
}

// resident returns how many bytes of a file are in the kernel's cache.
func resident(t *testing.T, path string) (n int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(m) }()
	page := os.Getpagesize()
	pages := make([]byte, (len(m)+page-1)/page)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, p := range pages {
		n += int64(p&1) * int64(page)
	}
	return n
}
