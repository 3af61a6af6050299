package servicetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// The users of a server that has [RedisACL]: one with what a delivery needs, and one
// who may do everything, for replicas, sentinels and tests.
const (
	RedisUser     = "judges"
	RedisKeeper   = "keeper"
	RedisPassword = "rq-zq!word" // of both
)

// redisRights is what a delivery needs, in the words of Redis's ACL.
const redisRights = "~*deepoj:jobs* -@all +@connection +@stream +get +set +info +cluster"

// StartRedis runs a server on a loopback port, until the test ends.
func StartRedis(t testing.TB, port int, more ...string) *Process {
	t.Helper()
	args := append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", ""}, more...)
	return Start(t, Folder(t), "redis-server", args...)
}

// RedisTLS are the arguments of a server that speaks TLS only, on port, with a
// certificate of a for 127.0.0.1, and demands one of clients.
func RedisTLS(t testing.TB, a *Authority, port int) []string {
	t.Helper()
	certificate, key := a.Issue(t, "127.0.0.1")
	return []string{
		"--port", "0", "--tls-port", strconv.Itoa(port), "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", a.CA,
		"--tls-replication", "yes", "--tls-cluster", "yes",
	}
}

// RedisACL are the arguments of a server that knows RedisUser and RedisKeeper
// alone.
func RedisACL(t testing.TB) []string {
	t.Helper()
	file := filepath.Join(Folder(t), "users.acl")
	users := fmt.Sprintf("user default off\nuser %s on >%s %s\nuser %s on >%s ~* &* +@all\n", RedisUser, RedisPassword, redisRights, RedisKeeper, RedisPassword)
	if err := os.WriteFile(file, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	give(t, file)
	return []string{"--aclfile", file, "--masteruser", RedisKeeper, "--masterauth", RedisPassword}
}
