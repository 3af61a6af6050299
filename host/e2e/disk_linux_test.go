package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNoSubmissionSuffersWhileADiskIsFull fills the disk on which judging writes.
func TestNoSubmissionSuffersWhileADiskIsFull(t *testing.T) {
	needRoot(t)
	small := filepath.Join(folder(t), "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1g,mode=755"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if out, err := exec.Command("cp", "-a", cache+"/.", small).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	give(t, small)
	data, env := filepath.Join(folder(t), "data"), []string{"CACHE_DIR=" + small}
	_, url, c := up(t, data, env)
	fill := filepath.Join(small, "fill")
	outage(t, url, data, env, c, "disk", "no space left on device", func() {
		f, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for block := make([]byte, 1<<16); len(block) > 0; { // to the last byte
			if _, err := f.Write(block); err != nil {
				block = block[:len(block)/2]
			}
		}
	}, func() {
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	})
}
