package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/client"
	"deepoj/web/site"
)

// access says who may use which address: the least that is needed.
//
//	anyone      also without an account where one is needed
//	guest       whoever may use the site
//	user        whoever has an account, and keys
//	login       whoever has logged in, and no key
//	setter, staff, admin
//	proof       an administrator who has just proved who they are, and no key
//
// An address that answers differently by whose thing it names is in
// TestNobodyReachesWhatIsNotTheirs, or in TestASpaceLetsInWhomItsRolesName.
const access = `
anyone  GET    /healthz /readyz /metrics /static/* /favicon.ico /login /login/oidc /login/oidc/callback /api/errors /api/openapi.json
anyone  POST   /login /logout /language /api/v1/sessions
anyone  GET    /login/reset /login/link /register /join
anyone  POST   /login/reset /login/link /register /api/v1/registrations /api/v1/password-resets
login   POST   /join /account/name /account/email /api/v1/account/email
login   PATCH  /api/v1/account
admin   GET    /users/import
admin   POST   /users/import /api/v1/users/import
guest   GET    /spaces/:space/import /api/v1/spaces/:space/invitations
guest   POST   /spaces/:space/import /spaces/:space/invitations /spaces/:space/invitations/:id/revoke
guest   POST   /api/v1/spaces/:space/import /api/v1/spaces/:space/invitations
guest   DELETE /api/v1/spaces/:space/invitations/:id
anyone  GET    /login/second
anyone  POST   /login/second /login/second/options /login/second/passkey /login/passkey /login/passkey/options
login   POST   /account/totp /account/totp/confirm /account/totp/remove /account/recovery
login   POST   /account/passkeys /account/passkeys/new /account/passkeys/options /account/passkeys/:id/remove
login   POST   /account/confirm/options /account/factors/told
login   GET    /api/v1/account/factors
admin   GET    /api/v1/users/:name/factors
proof   POST   /users/:name/factors/remove
proof   DELETE /api/v1/users/:name/factors
guest   GET    /spaces /spaces/:space /spaces/:space/submissions /spaces/:space/problems/:slug /spaces/:space/members /spaces/:space/settings
staff   POST   /spaces
guest   POST   /spaces/:space/problems /spaces/:space/problems/:slug /spaces/:space/problems/:slug/runs /spaces/:space/problems/:slug/remove
guest   POST   /spaces/:space/members /spaces/:space/members/:name/remove /spaces/:space/settings /spaces/:space/delete
guest   GET    /problems/:slug/statistics /api/v1/problems/:slug/statistics
setter  GET    /packages/:slug/try /packages/:slug/edit /packages/:slug/compare
setter  GET    /packages/:slug/drafts/:id /packages/:slug/drafts/:id/live /packages/:slug/drafts/:id/events /packages/:slug/drafts/:id/sources/:n
setter  POST   /packages/template /packages/:slug/try /packages/:slug/edit /packages/:slug/clone /packages/:slug/labels /packages/:slug/drafts/:id/cancel
setter  GET    /api/v1/problems/:slug/labels /api/v1/problems/:slug/diff /api/v1/problems/:slug/drafts /api/v1/problems/:slug/drafts/:id
setter  GET    /api/v1/problems/:slug/drafts/:id/events /api/v1/problems/:slug/versions/:version/problem
setter  GET    /api/v1/problems/:slug/versions/:version/files /api/v1/problems/:slug/versions/:version/file /api/v1/templates
setter  POST   /api/v1/problems/:slug/labels /api/v1/problems/:slug/clone /api/v1/problems/:slug/drafts/:id/cancel /api/v1/templates/:name
setter  POST   /api/v1/problems/:slug/versions/:version/edit /api/v1/problems/:slug/versions/:version/preview
setter  POST   /api/v1/problems/:slug/versions/:version/submissions
guest   GET    /spaces/:space/print /spaces/:space/problems/:slug/pictures/:name /spaces/:space/problems/:slug/documents/:name
guest   GET    /problems/:slug/pictures/:name /problems/:slug/documents/:name
setter  GET    /packages/:slug/versions/:version /packages/:slug/versions/:version/pictures/:name
setter  GET    /packages/:slug/versions/:version/documents/:name /packages/:slug/versions/:version/files/*
setter  POST   /packages/:slug/render /api/v1/renderings
setter  GET    /api/v1/problems/:slug/versions/:version/statement
guest   GET    / /problems /people/:name /problems/:slug /problems/:slug/files/* /languages /queue /account
guest   POST   /problems/:slug /problems/:slug/runs /runs/:id/cancel /submissions/:id/cancel
guest   GET    /runs/:id /runs/:id/live /runs/:id/events
guest   GET    /submissions /submissions/:id /submissions/:id/live /submissions/:id/events /submissions/:id/sources/:n
staff   POST   /submissions/:id/rejudge
staff   POST   /dlq/replay /languages/:id/withdraw /languages/:id/offer
staff   POST   /queue/move /queues/:name/pause /queues/:name/resume
staff   GET    /dlq /dlq/:id /rejudgings /rejudgings/:id /workers /feed /api/v1/feed
staff   POST   /dlq/:id/replay /dlq/:id/discard /rejudgings /rejudgings/:id/apply /rejudgings/:id/cancel
login   POST   /account /account/profile /account/reading /account/keys /account/keys/:id/revoke
login   GET    /webhooks /webhooks/:id
login   POST   /webhooks /webhooks/:id/enable /webhooks/:id/disable /webhooks/:id/delete /webhooks/:id/rotate /webhooks/:id/test
login   POST   /webhooks/:id/deliveries/:delivery/resend
admin   GET    /audit /users /users/:name
user    DELETE /api/v1/account/key
admin   POST   /api/v1/queues/:name
proof   POST   /api/v1/users/:name/keys
staff   GET    /api/v1/invariants
admin   POST   /users
proof   POST   /users/:name/role /users/:name/disable /users/:name/enable /users/:name/password /users/:name/keys/:id/revoke
setter  GET    /packages /packages/:slug /packages/:slug/package /imports/:id /imports/:id/live /imports/:id/events
setter  POST   /imports/:id/cancel /checkers/jobs/:id/cancel
setter  POST   /packages /packages/:slug/activate /packages/:slug/rollback /packages/:slug/verify /packages/:slug/hide /packages/:slug/show
setter  POST   /packages/:slug/people /packages/:slug/people/:name/remove
setter  POST   /packages/:slug/checker-messages
setter  GET    /checkers /checkers/jobs/:id /checkers/jobs/:id/live /checkers/jobs/:id/events /checkers/:kind/:name
setter  POST   /checkers /checkers/:kind/:name/activate /checkers/:kind/:name/rollback /checkers/:kind/:name/preview
setter  POST   /checkers/:kind/:name/bind /checkers/:kind/:name/test

guest   POST   /submit
guest   GET    /status/:id

guest   POST   /judge0/submissions /judge0/submissions/batch /judge0/authenticate
guest   GET    /judge0/submissions/batch /judge0/submissions/:token /judge0/languages /judge0/languages/all /judge0/languages/:id
guest   GET    /judge0 /judge0/statuses /judge0/about /judge0/version /judge0/license /judge0/isolate /judge0/config_info
guest   GET    /judge0/system_info /judge0/workers /judge0/statistics
staff   GET    /judge0/submissions
staff   DELETE /judge0/submissions/:token
staff   POST   /judge0/authorize

guest   GET    /clics /clics/contests /clics/contests/* /clics/:version /clics/:version/contests /clics/:version/contests/:round
guest   GET    /clics/:version/contests/:round/state /clics/:version/contests/:round/access /clics/:version/contests/:round/account
guest   GET    /clics/:version/contests/:round/scoreboard /clics/:version/contests/:round/event-feed /clics/:version/contests/:round/:type
guest   GET    /clics/:version/contests/:round/:type/:id /clics/:version/contests/:round/submissions/:id/files
guest   POST   /clics/:version/contests/:round/submissions
user    GET    /clics/:version/webhooks /clics/:version/webhooks/:id
user    POST   /clics/:version/webhooks
user    DELETE /clics/:version/webhooks/:id

login   DELETE /api/v1/sessions
user    GET    /api/v1/account
login   POST   /api/v1/account/password /api/v1/account/confirm /api/v1/keys
login   GET    /api/v1/keys
login   DELETE /api/v1/keys/:id
login   GET    /api/v1/webhooks /api/v1/webhooks/:id /api/v1/webhooks/:id/deliveries
login   POST   /api/v1/webhooks /api/v1/webhooks/:id/disable /api/v1/webhooks/:id/enable /api/v1/webhooks/:id/rotate /api/v1/webhooks/:id/test
login   POST   /api/v1/webhooks/:id/deliveries/:delivery/resend
login   DELETE /api/v1/webhooks/:id
admin   GET    /api/v1/audit /api/v1/users /api/v1/users/:name /api/v1/users/:name/keys
admin   POST   /api/v1/users
proof   POST   /api/v1/users/:name/role /api/v1/users/:name/disable /api/v1/users/:name/enable /api/v1/users/:name/password
proof   DELETE /api/v1/users/:name/keys/:id
guest   GET    /api/v1/submissions /api/v1/submissions/:id /api/v1/submissions/:id/events /api/v1/submissions/batch
guest   POST   /api/v1/submissions /api/v1/submissions/batch
staff   POST   /api/v1/submissions/:id/rejudge /api/v1/submissions/:id/release /api/v1/submissions/:id/delay
staff   POST   /api/v1/submissions/:id/immediate /api/v1/submissions/:id/move /api/v1/submissions/:id/delete /api/v1/submissions/:id/undo
guest   POST   /api/v1/runs /api/v1/runs/:id/cancel /api/v1/submissions/:id/cancel /api/v1/jobs/:id/cancel
guest   GET    /api/v1/runs/:id /api/v1/runs/:id/events /api/v1/jobs/:id /api/v1/jobs/:id/events
guest   GET    /api/v1/problems /api/v1/problems/:slug /api/v1/languages /api/v1/workers /api/v1/queue
setter  GET    /api/v1/problems/:slug/package /api/v1/problems/:slug/versions /api/v1/problems/:slug/versions/:version
setter  POST   /api/v1/problems /api/v1/problems/:slug/rollback /api/v1/problems/:slug/hide /api/v1/problems/:slug/show
setter  GET    /api/v1/problems/:slug/people /api/v1/quota
setter  POST   /api/v1/problems/:slug/people
setter  DELETE /api/v1/problems/:slug/people/:name
setter  GET    /api/v1/problems/:slug/checker-messages
setter  POST   /api/v1/problems/:slug/checker-messages
guest   GET    /rounds/:round /api/v1/rounds /api/v1/rounds/:round /api/v1/rounds/:round/problems /api/v1/rounds/:round/board /api/v1/rounds/:round/entries
guest   GET    /spaces/:space/rounds /spaces/:space/participants /rounds/:round/staff
setter  GET    /contests/import
setter  POST   /contests/import /api/v1/contests
guest   GET    /rounds/:round/problems /rounds/:round/print /rounds/:round/problems/:slug /rounds/:round/problems/:slug/pictures/:name /rounds/:round/problems/:slug/documents/:name
guest   POST   /rounds/:round/problems/:slug /rounds/:round/problems/:slug/runs
guest   GET    /rounds/:round/submissions
guest   GET    /rounds/:round/resolver /api/v1/rounds/:round/resolver /api/v1/rounds/:round/log /api/v1/rounds/:round/sources
guest   POST   /clics/:version/contests/:round/clarifications /clics/:version/contests/:round/awards /clics/:version/contests/:round/commentary
guest   PUT    /clics/:version/contests/:round/submissions/:id /clics/:version/contests/:round/clarifications/:id /clics/:version/contests/:round/awards/:id
guest   PATCH  /clics/:version/contests/:round /clics/:version/contests/:round/awards/:id
guest   DELETE /clics/:version/contests/:round/awards/:id
guest   POST   /spaces/:space/rounds /spaces/:space/participants /api/v1/spaces/:space/lineup /rounds/:round/settings /rounds/:round/start /rounds/:round/pause
guest   POST   /rounds/:round/resume /rounds/:round/extend /rounds/:round/freeze /rounds/:round/unfreeze /rounds/:round/thaw /rounds/:round/finalize
guest   POST   /rounds/:round/reopen /rounds/:round/removed /rounds/:round/removed/:id/undo /rounds/:round/ignored /rounds/:round/ignored/:id/count /rounds/:round/adjustments /rounds/:round/tokens /api/v1/rounds/:round/tokens /rounds/:round/verdicts /rounds/:round/problems /rounds/:round/problems/:slug/remove
guest   POST   /rounds/:round/entries /rounds/:round/entries/:code/remove
guest   POST   /rounds/:round/delete /rounds/:round/clarifications /rounds/:round/clarifications/:code/close
guest   GET    /rounds/:round/teams/:code /rounds/:round/results /rounds/:round/certificates /rounds/:round/certificates/:code /rounds/:round/board.csv /rounds/:round/results.tsv
guest   GET    /rounds/:round/ranklist.json /api/v1/rounds/:round/board/stream
guest   GET    /rounds/:round/clarifications /api/v1/rounds/:round/clarifications
guest   POST   /api/v1/rounds/:round/clarifications /api/v1/rounds/:round/clarifications/:code/close /api/v1/rounds/:round/clarifications/:code/open
guest   GET    /clics/:version/contests/:round/problems/:id/:file /api/v1/rounds/:round/board/own /api/v1/rounds/:round/explain/:code /api/v1/rounds/:round/awards
guest   GET    /api/v1/spaces/:space/participants /api/v1/spaces/:space/participants/:code /api/v1/spaces/:space/groups /api/v1/spaces/:space/organizations
guest   POST   /api/v1/spaces/:space/rounds /api/v1/spaces/:space/participants /api/v1/spaces/:space/groups /api/v1/spaces/:space/organizations
guest   POST   /api/v1/rounds/:round/start /api/v1/rounds/:round/pause /api/v1/rounds/:round/resume /api/v1/rounds/:round/extend
guest   POST   /api/v1/rounds/:round/freeze /api/v1/rounds/:round/unfreeze /api/v1/rounds/:round/thaw /api/v1/rounds/:round/removed
guest   POST   /api/v1/rounds/:round/finalize /api/v1/rounds/:round/reopen
guest   POST   /api/v1/rounds/:round/problems /api/v1/rounds/:round/entries
guest   PATCH  /api/v1/rounds/:round
guest   GET    /api/v1/rounds/:round/ignored
guest   GET    /api/v1/rounds/:round/adjustments /api/v1/rounds/:round/verdicts /api/v1/rounds/:round/persons
guest   POST   /api/v1/spaces/:space/organizations/:code/logos /spaces/:space/logos
guest   DELETE /api/v1/spaces/:space/organizations/:code/logos
guest   GET    /clics/:version/contests/:round/organizations/:id/:file
guest   POST   /api/v1/rounds/:round/verdicts
guest   POST   /api/v1/rounds/:round/adjustments /api/v1/rounds/:round/persons
guest   POST   /api/v1/rounds/:round/ignored
guest   DELETE /api/v1/rounds/:round/ignored/:id /api/v1/rounds/:round/persons/:code
guest   DELETE /api/v1/rounds/:round /api/v1/rounds/:round/removed/:id /api/v1/rounds/:round/problems/:slug /api/v1/rounds/:round/entries/:code
guest   DELETE /api/v1/spaces/:space/participants/:code /api/v1/spaces/:space/groups/:code /api/v1/spaces/:space/organizations/:code
guest   GET    /api/v1/spaces /api/v1/spaces/:space /api/v1/spaces/:space/members /api/v1/spaces/:space/problems /api/v1/spaces/:space/problems/:slug
guest   GET    /api/v1/spaces/:space/scores /api/v1/spaces/:space/submissions
staff   POST   /api/v1/spaces
guest   POST   /api/v1/spaces/:space/members /api/v1/spaces/:space/problems
guest   PATCH  /api/v1/spaces/:space
guest   DELETE /api/v1/spaces/:space /api/v1/spaces/:space/members/:name /api/v1/spaces/:space/problems/:slug
setter  POST   /api/v1/problems/:slug/versions/:version/activate /api/v1/problems/:slug/versions/:version/verify
staff   GET    /api/v1/queues /api/v1/dlq /api/v1/dlq/:id /api/v1/rejudgings /api/v1/rejudgings/:id
staff   POST   /api/v1/dlq/replay /api/v1/languages/:id/withdraw /api/v1/languages/:id/offer
staff   POST   /api/v1/queues/:name/pause /api/v1/queues/:name/resume /api/v1/dlq/:id/replay /api/v1/dlq/:id/discard
staff   POST   /api/v1/rejudgings /api/v1/rejudgings/:id/apply /api/v1/rejudgings/:id/cancel
setter  GET    /api/v1/plugins /api/v1/plugins/:digest
setter  POST   /api/v1/plugins /api/v1/plugins/rollback /api/v1/plugins/:digest/activate /api/v1/plugins/:digest/preview
setter  POST   /api/v1/plugins/:digest/bind /api/v1/plugins/:digest/test
`

// accessOf reads the table: the least that each "METHOD /path" needs.
func accessOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(access) {
		words := strings.Fields(line)
		for i, path := range words {
			if i < 2 {
				continue
			}
			route := words[1] + " " + path
			if _, twice := out[route]; twice {
				t.Errorf("%s is in the table twice", route)
			}
			out[route] = words[0]
		}
	}
	return out
}

// routesOf lists what the router answers to, as "METHOD /path".
func (s *stage) routesOf() []string {
	var out []string
	for _, r := range s.server.app.GetRoutes(true) {
		if r.Method != http.MethodHead { // as GET
			out = append(out, r.Method+" "+r.Path)
		}
	}
	return out
}

// nowhere puts names of nothing into the path of a route.
func nowhere(path string) string {
	return strings.NewReplacer(":version/contests", "2026-01/contests", ":type", "teams", ":id", "999999", ":slug", "nosuch", ":space", "nosuch", ":round", "nosuch", ":code", "nosuch", ":name", "nosuch", ":token", "2f3a", ":digest", "sha256:"+strings.Repeat("0", 64),
		":kind", "checker", ":delivery", "999999", ":version", "sha256:0", "*", "nosuch").Replace(path)
}

// turnedAway reports whether an answer says that whoever asks may not.
func turnedAway(r reply) bool {
	switch r.status {
	case http.StatusUnauthorized:
		return !strings.Contains(r.body, "The name or the password is wrong.") // a login was tried
	case http.StatusForbidden:
		return true
	case http.StatusSeeOther:
		return strings.HasPrefix(r.header.Get("Location"), "/login?next=")
	}
	return false
}

// session returns a token of somebody without a password.
func (s *stage) session(name string) string {
	s.Helper()
	u, err := s.store.User(s.Context(), name)
	s.must(err)
	token := people.NewToken(16)
	s.must(s.store.SaveSession(s.Context(), people.HashToken(token), u, time.Now().Add(time.Hour)))
	return token
}

// someone adds an account that nobody can log in to, and returns a client of its
// session: hashing passwords takes its time.
func (s *stage) someone(name string, role judge.Role) *client.Client {
	s.Helper()
	s.must(s.store.CreateUser(s.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	return s.as(s.session(name))
}

// keyOf returns the secret of a key of somebody.
func (s *stage) keyOf(name string, scope judge.Scope) string {
	s.Helper()
	secret, hash := people.NewSecret()
	_, err := s.store.CreateKey(s.Context(), judge.Key{User: name, Label: "test", Scope: scope}, hash, name)
	s.must(err)
	return secret
}

func TestEveryAddressLetsInWhoTheTableNames(t *testing.T) {
	s := newStage(t)
	for _, role := range judge.Roles {
		s.must(s.store.CreateUser(t.Context(), sql.NewUser{Name: string(role), PasswordHash: "x", Role: role}))
	}
	needs := accessOf(t)
	levels := []string{"anyone", "guest", "user", "setter", "staff", "admin"} // what each visitor below has
	visitors := map[string]struct {
		level, role string
		key         judge.Scope
	}{
		"the guest":              {"guest", "", ""},
		"a contestant":           {"user", "contestant", ""},
		"a setter":               {"setter", "setter", ""},
		"staff":                  {"staff", "staff", ""},
		"an administrator":       {"admin", "admin", ""},
		"a key that reads":       {"user", "admin", judge.ScopeRead}, // of an administrator: the scope is what limits it
		"a key that hands in":    {"user", "admin", judge.ScopeSubmit},
		"an administrator's key": {"admin", "admin", judge.ScopeAdmin},
	}
	may := func(level string, key judge.Scope, method, path, need string) bool {
		if key == judge.ScopeRead && method != http.MethodGet && path != "/judge0/authenticate" && path != "/api/v1/account/key" {
			return false
		}
		switch {
		case (need == "login" || need == "proof") && key != "", path == "/account" && key != "":
			return false
		case path == "/account" && level == "guest":
			return false // led to the login
		case need == "login":
			need = "user"
		case need == "proof":
			need = "admin"
		}
		return slices.Index(levels, level) >= slices.Index(levels, need)
	}
	ask := func(method, path string, headers ...string) reply {
		t.Helper()
		return s.do(method, nowhere(path), "{}", append(headers, asJSON, "Accept: text/html")...)
	}
	tokens := map[string]string{}
	credentials := func(name string) []string {
		t.Helper()
		v := visitors[name]
		if v.role == "" {
			return nil
		}
		if tokens[name] == "" && v.key != "" {
			tokens[name] = s.keyOf(v.role, v.key)
		} else if tokens[name] == "" {
			tokens[name] = s.session(v.role)
		}
		return []string{"Authorization: Bearer " + tokens[name]}
	}
	routes := s.routesOf()
	for _, route := range routes {
		need, listed := needs[route]
		if !listed {
			t.Errorf("%s is not in the table of who may use it", route)
		}
		method, path, _ := strings.Cut(route, " ")
		for name, v := range visitors {
			r := ask(method, path, credentials(name)...)
			if route == "DELETE /api/v1/sessions" || route == "POST /logout" || route == "DELETE /api/v1/account/key" {
				delete(tokens, name)
			}
			if want := may(v.level, v.key, method, path, need); turnedAway(r) == want {
				t.Errorf("%s: %s, which is for %s: status %d", name, route, need, r.status)
			}
		}
	}
	for route := range needs {
		if !slices.Contains(routes, route) {
			t.Errorf("the table has %s, which there is not", route)
		}
	}
	s.start(func(c *site.Config) { c.AuthRequired = true })
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		if r := ask(method, path); turnedAway(r) == (needs[route] == "anyone") {
			t.Errorf("somebody without an account: %s, which is for %s: status %d", route, needs[route], r.status)
		}
	}
}

func TestNobodyReachesWhatIsNotTheirs(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	for name, role := range map[string]judge.Role{"ann": judge.RoleContestant, "bob": judge.RoleContestant, "sue": judge.RoleSetter} {
		s.must(s.store.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: "x", Role: role}))
	}
	ann := s.as(s.session("ann"))
	submission := s.submitAs("ann", "aplusb", "cpp", "int secret;")
	s.finish(submission, judge.Result{Verdict: judge.WA})
	stored, err := ann.StartRun(ctx, client.NewRun{Problem: "aplusb", Language: "cpp", Sources: []judge.Source{{Name: "main.cpp", Text: "int secret;"}}})
	s.must(err)
	s.finish(stored.JobID, ran(judge.AC, judge.RunOutput{Stdout: []byte("secret")}))
	r := s.do(http.MethodPost, "/judge0/submissions", `{"language_id": 71, "source_code": "print(1)"}`, asJSON, "X-Auth-Token: "+s.session("ann"))
	_, token, _ := strings.Cut(r.body, `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	if r.status != http.StatusCreated || token == "" {
		t.Fatalf("a run of a client of Judge0: %d %s", r.status, r.body)
	}
	key, _, err := ann.CreateKey(ctx, client.NewKey{Label: "ann's", Scope: "read"})
	s.must(err)

	hook, _, err := ann.CreateWebhook(ctx, client.NewWebhook{URL: "http://secret.example/", Kinds: []string{"submission.finished"}})
	s.must(err)

	_, err = s.store.FactorHandle(ctx, "ann", []byte("handle of ann"))
	s.must(err)
	s.must(s.store.AddPasskey(ctx, judge.Passkey{Credential: []byte("credential"), User: "ann", Label: "secret", PublicKey: []byte("key"), Transports: []string{}}, people.MaxPasskeys))
	passkeys, err := s.store.Passkeys(ctx, "ann")
	s.must(err)

	// Whoever names a thing of Ann's learns as much as who names nothing.
	names := map[string]string{"/submissions/:id": fmt.Sprint(submission), "/status/:id": fmt.Sprint(submission), "/runs/:id": fmt.Sprint(stored.JobID), "/keys/:id": fmt.Sprint(key.ID), "/webhooks/:id": fmt.Sprint(hook.ID), "/submissions/:token": token, "/passkeys/:id": fmt.Sprint(passkeys[0].ID)}
	tried := 0
	for _, route := range s.routesOf() {
		method, path, _ := strings.Cut(route, " ")
		for part, id := range names {
			before, after, is := strings.Cut(path, part)
			if !is || strings.HasPrefix(path, "/users/") || strings.HasPrefix(path, "/api/v1/users/") || strings.HasPrefix(path, "/clics/") { // of rounds: see TestASpaceLetsInWhomItsRolesName
				continue
			}
			tried++
			hers := before + part[:strings.Index(part, ":")] + id + strings.Replace(after, "/:n", "/1", 1)
			for _, name := range []string{"bob", "sue", ""} {
				headers := []string{asJSON, "Accept: application/json"}
				if name != "" {
					session := s.session(name)
					s.must(s.store.ProveSession(ctx, people.HashToken(session), name, time.Now())) // so that nothing else refuses
					headers = append(headers, "Authorization: Bearer "+session)
				}
				got, none := s.do(method, hers, "{}", headers...), s.do(method, nowhere(path), "{}", headers...)
				if got.status != none.status || got.status < 400 || strings.Contains(got.body, "secret") {
					t.Errorf("%s of Ann's, asked by %q: %d %s; one that does not exist: %d", route, name, got.status, got.body, none.status)
				}
			}
			if method == http.MethodGet {
				if got := s.do(method, hers, "", "Authorization: Bearer "+s.session("ann")); got.status != http.StatusOK {
					t.Errorf("%s, asked by Ann herself: %d %s", route, got.status, got.body)
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d addresses name a thing", tried)
	}
	if _, err := ann.Get(ctx, submission); err != nil {
		t.Errorf("after all that, Ann's submission: %v", err)
	}
	if passkeys, err = s.store.Passkeys(ctx, "ann"); err != nil || len(passkeys) != 1 {
		t.Errorf("after all that, Ann's passkeys: %+v, %v", passkeys, err)
	}
	if keys, _, err := ann.Keys(ctx, 0); err != nil || len(keys) != 1 || !keys[0].Works {
		t.Errorf("after all that, Ann's keys: %+v, %v", keys, err)
	}
	if found, _, err := ann.Webhooks(ctx, false, 0); err != nil || len(found) != 1 || found[0].Disabled != nil {
		t.Errorf("after all that, Ann's webhooks: %+v, %v", found, err)
	}
	// To edit and hand in again starts from one's own only.
	for _, path := range []string{fmt.Sprint("/problems/aplusb?from=", submission), "/api/v1/submissions?author=ann"} {
		if got := s.do(http.MethodGet, path, "", "Authorization: Bearer "+s.session("bob")); got.status < 400 || strings.Contains(got.body, "secret") {
			t.Errorf("GET %s, asked by Bob: %d", path, got.status)
		}
	}
}

// TestASetterChangesOnlyTheirOwnProblems asks for every change of a problem that the
// table has, as setters who are nothing, a co-author and the owner to it, and as staff.
func TestASetterChangesOnlyTheirOwnProblems(t *testing.T) {
	_, option := withBlobs(t)
	s := newStage(t, option)
	ctx := t.Context()
	for name, role := range map[string]judge.Role{"olga": judge.RoleSetter, "cora": judge.RoleSetter, "otto": judge.RoleSetter, "stan": judge.RoleStaff} {
		s.someone(name, role)
	}
	s.own("olga", "aplusb")
	s.own("otto", "stairs")
	s.must(s.store.AddProblemAuthor(ctx, "aplusb", "cora", "olga"))
	s.must(s.store.KeepVersion(ctx, judge.Problem{Slug: "aplusb", Title: "A plus B", Version: "sha256:bb22"}, "olga", 0))
	checker := s.addPlugin(1, "1.0.0", true)
	tokens := map[string]string{}
	for _, name := range []string{"olga", "cora", "otto", "stan"} {
		tokens[name] = "Authorization: Bearer " + s.session(name)
	}
	before := s.shown("aplusb")

	naming := []string{"/people", "/people/:name", "/people/:name/remove"} // for owners and staff
	others := map[string]string{                                           // changes whose address names no problem
		"POST /api/v1/problems": "?problem=aplusb&activate=false", "POST /packages": "",
		"POST /api/v1/plugins/:digest/bind": "", "POST /checkers/:kind/:name/bind": "",
	}
	changes := 0
	for _, route := range s.routesOf() {
		method, path, _ := strings.Cut(route, " ")
		query, other := others[route]
		if strings.HasSuffix(path, "/clone") { // whoever sees a package may have a copy of their own
			continue
		}
		if method == http.MethodGet || !other && (accessOf(t)[route] != "setter" || !strings.Contains(path, ":slug")) {
			continue
		}
		changes++
		names := slices.ContainsFunc(naming, func(end string) bool { return strings.HasSuffix(path, end) })
		at := nowhere(strings.NewReplacer(":slug", "aplusb", ":version", "sha256:bb22", ":digest", checker.Digest, ":kind", checker.Kind, "/:name/bind", "/"+checker.Name+"/bind").Replace(path)) + query
		for _, name := range []string{"otto", "cora", "olga", "stan"} {
			body, header := `{"problem": "aplusb"}`, asJSON
			switch {
			case strings.HasSuffix(at, "people"):
				body = `{"name": "nobody"}`
			case !strings.HasSuffix(at, "bind") && !other:
				body = "{}"
			case strings.HasSuffix(path, "/checker-messages"):
				body = `{"checker_messages": "nobody"}`
			case query != "":
				body, header = pk+"not a package", asZIP
			case path == "/packages":
				body, header = packageForm(t, "a.zip", pk+"not a package", "problem", "aplusb")
			}
			if !strings.HasPrefix(path, "/api/") && path != "/packages" {
				body, header = "version=sha256:bb22&name=nobody&problem=aplusb&digest="+checker.Digest, asForm
			}
			r := s.do(method, at, body, header, tokens[name])
			may := name != "otto" && (!names || name != "cora")
			if refused := r.status == http.StatusForbidden; refused == may {
				t.Errorf("%s, asked by %s: %d %s", route, name, r.status, r.body)
			}
			if name == "otto" {
				if after := s.shown("aplusb"); after != before {
					t.Fatalf("%s, asked by another setter, changed the problem from %s to %s", route, before, after)
				}
			}
		}
		before = s.shown("aplusb")
	}
	if changes < 15 {
		t.Errorf("only %d addresses change problems", changes)
	}
	for _, name := range []string{"otto", "cora"} {
		if r := s.do(http.MethodPost, "/api/v1/problems?problem=stairs", pk+"x", asZIP, tokens[name]); r.status != map[string]int{"otto": 202, "cora": 403}[name] {
			t.Errorf("a version of otto's problem by %s: %d %s", name, r.status, r.body)
		}
		if r := s.do(http.MethodPost, "/api/v1/problems?problem=new-"+name, pk+"x", asZIP, tokens[name]); r.status != http.StatusAccepted {
			t.Errorf("a new problem by %s: %d %s", name, r.status, r.body)
		}
	}
}

// What a name of a checker means decides on every problem that uses it.
func TestASetterChangesNoCheckerOfAnothersProblem(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	olga, otto := s.someone("olga", judge.RoleSetter), s.someone("otto", judge.RoleSetter)
	s.own("olga", "aplusb")
	one, two := s.addPlugin(1, "1.0.0", true), s.addPlugin(2, "2.0.0", true)
	s.must(otto.ActivatePlugin(ctx, one.Digest)) // nobody uses it yet
	s.use("aplusb", one.Name)
	s.must(olga.ActivatePlugin(ctx, two.Digest))
	_, rolled := otto.RollBackPlugin(ctx, one.Kind, one.Name)
	for what, err := range map[string]error{"activates": otto.ActivatePlugin(ctx, one.Digest), "rolls back": rolled} {
		if p, ok := err.(*client.Problem); !ok || p.Reason != "not_yours" { //nolint:errorlint // it is that or a mistake
			t.Errorf("a setter %s a checker of another's problem: %v", what, err)
		}
	}
	if _, err := olga.RollBackPlugin(ctx, one.Kind, one.Name); err != nil {
		t.Errorf("its owner rolls back: %v", err)
	}
}

// shown is what of a problem a setter could change.
func (s *stage) shown(slug string) string {
	s.Helper()
	p, err := s.store.Problem(s.Context(), slug)
	s.must(err)
	people, err := s.store.ProblemPeople(s.Context(), slug)
	s.must(err)
	changes, err := s.store.ProblemChanges(s.Context(), slug, 100)
	s.must(err)
	jobs, err := s.store.Jobs(s.Context(), []judge.Kind{judge.KindImport, judge.KindVerify, judge.KindPluginTest}, 0, 100)
	s.must(err)
	return fmt.Sprintf("%s %t %v, %d changes, %d jobs", p.Version, p.Hidden, people, len(changes), len(jobs))
}

func TestTheOwnerOfAProblemChoosesItsCoAuthors(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	olga, cora, otto, stan := s.someone("olga", judge.RoleSetter), s.someone("cora", judge.RoleSetter), s.someone("otto", judge.RoleSetter), s.someone("stan", judge.RoleStaff)
	s.someone("ann", judge.RoleContestant)
	s.must(s.store.KeepVersion(ctx, judge.Problem{Slug: "triple", Title: "Triple", Version: "sha256:aa11"}, "olga", 0))
	s.must(s.store.KeepVersion(ctx, judge.Problem{Slug: "triple", Title: "Triple", Version: "sha256:aa12"}, "stan", 0)) // not the first
	people := func(want ...string) {
		t.Helper()
		var got []string
		found, err := cora.ProblemPeople(ctx, "triple")
		s.must(err)
		for _, p := range found {
			got = append(got, fmt.Sprint(p.Name, " ", p.Owner))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the people are %q, want %q", got, want)
		}
	}
	refused := func(what string, err error, status int, field string) {
		t.Helper()
		if p, ok := err.(*client.Problem); !ok || p.Status != status || p.Field != field { //nolint:errorlint // it is that or a mistake
			t.Errorf("%s: %v, want %d about %q", what, err, status, field)
		}
	}
	people("olga true")
	refused("cora lets herself in", cora.AddProblemAuthor(ctx, "triple", "cora"), 403, "")
	refused("otto takes it", otto.SetProblemOwner(ctx, "triple", "otto"), 403, "")
	refused("a contestant", olga.AddProblemAuthor(ctx, "triple", "ann"), 422, "name")
	refused("nobody", olga.AddProblemAuthor(ctx, "triple", "nemo"), 422, "name")
	refused("no problem", olga.AddProblemAuthor(ctx, "nosuch", "cora"), 404, "")
	s.must(olga.AddProblemAuthor(ctx, "triple", "cora"))
	s.must(olga.AddProblemAuthor(ctx, "triple", "cora"))
	people("olga true", "cora false")
	refused("a co-author lets others in", cora.AddProblemAuthor(ctx, "triple", "otto"), 403, "")
	refused("a co-author puts others out", otto.RemoveProblemAuthor(ctx, "triple", "cora"), 403, "")
	s.must(cora.HideProblem(ctx, "triple", true))
	s.must(cora.RemoveProblemAuthor(ctx, "triple", "cora"))
	refused("who was a co-author", cora.HideProblem(ctx, "triple", false), 403, "")
	s.must(stan.SetProblemOwner(ctx, "triple", "otto"))
	people("otto true")
	refused("who was the owner", olga.HideProblem(ctx, "triple", false), 403, "")
	s.must(otto.HideProblem(ctx, "triple", false))
	refused("the owner is no co-author", otto.RemoveProblemAuthor(ctx, "triple", "otto"), 404, "")
	if log, err := s.store.AuditLog(ctx, sql.AuditFilter{Subject: "problem:triple"}); err != nil || len(log) < 5 {
		t.Errorf("the log has %+v, %v", log, err)
	}

	// A problem that no account has made is for staff.
	s.must(s.store.KeepVersion(ctx, judge.Problem{Slug: "sample", Title: "Sample", Version: "sha256:aa13"}, "deepoj", 0))
	refused("a sample problem", olga.HideProblem(ctx, "sample", true), 403, "")
	s.must(stan.HideProblem(ctx, "sample", true))
}
