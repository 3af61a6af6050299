package web

import (
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/mail"
	"deepoj/host/mail/mailtest"
	"deepoj/host/people"
	"deepoj/sql/sqltest"
	"deepoj/web/site"
)

// mailed starts a mail server, and returns it with what makes a server of ours use it. Links in letters lead to ours.
func mailed(t *testing.T, registration site.Registration) (*mailtest.Server, func(*site.Config)) {
	t.Helper()
	post := mailtest.Start(t, "", true)
	sender, err := mail.New(mail.Server{Address: post.Addr, Security: mail.StartTLS, From: "Deep-OJ <judge@example.org>", Certificates: post.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = free.Close()
	return post, func(c *site.Config) {
		c.Mail, c.Listen, c.PublicURL, c.Registration = sender, free.Addr().String(), "http://"+free.Addr().String(), registration
	}
}

// person is a browser without JavaScript that keeps its cookies.
type person struct {
	*stage
	jar map[string]string
}

func (s *stage) person() *person { return &person{s, map[string]string{}} }

// open follows redirects from a path or an address of the stage, and returns the last answer.
func (v *person) open(method, path, body string) reply {
	v.Helper()
	for range 5 {
		var cookies []string
		for name, value := range v.jar {
			cookies = append(cookies, name+"="+value)
		}
		r := v.do(method, strings.TrimPrefix(path, v.url), body, "Cookie: "+strings.Join(cookies, "; "), asForm, "Accept: text/html")
		for _, set := range r.header.Values("Set-Cookie") {
			pair, _, _ := strings.Cut(set, ";")
			name, value, _ := strings.Cut(pair, "=")
			if v.jar[name] = value; value == "" {
				delete(v.jar, name)
			}
		}
		if r.status != http.StatusSeeOther {
			return r
		}
		method, path, body = http.MethodGet, r.header.Get("Location"), ""
	}
	v.Fatal("too many redirects")
	return reply{}
}

func (v *person) get(path string) reply {
	v.Helper()
	return v.open(http.MethodGet, path, "")
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]*)"`)

// post sends a form from the page where it is.
func (v *person) post(page, path string, form url.Values) reply {
	v.Helper()
	if found := csrfField.FindStringSubmatch(v.get(page).body); found != nil {
		form.Set("csrf", found[1])
	}
	return v.open(http.MethodPost, path, form.Encode())
}

// shows checks what an answer is and has.
func (s *stage) shows(r reply, status int, text string) {
	s.Helper()
	if r.status != status || !strings.Contains(r.body, text) {
		s.Errorf("got %d, want %d with %q: %s", r.status, status, text, between(r.body, "<main", "</main>"))
	}
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func TestSomebodyRegistersConfirmsAndResets(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	log := &lockedLog{}
	s := newStage(t, with, func(c *site.Config) {
		c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	ann := s.person()
	s.shows(ann.get("/login"), 200, `href="/register"`)
	s.shows(ann.post("/register", "/register", url.Values{"email": {"not an address"}}), 422, "ann@example.org")
	s.shows(ann.post("/register", "/register", url.Values{"email": {"Ann@Example.org\r\nBcc: eve@example.org"}}), 422, "has to be like")
	s.shows(ann.post("/register", "/register", url.Values{"email": {" Ann@Example.org "}}), 200, "A letter is on its way")
	l := post.Next(0)
	if l.To != "ann@example.org" || !strings.HasPrefix(l.Link(), s.url+"/login/link?t=") {
		t.Fatalf("the letter is %+v", l)
	}
	r := ann.do(http.MethodGet, strings.TrimPrefix(l.Link(), s.url), "")
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/login/link" || !strings.Contains(r.header.Get("Set-Cookie"), "HttpOnly") {
		t.Errorf("the token stays in the address: %d %v", r.status, r.header)
	}
	s.shows(ann.get(l.Link()), 200, "For ann@example.org")
	form := func(change ...string) url.Values {
		f := url.Values{"name": {"ann"}, "display_name": {"  Ann   <b>Lee</b> "}, "new": {"battery staple"}, "again": {"battery staple"}}
		for i := 0; i < len(change); i += 2 {
			f.Set(change[i], change[i+1])
		}
		return f
	}
	s.user("bob", "correct horse", judge.RoleContestant)
	for what, bad := range map[string]url.Values{
		"is taken":            form("name", "bob"),
		"begins with":         form("name", "Ann"),
		"name of the account": form("new", "ann likes cats", "again", "ann likes cats"),
		"guessed first":       form("new", "password12", "again", "password12"),
		"passwords differ":    form("again", "battery stable"),
		"at least 10":         form("new", "short", "again", "short"),
		"can be seen":         form("display_name", "Ann\u202eeel"),
	} {
		s.shows(ann.post("/login/link", "/login/link", bad), 422, what)
	}
	s.shows(ann.post("/login/link", "/login/link", form()), 200, "Log out")
	if u, err := s.store.User(t.Context(), "ann"); err != nil || u.Email != "ann@example.org" || u.DisplayName != "Ann <b>Lee</b>" || u.Role != judge.RoleContestant || u.OneTime {
		t.Errorf("the account is %+v, %v", u, err)
	}
	s.shows(s.person().get(l.Link()), 410, "does not work") // once

	// A reset ends all sessions, shows the keys, and revokes those that are ticked.
	keep, lose := s.keyOf("ann", judge.ScopeRead), s.keyOf("ann", judge.ScopeSubmit)
	keys, err := s.store.Keys(t.Context(), "ann", 0, 10)
	s.must(err)
	other := s.person()
	s.shows(other.post("/login/reset", "/login/reset", url.Values{"account": {"ANN@example.org"}}), 200, "If there is an account")
	link := post.Next(1).Link()
	s.shows(other.get(link), 200, "For the account ann")
	reset := url.Values{"new": {"staple battery"}, "again": {"staple battery"}, "revoke": {strconv.FormatInt(keys[0].ID, 10), "999999"}}
	s.shows(other.post("/login/link", "/login/link", reset), 200, "session of it has ended")
	s.shows(ann.get("/account"), 200, "<h1>Log in</h1>")
	_, err = s.as(keep).GetAccount(t.Context())
	s.must(err)
	_, err = s.as(lose).GetAccount(t.Context())
	problemOf(t, err, 401, "session_unknown")
	_, err = s.client.Login(t.Context(), "ann", "battery staple")
	problemOf(t, err, 401, "wrong_login")
	if _, err := s.client.Login(t.Context(), "ann", "staple battery"); err != nil {
		t.Errorf("the new password: %v", err)
	}
	if told := post.Next(2); told.To != "ann@example.org" || told.Link() != "" || !strings.Contains(told.Subject, "password") {
		t.Errorf("the owner is told %+v", told)
	}
	s.shows(s.person().get(link), 410, "does not work")

	token := regexp.MustCompile(`\?t=([0-9a-f]+)`)
	for _, l := range post.Letters() {
		if found := token.FindStringSubmatch(l.Link()); found != nil {
			if strings.Contains(log.String(), found[1]) {
				t.Error("the log has a token")
			}
			if n := sqltest.One[int64](t, s.store, "SELECT count(*) FROM account_links a, letters l WHERE a.token_hash = $1 OR l::text LIKE '%' || $1 || '%'", found[1]); n != 0 {
				t.Error("the database has a token")
			}
		}
	}
}

func TestNobodyLearnsFromLettersWhoHasAnAccount(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	s := newStage(t, with)
	s.someone("ann", judge.RoleContestant)
	s.someone("off", judge.RoleContestant)
	_, err := s.store.SetEmail(t.Context(), "ann", "ann@example.org", "test")
	s.must(err)
	_, err = s.store.SetEmail(t.Context(), "off", "off@example.org", "test")
	s.must(err)
	s.must(s.store.Disable(t.Context(), "off", true, "test"))
	s.someone("plain", judge.RoleContestant)
	pages := map[string][]string{
		"/register":    {"ann@example.org", "off@example.org", "new@example.org"},
		"/login/reset": {"ann", "ann@example.org", "off", "plain", "nobody", "nobody@example.org"},
	}
	for path, all := range pages {
		seen := map[string]bool{}
		for _, asked := range all {
			r := s.person().post(path, path, url.Values{"email": {asked}, "account": {asked}})
			delete(r.header, "Date")
			delete(r.header, "Trace-Id")
			seen[strings.ReplaceAll(r.body, asked, "…")+r.header.Get("Set-Cookie")] = true
			if r.status != 200 {
				t.Errorf("%s of %s: %d", path, asked, r.status)
			}
		}
		if len(seen) != 1 {
			t.Errorf("%s answers in %d ways", path, len(seen))
		}
	}
	for _, api := range []struct{ path, body string }{
		{"/api/v1/registrations", `{"email": "ann@example.org"}`},
		{"/api/v1/registrations", `{"email": "other@example.org"}`},
		{"/api/v1/password-resets", `{"account": "ann"}`},
		{"/api/v1/password-resets", `{"account": "nobody"}`},
	} {
		if r := s.do(http.MethodPost, api.path, api.body, asJSON); r.status != http.StatusAccepted || !strings.Contains(r.body, "on its way") {
			t.Errorf("%s %s: %d %s", api.path, api.body, r.status, r.body)
		}
	}
	// Who owns the address learns it: to new@ and other@ a link, to ann@ twice that there is an account.
	var exists, links []string
	for n := range 8 {
		l := post.Next(n)
		if strings.Contains(l.Text, "It is that of an account already:\r\n\r\nann\r\n") || strings.Contains(l.Text, "already:\n\nann\n") || strings.Contains(l.Text, "already:\r\n\r\noff") {
			exists = append(exists, l.To)
		} else {
			links = append(links, l.To)
		}
	}
	slices.Sort(links)
	slices.Sort(exists)
	if strings.Join(exists, " ") != "ann@example.org ann@example.org off@example.org" || strings.Join(links, " ") != "ann@example.org ann@example.org ann@example.org new@example.org other@example.org" {
		t.Errorf("told %v, and sent links to %v", exists, links)
	}
}

func TestLettersAreLimitedByNameAndByNetwork(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	s := newStage(t, with)
	s.someone("ann", judge.RoleContestant)
	_, err := s.store.SetEmail(t.Context(), "ann", "ann@example.org", "test")
	s.must(err)
	ask := func(account string) reply {
		return s.do(http.MethodPost, "/api/v1/password-resets", `{"account": "`+account+`"}`, asJSON)
	}
	for range 5 { // the same words three times an hour
		if r := ask("ann"); r.status != 202 {
			t.Errorf("asked too often: %d %s", r.status, r.body)
		}
	}
	if n := sqltest.One[int64](t, s.store, "SELECT count(*) FROM letters"); n != 3 {
		t.Errorf("%d letters are written", n)
	}
	for range 3 { // and under another name the address gets six at most
		ask("ann@example.org")
	}
	for range 3 {
		s.do(http.MethodPost, "/api/v1/registrations", `{"email": "ann@example.org"}`, asJSON)
	}
	s.eventually("a letter is done with", func() bool {
		return sqltest.One[int64](t, s.store, "SELECT count(*) FROM letters WHERE done_at IS NULL") == 0
	})
	if n := len(post.Letters()); n != 6 {
		t.Errorf("%d letters went to one address", n)
	}
	refused := 0
	for range 120 {
		if r := ask("x" + strconv.Itoa(refused)); r.status == http.StatusTooManyRequests && r.header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused < 15 {
		t.Errorf("of 120 more only %d are refused", refused)
	}
}

func TestAnOutageOfTheMailServerLosesNoLetter(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	s := newStage(t, with)
	addr := post.Addr
	post.Stop()
	began := time.Now()
	s.shows(s.person().post("/register", "/register", url.Values{"email": {"ann@example.org"}}), 200, "A letter is on its way")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the answer waited for the mail server: %s", took)
	}
	s.eventually("a letter is done with", func() bool {
		return sqltest.One[int64](t, s.store, "SELECT count(*) FROM letters WHERE done_at IS NULL AND error IS NOT NULL AND tries > 0") == 1
	})
	back := mailtest.Start(t, addr, true) // with the certificate of the one before: both are that of httptest
	s.store.Exec(t, "UPDATE letters SET next_at = now()")
	if l := back.Next(0); l.To != "ann@example.org" || l.Link() == "" {
		t.Errorf("the letter is %+v", l)
	}
	s.shows(s.person().get(back.Next(0).Link()), 200, "For ann@example.org")
	// A letter that nobody took for three days is given up.
	back.Stop()
	s.person().post("/register", "/register", url.Values{"email": {"bob@example.org"}})
	s.store.Exec(t, "UPDATE letters SET created_at = now() - interval '73 h', next_at = now() WHERE done_at IS NULL")
	s.eventually("a letter is done with", func() bool {
		return sqltest.One[int64](t, s.store, "SELECT count(*) FROM letters WHERE outcome = 'given up'") == 1
	})
}

func TestALinkWorksForAnHourAndOnlyWhileTheAccountIsAsItWas(t *testing.T) {
	post, with := mailed(t, site.RegisterOff)
	s := newStage(t, with)
	s.someone("ann", judge.RoleContestant)
	_, err := s.store.SetEmail(t.Context(), "ann", "ann@example.org", "test")
	s.must(err)
	n := 0
	link := func() string {
		t.Helper()
		s.store.Exec(t, "UPDATE letters SET created_at = now() - interval '2 h', done_at = now() - interval '2 h'")
		s.do(http.MethodPost, "/api/v1/password-resets", `{"account": "ann"}`, asJSON)
		n++
		return post.Next(n - 1).Link()
	}
	for what, change := range map[string]func(){
		"an hour is over":         func() { s.store.Exec(t, "UPDATE account_links SET expires_at = now()") },
		"the password is another": func() { s.must(s.store.ResetPassword(t.Context(), "ann", "y", "test")) },
		"the address is another": func() {
			_, err := s.store.SetEmail(t.Context(), "ann", "new@example.org", "test")
			s.must(err)
			s.store.Exec(t, "UPDATE letters SET recipient = 'x'")
		},
		"the account is disabled": func() {
			s.must(s.store.Disable(t.Context(), "ann", true, "test"))
			s.must(s.store.Disable(t.Context(), "ann", false, "test"))
		},
	} {
		l := link()
		s.shows(s.person().get(l), 200, "For the account ann")
		change()
		if r := s.person().get(l); r.status != http.StatusGone || !strings.Contains(r.body, "does not work") {
			t.Errorf("the link works on when %s", what)
		}
	}
	// Of two who use a link at once, one does.
	l := link()
	first, second := s.person(), s.person()
	first.get(l)
	second.get(l)
	form := url.Values{"new": {"battery staple"}, "again": {"battery staple"}}
	s.shows(first.open(http.MethodPost, "/login/link", form.Encode()), 200, "has the new password")
	s.shows(second.open(http.MethodPost, "/login/link", form.Encode()), 410, "does not work")
	s.shows(s.person().get("/register"), 200, "without an invitation")
	s.shows(s.person().open(http.MethodPost, "/register", url.Values{"email": {"eve@example.org"}}.Encode()), 404, "without an invitation")
}

func TestAnAddressIsConfirmedAtTheNewOneAndToldToTheOld(t *testing.T) {
	post, with := mailed(t, site.RegisterOff)
	s := newStage(t, with)
	s.user("ann", "correct horse", judge.RoleContestant)
	s.someone("bob", judge.RoleContestant)
	_, err := s.store.SetEmail(t.Context(), "bob", "bob@example.org", "test")
	s.must(err)
	ann := s.person()
	ann.post("/login", "/login", url.Values{"name": {"ann"}, "password": {"correct horse"}})
	change := func(email string) reply {
		return ann.post("/account", "/account/email", url.Values{"email": {email}})
	}
	s.shows(change("ann@one.example"), 200, "A letter goes to")
	if u, _ := s.store.User(t.Context(), "ann"); u.Email != "" {
		t.Errorf("the address counts before it is confirmed: %s", u.Email)
	}
	confirm := func(n int) {
		t.Helper()
		v := s.person()
		s.shows(v.get(post.Next(n).Link()), 200, "Make <strong>")
		s.shows(v.post("/login/link", "/login/link", url.Values{}), 200, "is confirmed")
	}
	confirm(0)
	change("ann@two.example")
	confirm(1)
	if told := post.Next(2); told.To != "ann@one.example" || told.Link() != "" || !strings.Contains(told.Text, "account ann") {
		t.Errorf("the old address is told %+v", told)
	}
	change("bob@example.org") // whose account it is learns it, and nobody else does
	if told := post.Next(3); told.To != "bob@example.org" || told.Link() != "" || !strings.Contains(told.Text, "bob") || strings.Contains(told.Text, "ann") {
		t.Errorf("the owner of the address is told %+v", told)
	}
	s.shows(change(""), 200, "has no e-mail address")
	if told := post.Next(4); told.To != "ann@two.example" {
		t.Errorf("the address that was taken away is told %+v", told)
	}
	s.store.Exec(t, "UPDATE sessions SET proved_at = now() - interval '1 h'")
	s.shows(change("eve@example.org"), 403, "prove again who you are")
}

func TestLettersAreInTheLanguageOfTheirReader(t *testing.T) {
	post, with := mailed(t, site.RegisterOpen)
	s := newStage(t, with)
	for _, name := range []string{"bob", "eve"} {
		s.user(name, "correct horse", judge.RoleContestant)
		_, err := s.store.SetEmail(t.Context(), name, name+"@example.org", "test")
		s.must(err)
	}
	english := "en"
	s.must(s.store.SetReading(t.Context(), "eve", &english, nil))
	somebody, n := s.person(), 0
	somebody.jar["language"] = "zh-Hans"
	ask := func(path, field, value, subject, text string) string {
		t.Helper()
		if r := somebody.post(path, path, url.Values{field: {value}}); r.status != http.StatusOK {
			t.Fatalf("%s for %s: %d", path, value, r.status)
		}
		l := post.Next(n)
		n++
		if !strings.HasPrefix(l.Subject, subject) || !strings.Contains(strings.ReplaceAll(l.Text, "\r\n", "\n"), text) {
			t.Errorf("the letter to %s is %q: %s", value, l.Subject, l.Text)
		}
		return l.Link()
	}
	ask("/register", "email", "ann@example.org", "在 ", "想用此邮箱在 "+s.url+" 注册账号。\n\n请在一小时内打开此链接，它只能使用一次：\n\n"+s.url+"/login/link?t=")
	ask("/login/reset", "account", "eve", "A new password", "asked for a new password for the account eve") // as the account says
	link := ask("/login/reset", "account", "bob", "重设你在 ", "申请重设在 "+s.url+" 的账号 bob 的密码。")
	s.shows(somebody.get(link), 200, "账号：bob。它的所有会话都会结束。")
	s.shows(somebody.post("/login/link", "/login/link", url.Values{"new": {"battery staple"}, "again": {"battery staple"}}), 200, "账号 bob 已使用新密码。")
	if l := post.Next(n); !strings.HasPrefix(l.Subject, "你在 ") || !strings.Contains(l.Text, "它的所有会话已结束。") {
		t.Errorf("bob is told %q: %s", l.Subject, l.Text)
	}
	n++
	somebody.jar["language"] = "en"
	ask("/register", "email", "bob@example.org", "Your account", "It is that of an account already:\n\nbob\n")
}

func TestAPasswordByALetterTakesNoSecondFactorOff(t *testing.T) {
	post, with := mailed(t, site.RegisterOff)
	s := newStage(t, with)
	s.user("bob", "correct horse", judge.RoleContestant)
	_, err := s.store.SetEmail(t.Context(), "bob", "bob@example.org", "test")
	s.must(err)
	_, err = s.store.BeginTOTP(t.Context(), "bob", people.NewTOTPSecret(), []byte("handle"))
	s.must(err)
	s.must(s.store.ConfirmTOTP(t.Context(), "bob", 1))
	codes, hashes := people.NewRecoveryCodes("bob")
	s.must(s.store.SetRecovery(t.Context(), "bob", hashes))
	bob := s.person()
	s.shows(bob.post("/login/reset", "/login/reset", url.Values{"account": {"bob"}}), 200, "a letter is on its way")
	s.shows(bob.get(post.Next(0).Link()), 200, "For the account bob")
	s.shows(bob.post("/login/link", "/login/link", url.Values{"new": {"battery staple"}, "again": {"battery staple"}}), 200, "The password is changed")
	if f, err := s.store.Factors(t.Context(), "bob"); err != nil || !f.TOTP || f.Recovery != len(codes) || f.TakenOffBy != "" {
		t.Errorf("after a reset bob has %+v, %v", f, err)
	}
	s.shows(bob.get("/account"), 200, "Log in")
	s.shows(bob.post("/login", "/login", url.Values{"name": {"bob"}, "password": {"battery staple"}}), 200, "One more step")
	s.shows(bob.get("/account"), 200, "Log in")
	s.shows(bob.post("/login/second", "/login/second", url.Values{"recovery": {codes[0]}}), 200, "Log out")
	s.shows(bob.get("/account"), 200, "Change the password")
}
