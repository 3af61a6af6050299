package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/sql/published"
	"deepoj/sql/sqltest"
)

// encrypted listens on the loopback address as a PostgreSQL that speaks TLS alone, and leads to the one at a socket. Its
// certificate is for that address, and the file of it is returned.
func encrypted(t *testing.T, socket string) (address, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	sqltest.Must(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	sqltest.Must(t, err)
	file = filepath.Join(t.TempDir(), "ca.pem")
	sqltest.Must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	sqltest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	secure := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go lead(c, secure, socket)
		}
	}()
	return l.Addr().String(), file
}

// lead takes a connection that asks for TLS to a socket.
func lead(c net.Conn, secure *tls.Config, socket string) {
	defer c.Close()
	ask := make([]byte, 8) // SSLRequest
	if _, err := io.ReadFull(c, ask); err != nil || string(ask) != "\x00\x00\x00\x08\x04\xd2\x16\x2f" {
		return
	}
	if _, err := c.Write([]byte("S")); err != nil {
		return
	}
	inside := tls.Server(c, secure)
	server, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, inside)
		_ = server.Close()
	}()
	_, _ = io.Copy(inside, server)
}

func TestTheFeedReadsOverTLSFromAServerThatItKnows(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	u, err := url.Parse(h.pg.DSN(t, published.Role))
	sqltest.Must(t, err)
	address, ca := encrypted(t, filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"))
	at := func(address, mode, ca string) string {
		return "postgres://" + published.Role + "@" + address + "/deepoj?sslmode=" + mode + "&sslrootcert=" + url.QueryEscape(ca)
	}
	h.src = h.source(Options{URL: at(address, "verify-full", ca)})
	r := h.run()
	for n := range 300 {
		sqltest.Must(t, h.write(t.Context(), int64(n%9), "claimed"))
	}
	h.complete()
	if err := r.end(); err != nil {
		t.Error(err)
	}
	_, other := encrypted(t, "")
	for name, wrong := range map[string]string{
		"another authority": at(address, "verify-full", other),
		"another name":      at(strings.Replace(address, "127.0.0.1", "localhost", 1), "verify-full", ca),
	} {
		_, err := h.source(Options{URL: wrong}).Open(t.Context(), feed.Have{Fresh: true, Epoch: 9})
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
