package reading_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/host/blob"
	"deepoj/host/plugin/walls"
	"deepoj/host/problem"
	"deepoj/host/reading"
)

// onlyLandlock is what nothing but Landlock forbids. A program that C is linked into cannot
// have that: it takes a system call in all threads. Ours have no C; tests have under the race
// detector.
var onlyLandlock = []string{
	"open the memory of who asked", "read the environment of who asked", "read a file", "list a folder",
}

// probe tries what a reader that was taken over would want, and says what worked.
func probe() string {
	var worked []string
	try := func(what string, err error) {
		if err == nil {
			worked = append(worked, what)
		}
	}
	if len(os.Environ()) > 0 {
		try("see the environment", nil)
	}
	for fd := 3; fd < 64; fd++ {
		// What this process has opened itself, for the Go runtime, is marked.
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			try(fmt.Sprintf("use descriptor %d", fd), nil)
		}
	}
	_, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	try("make a connection", err)
	_, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	try("make a local connection", err)
	try("start a program", exec.Command("/bin/true").Run())
	_, err = os.Open(fmt.Sprintf("/proc/%d/mem", os.Getppid()))
	try("open the memory of who asked", err)
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	try("read the environment of who asked", err)
	_, err = os.ReadFile("/etc/passwd")
	try("read a file", err)
	_, err = os.ReadDir("/tmp")
	try("list a folder", err)
	try("write a file", os.WriteFile("/tmp/deepoj-probe", []byte("x"), 0o600))
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		try("be looked into", nil)
	}
	return "it could " + strings.Join(worked, ", ")
}

func TestAReaderCanDoNothingElse(t *testing.T) {
	door, err := unix.Dup(int(archive(t).Fd())) // as a parent that is careless would leave open
	must(t, err)
	defer unix.Close(door)
	r, err := reading.Config{}.Sample(t.Context(), "probe")
	must(t, r.Close())
	if err == nil {
		t.Fatal("a reader that was taken over says nothing")
	}
	could := err.Error()
	landlock := walls.All()[0]
	switch {
	case !cgoEnabled && strings.Contains(landlock.Missing, "cgo"):
		t.Errorf("without cgo it is said that %s", landlock.Missing)
	case landlock.Missing != "" && !cgoEnabled && os.Getenv("DEEPOJ_TEST") == "require":
		t.Error(landlock.Missing)
	case landlock.Missing != "":
		t.Log(landlock.Missing)
		for _, what := range onlyLandlock {
			could = strings.NewReplacer(what+", ", "", ", "+what, "", what, "").Replace(could)
		}
	}
	if could != "it could " {
		t.Errorf("a reader that was taken over: %v", could)
	}
}

// forge answers as a reader would that was taken over.
func forge(lie string) int {
	small := `{"schema":1,"format":"icpc-legacy","root":{"items":[{"test":{"name":"1","input":{"path":"1.in","size":2},"answer":{"path":"1.in","size":2}}}]},"checkers":[{"standard":"default"}],"files":[{"path":"1.in","size":2}],"statement":"<p>x</p>"}`
	from, to, _ := strings.Cut(lie, "=>")
	text := strings.Replace(small, from, to, 1)
	head := []byte(`{"package":` + text + `}`)
	var err error
	switch {
	case lie == "long":
		err = reading.Frame('H', make([]byte, reading.MaxHead+1))
	case lie == "no frame":
		_, err = os.Stdout.WriteString("hello")
	case lie == "no answer":
		err = reading.Frame('H', []byte("{}"))
	case from == "content":
		if err = reading.Frame('H', []byte(`{"package":`+small+`}`)); err == nil {
			_, err = io.ReadFull(os.Stdin, make([]byte, 4))
		}
		if err == nil {
			err = reading.Frame('D', []byte(to))
		}
		if err == nil {
			err = reading.Frame('E', nil)
		}
	case lie != "" && text == small:
		err = fmt.Errorf("%q is not in the answer", from)
	default:
		err = reading.Frame('H', head)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin) // until nobody asks
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestNothingIsBelievedOfAReader(t *testing.T) {
	read := func(lie string) (*reading.Reading, error) {
		return reading.Config{Patience: time.Minute}.Sample(t.Context(), "lie "+lie)
	}
	if r, err := read(""); err != nil {
		t.Fatalf("what is true: %v", err)
	} else {
		must(t, r.Close())
	}
	for what, lie := range map[string]string{
		"a script":                      `<p>x</p>=><script>x</script>`,
		"an event handler":              `<p>x</p>=><p onclick=\"x\">`,
		"a link that runs":              `<p>x</p>=><a href=\"javascript:x\">`,
		"a link that runs, encoded":     `<p>x</p>=><a href=\"java&#115;cript:x\">`,
		"a picture":                     `<p>x</p>=><img src=\"//x\">`,
		"a tag that is cut":             `<p>x</p>=><p`,
		"a picture of no file":          `"files":[=>"pictures":[{"name":"` + strings.Repeat("a1", 32) + `.png","type":"image/png","file":{"path":"x","size":1}}],"files":[`,
		"a picture of another name":     `"files":[=>"pictures":[{"name":"../x.png","type":"image/png","file":{"path":"1.in","size":2}}],"files":[`,
		"a picture that is a page":      `"files":[=>"pictures":[{"name":"` + strings.Repeat("a1", 32) + `.png","type":"text/html","file":{"path":"1.in","size":2}}],"files":[`,
		"a class of the site":           `<p>x</p>=><p class=\"button\">`,
		"an element that nothing ends":  `<p>x</p>=><p>`,
		"a style":                       `<p>x</p>=><p style=\"position:fixed\">`,
		"a file outside":                `"path":"1.in","size":2}]=>"path":"../1.in","size":2}]`,
		"a file of less than nothing":   `"path":"1.in","size":2}]=>"path":"1.in","size":-2}]`,
		"a file of too much":            `"path":"1.in","size":2}]=>"path":"1.in","size":99999999999}]`,
		"a file that is stored already": `"path":"1.in","size":2}]=>"path":"1.in","size":2,"digest":"sha256:00"}]`,
		"two files of a name":           `"files":[=>"files":[{"path":"1.in","size":2},`,
		"a test of no file":             `"input":{"path":"1.in"=>"input":{"path":"2.in"`,
		"an item that is nothing":       `"items":[=>"items":[{},`,
		"a checker that is nothing":     `{"standard":"default"}=>{}`,
		"another schema":                `"schema":1=>"schema":2`,
		"no tests":                      `"root":{=>"rot":{`,
		"an endless answer":             "long",
		"no answer":                     "no answer",
		"something else":                "no frame",
	} {
		r, err := read(lie)
		if _, ok := errors.AsType[*reading.FailureError](err); !ok {
			t.Errorf("%s: %v", what, err)
		}
		must(t, r.Close())
	}
	store, err := blob.OpenDir(t.TempDir())
	must(t, err)
	for _, content := range []string{"1", "1\n2"} { // a file of another size
		r, err := read("content=>" + content)
		must(t, err)
		if _, err := r.Save(t.Context(), store); err == nil || !problem.Unreadable(err) {
			t.Errorf("a file of two bytes that is %q: %v", content, err)
		}
		must(t, r.Close())
	}
	must(t, store.List(t.Context(), func(d blob.Digest, n int64) error { return fmt.Errorf("%s of %d bytes is stored", d, n) }))
}
