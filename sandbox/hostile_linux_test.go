package sandbox_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deepoj/sandbox"
)

// hostile compiles testdata/hostile/<name>.c once, in a box of the shared agent,
// and returns the program.
func hostile(t testing.TB, name string) sandbox.File {
	t.Helper()
	compiled.Lock()
	defer compiled.Unlock()
	if f, ok := compiled.programs[name]; ok {
		return f
	}
	if insideVM() {
		return sandbox.File{Path: name, Mode: 0o755, Data: vmProgram(t, name)}
	}
	source, err := os.ReadFile(filepath.Join("testdata", "hostile", name+".c"))
	if err != nil {
		t.Fatal(err)
	}
	c := sandbox.Cmd{Tool: "gcc", Args: []string{"-O1", "-pthread", "-o", name, name + ".c"}}
	made := compile(t, shared.get(t), c, name, sandbox.File{Path: name + ".c", Data: source})
	compiled.programs[name] = made[0]
	return made[0]
}

var compiled = struct {
	sync.Mutex
	programs map[string]sandbox.File
}{programs: map[string]sandbox.File{}}

// bench holds a box with a hostile program in it, and checks after every run
// that the box is as good as new.
type bench struct {
	box     *sandbox.Box
	program string
}

func newBench(t testing.TB, a *sandbox.Client, program string, o sandbox.BoxOptions) bench {
	t.Helper()
	b := bench{open(t, a, o), program}
	err := b.box.Put(t.Context(), hostile(t, program), hostile(t, "leftover"), sandbox.File{Path: "ours", Data: []byte("ours")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs the program with args and looks for leftovers.
func (b bench) run(t testing.TB, l sandbox.Limits, args ...string) outcome {
	t.Helper()
	return b.runCmd(t, sandbox.Cmd{Program: "./" + b.program, Args: args, Limits: l})
}

func (b bench) runCmd(t testing.TB, c sandbox.Cmd) outcome {
	t.Helper()
	o := run(t, b.box, c)
	b.look(t)
	return o
}

// look fails the test if the next run finds anything of the one before.
func (b bench) look(t testing.TB) {
	t.Helper()
	o := run(t, b.box, sandbox.Cmd{Program: "./leftover", Args: []string{"look"}, Limits: generous})
	if o.Verdict != sandbox.OK || o.stdout != "" {
		t.Errorf("the next run found %v", o)
	}
}

const (
	ms  = time.Millisecond
	mib = int64(1 << 20)
)

// generous are limits of time that no program reaches which ends by itself, also
// on a busy or an emulated machine.
var generous = sandbox.Limits{CPU: 4 * time.Minute, Wall: 10 * time.Minute}
