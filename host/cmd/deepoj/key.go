package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"deepoj/sql"
	"deepoj/web"
)

// keyCommand makes and revokes keys of any user.
func keyCommand(ctx context.Context, e *env) int {
	var k sql.Key
	var scope string
	var life time.Duration
	owner := func(f *flag.FlagSet) { f.StringVar(&k.User, "user", "", "whose (required)") }
	named := func() error {
		if k.User == "" {
			return errors.New("say whose: --user NAME")
		}
		return nil
	}
	return runVerb(ctx, e, "key", []verb{
		{name: "list", doc: "the keys of a user, newest first", flags: owner, run: func(ctx context.Context, e *env, s *sql.Store, _ []string) error {
			if err := named(); err != nil {
				return err
			}
			return listKeys(ctx, e, s, k.User)
		}},
		{name: "create", args: "LABEL", doc: "make a key and print its secret, for DEEPOJ_TOKEN", least: 1, most: 1, flags: func(f *flag.FlagSet) {
			owner(f)
			f.StringVar(&scope, "scope", string(sql.ScopeSubmit), "read, submit, setter, staff or admin; each may do what those before it may")
			f.DurationVar(&life, "expires", 0, "how long it works, such as 720h; 0 = for ever")
		}, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			if err := named(); err != nil {
				return err
			}
			u, err := s.User(ctx, k.User)
			if err != nil {
				return err
			}
			k.Label, k.Scope = args[0], sql.Scope(scope)
			if life != 0 {
				k.Expires = new(time.Now().Add(life))
			}
			if err := web.CheckKey(k, u.Role); err != nil {
				return fmt.Errorf("%s: %s", err.Field, err.Remedy)
			}
			secret, hash := web.NewSecret()
			if _, err := s.CreateKey(ctx, k, hash, atTheShell); err != nil {
				return err
			}
			fmt.Fprintln(e.stdout, secret)
			return nil
		}},
		{
			name: "revoke", args: "KEY...", doc: "refuse keys from now on, by their numbers", least: 1, most: -1,
			run: each("is revoked", func(ctx context.Context, s *sql.Store, id int64) error { return s.RevokeKey(ctx, id, "", atTheShell) }),
		},
	})
}

func listKeys(ctx context.Context, e *env, s *sql.Store, user string) error {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tLABEL\tSCOPE\tWORKS\tEXPIRES\tLAST USED")
	stamp := func(t *time.Time) string {
		if t == nil {
			return "never"
		}
		return t.UTC().Format(time.RFC3339)
	}
	const page = 200
	for before := int64(0); ; {
		found, err := s.Keys(ctx, user, before, page)
		if err != nil {
			return err
		}
		for _, k := range found {
			fmt.Fprintf(w, "%d\t%s\t%s\t%t\t%s\t%s\n", k.ID, k.Label, k.Scope, k.Works(time.Now()), stamp(k.Expires), stamp(k.LastUsed))
			before = k.ID
		}
		if len(found) < page {
			return w.Flush()
		}
	}
}
