package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"deepoj/web/site"
)

func TestClientsBehindAProxyAreLimitedEachForItself(t *testing.T) {
	s := newStage(t, func(c *site.Config) {
		c.RatePerAddress, c.Proxies = 2, []netip.Prefix{netip.MustParsePrefix("0.0.0.0/32")}
	})
	s.stopClocks()
	for i, tt := range []struct {
		forwarded []string
		want      int
	}{
		{[]string{"192.0.2.7"}, 200},
		{[]string{"192.0.2.7"}, 200},
		{[]string{"192.0.2.7"}, 429},
		{[]string{"192.0.2.8"}, 200},
		{[]string{"192.0.2.8, 192.0.2.7"}, 429},
		{[]string{"192.0.2.8", "192.0.2.7"}, 429},
		{[]string{"192.0.2.7", "192.0.2.8"}, 200},
	} {
		req := httptest.NewRequest(http.MethodGet, "/login", nil)
		req.Host, req.Header["X-Forwarded-For"] = s.server.Addr(), tt.forwarded
		resp, err := s.server.app.Test(req, -1) // comes from 0.0.0.0
		s.must(err)
		s.must(resp.Body.Close())
		if resp.StatusCode != tt.want {
			t.Errorf("request %d, for %q: %d, want %d", i+1, tt.forwarded, resp.StatusCode, tt.want)
		}
	}
}
