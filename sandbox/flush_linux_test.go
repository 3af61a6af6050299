package sandbox_test

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// dirtyPages returns how many pages of a file that is mapped at pages wait to be written to the disk: the kernel tells
// root where each is in memory, and what it is there (Documentation/admin-guide/mm/pagemap.rst).
func dirtyPages(t *testing.T, pages []byte) (n int) {
	t.Helper()
	word := func(file string, at uint64) uint64 {
		f, err := os.Open(file)
		if err != nil {
			missing(t, err.Error())
		}
		defer f.Close()
		var b [8]byte
		if _, err := f.ReadAt(b[:], int64(at)*8); err != nil {
			t.Fatal(err)
		}
		return binary.NativeEndian.Uint64(b[:])
	}
	const place, isDirty = 1<<55 - 1, 1 << 4
	size := os.Getpagesize()
	for at := 0; at < len(pages); at += size {
		runtime.KeepAlive(pages[at] + 1) // it is mapped now
		if word("/proc/kpageflags", word("/proc/self/pagemap", uint64(uintptr(unsafe.Pointer(&pages[at])))/uint64(size))&place)&isDirty != 0 {
			n++
		}
	}
	return n
}

// A program that has nothing on a disk makes nobody else wait for one.
func TestAProgramWritesNothingOfTheHostsToItsDisks(t *testing.T) {
	needRoot(t)
	f, err := os.CreateTemp(".", "dirty-") // below /tmp there may be no disk
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var of unix.Statfs_t
	if err := errors.Join(os.Remove(f.Name()), unix.Fstatfs(int(f.Fd()), &of), f.Truncate(1<<20)); err != nil {
		t.Fatal(err)
	}
	if of.Type == unix.TMPFS_MAGIC {
		missing(t, "a folder on a disk")
	}
	pages, err := unix.Mmap(int(f.Fd()), 0, 1<<20, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(pages) })
	flush := map[string]string{
		"everything":        "os.sync()",
		"its file system":   "check(libc.syncfs(usr))",
		"a file of /usr":    "os.fsync(usr)",
		"its data":          "os.fdatasync(usr)",
		"a part of it":      "check(libc.sync_file_range(usr, ctypes.c_int64(0), ctypes.c_int64(0), 7))",
		"what is mapped":    "mmap.mmap(usr, 4096, prot=mmap.PROT_READ).flush()",
		"its own file":      "os.fsync(os.open('/tmp/own', os.O_CREAT | os.O_WRONLY))",
		"its own with data": "f = open('/tmp/own', 'w'); f.write('x'); f.flush(); os.fdatasync(f.fileno())",
	}
	for _, o := range []sandbox.BoxOptions{{}, {Writable: true, Locks: true}} {
		box := open(t, shared.get(t), o)
		for what, call := range flush {
			text := "import ctypes, mmap, os\nlibc = ctypes.CDLL(None, use_errno=True)\ndef check(r): assert r == 0, os.strerror(ctypes.get_errno())\n" +
				"usr = os.open('/usr/bin/env', os.O_RDONLY)\n" + call + "\n"
			waits := false
			for try := 0; try < 5 && !waits; try++ { // as the kernel itself writes now and then
				if _, err := f.WriteAt(make([]byte, 1<<20), 0); err != nil {
					t.Fatal(err)
				}
				before := dirtyPages(t, pages)
				r := run(t, box, sandbox.Cmd{Tool: "python3", Args: []string{"-c", text}, Limits: generous})
				if r.Verdict != sandbox.OK {
					t.Errorf("a program that flushes %s ended %v, want it to be told that all went well", what, r)
				}
				waits = before > 0 && dirtyPages(t, pages) > before/2
			}
			if !waits {
				t.Errorf("whenever a program flushed %s, what the host had changed was written to the disk", what)
			}
		}
	}
}
