package queue_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/embedded"
	"deepoj/queue"
)

func TestAddressesThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                                     "URL is empty",
		"localhost:6379":                       "want redis://",
		"http://localhost":                     `unknown scheme "http"`,
		"redis://:secret@localhost:x/":         "redis address",
		"redis+sentinel://a:1,b:2":             "needs the name of the master",
		"redis+sentinel://a:1,,b:2/m":          "a host is empty",
		"redis+sentinel://a:1/m/x":             "is no number",
		"redis+cluster://a:1?tls=perhaps":      "neither true nor false",
		"redis+cluster://a:1?color=green":      `unknown parameter "color"`,
		"redis+cluster://u:secret%zz@a:1?tls=": "password cannot be read",
	}
	for address, want := range tests {
		_, err := queue.Open(t.Context(), queue.Config{URL: address})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
	_, err := queue.Open(t.Context(), queue.Config{MaxLen: -1, MinIdle: -1, CleanCount: -1, WatchEvery: -1})
	for _, field := range []string{"URL", "MaxLen", "MinIdle", "CleanCount", "WatchEvery"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

func TestAClusterCarriesTickets(t *testing.T) {
	t.Parallel()
	port, bus := freePort(t), freePort(t)
	listen(t, port, "--cluster-enabled", "yes", "--cluster-port", itoa(int64(bus)), "--cluster-config-file", "nodes.conf")
	raw := redis.NewClient(&redis.Options{Addr: host(port)})
	defer raw.Close()
	until(t, func() bool { return raw.Ping(t.Context()).Err() == nil })
	must(t, raw.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
	until(t, func() bool { return strings.Contains(raw.ClusterInfo(t.Context()).Val(), "cluster_state:ok") })
	carries(t, "redis+cluster://"+host(port)+","+host(port))
}

func TestASentinelLeadsToItsMaster(t *testing.T) {
	t.Parallel()
	port, sentinel := freePort(t), freePort(t)
	listen(t, port)
	dir := folder(t)
	config := dir + "/sentinel.conf"
	must(t, os.WriteFile(config, fmt.Appendf(nil, "port %d\nbind 127.0.0.1\nsentinel monitor oj 127.0.0.1 %d 1\n", sentinel, port), 0o666))
	must(t, os.Chmod(config, 0o666)) // it rewrites its configuration
	run(t, dir, config, "--sentinel")
	raw := redis.NewSentinelClient(&redis.Options{Addr: host(sentinel)})
	defer raw.Close()
	until(t, func() bool { return raw.GetMasterAddrByName(t.Context(), "oj").Err() == nil })
	carries(t, "redis+sentinel://"+host(sentinel)+"/oj")
	carries(t, "redis://"+host(port)+"/1")
}

// carries checks that tickets pass over url, of two pools.
func carries(t *testing.T, url string, with ...func(*queue.Config)) {
	t.Helper()
	for _, pool := range []string{"default", "gpu"} {
		q := open(t, url, append(with, func(c *queue.Config) { c.Pool = pool })...)
		publish(t, q, tickets(1, 2))
		es := receive(t, q, 2)
		must(t, q.Ack(t.Context(), es...))
		if st, err := q.Stats(t.Context()); err != nil || st.Length != 0 {
			t.Errorf("%s: stats = %+v, %v", url, st, err)
		}
		if _, err := q.Clean(t.Context(), nil); err != nil {
			t.Errorf("%s: clean: %v", url, err)
		}
	}
}

func host(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-queue-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777)) // for the account of the server
	return dir
}

// listen starts a Redis on a loopback port, which the private one never does.
func listen(t *testing.T, port int, more ...string) {
	t.Helper()
	run(t, folder(t), append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", ""}, more...)...)
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	path, err := embedded.FindRedis("")
	if err != nil {
		missing(t, err)
	}
	account, err := embedded.Unprivileged("")
	must(t, err)
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if account != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: account.UID, Gid: account.GID}
	}
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// until waits for ok.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(30 * time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not become ready")
		}
	}
}
