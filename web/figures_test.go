package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deepoj/web/site"
)

// TestOnlyThoseWhomItConcernsSeeTheMetricsAndWhatIsWrong asks in every way, under
// every setting. What /readyz says by its status is for all but foreign hosts.
func TestOnlyThoseWhomItConcernsSeeTheMetricsAndWhatIsWrong(t *testing.T) {
	const token = "0123456789abcdef"
	bearer, wrong := "Authorization: Bearer "+token, "Authorization: Bearer 0123456789abcdee"
	settings := map[string]func(*site.Config){
		"by default":         func(*site.Config) {},
		"with a token":       func(c *site.Config) { c.MetricsToken = token },
		"at another address": func(c *site.Config) { c.MetricsElsewhere = true },
		"with both":          func(c *site.Config) { c.MetricsToken, c.MetricsElsewhere = token, true },
		"on all addresses": func(c *site.Config) {
			c.Listen = "0.0.0.0:0"
		},
		"on all addresses with a token": func(c *site.Config) { c.Listen, c.MetricsToken = "0.0.0.0:0", token },
		"with a name":                   func(c *site.Config) { c.Hosts = []string{"judge.example.org"} },
	}
	for setting, change := range settings {
		s := newStage(t, change, func(c *site.Config) {
			c.Ready = func(context.Context) []site.Check {
				return []site.Check{{Name: "redis", Detail: "no answer at 10.1.2.3"}}
			}
		})
		hasToken, all := strings.Contains(setting, "token") || setting == "with both", strings.HasPrefix(setting, "on all")
		local := !hasToken && setting != "at another address"
		for _, tt := range []struct {
			name    string
			headers []string
			remote  bool // the connection is from another machine
			foreign bool // the Host header is another site's
			sees    bool
		}{
			{"this machine", nil, false, false, local},
			{"this machine by name", []string{"Host: localhost:1"}, false, false, local},
			{"this machine with the token", []string{bearer}, false, false, local || hasToken},
			{"this machine with a wrong token", []string{wrong}, false, false, local},
			{"a proxy on this machine", []string{"X-Forwarded-For: 198.51.100.7"}, false, false, false},
			{"a proxy that names itself", []string{"Via: 1.1 proxy"}, false, false, false},
			{"a proxy by the standard", []string{"Forwarded: for=198.51.100.7"}, false, false, false},
			{"a proxy with the token", []string{"X-Forwarded-For: 198.51.100.7", bearer}, false, false, hasToken},
			{"a proxy under the public name", []string{"Host: judge.example.org", "X-Forwarded-For: 198.51.100.7"}, false, setting != "with a name" && !all, false},
			{"another site's page", []string{"Host: evil.example"}, false, !all, false},
			{"another site's page with the token", []string{"Host: evil.example", bearer}, false, !all, hasToken && all},
			{"another machine", nil, true, false, false},
			{"another machine with the token", []string{bearer}, true, false, hasToken},
			{"another machine with a wrong token", []string{wrong}, true, false, false},
			{"another machine under a foreign name", []string{"Host: evil.example"}, true, !all, false},
		} {
			for _, path := range []string{"/metrics", "/readyz"} {
				r := s.asked(path, tt.remote, tt.headers...)
				details := strings.Contains(r.body, "web_streams") || strings.Contains(r.body, "10.1.2.3") || strings.Contains(r.body, "redis")
				want := map[string]int{"/metrics": http.StatusForbidden, "/readyz": http.StatusServiceUnavailable}[path]
				switch {
				case tt.foreign:
					want = http.StatusMisdirectedRequest
				case path == "/metrics" && tt.sees:
					want = http.StatusOK
				case path == "/metrics" && hasToken:
					want = http.StatusUnauthorized
				}
				if r.status != want || details != tt.sees {
					t.Errorf("%s, %s asks for %s: %d, details %t; want %d, %t: %.200s", setting, tt.name, path, r.status, details, want, tt.sees, r.body)
				}
			}
		}
		if r := s.asked("/healthz", true); r.status != http.StatusOK {
			t.Errorf("%s: /healthz is %d", setting, r.status)
		}
	}
}

// asked is do, or the same from another machine.
func (s *stage) asked(path string, remote bool, headers ...string) reply {
	s.Helper()
	if !remote {
		return s.do(http.MethodGet, path, "", headers...)
	}
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req.Host = s.server.Addr()
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	resp, err := s.server.app.Test(req, -1) // comes from 0.0.0.0
	s.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	s.must(err)
	return reply{resp.StatusCode, resp.Header, string(body)}
}
