package settings

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
)

// Client has the certificates that the files hold, or is nil when none is named. The
// settings in its errors begin with prefix, such as "REDIS".
func (t TLS) Client(prefix string) (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil // no certificates are the answer, not a failure
	}
	ca, cert, key := prefix+"_TLS_CA", prefix+"_TLS_CERT", prefix+"_TLS_KEY"
	out, err := Authorities(ca, t.CA)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, fmt.Errorf("%s and %s: set both or none", cert, key)
	}
	if t.Cert != "" {
		own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", cert, key, err)
		}
		out.Certificates = []tls.Certificate{own}
	}
	return out, nil
}

// Authorities has the certificates in the file that a setting names, or is nil when it
// names none.
func Authorities(setting, name string) (*tls.Config, error) {
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
