package web

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// issuer is a provider of OpenID Connect that lets in whoever the test names, and
// signs with the standard library. What it does wrong the test says.
type issuer struct {
	*testing.T
	url      string
	key, old *rsa.PrivateKey // the key of its description, and one that is not there

	down    atomic.Bool
	mu      sync.Mutex
	subject string // who logs in
	called  string // and what they are called there
	codes   map[string]url.Values
	wrong   func(t *token)
}

// token is what a provider proves, before it is signed.
type token struct {
	header, claims map[string]any
	key            *rsa.PrivateKey
	secret         []byte // for HS256
	missing        bool
}

const (
	clientID     = "deep-oj"
	clientSecret = "of the client"
)

// newIssuer starts a provider.
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{T: t, codes: map[string]url.Values{}, subject: "248289761001", called: "Ann"}
	for _, key := range []**rsa.PrivateKey{&i.key, &i.old} {
		var err error
		if *key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{
			"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token", "jwks_uri": i.url + "/keys",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}, // a careless one
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": encode64(i.key.N.Bytes()), "e": encode64(big.NewInt(int64(i.key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("/authorize", i.authorize)
	mux.HandleFunc("/token", i.exchange)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			panic(http.ErrAbortHandler) // the connection ends
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (i *issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.Error(err)
	}
}

// authorize sends the browser back at once with a code.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	if q.Get("client_id") != clientID || q.Get("response_type") != "code" || q.Get("state") == "" || q.Get("nonce") == "" ||
		q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256" || !strings.Contains(" "+q.Get("scope")+" ", " openid ") {
		i.Errorf("asked to authorize %s", r.URL.RawQuery)
	}
	code := rand.Text()
	i.codes[code] = q
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.url}}.Encode(), http.StatusFound)
}

// exchange gives a token for a code, once, to the client that can prove that it
// asked for it.
func (i *issuer) exchange(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	if !basic {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	asked, known := i.codes[r.FormValue("code")]
	delete(i.codes, r.FormValue("code"))
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if name, _ := url.QueryUnescape(secret); !known || id != clientID || name != clientSecret || asked.Get("redirect_uri") != r.FormValue("redirect_uri") ||
		encode64(challenge[:]) != asked.Get("code_challenge") || r.FormValue("grant_type") != "authorization_code" {
		w.WriteHeader(http.StatusBadRequest)
		i.answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	t := token{key: i.key, header: map[string]any{"alg": "RS256", "kid": "1", "typ": "JWT"}, claims: map[string]any{
		"iss": i.url, "sub": i.subject, "aud": clientID, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"nonce": asked.Get("nonce"), "preferred_username": i.called, "email": "root@example.org", "email_verified": true,
	}}
	if i.wrong != nil {
		i.wrong(&t)
	}
	out := map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 3600}
	if !t.missing {
		out["id_token"] = t.signed(i.T)
	}
	i.answer(w, out)
}

// signed is the token as RFC 7519 has it.
func (t token) signed(tb testing.TB) string {
	tb.Helper()
	var parts []string
	for _, part := range []any{t.header, t.claims} {
		b, err := json.Marshal(part)
		if err != nil {
			tb.Fatal(err)
		}
		parts = append(parts, encode64(b))
	}
	text := strings.Join(parts, ".")
	var signature []byte
	switch t.header["alg"] {
	case "RS256":
		sum := sha256.Sum256([]byte(text))
		var err error
		if signature, err = rsa.SignPKCS1v15(rand.Reader, t.key, crypto.SHA256, sum[:]); err != nil {
			tb.Fatal(err)
		}
	case "HS256":
		mac := hmac.New(sha256.New, t.secret)
		mac.Write([]byte(text))
		signature = mac.Sum(nil)
	}
	return text + "." + encode64(signature)
}

// as makes the next login that of somebody.
func (i *issuer) as(subject, called string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.subject, i.called = subject, called
}

// at has a server know the provider.
func (i *issuer) at(c *site.Config) {
	c.OIDC = site.OIDC{Issuer: i.url, ClientID: clientID, ClientSecret: clientSecret}
}

// visitor is a browser without JavaScript that does not follow redirects by itself.
type visitor struct {
	*stage
	http *http.Client
}

func (s *stage) visitor() visitor {
	s.Helper()
	jar, err := cookiejar.New(nil)
	s.must(err)
	return visitor{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// get opens an address, and says where it leads.
func (v visitor) get(address string) (r reply, leads string) {
	v.Helper()
	if strings.HasPrefix(address, "/") {
		address = v.url + address
	}
	req, err := http.NewRequestWithContext(v.Context(), http.MethodGet, address, nil)
	v.must(err)
	req.Header.Set("Accept", "text/html")
	resp, err := v.http.Do(req)
	v.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	v.must(err)
	return reply{resp.StatusCode, resp.Header, string(body)}, resp.Header.Get("Location")
}

// come begins a login, is let in by the provider, and returns the address that it
// leads back to.
func (v visitor) come(next string) string {
	v.Helper()
	r, leads := v.get("/login/oidc?next=" + url.QueryEscape(next))
	if r.status != http.StatusSeeOther {
		v.Fatalf("a login begins with %d %s", r.status, r.body)
	}
	if _, leads = v.get(leads); !strings.HasPrefix(leads, v.url+"/login/oidc/callback?") {
		v.Fatalf("the provider leads to %q", leads)
	}
	return leads
}

// name is who a browser is logged in as; "" = nobody.
func (v visitor) name() string {
	v.Helper()
	r, _ := v.get("/api/v1/account")
	var account struct {
		Name string `json:"name"`
	}
	if r.status == http.StatusOK {
		v.must(json.Unmarshal([]byte(r.body), &account))
	}
	return account.Name
}

func TestPeopleLogInAtAProviderOfOpenIDConnect(t *testing.T) {
	i := newIssuer(t)
	s := newStage(t, i.at)
	ctx := t.Context()
	s.must(s.store.CreateUser(ctx, sql.NewUser{Name: "root", PasswordHash: "x", Role: judge.RoleAdmin}))
	login := func(subject, called, next string) (v visitor, leads string) {
		t.Helper()
		i.as(subject, called)
		v = s.visitor()
		r, leads := v.get(v.come(next))
		if r.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", called, r.status, r.body)
		}
		return v, leads
	}
	if r, _ := s.visitor().get("/login?next=/queue"); !strings.Contains(r.body, `href="/login/oidc?next=%2fqueue"`) {
		t.Errorf("the login page does not lead to the provider: %s", r.body)
	}
	// The first login makes an account, the next finds it; names that are taken stay
	// whose they are, whatever the provider says of names and addresses.
	ann, leads := login("1", "Ann", "/submissions?limit=5")
	if ann.name() != "ann" || leads != "/submissions?limit=5" {
		t.Errorf("logged in as %q, led to %q", ann.name(), leads)
	}
	for _, tt := range []struct{ subject, called, want string }{
		{"1", "Anna", "ann"},
		{"2", "ann", "ann-2"},
		{"3", "root", "root-2"},
		{"4", "", "user"},
		{"5", "guest", "user-2"},
		{"6", "Zoë Ö", "zo"},
		{"7", strings.Repeat("x", 99), strings.Repeat("x", 48)},
		{"8", "../..", "user-3"},
		{"9", "guest\x00", "user-4"},
	} {
		if v, _ := login(tt.subject, tt.called, "/"); v.name() != tt.want {
			t.Errorf("%q is %q, want %q", tt.called, v.name(), tt.want)
		}
	}
	if u, err := s.store.User(ctx, "ann"); err != nil || u.Role != judge.RoleContestant {
		t.Errorf("the account is %+v, %v", u, err)
	}
	// Addresses of others are not led to.
	for _, next := range []string{"//evil.example/", "https://evil.example/", `/\evil.example`, "javascript:alert(1)", ""} {
		if _, leads := login("1", "Ann", next); leads != "/" {
			t.Errorf("with next=%s it leads to %q", next, leads)
		}
	}
	// Who is logged in has nothing to do there.
	if r, leads := ann.get("/login/oidc?next=/queue"); r.status != http.StatusSeeOther || leads != "/queue" {
		t.Errorf("a second login: %d to %q", r.status, leads)
	}
	cookie := ""
	u, err := url.Parse(s.url)
	s.must(err)
	for _, c := range ann.http.Jar.Cookies(u) {
		if c.Name == peopleroom.SessionCookie {
			cookie = "Cookie: " + c.String()
		}
	}
	if r := s.do(http.MethodPost, "/logout", "csrf="+s.csrf(cookie), asForm, cookie); r.status != http.StatusSeeOther || ann.name() != "" {
		t.Errorf("after a logout (%d) it is still %q", r.status, ann.name())
	}
	// A name with a password does not open such an account; a disabled one stays shut.
	if _, err := s.client.Login(ctx, "ann", "x"); err == nil {
		t.Error("somebody got in with a password")
	}
	s.must(s.store.Disable(ctx, "ann", true, "root"))
	i.as("1", "Ann")
	v := s.visitor()
	if r, _ := v.get(v.come("/")); r.status != http.StatusForbidden || v.name() != "" || !strings.Contains(r.body, "disabled") {
		t.Errorf("a disabled account: %d as %q", r.status, v.name())
	}
}

func TestALoginAtTheProviderBelongsToOneBrowserAndIsAnsweredOnce(t *testing.T) {
	i := newIssuer(t)
	s := newStage(t, i.at)
	refused := func(what string, v visitor, address string) {
		t.Helper()
		if r, _ := v.get(address); r.status != http.StatusBadRequest || v.name() != "" || strings.Contains(r.header.Get("Set-Cookie"), peopleroom.SessionCookie) {
			t.Errorf("%s: %d as %q", what, r.status, v.name())
		}
	}
	attacker, victim := s.visitor(), s.visitor()
	leads := attacker.come("/")
	refused("a browser that began nothing", victim, leads)
	victim.come("/")
	refused("a browser that began another login", victim, leads)
	refused("no state", victim, "/login/oidc/callback?code=x")

	// A session that somebody planted is not the one that a login opens.
	u, err := url.Parse(s.url)
	s.must(err)
	v := s.visitor()
	v.http.Jar.SetCookies(u, []*http.Cookie{{Name: peopleroom.SessionCookie, Value: "planted"}})
	leads = v.come("/")
	if r, _ := v.get(leads); r.status != http.StatusSeeOther || v.name() != "ann" {
		t.Fatalf("a login: %d %s", r.status, r.body)
	}
	for _, c := range v.http.Jar.Cookies(u) {
		if c.Name == peopleroom.SessionCookie && c.Value == "planted" {
			t.Error("the planted session goes on")
		}
	}
	again := s.visitor()
	again.http.Jar = v.http.Jar
	if r, _ := again.get(leads); r.status != http.StatusBadRequest {
		t.Errorf("the same answer twice: %d", r.status)
	}
	// The provider says no, or somebody else answers in its place.
	v = s.visitor()
	q, err := url.Parse(v.come("/"))
	s.must(err)
	if r, _ := v.get("/login/oidc/callback?error=access_denied&state=" + q.Query().Get("state")); r.status != http.StatusUnauthorized || v.name() != "" || !strings.Contains(r.body, "did not let you in") {
		t.Errorf("access denied: %d", r.status)
	}
	v = s.visitor()
	if r, _ := v.get(strings.Replace(v.come("/"), url.QueryEscape(i.url), url.QueryEscape("https://evil.example"), 1)); r.status != http.StatusUnauthorized || v.name() != "" {
		t.Errorf("an answer of another provider: %d", r.status)
	}
}

func TestATokenThatProvesNothingLetsNobodyIn(t *testing.T) {
	i := newIssuer(t)
	s := newStage(t, i.at)
	good := map[string]func(*token){
		"several audiences, and ours the party": func(t *token) { t.claims["aud"], t.claims["azp"] = []string{"other", clientID}, clientID },
	}
	bad := map[string]func(*token){
		"no token":                 func(t *token) { t.missing = true },
		"another audience":         func(t *token) { t.claims["aud"] = "other" },
		"several audiences":        func(t *token) { t.claims["aud"] = []string{"other", clientID} },
		"another party":            func(t *token) { t.claims["azp"] = "other" },
		"another issuer":           func(t *token) { t.claims["iss"] = "https://evil.example" },
		"an issuer almost like it": func(t *token) { t.claims["iss"] = t.claims["iss"].(string) + "/" },
		"expired":                  func(t *token) { t.claims["exp"] = time.Now().Add(-time.Hour).Unix() },
		"without an end":           func(t *token) { delete(t.claims, "exp") },
		"of the future":            func(t *token) { t.claims["nbf"] = time.Now().Add(time.Hour).Unix() },
		"no nonce":                 func(t *token) { delete(t.claims, "nonce") },
		"the nonce of another":     func(t *token) { t.claims["nonce"] = "replayed" },
		"no subject":               func(t *token) { delete(t.claims, "sub") },
		"unsigned":                 func(t *token) { t.header["alg"] = "none" },
		"unsigned, spelt so":       func(t *token) { t.header["alg"] = "None" },
		"another key":              func(t *token) { t.key = i.old },
		"another key of that name": func(t *token) { t.key, t.header["kid"] = i.old, "2" },
		"the secret as a key":      func(t *token) { t.header["alg"], t.secret = "HS256", []byte(clientSecret) },
		"the public key as secret": func(t *token) { t.header["alg"], t.secret = "HS256", i.key.N.Bytes() },
	}
	for name, change := range bad {
		i.mu.Lock()
		i.wrong = change
		i.mu.Unlock()
		v := s.visitor()
		if r, _ := v.get(v.come("/")); r.status != http.StatusUnauthorized || v.name() != "" {
			t.Errorf("%s: %d as %q", name, r.status, v.name())
		}
	}
	if n, err := s.store.CountUsers(t.Context()); err != nil || n != 0 {
		t.Errorf("%d accounts were made, %v", n, err)
	}
	maps.Copy(good, map[string]func(*token){"as it is": func(*token) {}})
	for name, change := range good {
		i.mu.Lock()
		i.wrong = change
		i.mu.Unlock()
		v := s.visitor()
		if r, _ := v.get(v.come("/")); r.status != http.StatusSeeOther || v.name() != "ann" {
			t.Errorf("%s: %d as %q: %s", name, r.status, v.name(), r.body)
		}
	}
}

func TestWithoutItsProviderASiteTakesItsOwnPasswords(t *testing.T) {
	i := newIssuer(t)
	i.down.Store(true)
	s := &stage{T: t, store: sqltest.DB(t)}
	s.addProblems()
	s.start(i.at)
	v := s.visitor()
	for range 2 { // the second is not even asked
		if r, _ := v.get("/login/oidc?next=/queue"); r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, "127.0.0.1 does not answer") || !strings.Contains(r.body, `name="password"`) {
			t.Errorf("without the provider: %d %s", r.status, r.body)
		}
	}
	s.user("ann", "correct horse", judge.RoleContestant)
	s.login("ann", "correct horse")
	i.down.Store(false)
	for deadline := time.Now().Add(2 * time.Minute); ; {
		r, _ := v.get("/login/oidc")
		if r.status == http.StatusSeeOther {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("with the provider back: %d", r.status)
		}
		<-time.After(100 * time.Millisecond)
	}
	if r, _ := v.get(v.come("/")); r.status != http.StatusSeeOther || v.name() != "ann-2" {
		t.Errorf("with the provider back: %d as %q", r.status, v.name())
	}
}

func TestASiteWithoutAProviderOffersNone(t *testing.T) {
	s := newStage(t)
	for path, want := range map[string]int{"/login": 200, "/login/oidc": 404, "/login/oidc/callback?code=x&state=y": 404} {
		if r, _ := s.visitor().get(path); r.status != want || strings.Contains(r.body, "oidc?") {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	for name, o := range map[string]site.OIDC{
		"no client": {Issuer: "https://a.example"}, "no issuer": {ClientID: "x"}, "another scheme": {Issuer: "ftp://a", ClientID: "x"},
		"another way back": {Issuer: "https://a.example", ClientID: "x", RedirectURL: "https://b.example/elsewhere"},
	} {
		if err := (site.Config{Store: s.store.Site, Rounds: s.store.Rounds, OIDC: o}).Validate(); err == nil || !strings.Contains(err.Error(), "OIDC.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (site.Config{Store: s.store.Site, Rounds: s.store.Rounds, OIDC: site.OIDC{Issuer: "https://a.example", ClientID: "x", RedirectURL: fmt.Sprint("https://b.example", site.OIDCPath, "/callback")}}).Validate(); err != nil {
		t.Error(err)
	}
}
