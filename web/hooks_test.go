package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deepoj/host/contest/clics"
	"deepoj/host/judge"
	"deepoj/sql/rounds"
	"deepoj/sql/sqltest"
)

// signUp makes a webhook of the Contest API.
func (c caller) signUp(body string, status int) map[string]any {
	c.Helper()
	r := c.do("POST", "/clics/2026-01/webhooks", body, asJSON, "Authorization: Bearer "+c.token)
	if r.status != status {
		c.Fatalf("sign up %s: %d %s, want %d", body, r.status, r.body, status)
	}
	var out map[string]any
	c.must(json.Unmarshal([]byte(r.body), &out))
	return out
}

// notified gathers notifications until there are as many as wanted, and returns all in order.
func (s *stage) notified(messages chan heard, token string, want int) (all []clics.Event) {
	s.Helper()
	for len(all) < want {
		m := s.next(messages)
		if got := m.header.Get("Webhook-Token"); got != token || m.method != "POST" {
			s.Errorf("a callback by %s has the token %q, want %q", m.method, got, token)
		}
		var in struct {
			Contest       string        `json:"contest_id"`
			Notifications []clics.Event `json:"notifications"`
		}
		s.must(json.Unmarshal(m.body, &in))
		if in.Contest != "final" || len(in.Notifications) == 0 {
			s.Errorf("a callback says %s", m.body)
		}
		all = append(all, in.Notifications...)
	}
	return all
}

// short are events in short.
func short(events []clics.Event) string {
	var out []string
	for _, e := range events {
		id := "-"
		if e.ID != nil {
			id = *e.ID
		}
		out = append(out, fmt.Sprint(e.Type, " ", id, " ", string(e.Data)))
	}
	return strings.Join(out, "\n")
}

// TestHooksAreToldWhatTheFeedOfTheirOwnersTells signs up the public, two teams and staff, and holds each to the feed that its owner
// gets, through a freeze, a receiver that fails, and a thaw.
func TestHooksAreToldWhatTheFeedOfTheirOwnersTells(t *testing.T) {
	s := newStage(t, allowLoopback)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, ann, bob, _ := s.cup()
	eve := caller{s, s.session("eve")}
	ann.hands("aplusb", judge.AC) // before anybody signs up
	s.record()
	var broken atomic.Int32
	type subscriber struct {
		of       caller
		messages chan heard
		since    string
		token    string
	}
	var all []*subscriber
	for i, c := range []caller{prof, ann, bob, eve} {
		var answer func(http.ResponseWriter, *http.Request)
		if c == bob {
			answer = func(w http.ResponseWriter, _ *http.Request) {
				if broken.Add(1) == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}
		}
		address, messages := s.receiver(answer)
		sub := &subscriber{of: c, messages: messages, token: fmt.Sprint("secret-", i)}
		events := c.tells(contestAPI, "")
		sub.since = events[len(events)-1].Token
		c.signUp(fmt.Sprintf(`{"url": %q, "token": %q}`, address, sub.token), 201)
		all = append(all, sub)
	}
	address, some := s.receiver(nil)
	prof.signUp(fmt.Sprintf(`{"url": %q, "token": "t", "endpoints": ["submissions"], "contest_ids": ["final"]}`, address), 201)
	address, none := s.receiver(nil)
	prof.signUp(fmt.Sprintf(`{"url": %q, "token": "t", "contest_ids": ["other"]}`, address), 201)

	bob.hands("stairs", judge.WA)
	s.record()
	prof.ask("POST", "/api/v1/rounds/final/freeze", "", 200)
	time.Sleep(2 * time.Millisecond)
	bob.hands("aplusb", judge.AC)
	s.record()
	if got := short(s.notified(some, "t", 2)); strings.Count(got, "submissions ") != 2 {
		t.Errorf("who wants submissions alone is told\n%s", got)
	}
	check := func(when string) {
		t.Helper()
		for _, sub := range all {
			want := sub.of.tells(contestAPI, sub.since)
			if sub.of == bob && when == "the freeze" {
				s.next(sub.messages) // which was not taken, so it comes again
			}
			got := s.notified(sub.messages, sub.token, len(want))
			for i := range want {
				want[i].Token = ""
			}
			if short(got) != short(want) {
				t.Errorf("%s: a hook of %s is told\n%s\nand the feed tells\n%s", when, sub.token, short(got), short(want))
			}
			events := sub.of.tells(contestAPI, sub.since)
			sub.since = events[len(events)-1].Token
		}
	}
	check("the freeze")
	prof.ask("POST", "/api/v1/rounds/final/unfreeze", "", 200)
	s.record()
	check("the thaw")

	s.store.Exec(t, "UPDATE users SET disabled_at = now() WHERE name = 'ann'")
	bob.hands("stairs", judge.AC)
	s.record()
	for _, sub := range all {
		if sub.of != ann {
			s.notified(sub.messages, sub.token, 2)
		}
	}
	s.store.Exec(t, "UPDATE users SET disabled_at = NULL WHERE name = 'ann'")
	select {
	case m := <-none:
		t.Errorf("who wants another contest is told %s", m.body)
	default:
	}
	if n := sqltest.One[int](t, s.store, "SELECT count(*) FROM contest_hooks WHERE failures > 0"); n != 0 {
		t.Errorf("%d hooks count as failing", n)
	}
}

func TestHooksAreTheirOwners(t *testing.T) {
	s := newStage(t, allowLoopback)
	_, ann, bob, _ := s.cup()
	s.someone("root", judge.RoleAdmin)
	root := caller{s, s.session("root")}
	for body, want := range map[string]string{
		`{"url": "https://example.org/x"}`:                                       "token",
		`{"url": "https://example.org/x", "token": "a b"}`:                       "token",
		`{"url": "file:///etc/passwd", "token": "x"}`:                            "address",
		`{"url": "https://u:p@example.org/", "token": "x"}`:                      "password",
		`{"url": "https://example.org/x", "token": "x", "secret": 1}`:            "no such property",
		`{"url": 5, "token": "x"}`:                                               "right type",
		`{"url": "https://example.org/x", "token": "x", "endpoints": ["sub"]}`:   "no endpoint",
		`{"url": "https://example.org/x", "token": "x", "contest_ids": ["a b"]}`: "no id of a contest",
		`[]`: "not JSON",
	} {
		if out := ann.signUp(body, 400); !strings.Contains(fmt.Sprint(out["message"]), want) {
			t.Errorf("%s: %v, want %q", body, out["message"], want)
		}
	}
	if r := (caller{s, ""}).do("GET", "/clics/2026-01/webhooks", ""); r.status != 401 {
		t.Errorf("somebody without an account gets %d", r.status)
	}
	made := ann.signUp(`{"url": "https://example.org/x", "token": "x"}`, 201)
	if _, told := made["token"]; told || made["active"] != true || fmt.Sprint(made["endpoints"], made["contest_ids"]) != "[] []" {
		t.Errorf("made was %v", made)
	}
	at := fmt.Sprintf("/clics/2026-01/webhooks/%v", made["id"])
	for who, c := range map[string]caller{"200": ann, "404": bob} {
		c.reads(at, map[string]int{"200": 200, "404": 404}[who])
	}
	if list := ann.reads("/clics/2026-01/webhooks", 200).body; !strings.Contains(list, fmt.Sprint(made["id"])) || strings.Contains(list, `"x"`) {
		t.Errorf("ann's are %s", list)
	}
	if list := bob.reads("/clics/2026-01/webhooks", 200).body; list != "[]" {
		t.Errorf("bob's are %s", list)
	}
	if list := root.reads("/clics/2026-01/webhooks", 200).body; !strings.Contains(list, fmt.Sprint(made["id"])) {
		t.Errorf("all are %s", list)
	}
	for range 19 {
		ann.signUp(`{"url": "https://example.org/x", "token": "x"}`, 201)
	}
	ann.signUp(`{"url": "https://example.org/x", "token": "x"}`, 403)
	for _, c := range []struct {
		who    caller
		status int
	}{{bob, 404}, {ann, 204}, {ann, 404}} {
		if r := c.who.do("DELETE", at, "", "Authorization: Bearer "+c.who.token); r.status != c.status {
			t.Errorf("delete: %d %s, want %d", r.status, r.body, c.status)
		}
	}
}

// TestAHookOfAKeyIsToldWhatTheKeyMayAndNothingWithoutIt has a key of staff that hands in make a hook, in a freeze.
func TestAHookOfAKeyIsToldWhatTheKeyMayAndNothingWithoutIt(t *testing.T) {
	s := newStage(t, allowLoopback)
	s.beat(judge.Language{ID: "cpp", Name: "C++", Available: true, Extensions: []string{"cc", "cpp"}})
	prof, _, bob, _ := s.cup()
	s.record()
	prof.ask("POST", "/api/v1/rounds/final/freeze", "", 200)
	s.record()
	time.Sleep(2 * time.Millisecond)
	address, messages := s.receiver(nil)
	made := caller{s, s.keyOf("prof", judge.ScopeSubmit)}.signUp(fmt.Sprintf(`{"url": %q, "token": "t"}`, address), 201)
	bob.hands("stairs", judge.AC)
	s.record()
	if got := short(s.notified(messages, "t", 1)); !strings.Contains(got, "submissions 1") || strings.Contains(got, "judgements") || strings.Contains(got, "state") {
		t.Errorf("a key that hands in is told\n%s", got)
	}
	s.store.Exec(t, "UPDATE api_keys SET revoked_at = now()")
	if list := prof.reads("/clics/2026-01/webhooks", 200).body; !strings.Contains(list, `"active":false`) {
		t.Errorf("without its key the hook is %s", list)
	}
	bob.hands("stairs", judge.WA)
	s.record()
	if due, err := s.store.Rounds.TakeHook(t.Context(), time.Minute); err != nil || due != nil {
		t.Errorf("without the key there is %+v to tell, %v", due, err)
	}

	// Who had the lease before does not end that of who has it now.
	s.store.Exec(t, "UPDATE contest_hooks SET next_at = now() + interval '1 hour'") // for the server
	s.store.Exec(t, "UPDATE api_keys SET revoked_at = NULL")
	s.store.Exec(t, "UPDATE contest_hooks SET leased_until = now() + interval '1 minute' WHERE id = $1", made["id"])
	old := &rounds.DueHook{Hook: rounds.Hook{ID: made["id"].(string)}, Round: 1, Lease: time.Now().Add(-time.Minute)}
	s.must(s.store.Rounds.HookFailed(t.Context(), old, time.Second, true))
	s.must(s.store.Rounds.HookTaken(t.Context(), old, 0))
	if n := sqltest.One[int](t, s.store, "SELECT count(*) FROM contest_hooks WHERE leased_until > now() AND disabled_at IS NULL AND failures = 0"); n != 1 {
		t.Error("a lease was ended by who had it before")
	}
}
