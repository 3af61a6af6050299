package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web/callback"
	"deepoj/web/client"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// heard is a message as a receiver got it.
type heard struct {
	path, method, kind string
	header             http.Header
	body               []byte
}

// receiver is an HTTP server that keeps what it hears and answers as the function
// says, with 200 if there is none.
func (s *stage) receiver(answer func(w http.ResponseWriter, r *http.Request)) (address string, messages chan heard) {
	s.Helper()
	messages = make(chan heard, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- heard{r.URL.Path, r.Method, r.Header.Get("Content-Type"), r.Header, body}
		if answer != nil {
			answer(w, r)
		}
	}))
	s.Cleanup(server.Close)
	return server.URL, messages
}

// next waits for a message.
func (s *stage) next(messages chan heard) heard {
	s.Helper()
	select {
	case m := <-messages:
		return m
	case <-time.After(2 * time.Minute):
		s.Fatal("nothing was heard")
		panic("unreachable")
	}
}

// told waits until the newest message of a webhook is as it should be.
func (s *stage) told(c *client.Client, hook int64, what string, right func(client.WebhookDelivery) bool) client.WebhookDelivery {
	s.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		found, _, err := c.WebhookDeliveries(s.Context(), hook, 0)
		s.must(err)
		if len(found) > 0 && right(found[0]) {
			return found[0]
		}
		if time.Now().After(deadline) {
			s.Fatalf("never %s: %+v", what, found)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (s *stage) hook(c *client.Client, address string) (client.MadeWebhook, string) {
	s.Helper()
	w, secret, err := c.CreateWebhook(s.Context(), client.NewWebhook{URL: address, Kinds: []string{"submission.finished"}})
	s.must(err)
	return w, secret
}

func allowLoopback(c *site.Config) {
	c.CallbackAllow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// hmacOf is HMAC-SHA256 as RFC 2104 defines it, from the hash alone.
func hmacOf(key, text []byte) []byte {
	block := make([]byte, sha256.BlockSize)
	copy(block, key) // which is shorter
	inner, outer := slices.Clone(block), slices.Clone(block)
	for i := range block {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	first := sha256.Sum256(append(inner, text...))
	second := sha256.Sum256(append(outer, first[:]...))
	return second[:]
}

// verify is what the documentation tells receivers to do.
func verify(secret string, m heard) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(m.header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > time.Hour {
		return fmt.Errorf("the time is %q: %v", m.header.Get("webhook-timestamp"), err)
	}
	text := append([]byte(m.header.Get("webhook-id")+"."+m.header.Get("webhook-timestamp")+"."), m.body...)
	if want := "v1," + base64.StdEncoding.EncodeToString(hmacOf(key, text)); m.header.Get("webhook-signature") != want {
		return fmt.Errorf("the signature is %s, want %s", m.header.Get("webhook-signature"), want)
	}
	return nil
}

func TestAWebhookIsToldWhatHappenedAndByWhom(t *testing.T) {
	s := newStage(t, allowLoopback)
	ctx := t.Context()
	ann := s.someone("ann", judge.RoleContestant)
	address, messages := s.receiver(nil)
	w, secret := s.hook(ann, address+"/told?by=judge")
	id := s.submitAs("ann", "aplusb", "cpp", "int main() {}")
	s.finish(id, judge.Result{Verdict: judge.WA, Score: new(40.0), MaxScore: new(100.0)})
	s.finish(s.submitAs("bob", "aplusb", "cpp", "int main() {}"), judge.Result{Verdict: judge.AC}) // which is not hers

	m := s.next(messages)
	if m.method != http.MethodPost || m.path != "/told" || m.kind != "application/json" {
		t.Errorf("heard %+v", m)
	}
	s.must(verify(secret, m))
	document, err := documented()
	s.must(err)
	var body any
	s.must(json.Unmarshal(m.body, &body))
	schema := dig(document, "webhooks", "submission.finished", "post", "requestBody", "content", "application/json", "schema")
	if found := mismatch(document, schema, body, "message"); schema == nil || found != "" {
		t.Errorf("%s: %s", found, m.body)
	}
	want := map[string]any{"job_id": float64(id), "url": site.SubmissionURL(id), "problem": "aplusb", "language": "cpp", "author": "ann", "generation": 1.0, "attempt_id": 1.0, "verdict": "WA", "score": 40.0}
	for name, value := range want {
		if got := dig(body, "data", name); got != value {
			t.Errorf("%s is %v, want %v", name, got, value)
		}
	}
	d := s.told(ann, w.ID, "taken", func(d client.WebhookDelivery) bool { return d.State == "taken" })
	if d.Message != m.header.Get("webhook-id") || *d.Status != 200 || d.Tries != 1 || d.Next != nil || *d.JobID != id || d.Kind != "submission.finished" {
		t.Errorf("the log has %+v", d)
	}
	// By hand it is sent again, as the same message; then with another secret.
	s.must(ann.SendAgain(ctx, w.ID, d.ID))
	if again := s.next(messages); again.header.Get("webhook-id") != d.Message || string(again.body) != string(m.body) || verify(secret, again) != nil {
		t.Errorf("again: %+v", again)
	}
	other, err := ann.ChangeWebhookSecret(ctx, w.ID)
	s.must(err)
	s.must(ann.TryWebhook(ctx, w.ID))
	tried := s.next(messages)
	s.must(verify(other, tried))
	if verify(secret, tried) == nil || !strings.Contains(string(tried.body), `"webhook.test"`) {
		t.Errorf("tried out: %s", tried.body)
	}
	s.told(ann, w.ID, "tried out", func(d client.WebhookDelivery) bool {
		return d.Kind == "webhook.test" && d.State == "taken" && d.JobID == nil
	})
	if found, _, err := ann.WebhookDeliveries(ctx, w.ID, 0); err != nil || len(found) != 2 {
		t.Errorf("the log has %+v, %v", found, err)
	}
	s.must(ann.DisableWebhook(ctx, w.ID, true))
	problemOf(t, ann.TryWebhook(ctx, w.ID), 409, "disabled")
	problemOf(t, ann.SendAgain(ctx, w.ID, d.ID), 409, "disabled")
	if got := s.do(http.MethodGet, "/metrics", "").body; !strings.Contains(got, `web_webhooks_total{outcome="taken"} 3`) {
		t.Error("three tries were not counted")
	}
	s.must(ann.DeleteWebhook(ctx, w.ID))
	_, err = ann.GetWebhook(ctx, w.ID)
	problemOf(t, err, 404, "not_found")
	log, err := s.store.AuditLog(ctx, sql.AuditFilter{Subject: "webhook:"})
	s.must(err)
	var acts []string
	for _, e := range log {
		acts = append(acts, e.Action)
		if strings.Contains(string(e.Detail), "whsec_") || strings.Contains(string(e.Detail), w.URL) {
			t.Errorf("the audit log has the secret, or the address: %s", e.Detail)
		}
	}
	if !slices.Equal(acts, []string{"webhook_delete", "webhook_disable", "webhook_secret", "webhook_create"}) {
		t.Errorf("the audit log has %v", acts)
	}
}

func TestAReceiverThatFailsHangsOrLeadsElsewhere(t *testing.T) {
	s := newStage(t, allowLoopback, func(c *site.Config) {
		c.CallbackPatience = 300 * time.Millisecond
		c.WebhookRetry = sql.Retrying{Tries: 3, Shortest: 50 * time.Millisecond}
	})
	ann := s.someone("ann", judge.RoleContestant)
	var failures, hangs atomic.Int32
	failing, failed := s.receiver(func(w http.ResponseWriter, _ *http.Request) {
		if n := failures.Add(1); n < 3 {
			w.WriteHeader([]int{http.StatusBadGateway, http.StatusTooManyRequests}[n-1])
		}
	})
	slow, slowly := s.receiver(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Add(1) == 1 {
			<-r.Context().Done()
		}
	})
	elsewhere, never := s.receiver(nil)
	leading, led := s.receiver(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	refusing, refused := s.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	gone, left := s.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	down, dead := s.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	type outcome struct {
		messages chan heard
		state    string
		status   int32
		tries    int
		hook     int64
		secret   string
	}
	outcomes := map[string]*outcome{
		failing: {messages: failed, state: "taken", status: 200, tries: 3}, slow: {messages: slowly, state: "taken", status: 200, tries: 2},
		leading: {messages: led, state: "failed", status: 307, tries: 1}, refusing: {messages: refused, state: "failed", status: 404, tries: 1},
		gone: {messages: left, state: "failed", status: 410, tries: 1}, down: {messages: dead, state: "failed", status: 500, tries: 3},
	}
	for address, o := range outcomes { // all at once
		w, secret := s.hook(ann, address)
		s.must(ann.TryWebhook(t.Context(), w.ID))
		o.hook, o.secret = w.ID, secret
	}
	for address, want := range outcomes {
		d := s.told(ann, want.hook, want.state, func(d client.WebhookDelivery) bool { return d.State == want.state })
		if d.Tries != int32(want.tries) || *d.Status != want.status || len(want.messages) != want.tries {
			t.Errorf("want %d tries and a status of %d, got %+v after %d", want.tries, want.status, d, len(want.messages))
		}
		for range len(want.messages) {
			m := <-want.messages
			if err := verify(want.secret, m); err != nil || m.header.Get("webhook-id") != d.Message {
				t.Errorf("another message: %+v, %v", m, err)
			}
		}
		got, err := ann.GetWebhook(t.Context(), want.hook)
		if err != nil || (got.Failing == nil) != (want.state == "taken") || (got.Disabled != nil) != (address == gone) {
			t.Errorf("the webhook is %+v, %v", got, err)
		}
	}
	if len(never) > 0 {
		t.Error("a redirect was followed")
	}
}

// triedTwice has a server give up soon.
func triedTwice(c *site.Config) {
	c.WebhookRetry = sql.Retrying{Tries: 2, Shortest: time.Millisecond, Longest: time.Millisecond}
}

// TestAPrivateAddressIsToldNothing also asks for names: from what the owner of a
// webhook is told nobody can learn which names there are inside.
func TestAPrivateAddressIsToldNothing(t *testing.T) {
	s := newStage(t, triedTwice)
	ann := s.someone("ann", judge.RoleContestant)
	address, messages := s.receiver(nil)
	told := map[string]string{}
	for _, address := range []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1), "http://nosuch.invalid/"} {
		w, _ := s.hook(ann, address)
		s.must(ann.TryWebhook(t.Context(), w.ID))
		d := s.told(ann, w.ID, "failed", func(d client.WebhookDelivery) bool { return d.State == "failed" })
		if d.Error == nil || *d.Error != callback.NoPublicAddress || d.Status != nil {
			t.Errorf("the log has %+v", d)
		}
		row := regexp.MustCompile(`(?s)<tbody>.*</tbody>`).FindString(s.do(http.MethodGet, fmt.Sprint("/webhooks/", w.ID), "", "Authorization: Bearer "+s.session("ann"), "Accept: text/html").body)
		told[regexp.MustCompile(`msg_[0-9a-f]+|<time.*?</time>|/webhooks/\d+|deliveries/\d+|message \d+|value="[^"]*"`).ReplaceAllString(row, "")+fmt.Sprint(d.Tries)] += " " + address
	}
	if len(told) != 1 {
		t.Errorf("names can be told from one another: %q", told)
	}
	if len(messages) > 0 {
		t.Error("it was told something")
	}
}

func TestAMessageWhoseSenderDiedIsSentAgainWithTheSameID(t *testing.T) {
	s := &stage{T: t, store: sqltest.DB(t)}
	address, messages := s.receiver(nil)
	s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: "x", Role: judge.RoleContestant}))
	secret, text := people.NewWebhookSecret()
	w, err := s.store.CreateWebhook(t.Context(), judge.Webhook{Owner: "ann", URL: address, Kinds: judge.WebhookKinds}, secret, "ann")
	s.must(err)
	_, err = s.store.TryWebhook(t.Context(), w.ID)
	s.must(err)
	// This one is killed between the answer and its record.
	due, err := s.store.DueDeliveries(t.Context(), 1, 1, time.Millisecond)
	if err != nil || len(due) != 1 {
		t.Fatalf("due: %+v, %v", due, err)
	}
	killed := callback.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, time.Minute)
	_, err = killed.Post(t.Context(), due[0].URL, []byte(due[0].Body), peopleroom.WebhookHeaders(due[0], time.Now()))
	s.must(err)
	first := s.next(messages)
	s.start(allowLoopback)
	second := s.next(messages)
	for _, m := range []heard{first, second} {
		s.must(verify(text, m))
	}
	if first.header.Get("webhook-id") != second.header.Get("webhook-id") || string(first.body) != string(second.body) {
		t.Errorf("sent %+v, then %+v", first, second)
	}
	d := s.told(s.as(s.session("ann")), w.ID, "taken", func(d client.WebhookDelivery) bool { return d.State == "taken" })
	if d.Tries != 2 {
		t.Errorf("taken after %d tries, want 2", d.Tries)
	}
}

func TestTwoServersTellAWebhookOnce(t *testing.T) {
	s := newStage(t, allowLoopback)
	s.start(allowLoopback) // another on the same database
	ann := s.someone("ann", judge.RoleContestant)
	address, messages := s.receiver(nil)
	s.hook(ann, address)
	ids := map[int64]int{}
	for range 10 {
		id := s.submitAs("ann", "aplusb", "cpp", "int main() {}")
		ids[id] = 0
		s.finish(id, judge.Result{Verdict: judge.AC})
	}
	for range ids {
		var m peopleroom.MessageJSON
		s.must(json.Unmarshal(s.next(messages).body, &m))
		if ids[m.Data.JobID]++; ids[m.Data.JobID] != 1 {
			t.Errorf("told of %d %d times", m.Data.JobID, ids[m.Data.JobID])
		}
	}
	if len(messages) > 0 {
		t.Errorf("%d messages too many", len(messages))
	}
}

func TestAWebhookIsCheckedWhenItIsMade(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	ann, prof, root := s.someone("ann", judge.RoleContestant), s.someone("prof", judge.RoleStaff), s.someone("root", judge.RoleAdmin)
	s.must(s.store.HideProblem(ctx, "stairs", true, "root"))
	good := client.NewWebhook{URL: "https://receiver.example/judge?x=1", Kinds: []string{"submission.finished"}}
	for name, tt := range map[string]struct {
		change        func(*client.NewWebhook)
		field, reason string
	}{
		"no address":         {func(w *client.NewWebhook) { w.URL = "" }, "url", "empty"},
		"no scheme":          {func(w *client.NewWebhook) { w.URL = "receiver.example" }, "url", "invalid"},
		"another scheme":     {func(w *client.NewWebhook) { w.URL = "file:///etc/passwd" }, "url", "invalid"},
		"a line break":       {func(w *client.NewWebhook) { w.URL = "http://a/\r\nHost: b" }, "url", "invalid"},
		"a password":         {func(w *client.NewWebhook) { w.URL = "http://ann:secret@a/" }, "url", "invalid"},
		"a long address":     {func(w *client.NewWebhook) { w.URL += strings.Repeat("a", 2000) }, "url", "too_long"},
		"no kind":            {func(w *client.NewWebhook) { w.Kinds = nil }, "kinds", "empty"},
		"no such kind":       {func(w *client.NewWebhook) { w.Kinds = []string{"submission.lost"} }, "kinds", "unknown"},
		"a kind twice":       {func(w *client.NewWebhook) { w.Kinds = append(w.Kinds, w.Kinds...) }, "kinds", "duplicate"},
		"a hidden problem":   {func(w *client.NewWebhook) { w.Problem = "stairs" }, "problem", "unknown"},
		"no such problem":    {func(w *client.NewWebhook) { w.Problem = "nosuch" }, "problem", "unknown"},
		"what others handed": {func(w *client.NewWebhook) { w.Everyone = true }, "everyone", "not_allowed"},
	} {
		w := good
		w.Kinds = slices.Clone(good.Kinds)
		tt.change(&w)
		_, _, err := ann.CreateWebhook(ctx, w)
		p, ok := errors.AsType[*client.Problem](err)
		if !ok || p.Field != tt.field || p.Reason != tt.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	good.Everyone = true
	everybody, secret, err := prof.CreateWebhook(ctx, good)
	if err != nil || !everybody.Everyone || !regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`).MatchString(secret) {
		t.Fatalf("made %+v, %q, %v", everybody, secret, err)
	}
	// Administrators see and end those of others, but cannot sign for them.
	if found, _, err := root.Webhooks(ctx, true, 0); err != nil || len(found) != 1 || found[0].Owner != "prof" {
		t.Errorf("everybody's: %+v, %v", found, err)
	}
	for name, c := range map[string]*client.Client{"of an administrator": root, "of a contestant who asks for all": ann} {
		if found, _, err := c.Webhooks(ctx, c == ann, 0); err != nil || len(found) != 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	_, err = root.ChangeWebhookSecret(ctx, everybody.ID)
	problemOf(t, err, 403, "forbidden")
	s.must(root.DisableWebhook(ctx, everybody.ID, true))
	good.Everyone = false
	for range people.MaxWebhooks {
		_, _, err = ann.CreateWebhook(ctx, good)
		s.must(err)
	}
	_, _, err = ann.CreateWebhook(ctx, good)
	problemOf(t, err, 422, "too_many")
	key := s.as(s.keyOf("root", judge.ScopeAdmin)) // what leaks with a key ends with it
	_, _, err = key.CreateWebhook(ctx, good)
	problemOf(t, err, 403, "login_required")
}

func TestWebhooksAreManagedOnPages(t *testing.T) {
	s := newStage(t, triedTwice)
	s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: "ann", PasswordHash: "x", Role: judge.RoleContestant}))
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("ann")
	post := func(path string, form url.Values) reply {
		t.Helper()
		form.Set("csrf", s.csrf(cookie))
		form.Set("sure", "yes") // where that is asked
		return s.do(http.MethodPost, path, form.Encode(), asForm, cookie, "Accept: text/html")
	}
	r := post("/webhooks", url.Values{"url": {"ftp://a/"}, "submission.finished": {"on"}})
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, `value="ftp://a/"`) || !strings.Contains(r.body, "has to be like") {
		t.Errorf("a wrong address: %d", r.status)
	}
	r = post("/webhooks", url.Values{"url": {"http://10.0.0.1/hook"}, "submission.finished": {"on"}, "submission.dead": {"on"}})
	secret := regexp.MustCompile(`whsec_[A-Za-z0-9+/]+`).FindString(html.UnescapeString(r.body))
	if r.status != http.StatusCreated || secret == "" {
		t.Fatalf("made: %d %s", r.status, r.body)
	}
	for _, path := range []string{"/webhooks", "/webhooks/1", "/api/v1/webhooks", "/api/v1/webhooks/1"} {
		if got := s.do(http.MethodGet, path, "", cookie); got.status != http.StatusOK || !strings.Contains(got.body, "http://10.0.0.1/hook") || strings.Contains(got.body, secret) || strings.Contains(got.body, "whsec_") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if r := post("/webhooks/1/test", url.Values{}); r.status != http.StatusSeeOther || r.header.Get("Location") != "/webhooks/1" {
		t.Errorf("tried out: %d", r.status)
	}
	s.told(s.as(s.session("ann")), 1, "given up", func(d client.WebhookDelivery) bool { return d.State == "failed" })
	if got := s.do(http.MethodGet, "/webhooks/1", "", cookie); !strings.Contains(got.body, "the host has no public address") || !strings.Contains(got.body, "deliveries/1/resend") {
		t.Errorf("the log: %s", got.body)
	}
	for _, act := range []string{"disable", "enable", "deliveries/1/resend"} {
		if r := post("/webhooks/1/"+act, url.Values{}); r.status != http.StatusSeeOther {
			t.Errorf("%s: %d", act, r.status)
		}
	}
	if r := post("/webhooks/1/rotate", url.Values{}); r.status != http.StatusOK || !strings.Contains(r.body, "whsec_") || strings.Contains(r.body, secret) {
		t.Errorf("another secret: %d", r.status)
	}
	s.must(s.store.DisableWebhook(t.Context(), 1, true, "ann"))
	if r := post("/webhooks/1/test", url.Values{}); r.status != http.StatusConflict || !strings.Contains(r.body, "disabled") {
		t.Errorf("tried out while it is disabled: %d", r.status)
	}
	if r := post("/webhooks/1/delete", url.Values{}); r.status != http.StatusSeeOther || r.header.Get("Location") != "/webhooks" {
		t.Errorf("deleted: %d", r.status)
	}
	if _, err := s.store.Webhook(context.WithoutCancel(t.Context()), 1); err == nil {
		t.Error("it is still there")
	}
}
