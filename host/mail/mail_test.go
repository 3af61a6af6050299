package mail_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"deepoj/host/mail"
	"deepoj/host/mail/mailtest"
)

func send(t *testing.T, s mail.Server, l mail.Letter) error {
	t.Helper()
	sender, err := mail.New(s)
	if err != nil {
		t.Fatal(err)
	}
	session, err := sender.Open(t.Context())
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	return session.Send(l)
}

func TestALetterGoesOverTLSAfterALogin(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, "", true, mailtest.WithLogin("deepoj", "mail secret"))
	s := mail.Server{Address: server.Addr, Security: mail.StartTLS, Username: "deepoj", Password: "mail secret", From: "Deep-OJ <judge@example.org>", Certificates: server.Certificates}
	if err := send(t, s, mail.Letter{To: "ann@example.org", Subject: "Grüße", Text: "First line\n.\nÜber\n"}); err != nil {
		t.Fatal(err)
	}
	l := server.Next(0)
	if l.From != "judge@example.org" || l.To != "ann@example.org" || l.Subject != "Grüße" || strings.ReplaceAll(l.Text, "\r\n", "\n") != "First line\n.\nÜber\n" {
		t.Errorf("the letter is %+v", l)
	}
	for header, want := range map[string]string{"From": `"Deep-OJ" <judge@example.org>`, "To": "<ann@example.org>", "Auto-Submitted": "auto-generated"} {
		if got := l.Header.Get(header); got != want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
	for what, change := range map[string]func(*mail.Server){
		"the wrong password":               func(s *mail.Server) { s.Password = "wrong" },
		"a server that nobody vouches for": func(s *mail.Server) { s.Certificates = nil },
		"TLS from the first byte":          func(s *mail.Server) { s.Security = mail.TLS },
		"no login":                         func(s *mail.Server) { s.Username = "" },
	} {
		other := s
		change(&other)
		err := send(t, other, mail.Letter{To: "ann@example.org", Subject: "x", Text: "x"})
		if _, final := errors.AsType[*mail.RefusedError](err); err == nil || final {
			t.Errorf("%s: %v", what, err)
		}
		if err != nil && strings.Contains(err.Error(), "mail secret") {
			t.Errorf("%s: the error has the password: %v", what, err)
		}
	}
	if n := len(server.Letters()); n != 1 {
		t.Errorf("%d letters went out", n)
	}
}

func TestWithoutTLSNothingIsSaidToAServerThatHasNone(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, "", false)
	s := mail.Server{Address: server.Addr, Security: mail.StartTLS, From: "judge@example.org"}
	if err := send(t, s, mail.Letter{To: "ann@example.org", Subject: "x", Text: "x"}); err == nil {
		t.Error("the letter went in the clear")
	}
	s.Security = mail.Plain
	if err := send(t, s, mail.Letter{To: "ann@example.org", Subject: "x", Text: "x"}); err != nil {
		t.Error(err)
	}
}

func TestWhatIsRefusedForGoodIsToldFromWhatMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, "", false)
	server.Refuse(func(to string) error {
		switch {
		case strings.HasPrefix(to, "full"):
			return &smtp.SMTPError{Code: 452, Message: "mailbox full"}
		case strings.HasPrefix(to, "gone"):
			return &smtp.SMTPError{Code: 550, Message: "no such user"}
		}
		return nil
	})
	s := mail.Server{Address: server.Addr, Security: mail.Plain, From: "judge@example.org"}
	for to, final := range map[string]bool{"full@example.org": false, "gone@example.org": true, "ann@example.org\r\nRCPT TO:<eve@example.org>": true, "ann": true} {
		err := send(t, s, mail.Letter{To: to, Subject: "x", Text: "x"})
		if _, got := errors.AsType[*mail.RefusedError](err); err == nil || got != final {
			t.Errorf("%q: %v", to, err)
		}
	}
	err := send(t, s, mail.Letter{To: "ann@example.org", Subject: "x\r\nBcc: eve@example.org", Text: "x"})
	if _, final := errors.AsType[*mail.RefusedError](err); !final {
		t.Errorf("a subject of two lines: %v", err)
	}
	if n := len(server.Letters()); n != 0 {
		t.Errorf("%d letters went out", n)
	}
}
