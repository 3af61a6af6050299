package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	"deepoj/web"
)

// site starts the web side on a fresh database, and returns a function that runs
// commands against it with a key of somebody. It checks their status and a part of
// what they print, and returns all of it.
func site(t *testing.T) (*sqltest.Store, func(user, command string, status int, want string) string) {
	t.Helper()
	store, address := serve(t, sqltest.DSN(t))
	keys := map[string]string{}
	return store, func(user, command string, status int, want string) string {
		t.Helper()
		if keys[user] == "" {
			u, err := store.User(t.Context(), user)
			if err != nil {
				t.Fatal(err)
			}
			secret, hash := people.NewSecret()
			scope := map[judge.Role]judge.Scope{judge.RoleStaff: judge.ScopeStaff, judge.RoleContestant: judge.ScopeSubmit}[u.Role]
			if _, err := store.CreateKey(t.Context(), judge.Key{User: user, Label: "test", Scope: scope}, hash, user); err != nil {
				t.Fatal(err)
			}
			keys[user] = secret
		}
		got, out, errs := call(t, map[string]string{"DEEPOJ_URL": address, "DEEPOJ_KEY": keys[user]}, strings.Fields(command)...)
		if got != status || !strings.Contains(out+errs, want) {
			t.Errorf("deepoj %s: status %d, want %d and %q\n%s%s", command, got, status, want, out, errs)
		}
		return out
	}
}

// serve starts the web side on a database and returns its address. A worker serves C++ and Python.
func serve(t *testing.T, dsn string, options ...func(*web.Config)) (*sqltest.Store, string) {
	t.Helper()
	store := sqltest.Open(t, dsn)
	beat := func() error {
		return store.WorkerBeat(context.Background(), judge.WorkerInfo{
			Name: "w1", Pool: judge.DefaultPool, Slots: 1, Started: time.Now(), Seen: time.Now(), Languages: []judge.Language{
				{ID: "cpp", Name: "C++", Extensions: []string{"cc"}, Available: true}, {ID: "python", Name: "Python", Extensions: []string{"py"}, Available: true},
			},
		})
	}
	if err := beat(); err != nil {
		t.Fatal(err)
	}
	cfg := web.Config{Listen: "127.0.0.1:0", Store: store.Site, Rounds: store.Rounds, Version: "test"}
	for _, option := range options {
		option(&cfg)
	}
	server, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	silent := make(chan error, 1)
	go func() { // tests beside this one may keep it waiting for longer than a worker may be silent
		every := time.NewTicker(5 * time.Second)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				silent <- nil
				return
			case <-every.C:
			}
			if err := beat(); err != nil {
				silent <- err
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		if err := <-silent; err != nil {
			t.Errorf("the worker said no more that it lives: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return store, "http://" + server.Addr()
}

func TestTheCommandLineManagesSpaces(t *testing.T) {
	t.Parallel()
	store, call := site(t)
	for name, role := range map[string]judge.Role{"prof": judge.RoleStaff, "ann": judge.RoleContestant, "bob": judge.RoleContestant} {
		if err := store.CreateUser(t.Context(), sql.NewUser{Name: name, PasswordHash: "x", Role: role}); err != nil {
			t.Fatal(err)
		}
	}
	for _, slug := range []string{"aplusb", "stairs"} {
		if err := store.SaveProblem(t.Context(), judge.Problem{Slug: slug, Title: strings.ToUpper(slug), Version: "sha256:01"}, "prof"); err != nil {
			t.Fatal(err)
		}
	}
	call("prof", "space", 0, "member add SPACE NAME...")
	call("prof", "space member", 0, "member add SPACE NAME...")
	call("prof", "space create", 2, "SPACE")
	call("prof", "space create final --title Final --closes never --opens 2099-01-01T00:00:00Z --languages cpp,python --per-minute 5", 0, "final is made")
	call("prof", "space create final --title Final", 1, "There is a space final already")
	call("prof", "space create other --opens tomorrow", 1, "want a time like")
	call("ann", "space create mine --title Mine", 1, "Only staff")
	call("prof", "space member add final ann nobody", 1, "nobody")
	call("prof", "space member add final ann bob --role contestant", 0, "contestant: ann, bob")
	call("prof", "space member add final bob --role emperor", 1, "the roles are contestant")
	call("prof", "space member remove final bob", 0, "removed: bob")
	call("prof", "space member list final", 0, "ann   contestant")
	call("prof", "space problem add final aplusb", 0, "A      aplusb")
	call("prof", "space problem add final stairs --place 1 --points 2.5", 0, "A      stairs   2.5")
	call("prof", "space problem add final nosuch", 1, "There is no problem")
	call("ann", "space show final", 0, "before  2099-01-01T00:00:00Z  -")
	call("ann", "space problem list final", 1, "has not begun")
	call("bob", "space show final", 1, "There is no space")
	call("ann", "space update final --opens never", 1, "Only staff of the space")
	call("prof", "space update final --opens never --json", 0, `"phase": "open"`)
	call("ann", "space show final", 0, "B      aplusb")
	if out := call("ann", "space list --json", 0, `"per_minute": 5`); !strings.HasPrefix(out, "[") {
		t.Errorf("the list as JSON is %q", out)
	}
	call("ann", "space scores final", 0, "1     ann         0")
	call("prof", "problem hide", 2, "NAME...")
	call("prof", "problem hide stairs", 0, "stairs is hidden")
	call("prof", "space problem list final", 0, "A      stairs   2.5     true")
	call("ann", "problem show stairs", 1, "setters")
	call("prof", "problem show stairs nosuch", 1, "There is no problem")
	call("prof", "space problem list final", 0, "A      stairs   2.5     false")
	call("prof", "space problem remove final stairs", 0, "removed: stairs")
	call("prof", "space delete final", 0, "final is deleted")
	call("prof", "space delete final", 1, "There is no space")
}
