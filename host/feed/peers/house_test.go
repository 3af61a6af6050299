package peers

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// house is a judge's PostgreSQL.
type house struct {
	pg  *sqltest.Cluster
	dir string // for logs, on the disk
}

func newHouse(b *testing.B) *house {
	b.Helper()
	pg := sqltest.NewCluster(b, map[string]string{"shared_buffers": "256MB", "max_wal_size": "4GB", "max_slot_wal_keep_size": "8GB"})
	pg.Exec(b, "CREATE ROLE "+published.Role+" LOGIN REPLICATION")
	pg.Exec(b, published.Grants(published.Role)...)
	pg.Exec(b, published.Create(published.Publication))
	dir, err := os.MkdirTemp("", "deepoj-feed-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &house{pg, dir}
}

// jobs is of how many jobs the events are.
const jobs = 1000

// data is that of an event about a test.
const data = `{"test": {"name": "secret/12-large", "verdict": "AC", "cpu_us": 1234, "wall_us": 2345, "memory_kib": 3456}, "total": 40, "worker": "worker-7"}`

// write commits n events, five in a transaction, beginning with number from.
func (h *house) write(b *testing.B, from, n int) {
	b.Helper()
	h.pg.Exec(b, "SET synchronous_commit = off; SET client_min_messages = error", `DO $$ BEGIN
	FOR i IN `+strconv.Itoa(from/5)+`..`+strconv.Itoa((from+n)/5-1)+` LOOP
		INSERT INTO single_events (job_id, generation, attempt, kind, data)
		SELECT (i * 5 + k) % `+strconv.Itoa(jobs)+` + 1, 1, 1, 'test', '`+data+`' FROM generate_series(0, 4) k;
		COMMIT;
	END LOOP;
END $$`)
}

// used is what a child has taken.
type used struct {
	wall, cpu time.Duration
	memory    int64 // bytes at most
}

// child prepares one.
func (h *house) child(b *testing.B, role, slot, broker string, want int) *exec.Cmd {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+role, urlEnv+"="+h.pg.DSN(b, published.Role), slotEnv+"="+slot, brokerEnv+"="+broker,
		dirEnv+"="+filepath.Join(h.dir, slot), wantEnv+"="+strconv.Itoa(want))
	cmd.Stderr = os.Stderr
	return cmd
}

// spend runs a command to its end.
func spend(b *testing.B, cmd *exec.Cmd) used {
	b.Helper()
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(cmd.Path, err)
	}
	return usedBy(cmd, time.Since(began))
}

func usedBy(cmd *exec.Cmd, wall time.Duration) used {
	s := cmd.ProcessState
	return used{wall, s.UserTime() + s.SystemTime(), s.SysUsage().(*syscall.Rusage).Maxrss << 10}
}

// broker starts one, and returns its address and its process.
func (h *house) broker(b *testing.B) (address string, p *os.Process) {
	b.Helper()
	cmd := h.child(b, "broker", "", "", -1)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { end(cmd.Process, cmd.Wait) })
	return strings.TrimSpace(line), cmd.Process
}

// end ends a child that may be stopped or ended already.
func end(p *os.Process, wait func() error) {
	_ = p.Signal(syscall.SIGCONT)
	_ = p.Signal(syscall.SIGKILL)
	_ = wait()
}

// throwAway has pg_recvlogical receive what a slot has.
func (h *house) throwAway(b *testing.B, slot string, mode ...string) used {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), filepath.Join(h.pg.Binaries().Dir, "pg_recvlogical"),
		append([]string{"-d", h.pg.DSN(b, published.Role), "--slot", slot}, mode...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v\n%s", err, &said)
	}
	return usedBy(cmd, time.Since(began))
}

// number reads one from the environment.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
