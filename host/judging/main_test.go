package judging_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"deepoj/host/judging/judgingtest"
	"deepoj/plugins"
)

func TestMain(m *testing.M) { os.Exit(judgingtest.Main(m, "judging", 0, nil)) }

// buildJudge builds the program of one-shot runs in dir, once. A test binary with
// the race detector begins slowly, and takes a second to end.
func buildJudge(dir string) (string, error) {
	oneShot.Do(func() {
		oneShot.path = filepath.Join(dir, "deepoj-judge")
		cmd := exec.Command("go", "build", "-trimpath", "-o", oneShot.path, "../cmd/deepoj-judge")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			oneShot.err = fmt.Errorf("build deepoj-judge: %w\n%s", err, out)
		}
	})
	return oneShot.path, oneShot.err
}

// oneShot is a variable because tests have no other common place.
var oneShot struct {
	sync.Once

	path string
	err  error
}

// brokenProgram is an adapter's example of a program that does not compile.
type brokenProgram struct {
	text string
	line int
}

// broken returns the example of a language.
func broken(t *testing.T, id string) brokenProgram {
	t.Helper()
	adapters, err := plugins.Languages()
	if err != nil {
		t.Fatal(err)
	}
	module, err := judgingtest.Get(t).Runtime.LoadDigest(t.Context(), adapters.Digest(id), func() ([]byte, error) { return adapters.Read(id) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := module.Manifest.Language
	return brokenProgram{l.Broken[0].Text, l.BrokenLine}
}
