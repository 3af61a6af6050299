package roles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"deepoj/host/liveness"
	"deepoj/host/settings"
	"deepoj/queue"
	"deepoj/sql"
)

// service is something that this program reaches over the network, by the settings that say how.
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

// openEtcd returns the directory of workers in etcd, beside that in the database.
func openEtcd(s *settings.Settings, rows *liveness.Postgres, log *slog.Logger) (*liveness.Etcd, error) {
	certificates, err := s.EtcdTLS.Client("ETCD")
	if err != nil {
		return nil, err
	}
	e, err := liveness.NewEtcd(liveness.EtcdConfig{
		Endpoints: s.EtcdEndpoints, Prefix: s.EtcdPrefix,
		Username: s.EtcdUsername, Password: s.EtcdPassword, TLS: certificates, Remedy: etcdService.remedy, Log: log,
	}, rows)
	if err != nil {
		return nil, fmt.Errorf("ETCD_…: %w", err)
	}
	return e, nil
}

// PostgresRemedy says what to do about a PostgreSQL that cannot be used.
func PostgresRemedy(err error) string { return postgresService.remedy(err) }
