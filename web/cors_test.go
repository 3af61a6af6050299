package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

func TestAnOriginIsAllowedByItsWholeName(t *testing.T) {
	t.Parallel()
	p := originPolicy{"https://ide.example", "https://*.school.example", "http://localhost:3000", "https://*.port.example:8443"}
	for origin, want := range map[string]bool{
		"https://ide.example": true, "HTTPS://IDE.example": true, "http://localhost:3000": true,
		"https://a.school.example": true, "https://a.b-c.school.example": true, "https://a.port.example:8443": true,
		"": false, "null": false, "*": false, "https://": false,
		"http://ide.example": false, "https://ide.example:444": false, "https://ide.example/": false, "https://ide.example.": false,
		"https://ide.example.evil.example": false, "https://evilide.example": false, "https://x.ide.example": false,
		"https://school.example": false, "https://.school.example": false, "https://evilschool.example": false,
		"https://a..school.example": false, "https://evil.example#.school.example": false, "https://evil.example/.school.example": false,
		"https://evil.example?.school.example": false, "https://evil.example:1.school.example": false, "https://me@a.school.example": false,
		"https://evil.example\\.school.example": false, "https://a.school.example:443": false, "https://a.port.example": false,
		"https://ide.example https://evil.example": false, "https://evil.example, https://ide.example": false, "http://localhost:30000": false,
	} {
		if got := p.allows(origin); got != want {
			t.Errorf("%q: %t", origin, got)
		}
	}
	if all := (originPolicy{"*"}); !all.any() || !all.allows("null") || !all.allows("https://x.example") || p.any() || (originPolicy{}).allows("https://x.example") {
		t.Error("* is not all, or is where it is not")
	}
}

// fromOrigin sends a request as a browser does for a page of an origin.
func (s *stage) fromOrigin(origin, method, path, body string, headers ...string) reply {
	s.Helper()
	return s.do(method, path, body, append(headers, "Origin: "+origin, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors")...)
}

const ide = "https://ide.example"

// policies are those of CORS_ORIGINS, by what they are.
var policies = map[string][]string{"off": nil, "a list": {ide, "https://*.school.example"}, "all": {"*"}}

// TestNoPolicyLetsAnotherOriginUseACookie attacks with a cookie and with all that could make it count.
func TestNoPolicyLetsAnotherOriginUseACookie(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleAdmin)
	token := s.session("ann")
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + token
	csrf := "X-CSRF-Token: " + site.Viewer{Token: token}.CSRF()
	for policy, origins := range policies {
		s.start(func(c *site.Config) { c.CORSOrigins, c.AuthRequired = origins, true })
		if r := s.do(http.MethodGet, "/api/v1/account", "", cookie); r.status != http.StatusOK {
			t.Fatalf("the cookie does not work at all: %d", r.status)
		}
		for _, origin := range []string{ide, "https://a.school.example", "https://evil.example", "null", "https://evil.example https://" + s.server.Addr()} {
			for _, call := range []string{
				"GET /api/v1/account", "GET /api/v1/users", "GET /judge0/submissions", "GET /judge0/languages", "POST /judge0/submissions", "POST /judge0/authenticate",
				"POST /api/v1/runs", "POST /api/v1/submissions", "PATCH /api/v1/spaces/x", "DELETE /api/v1/sessions", "POST /submit", "POST /users",
			} {
				method, path, _ := strings.Cut(call, " ")
				for name, headers := range map[string][]string{
					"": nil, "as a form": {"Content-Type: application/x-www-form-urlencoded"}, "as text": {"Content-Type: text/plain"},
					"with a trusted host": {"X-Forwarded-Host: ide.example", "X-Forwarded-For: 127.0.0.1", "Forwarded: host=ide.example"},
				} {
					r := s.fromOrigin(origin, method, path, "language_id=71&source_code=x", append(headers, cookie, csrf)...)
					if r.status != http.StatusUnauthorized && r.status != http.StatusForbidden {
						t.Errorf("%s: %s of %s %s: %d %.100s", policy, call, origin, name, r.status, r.body)
					}
					if r.header.Get("Access-Control-Allow-Credentials") != "" || len(r.header.Values("Set-Cookie")) > 0 {
						t.Errorf("%s: %s of %s: %v", policy, call, origin, r.header)
					}
				}
			}
		}
		// What the browser says of the site counts, whatever the origin says.
		if r := s.do(http.MethodGet, "/api/v1/account", "", cookie, "Sec-Fetch-Site: same-site"); r.status != http.StatusUnauthorized {
			t.Errorf("%s: a neighbour without an origin: %d", policy, r.status)
		}
		// A link from elsewhere to a page leads there as before; a script from elsewhere reads nobody's page.
		link := []string{cookie, "Sec-Fetch-Site: cross-site", "Accept: text/html"}
		if r := s.do(http.MethodGet, "/account", "", append(link, "Sec-Fetch-Mode: navigate")...); r.status != http.StatusOK {
			t.Errorf("%s: a link to a page: %d", policy, r.status)
		}
		if r := s.do(http.MethodGet, "/account", "", append(link, "Sec-Fetch-Mode: no-cors")...); r.status == http.StatusOK {
			t.Errorf("%s: a script reads the page of an account: %d", policy, r.status)
		}
	}
}

func TestPagesOfAllowedOriginsUseTheAPIWithAKey(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	key := s.keyOf("ann", judge.ScopeSubmit)
	hello := `{"source_code": "x", "language_id": 71}`
	allowed := map[string][]string{ide: {"a list", "all"}, "https://a.school.example": {"a list", "all"}, "https://evil.example": {"all"}, "null": {"all"}}
	for policy, origins := range policies {
		s.start(func(c *site.Config) {
			c.CORSOrigins, c.AuthRequired, c.Judge0Open = origins, true, true
			c.RatePerAddress, c.Proxies = 2, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		})
		for n, origin := range []string{ide, "https://a.school.example", "https://evil.example", "null"} {
			may := strings.Contains(strings.Join(allowed[origin], ","), policy)
			want := map[bool]string{true: origin, false: ""}[may]
			if may && policy == "all" {
				want = "*"
			}
			at := fmt.Sprintf("X-Forwarded-For: 192.0.2.%d", n+1)
			for _, path := range []string{"/judge0/submissions", "/api/v1/runs", "/judge0", "/api/v1/nothing"} {
				for range 3 { // more than the limit of the address
					r := s.fromOrigin(origin, http.MethodOptions, path, "", at, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-auth-token,x-judge0-app")
					got := fmt.Sprint(r.status, r.header.Get("Access-Control-Allow-Origin"), r.header.Get("Access-Control-Allow-Headers"), strings.Contains(r.header.Get("Access-Control-Allow-Methods"), "POST"))
					if expected := map[bool]string{true: fmt.Sprint(204, want, "x-auth-token,x-judge0-app", true), false: fmt.Sprint(403, "", "", false)}[may]; got != expected {
						t.Errorf("%s: preflight of %s to %s: %s, want %s", policy, origin, path, got, expected)
					}
				}
			}
			for i, expected := range []int{201, 201, 429} {
				r := s.fromOrigin(origin, http.MethodPost, "/judge0/submissions", hello, at, asJSON, "X-Auth-Token: "+key)
				if !may {
					expected = 403
				}
				if r.status != expected || r.header.Get("Access-Control-Allow-Origin") != want || r.header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s: request %d of %s: %d %v", policy, i, origin, r.status, r.header)
				}
				if exposed := r.header.Get("Access-Control-Expose-Headers"); may != strings.Contains(exposed, "Retry-After") {
					t.Errorf("%s: %s reads the headers %q", policy, origin, exposed)
				}
				if varies := strings.Contains(r.header.Get("Vary"), "Origin"); varies != (policy == "a list") {
					t.Errorf("%s: the answer varies by origin: %t", policy, varies)
				}
			}
		}
	}
	s.start(func(c *site.Config) { c.CORSOrigins, c.AuthRequired, c.Judge0Open = policies["a list"], true, true })
	if r := s.do(http.MethodGet, "/judge0/about", "", "X-Auth-Token: "+key); !strings.Contains(r.header.Get("Vary"), "Origin") || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("an answer without an origin may be kept for every origin: %v", r.header)
	}
	if r := s.fromOrigin(ide, http.MethodGet, "/api/v1/account", "", "Authorization: Bearer "+key); r.status != http.StatusOK {
		t.Errorf("a key from another origin: %d %s", r.status, r.body)
	}
	if r := s.fromOrigin(ide, http.MethodPost, "/api/v1/sessions", `{"name": "ann", "password": "correct horse"}`, asJSON); r.status != http.StatusCreated || len(r.header.Values("Set-Cookie")) > 0 {
		t.Errorf("a login from another origin: %d %v", r.status, r.header)
	}
	preflight := []string{"Access-Control-Request-Method: POST"}
	for name, tt := range map[string]struct {
		path    string
		headers []string
		status  int // 0 = whatever is no success
	}{
		"a name of another host":        {"/judge0/submissions", []string{"Host: evil.example"}, 421},
		"a page":                        {"/submit", nil, 0},
		"a path that begins alike":      {"/judge0x", nil, 0},
		"a path that turns back":        {"/judge0/../submit", nil, 204}, // which is no address, see below
		"a doubled slash":               {"//judge0/submissions", nil, 0},
		"another case":                  {"/JUDGE0/submissions", nil, 0},
		"headers that are none":         {"/judge0/submissions", []string{"Access-Control-Request-Headers: a: b;"}, 204},
		"a question that is no request": {"/judge0/submissions", []string{"Access-Control-Request-Method: "}, 401},
	} {
		r := s.fromOrigin(ide, http.MethodOptions, tt.path, "", append(preflight, tt.headers...)...)
		if tt.status != 0 && r.status != tt.status || tt.status == 0 && r.status < 300 || r.header.Get("Access-Control-Allow-Headers") != "" || r.header.Get("Access-Control-Allow-Origin") != "" && !strings.HasPrefix(tt.path, "/judge0/") {
			t.Errorf("%s: %d %v", name, r.status, r.header)
		}
	}
	for _, path := range []string{"/judge0/../submit", "/judge0/%2e%2e/submit", "/api/v1/../../submit"} {
		if r := s.fromOrigin(ide, http.MethodPost, path, "", "Authorization: Bearer "+key); r.status != http.StatusNotFound {
			t.Errorf("%s leads to a page: %d", path, r.status)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/judge0/submissions", strings.NewReader(hello))
	s.must(err)
	req.Header = http.Header{"Origin": {ide, "https://evil.example"}, "X-Auth-Token": {key}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(req)
	s.must(err)
	s.must(resp.Body.Close())
	if resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("two origins: %d %v", resp.StatusCode, resp.Header)
	}
}

// TestATokenInTheAddressIsEnoughWhereTheOperatorSaysSo reads a submission without an account.
func TestATokenInTheAddressIsEnoughWhereTheOperatorSaysSo(t *testing.T) {
	s := newStage(t)
	s.user("ann", "correct horse", judge.RoleContestant)
	s.user("bob", "correct horse", judge.RoleContestant)
	ann, bob := "X-Auth-Token: "+s.session("ann"), "X-Auth-Token: "+s.session("bob")
	for open, status := range map[bool]int{false: 401, true: 200} {
		s.start(func(c *site.Config) { c.CORSOrigins, c.AuthRequired, c.Judge0Open = policies["a list"], true, open })
		token := s.judge0Submit(`{"source_code": "x", "language_id": 71}`, ann)
		for _, path := range []string{"/judge0/submissions/" + token, "/judge0/submissions/batch?tokens=" + token} {
			r := s.fromOrigin(ide, http.MethodGet, path, "")
			if r.status != status || open != strings.Contains(r.body, `"token":"`+token) {
				t.Errorf("open %t: %s: %d %s", open, path, r.status, r.body)
			}
			if r := s.do(http.MethodGet, path, "", bob); open != strings.Contains(r.body, `"token":"`+token) {
				t.Errorf("open %t: %s for somebody else: %d %s", open, path, r.status, r.body)
			}
			if r := s.do(http.MethodGet, path, "", "X-Auth-Token: wrong"); r.status != http.StatusUnauthorized {
				t.Errorf("open %t: %s with a wrong key: %d", open, path, r.status)
			}
		}
		if r := s.fromOrigin(ide, http.MethodGet, "/judge0/submissions/00000000-0000-4000-8000-000000000000", ""); open && r.status != http.StatusNotFound {
			t.Errorf("an unknown token: %d", r.status)
		}
		for _, call := range []string{"POST /judge0/submissions", "GET /judge0/submissions", "DELETE /judge0/submissions/" + token, "GET /judge0/languages", "GET /api/v1/runs/1"} {
			method, path, _ := strings.Cut(call, " ")
			if r := s.do(method, path, "{}", asJSON); r.status != http.StatusUnauthorized && r.status != http.StatusForbidden {
				t.Errorf("open %t: %s without an account: %d", open, call, r.status)
			}
		}
	}
}
