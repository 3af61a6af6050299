package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"deepoj/sandbox"
	"deepoj/sandbox/internal/wire"
	"deepoj/sandbox/oneshot"
)

// withUmask lets f start programs that begin with this umask.
func withUmask(t *testing.T, mask int, f func()) {
	t.Helper()
	old := unix.Umask(mask)
	defer unix.Umask(old)
	f()
}

func TestAStrictUmaskKeepsNothingFromPrograms(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "word"), []byte("a word\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("in the one-shot command, whose outputs are made with it", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		var line, stderr string
		var status int
		withUmask(t, 0o077, func() {
			line, stderr, status = judged(t, "--job-id", "1", "--attempt-id", "1", "--dir", dir, "--stdout", out, "--", "cat", "sub/word", "/etc/hosts")
		})
		if p, err := wire.ParseReport([]byte(line), 1, 1); err != nil || p.Verdict != sandbox.OK {
			t.Fatalf("it said %q %q with status %d: %v", line, stderr, status, err)
		}
		st, err := os.Stat(out)
		if err != nil || st.Mode().Perm() != 0o600 || st.Size() <= int64(len("a word\n")) {
			t.Errorf("the output is %v, %v", st, err)
		}
	})
	t.Run("in an agent", func(t *testing.T) {
		var p *oneshot.Process
		var a *sandbox.Client
		var err error
		withUmask(t, 0o077, func() { p, a, err = start(sandbox.Config{Slots: 1, FirstUID: driverUID}) })
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		b := open(t, a, sandbox.BoxOptions{})
		if err := b.Put(t.Context(), sandbox.File{Path: "sub/word", Data: []byte("a word\n")}); err != nil {
			t.Fatal(err)
		}
		r, err := b.Run(t.Context(), sandbox.Cmd{Tool: "cat", Args: []string{"sub/word", "/etc/hosts"}})
		if err != nil || r.Verdict != sandbox.OK {
			t.Errorf("Run = %+v, %v", r, err)
		}
	})
}
