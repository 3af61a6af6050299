package servicetest

import (
	"errors"
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

// StartPostgres runs a server with a certificate of a, and an empty database of
// the user's name, until the test ends.
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
