package servicetest

import (
	"path/filepath"
	"testing"
)

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
