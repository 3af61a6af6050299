// Package callback tells addresses that users name what has happened, without
// letting them reach what only this machine can reach.
//
// Whether an address may be dialled is decided when it is dialled, after its name was resolved: a name that changes its
// meaning gains nothing. Redirects are not followed and no proxy is used.
package callback

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	neturl "net/url"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ErrPrivate says that an address is private and not among those that are allowed.
var ErrPrivate = errors.New("the address is private, and not allowed by CALLBACK_ALLOW")

// reserved are addresses that net/netip has no question for and that are not everybody's: this network, shared by
// carriers, protocols, documentation and benchmarks, reserved, and those that lead to IPv4 addresses.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// public reports whether everybody may reach an address.
func public(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == "" &&
		!slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Caller calls addresses. It may be used by several goroutines.
type Caller struct{ client http.Client }

// New returns a Caller that reaches public addresses, and those in allowed. Patience bounds one call.
func New(allowed []netip.Prefix, patience time.Duration) *Caller {
	dialer := net.Dialer{
		Timeout: patience,
		Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("dial %s: %w", address, err)
			}
			a := at.Addr().Unmap()
			if public(a) || slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return p.Contains(a) }) {
				return nil
			}
			return fmt.Errorf("dial %s: %w", a, ErrPrivate)
		},
	}
	return &Caller{http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: patience,
		},
	}}
}

// Answer is what an address said.
type Answer struct {
	Status int           // of HTTP
	Wait   time.Duration // how long it asked to wait (Retry-After); 0 = it did not
}

// Put sends JSON to an address by PUT and returns the status of the answer.
func (c *Caller) Put(ctx context.Context, url string, body []byte) (status int, err error) {
	answer, err := c.send(ctx, http.MethodPut, url, body, nil)
	return answer.Status, err
}

// Post sends JSON to an address by POST, with more headers.
func (c *Caller) Post(ctx context.Context, url string, body []byte, header map[string]string) (Answer, error) {
	return c.send(ctx, http.MethodPost, url, body, header)
}

func (c *Caller) send(ctx context.Context, method, url string, body []byte, header map[string]string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("call an address that cannot be read: %w", withoutAddress(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Deep-OJ")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("call %s: %w", req.URL.Host, withoutAddress(err))
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // a polite end; nobody reads it
	return Answer{resp.StatusCode, waitOf(resp.Header.Get("Retry-After"))}, resp.Body.Close()
}

// withoutAddress takes the address out of an error of net/http and net/url, which
// goes to logs: its path may hold a secret word.
func withoutAddress(err error) error {
	for {
		with, is := errors.AsType[*neturl.Error](err)
		if !is {
			return err
		}
		err = with.Err
	}
}

// waitOf reads a Retry-After header: seconds, or a time.
func waitOf(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// NoPublicAddress is the reason why nothing was called: there is no address, or it is private.
const NoPublicAddress = "no_public_address"

// Reason says in a word why a call got no answer, for whoever named the address: the error itself may tell of networks
// that they cannot see. A name without an address and one whose address is private are the same to them, or they could
// ask which names there are inside.
func Reason(err error) string {
	var (
		name   *net.DNSError
		wait   net.Error
		reject *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, ErrPrivate), errors.As(err, &name):
		return NoPublicAddress
	case errors.As(err, &reject), errors.As(err, &record):
		return "tls"
	case errors.As(err, &wait) && wait.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	}
	return "network"
}
