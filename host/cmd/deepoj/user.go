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

// userCommand manages accounts, also when nobody can log in any more.
func userCommand(ctx context.Context, e *env) int {
	var role, prefix string
	var log sql.AuditFilter
	return runVerb(ctx, e, "user", []verb{
		{name: "list", doc: "accounts by name", flags: func(f *flag.FlagSet) {
			f.StringVar(&role, "role", "", "only those with this role")
			f.StringVar(&prefix, "prefix", "", "only those whose name begins like this")
		}, run: func(ctx context.Context, e *env, s *sql.Store, _ []string) error {
			return listUsers(ctx, e, s, sql.UserFilter{Role: sql.Role(role), Prefix: prefix, Limit: 200})
		}},
		{name: "create", args: "NAME...", doc: "make accounts and print their one-time passwords", least: 1, most: -1, flags: func(f *flag.FlagSet) {
			f.StringVar(&role, "role", string(sql.RoleContestant), "contestant, setter, staff or admin")
		}, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			for _, name := range args {
				if err := web.CheckUserName(name); err != nil {
					return fmt.Errorf("%q: %s", name, err.Remedy)
				}
			}
			if err := web.CheckRole(sql.Role(role)); err != nil {
				return errors.New(err.Remedy)
			}
			return withPassword(e, args, func(name, hash string) error {
				return s.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: hash, Role: sql.Role(role), OneTime: true, By: atTheShell})
			})
		}},
		{name: "role", args: "NAME ROLE", doc: "say what a user may do", least: 2, most: 2, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			if err := web.CheckRole(sql.Role(args[1])); err != nil {
				return errors.New(err.Remedy)
			}
			if err := s.SetRole(ctx, args[0], sql.Role(args[1]), atTheShell); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s is %s\n", args[0], args[1])
			return nil
		}},
		{name: "disable", args: "NAME...", doc: "refuse logins and keys, and end all sessions", least: 1, most: -1, run: disableUsers(true)},
		{name: "enable", args: "NAME...", doc: "take logins and keys again", least: 1, most: -1, run: disableUsers(false)},
		{
			name: "reset", args: "NAME...", doc: "give one-time passwords and end all sessions", least: 1, most: -1,
			run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
				return withPassword(e, args, func(name, hash string) error { return s.ResetPassword(ctx, name, hash, atTheShell) })
			},
		},
		{name: "log", doc: "what people with privileges did, newest first", flags: func(f *flag.FlagSet) {
			f.StringVar(&log.Actor, "actor", "", "only what this user did")
			f.StringVar(&log.Action, "action", "", "only this act, such as user_disable")
			f.StringVar(&log.Subject, "subject", "", "only what was done to this, such as user:ann, or user: for all users")
			f.Int64Var(&log.Before, "before", 0, "only entries with an id below this")
			f.IntVar(&log.Limit, "limit", 50, "at most so many, up to 200")
		}, run: func(ctx context.Context, e *env, s *sql.Store, _ []string) error {
			return printAuditLog(ctx, e, s, log)
		}},
	})
}

func listUsers(ctx context.Context, e *env, s *sql.Store, f sql.UserFilter) error {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tROLE\tSTATE\tMADE")
	for {
		found, err := s.Users(ctx, f)
		if err != nil {
			return err
		}
		for _, u := range found {
			state := "active"
			switch {
			case u.Disabled != nil:
				state = "disabled"
			case u.OneTime:
				state = "one-time password"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", u.Name, u.Role, state, u.Created.UTC().Format(time.RFC3339))
		}
		if len(found) < f.Limit {
			return w.Flush()
		}
		f.After = found[len(found)-1].Name
	}
}

// withPassword makes a one-time password for each name and prints those that were
// stored.
func withPassword(e *env, names []string, store func(name, hash string) error) error {
	for _, name := range names {
		password, hash, err := web.OneTimePassword()
		if err != nil {
			return err
		}
		if err := store(name, hash); err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s %s\n", name, password)
	}
	return nil
}

func disableUsers(disabled bool) func(context.Context, *env, *sql.Store, []string) error {
	return func(ctx context.Context, e *env, s *sql.Store, args []string) error {
		done := map[bool]string{true: "disabled", false: "enabled"}[disabled]
		var errs []error
		for _, name := range args {
			if err := s.Disable(ctx, name, disabled, atTheShell); err != nil {
				errs = append(errs, err)
				continue
			}
			fmt.Fprintf(e.stdout, "%s is %s\n", name, done)
		}
		return errors.Join(errs...)
	}
}
