package sandbox_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deepoj/sandbox"
)

// whisperer runs the program whisper somewhere.
type whisperer interface {
	// hear runs it to its end and returns what it printed.
	hear(t *testing.T, way string) string

	// start runs it until end is called, which returns what it printed besides.
	start(t *testing.T, do, way string) (end func() string)
}

// outside runs whisper as an ordinary process, of root's.
type outside struct{ program string }

func (o outside) hear(t *testing.T, way string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), o.program, "hear", way).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func (o outside) start(t *testing.T, do, way string) func() string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), o.program, do, way)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	ready(t, lines)
	return func() string {
		_ = in.Close()
		rest := remainder(t, lines)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return rest
	}
}

// boxed runs whisper in a box of its own.
type boxed struct {
	opens func(sandbox.BoxOptions) (*sandbox.Box, error)
	with  sandbox.BoxOptions
}

func (b boxed) box(t *testing.T) *sandbox.Box {
	t.Helper()
	box, err := b.opens(b.with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	if err := box.Put(t.Context(), hostile(t, "whisper")); err != nil {
		t.Fatal(err)
	}
	return box
}

func (b boxed) hear(t *testing.T, way string) string {
	t.Helper()
	box := b.box(t)
	o := run(t, box, sandbox.Cmd{Program: "./whisper", Args: []string{"hear", way}, Limits: generous})
	if err := box.Close(); err != nil || o.Verdict != sandbox.OK {
		t.Fatalf("whisper ended %v, %v", o, err)
	}
	return o.stdout
}

func (b boxed) start(t *testing.T, do, way string) func() string {
	t.Helper()
	box := b.box(t)
	in, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hear, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		r, err := box.RunPiped(t.Context(), sandbox.Cmd{
			Program: "./whisper", Args: []string{do, way}, Stdin: in, Stdout: out, Limits: generous,
		})
		if err != nil || r.Verdict != sandbox.OK {
			ended <- r.Error + " " + string(r.Verdict)
			return
		}
		ended <- ""
	}()
	lines := bufio.NewReader(hear)
	ready(t, lines)
	return func() string {
		_ = say.Close()
		rest := remainder(t, lines)
		if why := <-ended; why != "" {
			t.Errorf("whisper ended with %s", why)
		}
		_ = hear.Close()
		_ = box.Close()
		return rest
	}
}

func ready(t *testing.T, lines *bufio.Reader) {
	t.Helper()
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("whisper said %q, %v", line, err)
	}
}

func remainder(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(lines); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The ways to tell somebody something: by leaving something, or by doing something
// that is noticed.
var (
	leaving = []string{"flock", "record lock", "lock of an open file", "hint", "time"}
	noticed = []string{"opening", "reading"}
)

// tells reports whether a hears what b says in a way.
func tells(t *testing.T, a, b whisperer, way string) bool {
	t.Helper()
	before := a.hear(t, way)
	end := b.start(t, "say", way)
	after := a.hear(t, way)
	end()
	return before != after
}

// notices reports whether a notices what b does in a way.
func notices(t *testing.T, a, b whisperer, way string) bool {
	t.Helper()
	end := a.start(t, "watch", way)
	b.start(t, "say", way)()
	return strings.Contains(end(), "noticed")
}

func TestTwoBoxesTellEachOtherNothingThroughUsr(t *testing.T) {
	a := shared.get(t)
	agent := func(o sandbox.BoxOptions) (*sandbox.Box, error) { return a.OpenBox(t.Context(), o) }
	door := keep(t, sandbox.Config{Slots: 3, FirstUID: driverUID}, false)
	oneShot := func(o sandbox.BoxOptions) (*sandbox.Box, error) { return door.OpenBox(t.Context(), o) }
	for name, w := range map[string]whisperer{
		"boxes of an agent":           boxed{agent, sandbox.BoxOptions{}},
		"boxes that can be written":   boxed{agent, sandbox.BoxOptions{Writable: true}},
		"boxes of runs without agent": boxed{oneShot, sandbox.BoxOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, way := range leaving {
				if tells(t, w, w, way) {
					t.Errorf("one hears the other by a %s", way)
				}
			}
			for _, way := range noticed {
				if notices(t, w, w, way) {
					t.Errorf("one notices the other's %s of files", way)
				}
			}
		})
	}
	t.Run("a box notices nothing of the host", func(t *testing.T) {
		in, out := boxed{agent, sandbox.BoxOptions{}}, whisperOutside(t)
		for _, way := range noticed {
			if notices(t, in, out, way) {
				t.Errorf("a box notices the host's %s of files", way)
			}
		}
	})
}

func TestOutsideOfABoxWhisperingWorks(t *testing.T) {
	needRoot(t)
	w := whisperOutside(t)
	for _, way := range leaving {
		t.Run(way, func(t *testing.T) {
			if !tells(t, w, w, way) {
				t.Error("it was not heard")
			}
		})
	}
	for _, way := range noticed {
		t.Run(way, func(t *testing.T) {
			if !notices(t, w, w, way) {
				t.Error("it was not noticed")
			}
		})
	}
}

// An agent gives the network namespace of a room that is gone to another room. All that a program can do there is looked
// for by the next one, and a program that could do more keeps its namespace for itself.
func TestNothingIsLeftInANetworkForALaterRoom(t *testing.T) {
	a := shared.get(t)
	look := func(o sandbox.BoxOptions, ways ...string) (network, rest string) {
		t.Helper()
		b, err := a.OpenBox(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Put(t.Context(), hostile(t, "network")); err != nil {
			t.Fatal(err)
		}
		for _, way := range append(ways, "look") {
			r := run(t, b, sandbox.Cmd{Program: "./network", Args: []string{way}, Limits: generous})
			if r.Verdict != sandbox.OK {
				t.Fatalf("a program ended %v", r)
			}
			network, rest, _ = strings.Cut(r.stdout, "\n")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		return network, rest
	}
	_, fresh := look(sandbox.BoxOptions{})
	if strings.Count(fresh, " is read\n") < 20 {
		t.Fatalf("a program sees only %q of its network", fresh)
	}
	used := map[string]bool{}
	again := 0
	for range 12 { // more than are ready at once
		network, rest := look(sandbox.BoxOptions{}, "fill")
		for line := range strings.Lines(rest) {
			if !strings.Contains(fresh, line) {
				t.Errorf("a program finds %.500s", line)
			}
		}
		if used[network] {
			again++
		}
		used[network] = true
	}
	if again == 0 {
		t.Error("no room had the network of an earlier one")
	}
	alone := map[string]bool{}
	for range 12 {
		network, _ := look(sandbox.BoxOptions{Locks: true, Writable: true}, "fill")
		if alone[network] {
			t.Error("a room had the network of one with locks")
		}
		alone[network] = true
	}
	for range 12 {
		if network, _ := look(sandbox.BoxOptions{}); alone[network] {
			t.Error("a room had the network of one with locks")
		}
	}
}

func TestOnlyCompilersLockFilesAndNobodyIsRefused(t *testing.T) {
	a := shared.get(t)
	door := keep(t, sandbox.Config{Slots: 1, FirstUID: driverUID}, false)
	lock := `import fcntl, os
f, g = os.open("cache", os.O_CREAT | os.O_RDWR), os.open("cache", os.O_RDWR)
fcntl.flock(f, fcntl.LOCK_EX)
try: fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: print("flock")
fcntl.lockf(f, fcntl.LOCK_EX)
if os.fork() == 0:
    try: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: print("lockf")
else: os.wait()`
	for _, locks := range []bool{true, false} {
		o := sandbox.BoxOptions{Writable: true, Locks: locks}
		oneShot, err := door.OpenBox(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer oneShot.Close()
		for _, b := range []*sandbox.Box{open(t, a, o), oneShot} {
			want := ""
			if locks {
				want = "flock\nlockf\n"
			}
			if r := run(t, b, sandbox.Cmd{Tool: "python3", Args: []string{"-uc", lock}, Limits: generous}); r.Verdict != sandbox.OK || r.stdout != want {
				t.Errorf("with Locks %t it ended %v, want it to see %q", locks, r, want)
			}
		}
	}
}

// whisperOutside returns whisper as a program of the host.
func whisperOutside(t *testing.T) outside {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whisper")
	if err := os.WriteFile(path, hostile(t, "whisper").Data, 0o755); err != nil {
		t.Fatal(err)
	}
	return outside{path}
}
