package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/keyring"
	"deepoj/web/client"
)

// keyLife is how long a key of a login works, unless somebody says otherwise.
const keyLife = 90 * 24 * time.Hour

// noKey stands for the key that is still to be made: what a login is refused needs no other login.
const noKey = "none"

// logIn makes a key at a server and keeps it for the commands that follow.
func logIn(f *command.Flags) command.Run {
	user := f.String("user", "", "`name` of the account; asked for when empty")
	scope := f.String("scope", "", "what the key may do: read, submit, setter, staff or admin; all that the account may when empty")
	f.OneOf("scope", scopeNames()...)
	life := f.Duration("expires", keyLife, "how long the key works, such as 720h; 0 = for ever")
	given := f.Bool("key", false, "keep a key that was made on the page /account, in place of a password")
	list := f.Bool("list", false, "list the servers that there are keys of, the one that is meant where none is named first")
	return func(ctx context.Context, c *command.Call) error {
		ring, err := keyring.Open(keyring.File(c.Getenv))
		if err != nil {
			return err
		}
		if *list {
			return listLogins(c, ring)
		}
		address, err := addressOf(c, ring)
		if err != nil {
			return err
		}
		if insecure(address) {
			c.Warn("warning: what is sent to %s can be read on the way; use https", address)
		}
		in := login{asker: newAsker(c), address: address, user: *user, scope: *scope, life: *life}
		from := in.byPassword
		if *given {
			from = in.byKey
		}
		old, _ := ring.Find(address)
		e, err := from(ctx, old)
		if err != nil {
			return remedied(err, address, noKey)
		}
		if err := ring.Put(e); err != nil {
			return err
		}
		until := "for ever"
		if e.Expires != nil {
			until = "until " + e.Expires.UTC().Format(time.RFC3339)
		}
		return c.Say(map[string]any{"server": e.Server, "user": e.User, "scope": e.Scope, "key": e.ID, "expires_at": e.Expires, "file": ring.Path()},
			"logged in to %s as %s: a key of scope %s, which works %s, is kept in %s", e.Server, e.User, e.Scope, until, ring.Path())
	}
}

// addressOf is the server that the only argument names, or what is meant without one.
func addressOf(c *command.Call, ring *keyring.Ring) (string, error) {
	named := ""
	if len(c.Args) > 0 {
		named = c.Args[0]
	}
	return keyring.Address(cmp.Or(named, c.Variable(variableURL), ring.Default(), defaultServer))
}

// insecure reports whether an address leads through a net, and not encrypted.
func insecure(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && u.Hostname() != "localhost" && !loopback(u.Hostname())
}

func listLogins(c *command.Call, ring *keyring.Ring) error {
	t := command.Table{Head: "SERVER\tUSER\tSCOPE\tEXPIRES"}
	for _, e := range slices.Backward(ring.Entries) {
		t.Add(e.Server, e.User, e.Scope, e.Expires)
	}
	return c.List(t)
}

// login is a login that is under way.
type login struct {
	*asker

	address, user, scope string
	life                 time.Duration
}

// byKey keeps a key that somebody has.
func (in *login) byKey(ctx context.Context, _ keyring.Entry) (e keyring.Entry, err error) {
	key, err := in.secret(ctx, "key")
	if err != nil {
		return e, err
	}
	s, err := client.New(in.address, client.WithToken(key))
	if err != nil {
		return e, err
	}
	account, err := s.GetAccount(ctx)
	if err != nil {
		return e, err
	}
	if account.Scope == "" {
		return e, errors.New("that is the token of a session and no key: give a key, or log in with the password")
	}
	return keyring.Entry{Server: in.address, User: account.Name, Scope: string(account.Scope), Key: key}, nil
}

// byPassword makes a key, and revokes the one that the server had given before.
func (in *login) byPassword(ctx context.Context, old keyring.Entry) (e keyring.Entry, err error) {
	if in.user == "" {
		if in.terminal == nil {
			return e, errors.New("say who logs in: --user NAME")
		}
		if in.user, err = in.text(ctx, "name"); err != nil {
			return e, err
		}
	}
	s, end, err := in.session(ctx)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, end()) }()
	account, err := s.GetAccount(ctx)
	if err != nil {
		return e, err
	}
	n := client.NewKey{Label: label(), Scope: cmp.Or(in.scope, string(scopeOf(account.Role)))}
	if in.life != 0 {
		n.ExpiresAt = new(time.Now().Add(in.life).UTC().Truncate(time.Second))
	}
	made, secret, err := s.CreateKey(ctx, n)
	if err != nil {
		return e, err
	}
	if old.ID != 0 && old.User == account.Name {
		if err := s.DeleteKey(ctx, old.ID); err != nil && !isNotFound(err) {
			in.c.Warn("the key that was kept before, %d, may still work: %v", old.ID, err)
		}
	}
	return keyring.Entry{Server: in.address, User: account.Name, ID: made.ID, Scope: n.Scope, Expires: n.ExpiresAt, Key: secret}, nil
}

// session logs in with a password, which is asked for, and returns what ends the session.
func (in *login) session(ctx context.Context) (s *client.Client, end func() error, err error) {
	password, err := in.secret(ctx, "password")
	if err != nil {
		return nil, nil, err
	}
	plain, err := client.New(in.address)
	if err != nil {
		return nil, nil, err
	}
	token, err := plain.Login(ctx, in.user, password)
	if refused, ok := errors.AsType[*client.Problem](err); ok && refused.Reason == "code_required" {
		code, err := in.secret(ctx, "code of the second factor")
		if err == nil {
			token, err = plain.LoginWithCode(ctx, in.user, password, code)
		}
		if err != nil {
			return nil, nil, err
		}
	} else if err != nil {
		return nil, nil, err
	}
	if s, err = client.New(in.address, client.WithToken(token)); err != nil {
		return nil, nil, err
	}
	end = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return s.DeleteSessions(ctx)
	}
	account, err := s.GetAccount(ctx)
	if err == nil && account.OneTime {
		err = in.replace(ctx, s, password)
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return s, end, nil
}

// replace chooses a password in place of one that was given to somebody for once.
func (in *login) replace(ctx context.Context, s *client.Client, given string) error {
	in.c.Warn("the password was for once: choose your own")
	fresh, err := in.secret(ctx, "new password")
	if err != nil {
		return err
	}
	if in.terminal != nil {
		again, err := in.secret(ctx, "new password again")
		if err != nil {
			return err
		}
		if again != fresh {
			return errors.New("the two new passwords differ; nothing is changed")
		}
	}
	return s.ChangePassword(ctx, given, fresh)
}

// label says what a key of a login is for.
func label() string {
	host, err := os.Hostname()
	if err != nil {
		return "deepoj login"
	}
	return fmt.Sprintf("deepoj login on %.40s", strings.ToValidUTF8(host, "?"))
}

// scopeOf is all that a role may do.
func scopeOf(role judge.Role) judge.Scope {
	if role == judge.RoleContestant {
		return judge.ScopeSubmit
	}
	return judge.Scope(role)
}

func scopeNames() (names []string) {
	for _, s := range judge.Scopes {
		names = append(names, string(s))
	}
	return names
}

func isNotFound(err error) bool {
	refused, ok := errors.AsType[*client.Problem](err)
	return ok && refused.Status == http.StatusNotFound
}

// logOut revokes the key of a server and forgets it.
func logOut(*command.Flags) command.Run {
	return func(ctx context.Context, c *command.Call) error {
		ring, err := keyring.Open(keyring.File(c.Getenv))
		if err != nil {
			return err
		}
		address, err := addressOf(c, ring)
		if err != nil {
			return err
		}
		e, found := ring.Find(address)
		if !found {
			return fmt.Errorf("there is no key of %s to forget: deepoj login --list names those that there are", address)
		}
		s, err := client.New(address, client.WithToken(e.Key))
		if err != nil {
			return err
		}
		revoked := s.DeleteAccountKey(ctx)
		if refused, ok := errors.AsType[*client.Problem](revoked); ok && refused.Status == http.StatusUnauthorized {
			revoked = nil // it did not work any more
		}
		if err := ring.Remove(address); err != nil {
			return errors.Join(err, revoked)
		}
		if revoked != nil {
			return fmt.Errorf("the key is forgotten here, and may still work: revoke it on the page %s/account: %w", address, revoked)
		}
		return c.Say(map[string]any{"server": address, "user": e.User}, "logged out of %s", address)
	}
}
