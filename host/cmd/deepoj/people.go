package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		filter := sql.UserFilter{Role: judge.Role(*role), Prefix: *prefix, Limit: listPage}
		t := command.Table{Head: "NAME\tROLE\tSTATE\tMADE"}
		for {
			found, err := s.Users(ctx, filter)
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
				t.Add(u.Name, u.Role, state, u.Created)
			}
			if len(found) < filter.Limit {
				return c.List(t)
			}
			filter.After = found[len(found)-1].Name
		}
	})
}

// createUsers makes accounts.
func createUsers(f *command.Flags) command.Run {
	role := roleFlag(f, string(judge.RoleContestant), "contestant, setter, staff or admin")
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		for _, name := range c.Args {
			if err := people.CheckUserName(name); err != nil {
				return fmt.Errorf("%q: %s", name, err.Remedy)
			}
		}
		if err := people.CheckRole(judge.Role(*role)); err != nil {
			return errors.New(err.Remedy)
		}
		return withPasswords(c, func(name, hash string) error {
			return s.CreateUser(ctx, sql.NewUser{Name: name, PasswordHash: hash, Role: judge.Role(*role), OneTime: true, By: atTheShell})
		})
	})
}

func resetUsers(ctx context.Context, c *command.Call, s *sql.Site) error {
	return withPasswords(c, func(name, hash string) error { return s.ResetPassword(ctx, name, hash, atTheShell) })
}

// withPasswords makes a one-time password for each name and prints those that were
// stored, also if one after them is not.
func withPasswords(c *command.Call, store func(name, hash string) error) error {
	t := command.Table{Head: "NAME\tPASSWORD"}
	for _, name := range c.Args {
		password, hash, err := people.OneTimePassword()
		if err == nil {
			err = store(name, hash)
		}
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

func setRole(ctx context.Context, c *command.Call, s *sql.Site) error {
	name, role := c.Args[0], judge.Role(c.Args[1])
	if err := people.CheckRole(role); err != nil {
		return errors.New(err.Remedy)
	}
	if err := s.SetRole(ctx, name, role, atTheShell); err != nil {
		return err
	}
	return c.Say(map[string]any{"name": name, "role": role}, "%s is %s", name, role)
}

func disableUsers(disabled bool) storeRun {
	return func(ctx context.Context, c *command.Call, s *sql.Site) error {
		done := map[bool]string{true: "disabled", false: "enabled"}[disabled]
		told := []map[string]any{}
		var errs []error
		for _, name := range c.Args {
			if err := s.Disable(ctx, name, disabled, atTheShell); err != nil {
				errs = append(errs, err)
				continue
			}
			told = append(told, map[string]any{"name": name, "done": "is " + done})
			if !c.JSON {
				fmt.Fprintf(c.Out, "%s is %s\n", name, done)
			}
		}
		return errors.Join(append(errs, c.Print(told, command.Table{}))...)
	}
}

// auditLog lists what people with privileges did.
func auditLog(f *command.Flags) command.Run {
	var filter sql.AuditFilter
	f.StringVar(&filter.Actor, "actor", "", "only what this user did")
	f.StringVar(&filter.Action, "action", "", "only this act, such as user_disable")
	f.StringVar(&filter.Subject, "subject", "", "only what was done to this, such as user:ann, or user: for all users")
	f.Int64Var(&filter.Before, "before", 0, "only entries with an id below this")
	f.IntVar(&filter.Limit, "limit", 50, "at most so many, up to 200")
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		found, err := s.AuditLog(ctx, filter)
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

// named refuses a command that does not say whose something is.
func named(user string) error {
	if user == "" {
		return errors.New("say whose: --user NAME")
	}
	return nil
}

// listKeys lists the keys of a user.
func listKeys(f *command.Flags) command.Run {
	user := f.String("user", "", "`name` of the user whose keys are meant (required)")
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		if err := named(*user); err != nil {
			return err
		}
		t := command.Table{Head: "KEY\tLABEL\tSCOPE\tWORKS\tEXPIRES\tLAST USED"}
		for before := int64(0); ; {
			found, err := s.Keys(ctx, *user, before, listPage)
			if err != nil {
				return err
			}
			for _, k := range found {
				t.Add(k.ID, k.Label, k.Scope, k.Works(time.Now()), k.Expires, k.LastUsed)
				before = k.ID
			}
			if len(found) < listPage {
				return c.List(t)
			}
		}
	})
}

// createKey makes a key of a user.
func createKey(f *command.Flags) command.Run {
	user := f.String("user", "", "`name` of the user whose key it is (required)")
	scope := f.String("scope", string(judge.ScopeSubmit), "read, submit, setter, staff or admin; each may do what those before it may")
	life := f.Duration("expires", 0, "how long it works, such as 720h; 0 = for ever")
	var scopes []string
	for _, s := range judge.Scopes {
		scopes = append(scopes, string(s))
	}
	f.OneOf("scope", scopes...)
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		if err := named(*user); err != nil {
			return err
		}
		u, err := s.User(ctx, *user)
		if err != nil {
			return err
		}
		k := judge.Key{User: *user, Label: c.Args[0], Scope: judge.Scope(*scope)}
		if *life != 0 {
			k.Expires = new(time.Now().Add(*life))
		}
		if err := people.CheckKey(k, u.Role, time.Now()); err != nil {
			return fmt.Errorf("%s: %s", err.Field, err.Remedy)
		}
		secret, hash := people.NewSecret()
		if k, err = s.CreateKey(ctx, k, hash, atTheShell); err != nil {
			return err
		}
		return c.Say(map[string]any{"id": k.ID, "secret": secret}, "%s", secret)
	})
}

func revokeKey(ctx context.Context, s *sql.Site, id int64) error {
	return s.RevokeKey(ctx, id, "", atTheShell)
}

// listWebhooks lists the webhooks of one user or of all.
func listWebhooks(f *command.Flags) command.Run {
	owner := f.String("user", "", "`name` of the user whose webhooks are meant; everybody's when empty")
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		t := command.Table{Head: "WEBHOOK\tOWNER\tSTATE\tOF\tPROBLEM\tKINDS\tURL"}
		for before := int64(0); ; {
			found, err := s.Webhooks(ctx, *owner, before, listPage)
			if err != nil {
				return err
			}
			for _, w := range found {
				state, of := "on", "owner"
				switch {
				case w.Disabled != nil:
					state = "disabled"
				case w.Failing != nil:
					state = "failing"
				}
				if w.Everyone {
					of = "everyone"
				}
				t.Add(w.ID, w.Owner, state, of, w.Problem, w.Kinds, w.URL)
				before = w.ID
			}
			if len(found) < listPage {
				return c.List(t)
			}
		}
	})
}

// createWebhook makes a webhook of a user.
func createWebhook(f *command.Flags) command.Run {
	var w judge.Webhook
	f.StringVar(&w.Owner, "user", "", "`name` of the user whose webhook it is (required)")
	kinds := f.String("kinds", judge.WebhookKind(judge.EventFinished)+","+judge.WebhookKind(judge.EventApplied), "events that it is told of, separated by commas")
	f.BoolVar(&w.Everyone, "everyone", false, "everybody's submissions, for staff")
	f.StringVar(&w.Problem, "problem", "", "only those to this problem")
	return withStore(f, func(ctx context.Context, c *command.Call, s *sql.Site) error {
		w.URL, w.Kinds = c.Args[0], strings.Split(*kinds, ",")
		if err := named(w.Owner); err != nil {
			return err
		}
		u, err := s.User(ctx, w.Owner)
		if err != nil {
			return err
		}
		for _, wrong := range people.CheckWebhook(w, u.Role) {
			return fmt.Errorf("%s: %s", wrong.Field, wrong.Remedy)
		}
		if w.Problem != "" {
			if _, err := s.Problem(ctx, w.Problem); err != nil {
				return err
			}
		}
		secret, text := people.NewWebhookSecret()
		made, err := s.CreateWebhook(ctx, w, secret, atTheShell)
		if err != nil {
			return err
		}
		return c.Say(map[string]any{"id": made.ID, "secret": text}, "%d %s", made.ID, text)
	})
}

// webhookLog shows the newest messages to a webhook.
func webhookLog(ctx context.Context, c *command.Call, s *sql.Site) error {
	list, err := ids(c.Args)
	if err != nil {
		return err
	}
	if _, err := s.Webhook(ctx, list[0]); err != nil {
		return err
	}
	found, err := s.WebhookDeliveries(ctx, list[0], 0, listPage)
	if err != nil {
		return err
	}
	t := command.Table{Head: "MESSAGE\tKIND\tJOB\tMADE\tSTATE\tTRIES\tSTATUS\tERROR"}
	for _, d := range found {
		t.Add(d.ID, d.Kind, d.JobID, d.Created, people.DeliveryState(d), d.Tries, d.Status, d.Error)
	}
	return c.List(t)
}

func resendMessages(ctx context.Context, c *command.Call, s *sql.Site) error {
	list, err := ids(c.Args[:1])
	if err != nil {
		return err
	}
	c.Args = c.Args[1:]
	return each("is sent again", func(ctx context.Context, s *sql.Site, message int64) error {
		return s.SendAgain(ctx, list[0], message)
	})(ctx, c, s)
}

func tryWebhook(ctx context.Context, s *sql.Site, id int64) error {
	_, err := s.TryWebhook(ctx, id)
	return err
}

func disableWebhook(disabled bool) storeAct {
	return func(ctx context.Context, s *sql.Site, id int64) error {
		return s.DisableWebhook(ctx, id, disabled, atTheShell)
	}
}

func deleteWebhook(ctx context.Context, s *sql.Site, id int64) error {
	return s.DeleteWebhook(ctx, id, atTheShell)
}
