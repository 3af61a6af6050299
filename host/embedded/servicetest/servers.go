package servicetest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"deepoj/host/embedded"
)

// Postgres is a server that takes connections of its one user over TLS only, with a
// password. Its certificate is for 127.0.0.1.
type Postgres struct {
	Port           int
	User, Password string
	CA             string // file of the authority that signed its certificate
}

// rules are those of pg_hba.conf: see PostgreSQL's chapter "Client Authentication".
const rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"

// StartPostgres runs a server with a certificate of a, and an empty database of the user's name, until the test ends.
func StartPostgres(t testing.TB, a *Authority) *Postgres {
	t.Helper()
	dir := Folder(t)
	certificate, key := a.Issue(t, "127.0.0.1")
	hba := filepath.Join(dir, "hba.conf")
	if err := os.WriteFile(hba, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &Postgres{Port: FreePort(t), User: "judges", Password: "pq-zq!word", CA: a.CA}
	server, err := embedded.StartPostgres(t.Context(), embedded.PostgresConfig{
		DataDir: filepath.Join(dir, "pg"), TemplateDir: filepath.Join(os.TempDir(), "deepoj-sqltest-template-"+strconv.Itoa(os.Getuid())),
		Settings: map[string]string{
			"listen_addresses": "127.0.0.1", "port": strconv.Itoa(p.Port), "fsync": "off", "hba_file": hba,
			"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key,
		},
	})
	if errors.Is(err, embedded.ErrNoPostgres) && os.Getenv("DEEPOJ_TEST") != "require" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	psql := exec.CommandContext(t.Context(), filepath.Join(server.Binaries.Dir, "psql"), "--no-psqlrc", "--quiet", "--host", server.SockDir, "--port", strconv.Itoa(p.Port),
		"--username", "deepoj_superuser", "--dbname", "postgres", "--command", "CREATE ROLE judges LOGIN PASSWORD 'pq-zq!word'", "--command", "CREATE DATABASE judges OWNER judges")
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p
}

// URL is the address of the database, with the server's certificate proved.
func (p *Postgres) URL() string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(p.User, p.Password), Host: Address(p.Port), Path: p.User,
		RawQuery: url.Values{"sslmode": {"verify-full"}, "sslrootcert": {p.CA}}.Encode(),
	}
	return u.String()
}

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

// RedisACL are the arguments of a server that knows RedisUser and RedisKeeper alone.
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

// Etcd is a server of one member whose data outlive it.
type Etcd struct {
	URL string // for clients

	dir  string
	args []string
	run  *Process
}

// StartEtcd runs a server until the test ends. With an authority it speaks TLS only,
// with a certificate for 127.0.0.1, and demands one of clients.
func StartEtcd(t testing.TB, a *Authority) *Etcd {
	t.Helper()
	scheme := "http"
	var certificates []string
	if a != nil {
		scheme = "https"
		certificate, key := a.Issue(t, "127.0.0.1")
		certificates = []string{"--cert-file", certificate, "--key-file", key, "--trusted-ca-file", a.CA, "--client-cert-auth"}
	}
	e := &Etcd{URL: scheme + "://" + Address(FreePort(t)), dir: Folder(t)}
	peers := "http://" + Address(FreePort(t))
	e.args = append([]string{
		"--data-dir", filepath.Join(e.dir, "data"), "--listen-client-urls", e.URL, "--advertise-client-urls", e.URL,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers,
		"--heartbeat-interval", "50", "--election-timeout", "500",
	}, certificates...)
	e.Start(t)
	return e
}

// Start runs the server again.
func (e *Etcd) Start(t testing.TB) {
	t.Helper()
	e.run = Start(t, e.dir, "etcd", e.args...)
}

// Kill ends the server as a crash does.
func (e *Etcd) Kill() { e.run.Kill() }
