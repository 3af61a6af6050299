package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	peopleroom "deepoj/web/people"
)

const horse = "correct horse"

// clock is what codes of authenticator apps count by in a test.
type clock struct{ at time.Time }

// clocked gives a server a clock of codes that the test turns.
func (s *stage) clocked() *clock {
	s.Helper()
	c := &clock{time.Now()}
	s.server.people.Factors.TimeCodes(func() time.Time { return c.at })
	return c
}

// code is that of an authenticator app, so many steps from the clock.
func (c *clock) code(s *stage, secret string, steps int) string {
	s.Helper()
	code, err := totp.GenerateCode(secret, c.at.Add(time.Duration(steps)*30*time.Second))
	s.must(err)
	return code
}

// withTOTP adds an account with an authenticator app, and returns its secret.
func (s *stage) withTOTP(name string, role judge.Role) string {
	s.Helper()
	hash, err := people.HashPassword(horse)
	s.must(err)
	s.must(s.store.CreateUser(s.Context(), sql.NewUser{Name: name, PasswordHash: hash, Role: role}))
	secret, err := s.store.BeginTOTP(s.Context(), name, people.NewTOTPSecret(), []byte("handle of "+name))
	s.must(err)
	s.must(s.store.ConfirmTOTP(s.Context(), name, 0))
	return people.TOTPText(secret)
}

// given returns a cookie that an answer sets, as a header; "" if it sets none.
func (r reply) given(name string) string {
	for _, set := range r.header.Values("Set-Cookie") {
		cookie, _, _ := strings.Cut(set, ";")
		if value, is := strings.CutPrefix(cookie, name+"="); is && value != "" {
			return "Cookie: " + cookie
		}
	}
	return ""
}

// begin gives a name and password, and returns the cookie of half a login.
func (s *stage) begin(name string) string {
	s.Helper()
	r := s.do(http.MethodPost, "/login", url.Values{"name": {name}, "password": {horse}, "next": {"/queue"}}.Encode(), asForm)
	half := r.given("deepoj_login")
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/login/second" || half == "" || r.given(peopleroom.SessionCookie) != "" || r.given("deepoj_device") != "" {
		s.Fatalf("a right password of an account with a second factor: %d to %q with %q", r.status, r.header.Get("Location"), r.header.Values("Set-Cookie"))
	}
	return half
}

// second gives a code for half a login.
func (s *stage) second(half, field, code string) reply {
	s.Helper()
	return s.do(http.MethodPost, "/login/second", url.Values{field: {code}}.Encode(), asForm, half)
}

// in reports whether an answer logs somebody in.
func (r reply) in() bool { return r.given(peopleroom.SessionCookie) != "" }

// acted returns what the audit log has of an account, oldest first.
func (s *stage) acted(name string) string {
	s.Helper()
	return strings.Join(sqltest.All[string](s.T, s.store, "SELECT actor || ' ' || action FROM audit_log WHERE subject = 'user:' || $1 AND action <> 'user_create' ORDER BY id", name), ", ")
}

func TestAnAuthenticatorAppIsASecondFactor(t *testing.T) {
	s := newStage(t)
	clock := s.clocked()
	s.held()() // nobody really waits
	s.user("ann", horse, judge.RoleContestant)
	session := s.login("ann", horse)
	post := func(path string, fields ...string) reply {
		t.Helper()
		form := url.Values{"csrf": {s.csrf(session)}}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return s.do(http.MethodPost, path, form.Encode(), asForm, "Accept: text/html", session)
	}
	secretOn := func(r reply) string {
		t.Helper()
		found := regexp.MustCompile(`id="totp-secret"[^>]*>([A-Z2-7 ]+)<`).FindStringSubmatch(r.body)
		if found == nil || !strings.Contains(r.body, `<svg class="qr"`) || !strings.Contains(r.body, `href="otpauth://totp/`) {
			t.Fatalf("the page of the secret: %d %s", r.status, r.body[strings.Index(r.body, "<main"):])
		}
		return strings.ReplaceAll(found[1], " ", "")
	}

	// A secret counts once a code of it was given.
	secret := secretOn(post("/account/totp"))
	if again := secretOn(post("/account/totp/confirm", "code", "000000")); again != secret {
		t.Errorf("after a wrong code another secret is shown: %s, then %s", secret, again)
	}
	if r := s.do(http.MethodPost, "/login", url.Values{"name": {"ann"}, "password": {horse}}.Encode(), asForm); !r.in() {
		t.Errorf("with a secret that does not count yet the password alone: %d", r.status)
	}
	r := post("/account/totp/confirm", "code", clock.code(s, secret, 0))
	codes := regexp.MustCompile(`(?m)^[a-z0-9]{4}(?:-[a-z0-9]{4}){3}$`).FindAllString(strings.ReplaceAll(r.body, `tabindex="0">`, "\n"), -1)
	if r.status != http.StatusCreated || len(codes) != people.RecoveryCodes {
		t.Fatalf("the right code: %d, with the recovery codes %q: %s", r.status, codes, r.body)
	}
	if page := s.do(http.MethodGet, "/account", "", session).body; strings.Contains(page, codes[0]) || strings.Contains(page, secret) || !strings.Contains(page, "10 codes left") {
		t.Errorf("the account shows what is shown only once, or not what there is: %s", page)
	}
	if kept := sqltest.All[string](t, s.store, "SELECT code_hash FROM recovery_codes"); len(kept) != len(codes) || strings.Contains(strings.Join(kept, " "), codes[0][:4]+codes[0][5:9]) {
		t.Errorf("the database has %q", kept)
	}
	if r := post("/account/totp"); r.status != http.StatusConflict {
		t.Errorf("a second authenticator app: %d", r.status)
	}

	// Half a login is no session, and no other browser's.
	half := s.begin("ann")
	_, token, _ := strings.Cut(half, "=")
	for _, as := range []string{"Authorization: Bearer " + token, "Cookie: " + peopleroom.SessionCookie + "=" + token} {
		if r := s.do(http.MethodGet, "/api/v1/account", "", as); r.status != http.StatusUnauthorized {
			t.Errorf("half a login as %s: %d", as, r.status)
		}
	}
	for _, cookie := range []string{"Cookie: x=y", "Cookie: deepoj_login=" + people.NewToken(32)} {
		if r := s.second(cookie, "code", clock.code(s, secret, 1)); r.in() || r.status != http.StatusBadRequest {
			t.Errorf("the second step of another browser: %d", r.status)
		}
		if r := s.do(http.MethodGet, "/login/second", "", cookie); r.header.Get("Location") != "/login" {
			t.Errorf("the page of the second step of another browser: %d", r.status)
		}
	}
	if page := s.do(http.MethodGet, "/login/second", "", half); page.status != http.StatusOK || strings.Contains(page.body, ">ann<") {
		t.Errorf("the page of the second step: %d %s", page.status, page.body)
	}

	// A code counts once, and one step before and after its time.
	clock.at = clock.at.Add(10 * time.Minute)
	for _, step := range []struct {
		steps int
		what  string
		right bool
	}{{-2, "of two steps ago", false}, {2, "of the step after the next", false}, {-1, "of the step before", true}, {-1, "that was used", false}, {1, "of the next step", true}, {0, "before one that was used", false}} {
		half := s.begin("ann")
		if r := s.second(half, "code", clock.code(s, secret, step.steps)); r.in() != step.right {
			t.Errorf("a code %s: %d, in: %t", step.what, r.status, r.in())
		} else if r.in() && r.header.Get("Location") != "/queue" {
			t.Errorf("the login leads to %s", r.header.Get("Location"))
		}
		if step.right {
			if r := s.second(half, "recovery", codes[9]); r.in() || r.status != http.StatusBadRequest {
				t.Errorf("half a login that became a session: %d", r.status)
			}
		}
	}

	// A recovery code counts once, however it is typed.
	typed := strings.ToUpper(strings.ReplaceAll(codes[3], "-", " "))
	if r := s.second(s.begin("ann"), "recovery", typed); !r.in() {
		t.Errorf("a recovery code: %d", r.status)
	}
	if r := s.second(s.begin("ann"), "recovery", codes[3]); r.in() {
		t.Error("a recovery code was taken twice")
	}
	if r := s.second(s.begin("ann"), "code", codes[4]); !r.in() {
		t.Errorf("a recovery code in the field of the app: %d", r.status)
	}
	if page := s.do(http.MethodGet, "/account", "", session).body; !strings.Contains(page, "8 codes left") {
		t.Errorf("the account does not say that 8 codes are left")
	}

	// It ends after five wrong codes, after its time, and with the password.
	half = s.begin("ann")
	for i := range 5 {
		want := http.StatusUnprocessableEntity
		if i == 4 {
			want = http.StatusBadRequest
		}
		if r := s.second(half, "code", "000000"); r.status != want {
			t.Errorf("wrong code %d: %d, want %d", i+1, r.status, want)
		}
	}
	clock.at = clock.at.Add(10 * time.Minute)
	if r := s.second(half, "code", clock.code(s, secret, 0)); r.in() {
		t.Error("after five wrong codes a right one is taken")
	}
	half = s.begin("ann")
	s.store.Exec(t, "UPDATE half_logins SET expires_at = now() - interval '1 second'")
	if r := s.second(half, "code", clock.code(s, secret, 0)); r.in() {
		t.Error("after its time half a login becomes a session")
	}
	if most := sqltest.One[float64](t, s.store, "SELECT coalesce(max(extract(epoch FROM expires_at - now())), 0)::float8 FROM half_logins"); most > 300 {
		t.Errorf("half a login lasts %v seconds", most)
	}
	half = s.begin("ann")
	hash, err := people.HashPassword(horse)
	s.must(err)
	s.must(s.store.ResetPassword(t.Context(), "ann", hash, "root"))
	if r := s.second(half, "code", clock.code(s, secret, 0)); r.in() {
		t.Error("after a reset of the password half a login becomes a session")
	}
	if f, err := s.store.Factors(t.Context(), "ann"); err != nil || !f.TOTP || f.Recovery != 8 {
		t.Errorf("a reset of the password leaves %+v, %v", f, err)
	}
	want := "ann totp_set, ann recovery_codes, ann recovery_use, ann recovery_use, root user_reset"
	if got := s.acted("ann"); got != want {
		t.Errorf("the audit log has %s, want %s", got, want)
	}
}

func TestTheAPIAsksForACodeWhereThereIsASecondFactor(t *testing.T) {
	s := newStage(t)
	clock := s.clocked()
	s.held()() // nobody really waits
	secret := s.withTOTP("ann", judge.RoleSetter)
	key := s.keyOf("ann", judge.ScopeSetter)
	logIn := func(password, code string) reply {
		return s.do(http.MethodPost, "/api/v1/sessions", fmt.Sprintf(`{"name": "ann", "password": %q, "code": %q}`, password, code), asJSON)
	}
	for what, tt := range map[string]struct {
		password, code string
		status         int
		reason         string
	}{
		"a wrong password":           {"wrong", "", 401, "wrong_login"},
		"a wrong one with the code":  {"wrong", clock.code(s, secret, 0), 401, "wrong_login"},
		"the password alone":         {horse, "", 422, "code_required"},
		"the password, a wrong code": {horse, "000000", 422, "wrong_code"},
		"a wrong recovery code":      {horse, "abcd-efgh-jkmn-pqrs", 422, "wrong_code"},
	} {
		if f := document(t, logIn(tt.password, tt.code)); f.Status != tt.status || f.Reason != tt.reason {
			t.Errorf("%s: %d %s", what, f.Status, f.Reason)
		}
	}
	if r := logIn(horse, clock.code(s, secret, -1)); r.status != http.StatusCreated {
		t.Errorf("the password and its code: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/api/v1/account", "", "Authorization: Bearer "+key); r.status != http.StatusOK {
		t.Errorf("a key: %d", r.status)
	}
	if r := s.do(http.MethodGet, "/api/v1/account/factors", "", "Authorization: Bearer "+key); r.status != http.StatusForbidden {
		t.Errorf("a key that asks for factors: %d", r.status)
	}
	// To prove again who one is takes the same.
	stale := "Authorization: Bearer " + s.stale("ann", 0)
	for in, want := range map[string]string{`{"password": "correct horse"}`: "code_required", `{"password": "correct horse", "code": "000000"}`: "wrong_code", `{"password": "wrong", "code": "000000"}`: "wrong_password"} {
		if f := document(t, s.do(http.MethodPost, "/api/v1/account/confirm", in, stale, asJSON)); f.Reason != want {
			t.Errorf("confirm %s: %s", in, f.Reason)
		}
	}
	// By a form, the page that asks has both fields, and keeps neither.
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.stale("ann", 0)
	form := url.Values{"csrf": {s.csrf(cookie)}, "label": {"x"}, "scope": {"read"}, "days": {"7"}, "confirm": {horse}}
	asks := s.do(http.MethodPost, "/account/keys", form.Encode(), asForm, "Accept: text/html", cookie)
	if asks.status != http.StatusUnprocessableEntity || !strings.Contains(asks.body, `name="confirm_code"`) || strings.Contains(asks.body, horse) {
		t.Errorf("the password alone by a form: %d %s", asks.status, asks.body)
	}
	action, filled := formIn(t, asks.body)
	filled.Set("confirm", horse)
	filled.Set("confirm_code", clock.code(s, secret, 0))
	if r := s.do(http.MethodPost, action, filled.Encode(), asForm, "Accept: text/html", cookie); r.status != http.StatusCreated {
		t.Errorf("with the code: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodPost, "/api/v1/account/confirm", fmt.Sprintf(`{"password": %q, "code": %q}`, horse, clock.code(s, secret, 1)), stale, asJSON); r.status != http.StatusNoContent {
		t.Errorf("confirm with the code: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/api/v1/account/factors", "", stale); r.status != http.StatusOK || !strings.Contains(r.body, `"totp":true`) || strings.Contains(r.body, secret) {
		t.Errorf("one's own factors: %d %s", r.status, r.body)
	}
}

func TestAnAdministratorTakesFactorsOffAndTheirOwnerIsTold(t *testing.T) {
	s := newStage(t)
	s.clocked()
	s.withTOTP("ann", judge.RoleContestant)
	s.user("root", horse, judge.RoleAdmin)
	s.user("staff", horse, judge.RoleStaff)
	_, hashes := people.NewRecoveryCodes("ann")
	s.must(s.store.SetRecovery(t.Context(), "ann", hashes))
	half := s.begin("ann")

	off := func(token string) reply {
		return s.do(http.MethodDelete, "/api/v1/users/ann/factors", "", "Authorization: Bearer "+token)
	}
	for who, token := range map[string]string{"staff": s.session("staff"), "an administrator's key": s.keyOf("root", judge.ScopeAdmin), "an administrator of long ago": s.stale("root", time.Hour)} {
		if r := off(token); r.status != http.StatusForbidden {
			t.Errorf("%s takes factors off: %d", who, r.status)
		}
	}
	// By the form, with the administrator's own password.
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.stale("root", 0)
	form := url.Values{"csrf": {s.csrf(cookie)}, "sure": {"yes"}}
	if page := s.do(http.MethodGet, "/users/ann", "", cookie).body; !strings.Contains(page, "An authenticator app") || !strings.Contains(page, "10 recovery codes are left") {
		t.Errorf("the page of the account does not show its factors: %s", page)
	}
	if r := s.do(http.MethodPost, "/users/ann/factors/remove", form.Encode(), asForm, "Accept: text/html", cookie); r.status != http.StatusForbidden || !strings.Contains(r.body, `name="confirm"`) {
		t.Errorf("without the password: %d", r.status)
	}
	form.Set("confirm", horse)
	if r := s.do(http.MethodPost, "/users/ann/factors/remove", form.Encode(), asForm, "Accept: text/html", cookie); r.status != http.StatusSeeOther {
		t.Errorf("with the password: %d %s", r.status, r.body)
	}
	if f := document(t, off(s.session("root"))); f.Status != http.StatusConflict || f.Reason != "no_factor" {
		t.Errorf("once more: %d %s", f.Status, f.Reason)
	}
	if left := sqltest.One[int64](t, s.store, "SELECT count(*) FROM recovery_codes"); left != 0 {
		t.Errorf("%d recovery codes are left", left)
	}
	if r := s.second(half, "code", "000000"); r.in() || r.status != http.StatusBadRequest {
		t.Errorf("a login that was under way: %d", r.status)
	}
	if got := s.acted("ann"); got != "ann totp_set, ann recovery_codes, root factors_off" {
		t.Errorf("the audit log has %s", got)
	}

	// The owner is told until they say that they know, wherever they wanted to go.
	for range 2 {
		r := s.do(http.MethodPost, "/login", url.Values{"name": {"ann"}, "password": {horse}, "next": {"/queue"}}.Encode(), asForm)
		if !r.in() || r.header.Get("Location") != "/account?next=%2Fqueue" {
			t.Fatalf("the next login: %d to %q", r.status, r.header.Get("Location"))
		}
		session := r.given(peopleroom.SessionCookie)
		page := s.do(http.MethodGet, r.header.Get("Location"), "", session).body
		if !strings.Contains(page, "root took the second factors off your account") {
			t.Errorf("the account does not tell: %s", page)
		}
		cookie = session
	}
	r := s.do(http.MethodPost, "/account/factors/told", url.Values{"csrf": {s.csrf(cookie)}, "next": {"/queue"}}.Encode(), asForm, cookie)
	if r.header.Get("Location") != "/queue" {
		t.Errorf("knowing it leads to %q", r.header.Get("Location"))
	}
	if r := s.do(http.MethodPost, "/login", url.Values{"name": {"ann"}, "password": {horse}, "next": {"/queue"}}.Encode(), asForm); r.header.Get("Location") != "/queue" {
		t.Errorf("the login after that leads to %q", r.header.Get("Location"))
	}
}

// TestNobodyGuessesCodes has somebody guess who knows the password, from wherever they like: few codes are tried, and a
// browser that has logged in before does not wait for them.
func TestNobodyGuessesCodes(t *testing.T) {
	s := newStage(t, behindAProxy)
	clock := s.clocked()
	secret := s.withTOTP("ann", judge.RoleContestant)
	logIn := func(from int, code string, headers ...string) reply {
		t.Helper()
		return s.do(http.MethodPost, "/api/v1/sessions", fmt.Sprintf(`{"name": "ann", "password": %q, "code": %q}`, horse, code),
			append(headers, asJSON, fmt.Sprint("X-Forwarded-For: 198.51.100.", from))...)
	}
	first := logIn(1, clock.code(s, secret, -1))
	device := first.given("deepoj_device")
	if first.status != http.StatusCreated || device == "" {
		t.Fatalf("the first login: %d %s", first.status, first.body)
	}
	goOn := s.held()
	goOn() // nobody really waits
	tried := 0
	for i := range 14 {
		switch r := logIn(2+i, "000000"); r.status {
		case http.StatusUnprocessableEntity:
			tried++
		case http.StatusTooManyRequests:
			if r.header.Get("Retry-After") != "900" || document(t, r).Reason != "too_many_codes" {
				t.Errorf("a refusal: %s %s", r.header.Get("Retry-After"), r.body)
			}
		default:
			t.Errorf("a wrong code: %d %s", r.status, r.body)
		}
	}
	if tried != 10 {
		t.Errorf("of 14 codes from as many places %d were tried, want 10", tried)
	}
	if r := logIn(99, clock.code(s, secret, 0)); r.status != http.StatusTooManyRequests {
		t.Errorf("the right code from a place that nobody knows: %d", r.status)
	}
	half := s.do(http.MethodPost, "/login", url.Values{"name": {"ann"}, "password": {horse}}.Encode(), asForm, "X-Forwarded-For: 198.51.100.98").given("deepoj_login")
	if r := s.do(http.MethodPost, "/login/second", "code="+clock.code(s, secret, 0), asForm, half, "X-Forwarded-For: 198.51.100.98"); r.status != http.StatusTooManyRequests {
		t.Errorf("the right code by the form from a place that nobody knows: %d", r.status)
	}
	s.store.Exec(t, "UPDATE factors SET wrong_at = now() - interval '16 minutes'")
	if r := logIn(97, "000000"); r.status != http.StatusUnprocessableEntity {
		t.Errorf("after the pause: %d", r.status)
	}
	if r := logIn(96, "000000"); r.status != http.StatusTooManyRequests {
		t.Errorf("after the pause, the second: %d", r.status)
	}
	if r := logIn(1, clock.code(s, secret, 0), device); r.status != http.StatusCreated {
		t.Errorf("a browser that has logged in before: %d %s", r.status, r.body)
	}
	if r := logIn(95, clock.code(s, secret, 1)); r.status != http.StatusCreated {
		t.Errorf("after a right code, from anywhere: %d %s", r.status, r.body)
	}
	// From one place, few are tried at once.
	counts := s.crowd(40, func(int) reply { return logIn(200, "000000") }, s.held())
	if tried := counts[http.StatusUnprocessableEntity]; tried > 10 {
		t.Errorf("of 40 codes at once %d were tried: %v", tried, counts)
	}
}
