package web

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"deepoj/web/site"
)

func TestOnlyThisServersPagesMayPost(t *testing.T) {
	s := newStage(t)
	addr := s.server.Addr()
	_, port, _ := net.SplitHostPort(addr)
	tests := map[string]struct {
		headers []string
		status  int
	}{
		"a program":                         {nil, 201},
		"a page of this server":             {[]string{"Origin: http://" + addr, "Sec-Fetch-Site: same-origin"}, 201},
		"localhost":                         {[]string{"Host: localhost:" + port, "Origin: http://localhost:" + port}, 201},
		"localhost in capitals":             {[]string{"Host: LOCALHOST:" + port}, 201},
		"IPv6 loopback":                     {[]string{"Host: [::1]:" + port}, 201},
		"another site":                      {[]string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		"another site, old browser":         {[]string{"Origin: https://evil.example"}, 403},
		"a sandboxed frame":                 {[]string{"Origin: null"}, 403},
		"another port of this machine":      {[]string{"Origin: http://localhost:1", "Sec-Fetch-Site: same-site"}, 403},
		"same-site without an origin":       {[]string{"Sec-Fetch-Site: same-site"}, 403},
		"localhost's page to 127.0.0.1":     {[]string{"Origin: http://localhost:" + port}, 403},
		"a name that was rebound":           {[]string{"Host: evil.example:" + port, "Origin: http://evil.example:" + port, "Sec-Fetch-Site: same-origin"}, 421},
		"another port in Host":              {[]string{"Host: 127.0.0.1:1"}, 421},
		"a host that ends like ours":        {[]string{"Host: evil-localhost:" + port}, 421},
		"a host with our name as a user":    {[]string{"Host: localhost@evil.example:" + port}, 421},
		"an origin that begins like ours":   {[]string{"Origin: http://" + addr + ".evil.example"}, 403},
		"an origin with another scheme":     {[]string{"Origin: file://" + addr}, 403},
		"a loopback address with no port":   {[]string{"Host: 127.0.0.1"}, 421},
		"an address that is no number":      {[]string{"Host: 0x7f.1:" + port}, 421},
		"the unspecified address":           {[]string{"Host: 0.0.0.0:" + port}, 421},
		"a trailing dot is not our name":    {[]string{"Host: localhost.:" + port}, 421},
		"an origin that is not an address":  {[]string{"Origin: ://"}, 403},
		"user-initiated, from the browser":  {[]string{"Sec-Fetch-Site: none"}, 201},
		"cross-site without an origin":      {[]string{"Sec-Fetch-Site: cross-site"}, 403},
		"same-origin but a foreign origin":  {[]string{"Origin: https://evil.example", "Sec-Fetch-Site: same-origin"}, 403},
		"another loopback address of ours":  {[]string{"Host: 127.0.0.2:" + port}, 421},
		"a host in unusual IPv6 spelling":   {[]string{"Host: [0:0:0:0:0:0:0:1]:" + port}, 421},
		"a host that is only a port":        {[]string{"Host: :" + port}, 421},
		"a host with a path in it":          {[]string{"Host: localhost/x:" + port}, 421},
		"two colons without being an IPv6":  {[]string{"Host: a:b:" + port}, 421},
		"an empty origin is as none at all": {[]string{"Origin: "}, 201},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := s.do(http.MethodPost, "/api/v1/submissions", `{"problem": "aplusb", "language": "cpp", "source": "x"}`, append(tt.headers, asJSON)...)
			if r.status != tt.status {
				t.Fatalf("status %d, want %d: %s", r.status, tt.status, r.body)
			}
			if r.status >= 400 {
				document(t, r)
			}
		})
	}
}

func TestEveryStateChangeIsGuarded(t *testing.T) {
	s := newStage(t)
	for _, route := range s.server.app.GetRoutes(true) {
		if site.Safe(route.Method) || route.Method == http.MethodConnect || route.Method == http.MethodTrace {
			continue
		}
		path := strings.NewReplacer(":slug", "aplusb", ":id", "1").Replace(route.Path)
		if r := s.do(route.Method, path, "", "Origin: https://evil.example"); r.status != http.StatusForbidden {
			t.Errorf("%s %s from another site: status %d", route.Method, path, r.status)
		}
	}
}

func TestAReboundNameCannotRead(t *testing.T) {
	s := newStage(t)
	for host, want := range map[string]int{
		"evil.example": 421, "evil.example:8080": 421, "localhost:9999": 200, "192.0.2.7": 200, "[2001:db8::1]:80": 200, "": 200,
	} {
		headers := []string{"Host: " + host}
		if host == "" {
			headers = nil
		}
		if r := s.do(http.MethodGet, "/submissions", "", headers...); r.status != want {
			t.Errorf("GET with Host %q: status %d, want %d", host, r.status, want)
		}
		if r := s.do(http.MethodGet, "/healthz", "", headers...); r.status != 200 {
			t.Errorf("GET /healthz with Host %q: status %d", host, r.status)
		}
	}
}

func TestConfiguredHostsAreAnswered(t *testing.T) {
	for name, tt := range map[string]struct {
		listen string
		hosts  []string
		host   string
		want   bool
	}{
		"a proxy's name":                     {"127.0.0.1:8080", []string{"judge.example.org"}, "judge.example.org", true},
		"a proxy's name with any port":       {"127.0.0.1:8080", []string{"judge.example.org"}, "judge.example.org:8443", true},
		"a name with another port":           {"127.0.0.1:8080", []string{"judge.example.org:8443"}, "judge.example.org:1", false},
		"every name, without configuration":  {"0.0.0.0:8080", nil, "whatever.example:8080", true},
		"other names, with configuration":    {":8080", []string{"judge.example.org"}, "evil.example:8080", false},
		"localhost on all addresses":         {"[::]:8080", []string{"judge.example.org"}, "localhost:8080", true},
		"one address of several":             {"192.0.2.1:8080", nil, "192.0.2.1:8080", true},
		"localhost, listening elsewhere":     {"192.0.2.1:8080", nil, "localhost:8080", false},
		"the name that it was told to be at": {"localhost:8080", nil, "localhost:8080", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHostPolicy(tt.listen, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, tt.hosts)
			if got := p.mayChange(tt.host); got != tt.want {
				t.Errorf("mayChange(%q) = %t, want %t", tt.host, got, tt.want)
			}
		})
	}
}

func TestEveryAnswerHasTheSecurityHeaders(t *testing.T) {
	s := newStage(t)
	huge := strings.Repeat("x", 5<<20)
	for _, r := range []reply{
		s.do(http.MethodGet, "/", ""), s.do(http.MethodGet, "/nowhere", ""), s.do(http.MethodGet, "/api/v1/problems", ""),
		s.do(http.MethodGet, "/problems/aplusb", ""), s.do(http.MethodGet, s.asset("app.css"), ""),
		s.do(http.MethodPost, "/submit", huge, asJSON), s.do(http.MethodGet, "/", "", "Host: evil.example"),
	} {
		policy := r.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self';", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("status %d: the content security policy %q lacks %q", r.status, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("status %d: the content security policy is %q", r.status, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY"} {
			if got := r.header.Get(name); got != want {
				t.Errorf("status %d: %s is %q, want %q", r.status, name, got, want)
			}
		}
	}
}

func TestPackedBodiesAndHugeHeadersAreRefused(t *testing.T) {
	s := newStage(t)
	for _, packing := range []string{"gzip", "br", "deflate", "zstd", "gzip, gzip"} {
		for _, kind := range []string{asJSON, asForm, "Content-Type: multipart/form-data; boundary=b"} {
			f := document(t, s.do(http.MethodPost, "/submit", "\x1f\x8b\x08", kind, "Content-Encoding: "+packing))
			if f.Reason != "packed_body" {
				t.Errorf("%s, %s: %d %s", kind, packing, f.Status, f.Reason)
			}
		}
	}
	if r := s.do(http.MethodGet, "/api/v1/problems", "", "X-Long: "+strings.Repeat("x", 20<<10)); r.status != 431 {
		t.Errorf("huge headers: %d", r.status)
	}
}

func TestMethodsAndAddressesThatDoNotExistAreRefused(t *testing.T) {
	s := newStage(t)
	for path, want := range map[string]int{
		"GET /nowhere": 404, "GET /api/v1/nowhere": 404, "DELETE /submissions/1": 405, "PUT /submit": 405, "GET /submit": 405,
		"GET /problems/nosuch": 404, "GET /problems/%00": 404, "GET /submissions/0": 404, "GET /submissions/x": 404,
		"GET /submissions/99999999999999999999": 404, "GET /static/../config.go": 404, "GET /static/x/..%2f..%2fgo.mod": 404,
		"GET /submissions?verdict=XX": 422, "GET /api/v1/submissions?before=-1": 422, "GET /api/v1/submissions?limit=201": 422,
		"GET /api/v1/submissions?author=%00": 422, "GET /api/v1/submissions?author=admin": 403, "GET /problems/aplusb?from=7": 404,
		"GET /api/v1/submissions/1?wait=x": 404,
	} {
		method, address, _ := strings.Cut(path, " ")
		if r := s.do(method, address, ""); r.status != want {
			t.Errorf("%s: status %d, want %d", path, r.status, want)
		}
	}
}

func FuzzSplitHost(f *testing.F) {
	for _, seed := range []string{"localhost:8080", "[::1]:8080", "::1", "a:b:c", "", "[", "]:1", "a@b:1"} {
		f.Add(seed)
	}
	policy := newHostPolicy("127.0.0.1:8080", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, nil)
	ours := map[string]bool{"localhost:8080": true, "127.0.0.1:8080": true, "[::1]:8080": true}
	f.Fuzz(func(t *testing.T, host string) {
		if policy.mayChange(host) != ours[strings.ToLower(host)] {
			t.Errorf("mayChange(%q) = %t", host, policy.mayChange(host))
		}
	})
}
