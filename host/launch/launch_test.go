package launch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAMountPointIsLeftToThoseWhoStillUseIt sweeps up after a launcher that has ended
// while a server of its own is still stopping.
func TestAMountPointIsLeftToThoseWhoStillUseIt(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("DEEPOJ_TEST") == "require" {
			t.Fatal("only root can mount")
		}
		t.Skip("only root can mount")
	}
	launcher := exec.Command("true")
	if err := launcher.Run(); err != nil {
		t.Fatal(err)
	}
	dir := fmt.Sprintf(mountPoint+"%d", launcher.Process.Pid)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// It reads one line once it is mounted, and says whether it still sees its data.
	server := exec.Command("unshare", "--mount", "sh", "-c", `mount --bind "$0" "$1" && echo mounted && read line && rm "$1/lock" && echo removed`, data, dir)
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("it mounted nothing: %v", server.Wait())
	}
	sweepMountPoints()
	if _, err := fmt.Fprintln(in, "go on"); err != nil {
		t.Error(err)
	}
	if !lines.Scan() {
		t.Error("its data was taken from under a server that was stopping")
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	sweepMountPoints()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("what nobody uses any more is left: %v", err)
	}
}
