package embedded

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ask sends one command to Redis and returns the first line of the answer.
func ask(t *testing.T, r *Redis, command string) string {
	t.Helper()
	conn, err := net.Dial("unix", r.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(line, "*") { // CONFIG GET: name, then value
		for range 4 {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	return strings.TrimSpace(line)
}

func TestRedisListensOnASocketOnlyAndIsBounded(t *testing.T) {
	r := startRedis(t, RedisConfig{DataDir: filepath.Join(folder(t), "redis"), MaxMemoryBytes: 64 << 20})
	for setting, want := range map[string]string{
		"port": "0", "appendonly": "no", "maxmemory": "67108864", "maxmemory-policy": "noeviction", "save": "",
	} {
		if got := ask(t, r, "CONFIG GET "+setting); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
	if want := "unix://" + r.Socket; r.URL() != want {
		t.Errorf("URL = %q, want %q", r.URL(), want)
	}
}

func TestRedisComesBackAfterSIGKILL(t *testing.T) {
	r := startRedis(t, RedisConfig{DataDir: filepath.Join(folder(t), "redis")})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	for range 2 {
		pid := r.PID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a new server", func() bool { return r.PID() != pid })
		if got := ask(t, r, "PING"); got != "+PONG" {
			t.Errorf("PING = %q", got)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v, want nil", err)
	}
}
