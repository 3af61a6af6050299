package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
)

// dirty returns how many pages of a file wait to be written to the disk.
func dirty(t *testing.T, f *os.File) uint64 {
	t.Helper()
	var all struct{ off, len uint64 } // all of it
	var stat struct{ cache, dirty, writeback, evicted, lately uint64 }
	if _, _, errno := unix.Syscall6(unix.SYS_CACHESTAT, f.Fd(), uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&stat)), 0, 0, 0); errno != 0 {
		if errors.Is(errno, unix.ENOSYS) {
			t.Skip("the kernel does not say what waits to be written: that takes Linux 6.5")
		}
		t.Fatal(errno)
	}
	return stat.dirty
}

// A program that has nothing on a disk makes nobody else wait for one.
func TestAProgramWritesNothingOfTheHostsToItsDisks(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "dirty"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
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
				before := dirty(t, f)
				if before == 0 {
					t.Skip("temporary files are on no disk")
				}
				r := run(t, box, sandbox.Cmd{Tool: "python3", Args: []string{"-c", text}, Limits: generous})
				if r.Verdict != sandbox.OK {
					t.Errorf("a program that flushes %s ended %v, want it to be told that all went well", what, r)
				}
				waits = dirty(t, f) > before/2
			}
			if !waits {
				t.Errorf("whenever a program flushed %s, what the host had changed was written to the disk", what)
			}
		}
	}
}
