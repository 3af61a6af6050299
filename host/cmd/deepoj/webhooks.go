package main

import (
	"context"
	"fmt"
	"strings"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
)

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
