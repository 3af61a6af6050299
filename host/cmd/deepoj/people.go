package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
)

// listPage is how many rows are asked for at once.
const listPage = 200

// roleFlag names a role.
func roleFlag(f *command.Flags, def, usage string) *string {
	role := f.String("role", def, usage)
	var names []string
	for _, r := range judge.Roles {
		names = append(names, string(r))
	}
	f.OneOf("role", names...)
	return role
}

// listUsers lists accounts.
func listUsers(f *command.Flags) command.Run {
	role := roleFlag(f, "", "only those with this role")
	prefix := f.String("prefix", "", "only those whose name begins like this")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		found, err := o.Users(ctx, judge.Role(*role), *prefix)
		if err != nil {
			return err
		}
		t := command.Table{Head: "NAME\tROLE\tSTATE\tMADE"}
		for _, u := range found {
			state := "active"
			switch {
			case u.Disabled != nil:
				state = "disabled"
			case u.OneTime:
				state = "one-time password"
			}
			t.Add(u.Name, u.Role, state, u.Created)
		}
		return c.List(t)
	})
}

// createUsers makes accounts.
func createUsers(f *command.Flags) command.Run {
	role := roleFlag(f, string(judge.RoleContestant), "contestant, setter, staff or admin")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		for _, name := range c.Args {
			if err := people.CheckUserName(name); err != nil {
				return fmt.Errorf("%q: %s", name, err.Remedy)
			}
		}
		if err := people.CheckRole(judge.Role(*role)); err != nil {
			return errors.New(err.Remedy)
		}
		return withPasswords(c, func(name string) (string, error) { return o.CreateUser(ctx, name, judge.Role(*role)) })
	})
}

func resetUsers(ctx context.Context, c *command.Call, o office) error {
	return withPasswords(c, func(name string) (string, error) { return o.ResetPassword(ctx, name) })
}

// withPasswords has a one-time password made for each name and prints those that were
// stored, also if one after them is not.
func withPasswords(c *command.Call, store func(name string) (password string, err error)) error {
	t := command.Table{Head: "NAME\tPASSWORD"}
	for _, name := range c.Args {
		password, err := store(name)
		if err != nil {
			if c.JSON && len(t.Rows) > 0 {
				err = errors.Join(c.List(t), err)
			}
			return err
		}
		t.Add(name, password)
		if !c.JSON {
			fmt.Fprintf(c.Out, "%s %s\n", name, password)
		}
	}
	return c.Print(t, command.Table{})
}

func setRole(ctx context.Context, c *command.Call, o office) error {
	name, role := c.Args[0], judge.Role(c.Args[1])
	if err := people.CheckRole(role); err != nil {
		return errors.New(err.Remedy)
	}
	if err := o.SetRole(ctx, name, role); err != nil {
		return err
	}
	return c.Say(map[string]any{"name": name, "role": role}, "%s is %s", name, role)
}

func disableUsers(disabled bool) officeRun {
	return func(ctx context.Context, c *command.Call, o office) error {
		done := map[bool]string{true: "is disabled", false: "is enabled"}[disabled]
		return forUsers(c, done, func(name string) error { return o.Disable(ctx, name, disabled) })
	}
}

func takeFactorsOff(ctx context.Context, c *command.Call, o office) error {
	return forUsers(c, "has no second factor any more", func(name string) error { return o.TakeFactorsOff(ctx, name) })
}

// forUsers does something to each user, also to those after one where it fails, and prints what was done.
func forUsers(c *command.Call, done string, do func(name string) error) error {
	told := []map[string]any{}
	var errs []error
	for _, name := range c.Args {
		if err := do(name); err != nil {
			errs = append(errs, err)
			continue
		}
		told = append(told, map[string]any{"name": name, "done": done})
		if !c.JSON {
			fmt.Fprintf(c.Out, "%s %s\n", name, done)
		}
	}
	return errors.Join(append(errs, c.Print(told, command.Table{}))...)
}

// auditLog lists what people with privileges did.
func auditLog(f *command.Flags) command.Run {
	var filter sql.AuditFilter
	f.StringVar(&filter.Actor, "actor", "", "only what this user did")
	f.StringVar(&filter.Action, "action", "", "only this act, such as user_disable")
	f.StringVar(&filter.Subject, "subject", "", "only what was done to this, such as user:ann, or user: for all users")
	f.Int64Var(&filter.Before, "before", 0, "only entries with an id below this")
	f.IntVar(&filter.Limit, "limit", 50, "at most so many, up to 200")
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		found, err := o.AuditLog(ctx, filter)
		if err != nil {
			return err
		}
		t := command.Table{Head: "ID\tAT\tWHO\tACT\tON WHAT\tDETAIL"}
		for _, a := range found {
			t.Add(a.ID, a.At, a.Actor, a.Action, a.Subject, a.Detail)
		}
		return c.List(t)
	})
}

// keyUser says whose keys are meant.
func keyUser(f *command.Flags) *string {
	return f.String("user", "", "`name` of the user whose keys are meant; at a server, one's own when empty")
}

// listKeys lists the keys of a user.
func listKeys(f *command.Flags) command.Run {
	user := keyUser(f)
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		found, err := o.Keys(ctx, *user)
		if err != nil {
			return err
		}
		t := command.Table{Head: "KEY\tLABEL\tSCOPE\tWORKS\tEXPIRES\tLAST USED"}
		for _, k := range found {
			t.Add(k.ID, k.Label, k.Scope, k.Works(time.Now()), k.Expires, k.LastUsed)
		}
		return c.List(t)
	})
}

// createKey makes a key of a user.
func createKey(f *command.Flags) command.Run {
	user := keyUser(f)
	scope := f.String("scope", string(judge.ScopeSubmit), "read, submit, setter, staff or admin; each may do what those before it may")
	life := f.Duration("expires", 0, "how long it works, such as 720h; 0 = for ever")
	f.OneOf("scope", scopeNames()...)
	return atOffice(f, func(ctx context.Context, c *command.Call, o office) error {
		k := judge.Key{User: *user, Label: c.Args[0], Scope: judge.Scope(*scope)}
		if *life != 0 {
			k.Expires = new(time.Now().Add(*life))
		}
		id, secret, err := o.CreateKey(ctx, k)
		if err != nil {
			return err
		}
		if *user != "" {
			owners, err := o.Users(ctx, "", *user)
			if i := slices.IndexFunc(owners, func(u judge.User) bool { return u.Name == *user }); err == nil && i >= 0 && owners[i].OneTime {
				c.Warn("no key of %s works before %s has logged in with the one-time password and chosen another", *user, *user)
			}
		}
		return c.Say(map[string]any{"id": id, "secret": secret}, "%s", secret)
	})
}

// revokeKeys refuses keys from now on.
func revokeKeys(f *command.Flags) command.Run {
	user := keyUser(f)
	return atOffice(f, each("is revoked", func(ctx context.Context, o office, id int64) error { return o.RevokeKey(ctx, *user, id) }))
}
