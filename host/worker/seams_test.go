package worker_test

import (
	"os/exec"
	"strings"
	"testing"

	"deepoj/host/liveness"
	"deepoj/host/worker"
	"deepoj/sql/jobs"
)

// What answers in production.
var (
	_ worker.Store     = (*jobs.Queue)(nil)
	_ worker.Directory = liveness.Directory(nil)
)

func TestAWorkerNeedsNeitherTheDatabaseNorEtcdNorGRPC(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("only %d packages are listed", len(packages))
	}
	for _, p := range packages {
		for _, root := range []string{"go.etcd.io/", "google.golang.org/grpc", "github.com/jackc/pgx", "deepoj/sql"} {
			if strings.HasPrefix(p, root) {
				t.Errorf("the package of workers imports %s", p)
			}
		}
	}
}
