package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"deepoj/host/liveness"
	"deepoj/queue"
	"deepoj/sql"
)

// service is something that this program reaches over the network, by the
// settings that say how.
type service struct {
	name    string           // for people
	setting string           // that says where it is, and who asks
	ca      string           // what names the authorities that it is trusted by
	cert    string           // what names the certificate that is shown to it; "" = nothing does
	refused func(error) bool // whether it does not accept who asks
}

var (
	postgresService = service{"PostgreSQL", "DATABASE_URL", "sslrootcert=FILE in DATABASE_URL", "sslcert=FILE and sslkey=FILE in DATABASE_URL", sql.Refused}
	etcdService     = service{"etcd", "ETCD_ENDPOINTS, ETCD_USERNAME and ETCD_PASSWORD", "ETCD_TLS_CA", "ETCD_TLS_CERT and ETCD_TLS_KEY", liveness.Refused}
	redisService    = service{"Redis", "REDIS_URL", "REDIS_TLS_CA", "REDIS_TLS_CERT and REDIS_TLS_KEY", queue.Refused}
)

// remedy says what to do about a service that cannot be used.
func (s service) remedy(err error) string {
	if s.refused(err) {
		return fmt.Sprintf("%s does not accept the user, the password or what the user may do: correct them in %s, or the user's rights", s.name, s.setting)
	}
	_, untrusted := errors.AsType[x509.UnknownAuthorityError](err)
	_, misnamed := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, clear := errors.AsType[tls.RecordHeaderError](err)
	switch text := err.Error(); {
	case untrusted:
		return fmt.Sprintf("nobody who is trusted here signed the certificate of %s: name the authority's with %s", s.name, s.ca)
	case misnamed:
		return fmt.Sprintf("use a name in %s that the certificate of %s is for", s.setting, s.name)
	case invalid:
		return fmt.Sprintf("renew the certificate of %s, or correct the clock of this machine", s.name)
	case clear, strings.Contains(text, "refused TLS connection"):
		return fmt.Sprintf("%s does not speak TLS there: have it do so, or do not ask for TLS in %s", s.name, s.setting)
	case strings.Contains(text, "remote error: tls: "): // it is no type of crypto/tls
		return fmt.Sprintf("%s wants a certificate that it trusts: name one with %s", s.name, s.cert)
	}
	return fmt.Sprintf("look whether %s runs, and at %s: host, port, and whether it asks for TLS", s.name, s.setting)
}

// explained is err with the remedy.
func (s service) explained(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w; %s", s.setting, err, s.remedy(err))
}

// clientTLS has the certificates that the settings PREFIX_TLS_CA, …_CERT and
// …_KEY name, or is nil when they name none.
func (c *config) clientTLS(prefix string) (*tls.Config, error) {
	ca, cert, key := prefix+"_TLS_CA", prefix+"_TLS_CERT", prefix+"_TLS_KEY"
	if c.get(ca) == "" && c.get(cert) == "" && c.get(key) == "" {
		return nil, nil // no certificates are the answer, not a failure
	}
	out, err := c.authorities(ca)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if (c.get(cert) == "") != (c.get(key) == "") {
		return nil, fmt.Errorf("%s and %s: set both or none", cert, key)
	}
	if name := c.get(cert); name != "" {
		own, err := tls.LoadX509KeyPair(name, c.get(key))
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", cert, key, err)
		}
		out.Certificates = []tls.Certificate{own}
	}
	return out, nil
}

// authorities has the certificates in the file that a setting names, or is nil
// when it names none.
func (c *config) authorities(setting string) (*tls.Config, error) {
	name := c.get(setting)
	if name == "" {
		return nil, nil // no authorities are the answer, not a failure
	}
	pem, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !out.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s holds no certificate in PEM", setting, name)
	}
	return out, nil
}

// openEtcd returns the directory of workers in etcd, beside that in the database.
func openEtcd(c *config, rows *liveness.Postgres, log *slog.Logger) (*liveness.Etcd, error) {
	certificates, err := c.clientTLS("ETCD")
	if err != nil {
		return nil, err
	}
	e, err := liveness.NewEtcd(liveness.EtcdConfig{
		Endpoints: strings.Fields(c.get("ETCD_ENDPOINTS")), Prefix: c.get("ETCD_PREFIX"),
		Username: c.get("ETCD_USERNAME"), Password: c.get("ETCD_PASSWORD"), TLS: certificates, Remedy: etcdService.remedy, Log: log,
	}, rows)
	if err != nil {
		return nil, fmt.Errorf("ETCD_…: %w", err)
	}
	return e, nil
}
