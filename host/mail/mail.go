// Package mail sends letters to people by a mail server.
package mail

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// How a connection to the server is kept secret.
const (
	StartTLS = "starttls" // it begins in the clear, and goes no further unless the server changes to TLS
	TLS      = "tls"      // from the first byte
	Plain    = "none"     // never: for a server on this machine
)

// patience is how long one step of talking to the server may take.
const patience = 30 * time.Second

// Server is a mail server that takes letters, by SMTP.
type Server struct {
	Address            string // HOST:PORT
	Security           string // StartTLS, TLS or Plain
	Username, Password string // "" = it asks for none
	From               string // whose letters they are, such as "Deep-OJ <judge@example.org>"
	Certificates       *tls.Config
}

// Letter is what somebody is sent: plain text.
type Letter struct{ To, Subject, Text string }

// Sender sends letters by one server. Its methods may be called at once.
type Sender struct {
	server Server
	host   string
	port   int
	from   *mail.Address
}

// New makes a sender. The server is not asked for before there is a letter.
func New(s Server) (*Sender, error) {
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return nil, fmt.Errorf("mail server %q: want HOST:PORT", s.Address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || host == "" {
		return nil, fmt.Errorf("mail server %q: want HOST:PORT", s.Address)
	}
	from, err := mail.ParseAddress(s.From)
	if err != nil {
		return nil, fmt.Errorf("mail is from %q: want an address such as Deep-OJ <judge@example.org>", s.From)
	}
	if s.Security != StartTLS && s.Security != TLS && s.Security != Plain {
		return nil, fmt.Errorf("mail server: no connection is %q", s.Security)
	}
	return &Sender{server: s, host: host, port: int(n), from: from}, nil
}

// RefusedError says that the server wants a letter neither now nor later.
type RefusedError struct{ Code int }

func (r *RefusedError) Error() string {
	return fmt.Sprintf("the mail server refused the letter for good, with %d", r.Code)
}

// Session is a connection to the server, for several letters one after another.
type Session struct {
	sender *Sender
	client *gomail.Client
}

// Open connects to the server and logs in.
func (s *Sender) Open(ctx context.Context) (*Session, error) {
	certificates := s.server.Certificates.Clone()
	if certificates == nil {
		certificates = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	certificates.ServerName = s.host
	policy := gomail.TLSMandatory
	if s.server.Security == Plain {
		policy = gomail.NoTLS
	}
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(patience), gomail.WithTLSConfig(certificates), gomail.WithTLSPolicy(policy),
		gomail.WithoutNoop(), gomail.WithoutSMTPUTF8(),
	}
	if s.server.Security == TLS {
		options = append(options, gomail.WithSSL())
	}
	if s.server.Username != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.server.Username), gomail.WithPassword(s.server.Password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	if err := client.DialWithContext(ctx); err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	return &Session{s, client}, nil
}

// Close ends the connection. What was taken is taken, whatever it returns.
func (s *Session) Close() error { return s.client.Close() }

// Send sends a letter: when it returns nil the server has taken it. An error that is a [Refused] is for good; after any
// other the letter may be sent again, and may have gone out.
func (s *Session) Send(l Letter) error {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(s.sender.from)
	if strings.ContainsAny(l.To+l.Subject, "\r\n\x00") {
		return &RefusedError{} // nothing that people type may become a header
	}
	if err := m.To(l.To); err != nil {
		return &RefusedError{}
	}
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageIDWithValue(messageID(s.sender.from.Address))
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no absence notes, please
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	err := s.client.Send(m)
	if e, ok := errors.AsType[*gomail.SendError](err); ok {
		about := e.Reason == gomail.ErrSMTPRcptTo || e.Reason == gomail.ErrSMTPData || e.Reason == gomail.ErrSMTPDataClose
		if about && !e.IsTemp() && e.ErrorCode()/100 == 5 {
			return &RefusedError{e.ErrorCode()}
		}
		return fmt.Errorf("mail server: step %s, answer %d", e.Reason, e.ErrorCode())
	}
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	return nil
}

// messageID makes the name of a letter, which says nothing of this machine.
func messageID(from string) string {
	return rand.Text() + from[strings.LastIndexByte(from, '@'):]
}
