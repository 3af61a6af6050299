package callback

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestOnlyPublicAddressesAreCalled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true,
		"127.0.0.1": false, "127.8.9.1": false, "::1": false, "10.0.0.1": false, "172.16.3.4": false, "192.168.1.1": false,
		"169.254.169.254": false, "0.0.0.0": false, "0.1.2.3": false, "::": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"198.18.0.1": false, "192.0.0.8": false, "240.0.0.1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false,
		"ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::7f00:1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false,
		"2001:0:1::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("public(%s) = %t, want %t", text, got, want)
		}
	}
}

func TestAPrivateAddressIsCalledOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	name := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{server.URL, name} {
		if _, err := New(nil, time.Minute).Put(t.Context(), url, nil); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s is called: %v", url, err)
		}
	}
	if len(calls) > 0 {
		t.Errorf("the server heard %q", <-calls)
	}
	allowed := New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, time.Minute)
	if status, err := allowed.Put(t.Context(), server.URL+"/here", []byte(`{}`)); err != nil || status != http.StatusOK {
		t.Errorf("an allowed address: %d, %v", status, err)
	}
	if got := <-calls; got != "PUT /here application/json {}" {
		t.Errorf("the server heard %q", got)
	}
	if status, err := allowed.Put(t.Context(), server.URL+"/away", nil); err != nil || status != http.StatusTemporaryRedirect || len(calls) != 1 {
		t.Errorf("a redirect: %d, %v after %d calls", status, err, len(calls))
	}
}

func TestWhyThereWasNoAnswerIsSaidWithoutAddresses(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}))
	defer hangs.Close()
	defer close(held)
	secured := httptest.NewTLSServer(http.NotFoundHandler()) // by nobody that this machine trusts
	secured.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	defer secured.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for url, want := range map[string]string{
		hangs.URL: "timeout", secured.URL: "tls", closed.URL: "refused", "http://10.0.0.1/": "no_public_address", "http://nosuch.invalid/": "no_public_address",
	} {
		patience := time.Minute
		if want == "timeout" {
			patience = 200 * time.Millisecond
		}
		caller := New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, patience)
		if _, err := caller.Post(t.Context(), url, nil, nil); err == nil || Reason(err) != want {
			t.Errorf("%s: %v, which is %q, want %q", url, err, Reason(err), want)
		}
	}
}

func TestAReceiverMayAskToWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "-1": 0, "soon": 0, "Wed, 21 Oct 2015 07:28:00 GMT": 0, "99999999999999999999": 0,
	} {
		if got := waitOf(text); got != want {
			t.Errorf("Retry-After %q: %v, want %v", text, got, want)
		}
	}
	if got := waitOf(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)); got < 50*time.Minute || got > time.Hour {
		t.Errorf("a time in an hour: %v", got)
	}
}
