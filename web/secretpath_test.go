package web

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

// lockedLog keeps what is logged.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestTheSecretPathOfAnAddressIsInNoLog has callbacks and webhooks fail in every way,
// and reads all that is said of it.
func TestTheSecretPathOfAnAddressIsInNoLog(t *testing.T) {
	const secret = "zq-secret-word"
	log := &lockedLog{}
	s := newStage(t, triedTwice, func(c *site.Config) {
		c.CallbackAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	ann := s.someone("ann", judge.RoleContestant)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	breaks := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer breaks.Close()
	leads, _ := s.receiver(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+secret+"/elsewhere", http.StatusTemporaryRedirect)
	})
	fails, _ := s.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	secured.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	defer secured.Close()
	addresses := []string{closed.URL, breaks.URL, leads, fails, secured.URL, "http://10.0.0.1", "http://nosuch.invalid"}
	for _, address := range addresses {
		address += "/" + secret + "?word=" + secret
		s.judge0Submit(`{"source_code": "x", "language_id": 71, "callback_url": "` + address + `"}`)
		w, _ := s.hook(ann, address)
		s.must(ann.TryWebhook(t.Context(), w.ID))
		s.told(ann, w.ID, "over", func(d client.WebhookDelivery) bool { return d.State == "failed" })
	}
	for i := range addresses {
		s.finish(int64(i+1), ran(judge.AC, judge.RunOutput{}))
	}
	s.eventually("all callbacks have ended", func() bool {
		made, failed := strings.Count(log.String(), "callback made"), strings.Count(log.String(), "callback failed for good")
		return made+failed == len(addresses)
	})
	said := log.String() + s.do(http.MethodGet, "/metrics", "").body
	for line := range strings.Lines(said) {
		if strings.Contains(line, secret) {
			t.Errorf("a secret path is told: %s", line)
		}
	}
	for _, host := range []string{strings.TrimPrefix(closed.URL, "http://"), "10.0.0.1", "nosuch.invalid"} {
		if !strings.Contains(said, "call "+host) {
			t.Errorf("the log does not say that %s could not be called", host)
		}
	}
	entries, err := s.store.AuditLog(t.Context(), sql.AuditFilter{Limit: 200})
	s.must(err)
	for _, e := range entries {
		if strings.Contains(string(e.Detail), secret) {
			t.Errorf("the audit log has a secret path: %s", e.Detail)
		}
	}
}
