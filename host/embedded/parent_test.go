package embedded

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestServersEndWithAParentThatIsKilled(t *testing.T) {
	dir := folder(t)
	_, err := FindPostgres(t.Context(), "", 0)
	need(t, err)
	_, err = FindRedis("")
	need(t, err)

	for round := range 2 { // the second start finds what the first left
		parent := exec.Command("/proc/self/exe")
		parent.Env = append(os.Environ(), parentEnv+"="+dir, "DEEPOJ_TEMPLATES="+templates)
		parent.Stderr = os.Stderr
		out, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatalf("parent: %v", err)
		}
		var postgres, redis int
		if _, err := fmt.Sscanf(line, "ready %d %d", &postgres, &redis); err != nil {
			t.Fatalf("parent says %q: %v", line, err)
		}
		if !living(postgres) || !living(redis) {
			t.Fatalf("round %d: the servers do not run", round)
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := parent.Wait(); err == nil {
			t.Error("the parent ended by itself")
		}
		if round == 0 {
			eventually(t, "servers end with their parent", func() bool { return !living(postgres) && !living(redis) })
		} // in the second round the next start must cope, however far they are
	}
	p := startPostgres(t, PostgresConfig{DataDir: filepath.Join(dir, "postgres")})
	if got := query(t, p, "SELECT 1"); got != "1" {
		t.Errorf("SELECT 1 = %q", got)
	}
	startRedis(t, RedisConfig{DataDir: filepath.Join(dir, "redis")})
}
