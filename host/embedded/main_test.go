package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// parentEnv makes this test binary a program that starts both servers in the
// folder that it names and then waits to be killed.
const parentEnv = "DEEPOJ_EMBEDDED_PARENT"

// templates is where the tests keep their cluster templates.
var templates string

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		beParent(dir)
		return
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "deepoj-embedded-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	templates = filepath.Join(dir, "templates")
	return m.Run()
}

// beParent starts both servers, says which processes they are, and waits.
func beParent(dir string) {
	ctx := context.Background()
	p, err := StartPostgres(ctx, PostgresConfig{
		DataDir: filepath.Join(dir, "postgres"), TemplateDir: os.Getenv("DEEPOJ_TEMPLATES"),
	})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	r, err := StartRedis(ctx, RedisConfig{DataDir: filepath.Join(dir, "redis")})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("ready", p.PID(), r.PID())
	select {}
}

// folder returns a folder that every account can reach, which t.TempDir is not.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-embedded-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// need skips the test when err says that a program is missing, unless tests are
// required to run.
func need(t *testing.T, err error) {
	t.Helper()
	missing := errors.Is(err, ErrNoPostgres) || errors.Is(err, ErrNoRedis)
	switch {
	case err == nil:
	case missing && os.Getenv("DEEPOJ_TEST") != "require":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

func postgresConfig(dir string) PostgresConfig {
	return PostgresConfig{
		DataDir: filepath.Join(dir, "postgres"), TemplateDir: templates, Settings: map[string]string{"fsync": "off"},
	}
}

func startPostgres(t *testing.T, cfg PostgresConfig) *Postgres {
	t.Helper()
	p, err := StartPostgres(t.Context(), cfg)
	need(t, err)
	t.Cleanup(func() { closeServer(t, p.Close) })
	return p
}

func startRedis(t *testing.T, cfg RedisConfig) *Redis {
	t.Helper()
	r, err := StartRedis(t.Context(), cfg)
	need(t, err)
	t.Cleanup(func() { closeServer(t, r.Close) })
	return r
}

func closeServer(t *testing.T, closing func() error) {
	t.Helper()
	if err := closing(); err != nil {
		t.Error(err)
	}
}

// query asks the database with psql.
func query(t *testing.T, p *Postgres, sql string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.Binaries.Dir, "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", p.DSN(), "-c", sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("psql %q: %v: %s", sql, err, out)
	}
	return strings.TrimSpace(string(out))
}

// eventually waits until is reports true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	if err := gone(t.Context(), 30*time.Second, is); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// living reports whether a process exists and is no zombie.
func living(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}
