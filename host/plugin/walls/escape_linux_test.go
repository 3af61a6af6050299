package walls_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/host/plugin/walls"
)

// escapeCommand runs [escape].
const escapeCommand = "plugin-escape"

func init() { wallPrograms[escapeCommand] = func([]string) { escape() } }

// escape is a program that confines itself and then tries what it may not.
// TestMain runs it.
func escape() {
	if err := walls.Confine(); err != nil {
		fmt.Println(err)
		return
	}
	_, errno := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	fmt.Println("socket:", errno)
	fmt.Println("program:", exec.Command("/bin/true").Run())
	fmt.Println("unshare:", unix.Unshare(unix.CLONE_NEWUSER))
	fmt.Println("trace:", unix.PtraceAttach(os.Getppid()))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			runtime.LockOSThread() // a new thread each
			_, errno := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if errno == nil {
				fmt.Println("a later thread has a socket")
			}
		})
	}
	wg.Wait()
	fmt.Println("threads: done")
}

func TestAGuestThatBreaksOutFindsNothing(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(exe, escapeCommand).CombinedOutput()
	const no = "operation not permitted"
	want := "socket: " + no + "\nprogram: fork/exec /bin/true: " + no + "\nunshare: " + no + "\ntrace: " + no + "\nthreads: done\n"
	if err != nil || string(said) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, said, want)
	}
}
