package web

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"deepoj/host/judge"
	"deepoj/web/site"
)

func TestGuestsAreOnOnlyWhereNobodyElseComes(t *testing.T) {
	t.Parallel()
	for _, address := range []struct {
		listen string
		local  bool
	}{{"127.0.0.1:8080", true}, {"[::1]:8080", true}, {"localhost:8080", true}, {"0.0.0.0:8080", false}, {":8080", false}, {"192.0.2.1:80", false}, {"judge.example.org:80", false}} {
		for i := range 8 {
			hosts, proxies, provider := i&1 > 0, i&2 > 0, i&4 > 0
			for auth, rule := range map[string]func(...bool) bool{
				"":         func(named ...bool) bool { return address.local && named[0] },
				"guest":    func(...bool) bool { return address.local },
				"required": func(...bool) bool { return false },
			} {
				c := site.Config{Listen: address.listen, AuthRequired: auth == "required", AuthGuest: auth == "guest"}
				if hosts {
					c.Hosts = []string{"judge.example.org"}
				}
				if proxies {
					c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
				}
				if provider {
					c.OIDC = site.OIDC{Issuer: "https://login.example.org", ClientID: "judge"}
				}
				want := rule(!hosts && !proxies && !provider)
				if got, why := c.Guests(); got != want || why == "" {
					t.Errorf("%s, PUBLIC_HOSTS %t, TRUSTED_PROXIES %t, OIDC %t, --auth %q: guests %t (%s), want %t", address.listen, hosts, proxies, provider, auth, got, why, want)
				}
			}
		}
	}
}

// TestWhoComesThroughAProxyIsNoGuest asks for everything that a guest may use, as an
// Internet client whose requests a proxy on this machine hands on.
func TestWhoComesThroughAProxyIsNoGuest(t *testing.T) {
	for name, change := range map[string]func(*site.Config){"by default": func(*site.Config) {}, "asked for": func(c *site.Config) { c.AuthGuest = true }} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, change)
			id := s.submit("aplusb", "cpp", "a private idea")
			s.finish(id, judge.Result{Verdict: judge.AC})
			program := `{"problem": "aplusb", "language": "cpp", "source": "x"}`
			asked := []struct{ method, path, body string }{
				{"GET", "/", ""},
				{"GET", site.SubmissionURL(id), ""},
				{"GET", site.SubmissionURL(id) + "/events", ""},
				{"GET", "/api/v1/submissions/1", ""},
				{"GET", "/api/v1/submissions/1/events", ""},
				{"GET", "/api/v1/submissions", ""},
				{"GET", "/status/1", ""},
				{"GET", "/judge0/languages", ""},
				{"POST", "/problems/aplusb", "language=cpp&source=x"},
				{"POST", "/api/v1/submissions", program},
				{"POST", "/api/v1/runs", `{"language": "cpp", "source": "x"}`},
				{"POST", "/submit", `{"problem_id": "aplusb", "language": "cpp", "code": "x"}`},
				{"POST", "/judge0/submissions", `{"language_id": 71, "source_code": "print(1)"}`},
			}
			send := func(i int, headers ...string) reply {
				a := asked[i]
				kind := asJSON
				if strings.HasPrefix(a.body, "language=") {
					kind = asForm
				}
				return s.do(a.method, a.path, a.body, append(headers, kind)...)
			}
			for _, header := range []string{"Forwarded: for=198.51.100.77", "X-Forwarded-For: 198.51.100.77", "X-Forwarded-Proto: https", "X-Forwarded-Host: judge.example.org", "X-Forwarded-Anything: ", "Via: 1.1 proxy", "x-forwarded-for: 127.0.0.1", "X-Real-IP: 198.51.100.77"} {
				for i, a := range asked {
					r := send(i, header)
					login := r.status == http.StatusSeeOther && strings.HasPrefix(r.header.Get("Location"), "/login?next=")
					if r.status != http.StatusUnauthorized && !login || strings.Contains(r.body, "private idea") {
						t.Errorf("%s %s with %q: %d %s", a.method, a.path, header, r.status, r.body)
					}
				}
				if r := s.do(http.MethodGet, "/login", "", header); r.status != http.StatusOK || strings.Contains(r.body, ">guest<") {
					t.Errorf("the login page with %q: %d", header, r.status)
				}
			}
			for i, a := range asked { // the same of this machine
				if r := send(i); r.status >= 400 {
					t.Errorf("%s %s as the guest: %d %s", a.method, a.path, r.status, r.body)
				}
			}
			s.someone("ann", "contestant")
			if r := s.do(http.MethodGet, "/api/v1/account", "", "X-Forwarded-For: 198.51.100.77", "Authorization: Bearer "+s.session("ann")); r.status != http.StatusOK {
				t.Errorf("an account through the proxy: %d", r.status)
			}
			f := document(t, s.do(http.MethodPost, "/api/v1/submissions", program, asJSON, "Via: 1.1 proxy"))
			if f.Status != http.StatusUnauthorized || !strings.Contains(f.Detail, "through a proxy") {
				t.Errorf("the refusal does not say why: %+v", f)
			}
		})
	}
}
