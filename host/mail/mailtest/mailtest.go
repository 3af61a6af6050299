// Package mailtest is a mail server for tests: go-smtp, which speaks SMTP as those on the network do.
package mailtest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Letter is what the server took.
type Letter struct {
	From, To string // of the envelope
	Header   mail.Header
	Subject  string
	Text     string
	Raw      string
}

// Link is the first address in a letter with a token.
func (l Letter) Link() string {
	for word := range strings.FieldsSeq(l.Text) {
		if strings.HasPrefix(word, "http") && strings.Contains(word, "?t=") {
			return word
		}
	}
	return ""
}

// Server is a mail server that runs until the test ends.
type Server struct {
	Addr         string
	Certificates *tls.Config // with which a client trusts it; nil = it has no TLS

	t      *testing.T
	server *smtp.Server
	user   string // "" = nobody has to log in
	pass   string

	mu      sync.Mutex
	letters []Letter
	refuse  func(to string) error
	arrived chan struct{}
}

// Option changes how a server is.
type Option func(*Server)

// WithLogin has clients log in, which they may over TLS only.
func WithLogin(user, password string) Option {
	return func(s *Server) { s.user, s.pass = user, password }
}

// Start starts a server on an address, or a free one if that is "". With TLS it offers STARTTLS.
func Start(t *testing.T, addr string, withTLS bool, options ...Option) *Server {
	t.Helper()
	s := &Server{t: t, arrived: make(chan struct{}, 1)}
	for _, change := range options {
		change(s)
	}
	s.server = smtp.NewServer(s)
	s.server.Domain, s.server.AllowInsecureAuth = "mail.test", false
	s.server.ReadTimeout, s.server.WriteTimeout, s.server.MaxMessageBytes = 20*time.Second, 20*time.Second, 1<<20
	if withTLS {
		with := httptest.NewUnstartedServer(nil) // for its certificate, of example.com and 127.0.0.1
		with.StartTLS()
		s.server.TLSConfig = &tls.Config{Certificates: with.TLS.Certificates, MinVersion: tls.VersionTLS12}
		pool := x509.NewCertPool()
		pool.AddCert(with.Certificate())
		s.Certificates = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		with.Close()
	}
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = ln.Addr().String()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.server.Serve(ln) }() // ends with Close
	t.Cleanup(func() { s.Stop(); <-ended })
	return s
}

// Stop ends the server, as an outage does.
func (s *Server) Stop() { _ = s.server.Close() }

// Refuse has the server answer with the errors of a function.
func (s *Server) Refuse(why func(to string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = why
}

// Letters returns what came so far.
func (s *Server) Letters() []Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Letter(nil), s.letters...)
}

// Next waits for the letter after the first n, and returns it.
func (s *Server) Next(n int) Letter {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if all := s.Letters(); len(all) > n {
			return all[n]
		}
		select {
		case <-s.arrived:
		case <-deadline:
			s.t.Fatalf("no letter after %d came", n)
		}
	}
}

// NewSession is called for each connection.
func (s *Server) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }

type session struct {
	server   *Server
	loggedIn bool
	from, to string
}

func (v *session) AuthMechanisms() []string {
	if v.server.user == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (v *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != v.server.user || password != v.server.pass {
			return errors.New("wrong name or password")
		}
		v.loggedIn = true
		return nil
	}), nil
}

func (v *session) Mail(from string, _ *smtp.MailOptions) error {
	if v.server.user != "" && !v.loggedIn {
		return smtp.ErrAuthRequired
	}
	v.from = from
	return nil
}

func (v *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.server.mu.Lock()
	defer v.server.mu.Unlock()
	v.to = to
	if v.server.refuse != nil {
		return v.server.refuse(to)
	}
	return nil
}

func (v *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	l := Letter{From: v.from, To: v.to, Raw: string(raw)}
	m, err := mail.ReadMessage(strings.NewReader(l.Raw))
	if err != nil {
		return err
	}
	body := m.Body
	if strings.EqualFold(m.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		body = quotedprintable.NewReader(m.Body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	l.Header, l.Text = m.Header, string(text)
	if l.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return err
	}
	v.server.mu.Lock()
	v.server.letters = append(v.server.letters, l)
	v.server.mu.Unlock()
	select {
	case v.server.arrived <- struct{}{}:
	default: // it is known
	}
	return nil
}

func (v *session) Reset() { v.from, v.to = "", "" }

func (v *session) Logout() error { return nil }
