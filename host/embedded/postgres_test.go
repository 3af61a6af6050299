package embedded

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"deepoj/host/platform"
)

func TestPostgresServesWhatTheChangeFeedNeeds(t *testing.T) {
	p := startPostgres(t, postgresConfig(folder(t)))
	for setting, want := range map[string]string{
		"listen_addresses":       "",
		"wal_level":              "replica",
		"max_replication_slots":  "4",
		"max_wal_senders":        "4",
		"max_slot_wal_keep_size": "4GB",
		"server_encoding":        "UTF8",
	} {
		if got := query(t, p, "SHOW "+setting); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
	if got := query(t, p, "SELECT current_database()"); got != postgresDatabase {
		t.Errorf("the address leads to database %q, want %q", got, postgresDatabase)
	}
}

func TestPostgresKeepsItsDataOverARestart(t *testing.T) {
	cfg := postgresConfig(folder(t))
	p := startPostgres(t, cfg)
	dsn := p.DSN()
	query(t, p, "CREATE TABLE kept AS SELECT 42 AS n")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	state, err := exec.Command(filepath.Join(p.Binaries.Dir, "pg_controldata"), p.cluster).Output()
	if err != nil || !strings.Contains(string(state), "shut down\n") {
		t.Errorf("the cluster was not shut down in order: %v\n%s", err, state)
	}

	p = startPostgres(t, cfg)
	if got := query(t, p, "SELECT n FROM kept"); got != "42" {
		t.Errorf("after a restart the table holds %q, want 42", got)
	}
	if p.DSN() != dsn {
		t.Errorf("the address changed from %s to %s", dsn, p.DSN())
	}
}

func TestPostgresRunsAsAnUnprivilegedAccountWhenRoot(t *testing.T) {
	account, err := Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	p := startPostgres(t, postgresConfig(folder(t)))
	r := startRedis(t, RedisConfig{DataDir: filepath.Join(folder(t), "redis")})
	want := strconv.Itoa(os.Geteuid())
	if account != nil {
		want = strconv.Itoa(int(account.UID))
	}
	for _, pid := range []int{p.PID(), r.PID()} {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(status), "Uid:\t"+want+"\t"+want+"\t"+want) {
			t.Errorf("process %d does not run as user %s:\n%s", pid, want, status)
		}
	}
	info, err := os.Stat(p.SockDir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket has mode %v, want 0700", info.Mode().Perm())
	}
}

func TestTwoInstancesOnOneFolderAreRefused(t *testing.T) {
	dir := folder(t)
	startPostgres(t, postgresConfig(dir))
	_, err := StartPostgres(t.Context(), postgresConfig(dir))
	inUse, ok := errors.AsType[*InUseError](err)
	if !ok {
		t.Fatalf("second PostgreSQL: %v, want an InUseError", err)
	}
	if inUse.PID != os.Getpid() || !strings.Contains(err.Error(), "is in use by process") {
		t.Errorf("the error does not say who has the folder: %v", err)
	}

	startRedis(t, RedisConfig{DataDir: filepath.Join(dir, "redis")})
	_, err = StartRedis(t.Context(), RedisConfig{DataDir: filepath.Join(dir, "redis")})
	if _, ok := errors.AsType[*InUseError](err); !ok {
		t.Errorf("second Redis: %v, want an InUseError", err)
	}
}

func TestPostgresComesBackAfterSIGKILL(t *testing.T) {
	p := startPostgres(t, postgresConfig(folder(t)))
	query(t, p, "CREATE TABLE kept AS SELECT 42 AS n")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()

	pid := p.PID()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a new server", func() bool { return p.PID() != pid })
	if got := query(t, p, "SELECT n FROM kept"); got != "42" {
		t.Errorf("after a crash the table holds %q, want 42", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v, want nil", err)
	}
	if living(p.PID()) {
		t.Error("the server lives on after Run")
	}
}

func TestAStaleLockFileWithAForeignPIDDoesNotKeepPostgresFromStarting(t *testing.T) {
	cfg := postgresConfig(folder(t))
	p := startPostgres(t, cfg)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	// A process of the same account that happens to have the pid of the past.
	other := exec.Command("sleep", "600")
	account, err := Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	other.SysProcAttr = &syscall.SysProcAttr{Credential: account.credential()}
	platform.DieWithParent(other.SysProcAttr, syscall.SIGKILL)
	runtime.LockOSThread() // the end of the thread would be the child's
	defer runtime.UnlockOSThread()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(other.Process.Kill()); err != nil {
			t.Error(err)
		}
		if err := other.Wait(); err == nil {
			t.Error("the other process ended by itself")
		}
	})
	stale := strconv.Itoa(other.Process.Pid) + "\n" + p.cluster + "\n0\n5432\n" + p.SockDir + "\n\n0 0\nready   \n"
	cluster, socket := filepath.Join(p.cluster, "postmaster.pid"), filepath.Join(p.SockDir, ".s.PGSQL.5432.lock")
	for _, files := range [][]string{{cluster}, {socket}, {cluster, socket}} {
		for _, file := range files {
			if err := os.WriteFile(file, []byte(stale), 0o600); err != nil {
				t.Fatal(err)
			}
			if account != nil {
				need(t, os.Chown(file, int(account.UID), int(account.GID)))
			}
		}
		p = startPostgres(t, cfg)
		if got := query(t, p, "SELECT 1"); got != "1" {
			t.Errorf("SELECT 1 = %q", got)
		}
		need(t, p.Close())
	}
	if !living(other.Process.Pid) {
		t.Error("a process was killed that is none of ours")
	}
}

func TestAServerThatWasLeftOverIsEndedFirst(t *testing.T) {
	dir := folder(t)
	p := startPostgres(t, postgresConfig(dir))
	r := startRedis(t, RedisConfig{DataDir: filepath.Join(dir, "redis")})
	query(t, p, "CREATE TABLE kept AS SELECT 42 AS n")
	// As if the parent had gone without its children noticing.
	if err := errors.Join(p.lock.release(), r.lock.release()); err != nil {
		t.Fatal(err)
	}
	p2, err := StartPostgres(t.Context(), postgresConfig(dir))
	need(t, err)
	r2, err := StartRedis(t.Context(), RedisConfig{DataDir: filepath.Join(dir, "redis")})
	need(t, err)
	defer closeServer(t, r2.Close)
	defer closeServer(t, p2.Close)
	eventually(t, "the old servers end", func() bool { return p.cur.ended() && r.cur.ended() })
	if got := query(t, p2, "SELECT n FROM kept"); got != "42" {
		t.Errorf("the table holds %q, want 42", got)
	}
	p.closed, r.closed = true, true // their locks are the new ones' now
}

// TestAServerThatLostSightOfItsSocketIsEndedFirst leaves over a server that only the
// lock file of its socket names.
func TestAServerThatLostSightOfItsSocketIsEndedFirst(t *testing.T) {
	cfg := postgresConfig(folder(t))
	p := startPostgres(t, cfg)
	query(t, p, "CREATE TABLE kept AS SELECT 42 AS n")
	need(t, p.lock.release())
	need(t, os.Remove(filepath.Join(p.cluster, "postmaster.pid")))
	p2, err := StartPostgres(t.Context(), cfg)
	need(t, err)
	defer closeServer(t, p2.Close)
	eventually(t, "the old server ends", p.cur.ended)
	if got := query(t, p2, "SELECT n FROM kept"); got != "42" {
		t.Errorf("the table holds %q, want 42", got)
	}
	p.closed = true // its lock is the new one's now
}

// TestTheSocketOfAnotherServerIsLeftAlone starts two servers with one folder of sockets.
func TestTheSocketOfAnotherServerIsLeftAlone(t *testing.T) {
	first, second := postgresConfig(folder(t)), postgresConfig(folder(t))
	p := startPostgres(t, first)
	second.SocketDir = p.SockDir
	other, err := StartPostgres(t.Context(), second)
	if err == nil {
		closeServer(t, other.Close)
	}
	if err == nil || !strings.Contains(err.Error(), "choose another SocketDir") {
		t.Errorf("the second server: %v", err)
	}
	if got := query(t, p, "SELECT 1"); got != "1" {
		t.Errorf("SELECT 1 = %q", got)
	}
}

func TestTheTemplateIsMadeOnceAndOnlyOursIsTrusted(t *testing.T) {
	dir := folder(t)
	cfg := postgresConfig(dir)
	cfg.TemplateDir = filepath.Join(dir, "templates")
	ranInitdb := func(name string) bool {
		cfg.DataDir = filepath.Join(dir, name)
		p := startPostgres(t, cfg)
		if got := query(t, p, "SELECT current_database()"); got != postgresDatabase {
			t.Errorf("%s: database %q", name, got)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		_, err := os.Stat(filepath.Join(cfg.DataDir, "initdb.log"))
		return err == nil
	}
	if !ranInitdb("first") {
		t.Error("the first cluster was not made by initdb")
	}
	if ranInitdb("second") {
		t.Error("the second cluster was made by initdb and not from the template")
	}
	made, err := filepath.Glob(filepath.Join(cfg.TemplateDir, "postgresql-*"))
	if err != nil || len(made) != 1 {
		t.Fatalf("templates %v (%v), want one", made, err)
	}
	if err := os.Chmod(made[0], 0o777); err != nil {
		t.Fatal(err)
	}
	if !ranInitdb("third") {
		t.Error("a template that anybody can write to was used")
	}
}

func TestALongPathGetsAShortSocket(t *testing.T) {
	dir := filepath.Join(folder(t), strings.Repeat("long", 20), strings.Repeat("path", 20))
	cfg := postgresConfig(dir)
	p := startPostgres(t, cfg)
	if n := len(filepath.Join(p.SockDir, ".s.PGSQL.5432")); n > longestSocket {
		t.Errorf("the path of the socket has %d bytes", n)
	}
	t.Cleanup(func() { os.RemoveAll(p.SockDir) })
	query(t, p, "SELECT 1")
	dsn := p.DSN()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p = startPostgres(t, cfg); p.DSN() != dsn {
		t.Errorf("the address changed from %s to %s", dsn, p.DSN())
	}

	r := startRedis(t, RedisConfig{DataDir: filepath.Join(dir, "redis")})
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(r.Socket)) })
	if len(r.Socket) > longestSocket {
		t.Errorf("the path of the socket has %d bytes", len(r.Socket))
	}
}

func TestAFolderOutOfReachIsNamed(t *testing.T) {
	account, err := Unprivileged("")
	if err != nil {
		t.Fatal(err)
	}
	if account == nil {
		account = &Account{Name: "somebody", UID: 1, GID: 1}
	}
	closed := filepath.Join(folder(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	err = Reach(filepath.Join(closed, "data"), account)
	unreachable, ok := errors.AsType[*UnreachableError](err)
	if !ok || unreachable.Closed != closed {
		t.Fatalf("Reach below a closed folder: %v, want an UnreachableError that names %s", err, closed)
	}
	if err := Reach(filepath.Join(closed, "data"), nil); err != nil {
		t.Errorf("Reach without an account: %v", err)
	}
	if os.Geteuid() == 0 {
		if _, err := StartPostgres(t.Context(), postgresConfig(closed)); err == nil || !strings.Contains(err.Error(), closed) {
			t.Errorf("StartPostgres: %v, want an error that names %s", err, closed)
		}
	}
}

func TestAConfigSaysEverythingThatIsWrong(t *testing.T) {
	_, err := StartPostgres(t.Context(), PostgresConfig{StartTimeout: -1, SocketDir: `a"b`})
	for _, field := range []string{"DataDir", "StartTimeout", "SocketDir"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("PostgreSQL: %v does not name %s", err, field)
		}
	}
	_, err = StartRedis(t.Context(), RedisConfig{MaxMemoryBytes: -1})
	for _, field := range []string{"DataDir", "MaxMemoryBytes"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("Redis: %v does not name %s", err, field)
		}
	}
}

func TestAnErrorOfTheServerIsToldInItsOwnWords(t *testing.T) {
	cfg := postgresConfig(folder(t))
	cfg.Settings = map[string]string{"shared_buffers": "nonsense"}
	p, err := StartPostgres(t.Context(), cfg)
	if err == nil {
		closeServer(t, p.Close)
		t.Fatal("a nonsensical setting was accepted")
	}
	if errors.Is(err, ErrNoPostgres) {
		need(t, err)
	}
	if !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("the error hides the server's words: %v", err)
	}
}
