package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web"
)

// webhookCommand manages webhooks of any user.
func webhookCommand(ctx context.Context, e *env) int {
	var owner, kinds string
	var w sql.Webhook
	ownerFlag := func(f *flag.FlagSet) { f.StringVar(&owner, "user", "", "whose; everybody's when empty") }
	return runVerb(ctx, e, "webhook", []verb{
		{name: "list", doc: "webhooks, newest first", flags: ownerFlag, run: func(ctx context.Context, e *env, s *sql.Store, _ []string) error {
			return listWebhooks(ctx, e, s, owner)
		}},
		{name: "create", args: "URL", doc: "make a webhook and print the secret that signs its messages", least: 1, most: 1, flags: func(f *flag.FlagSet) {
			f.StringVar(&w.Owner, "user", "", "whose (required)")
			f.StringVar(&kinds, "kinds", sql.WebhookKind(judge.EventFinished)+","+sql.WebhookKind(judge.EventApplied), "events that it is told of, separated by commas")
			f.BoolVar(&w.Everyone, "everyone", false, "everybody's submissions, for staff")
			f.StringVar(&w.Problem, "problem", "", "only those to this problem")
		}, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			w.URL, w.Kinds = args[0], strings.Split(kinds, ",")
			return createWebhook(ctx, e, s, w)
		}},
		{name: "log", args: "WEBHOOK", doc: "what a webhook was told, newest first", least: 1, most: 1, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			id, err := ids(args)
			if err != nil {
				return err
			}
			return webhookLog(ctx, e, s, id[0])
		}},
		{name: "resend", args: "WEBHOOK MESSAGE...", doc: "send messages again, by their numbers in the log", least: 2, most: -1, run: func(ctx context.Context, e *env, s *sql.Store, args []string) error {
			list, err := ids(args)
			if err != nil {
				return err
			}
			for _, message := range list[1:] {
				if err := s.SendAgain(ctx, list[0], message); err != nil {
					return err
				}
				fmt.Fprintf(e.stdout, "%d is sent again\n", message)
			}
			return nil
		}},
		{
			name: "test", args: "WEBHOOK...", doc: "send a message that only tries the address out", least: 1, most: -1,
			run: each("is tried out", func(ctx context.Context, s *sql.Store, id int64) error { _, err := s.TryWebhook(ctx, id); return err }),
		},
		{
			name: "disable", args: "WEBHOOK...", doc: "tell webhooks nothing", least: 1, most: -1,
			run: each("is disabled", func(ctx context.Context, s *sql.Store, id int64) error {
				return s.DisableWebhook(ctx, id, true, atTheShell)
			}),
		},
		{
			name: "enable", args: "WEBHOOK...", doc: "tell webhooks again", least: 1, most: -1,
			run: each("is enabled", func(ctx context.Context, s *sql.Store, id int64) error {
				return s.DisableWebhook(ctx, id, false, atTheShell)
			}),
		},
		{
			name: "delete", args: "WEBHOOK...", doc: "remove webhooks with their logs", least: 1, most: -1,
			run: each("is deleted", func(ctx context.Context, s *sql.Store, id int64) error { return s.DeleteWebhook(ctx, id, atTheShell) }),
		},
	})
}

func createWebhook(ctx context.Context, e *env, s *sql.Store, w sql.Webhook) error {
	if w.Owner == "" {
		return errors.New("say whose: --user NAME")
	}
	u, err := s.User(ctx, w.Owner)
	if err != nil {
		return err
	}
	for _, wrong := range web.CheckWebhook(w, u.Role) {
		return fmt.Errorf("%s: %s", wrong.Field, wrong.Remedy)
	}
	if w.Problem != "" {
		if _, err := s.Problem(ctx, w.Problem); err != nil {
			return err
		}
	}
	secret, text := web.NewWebhookSecret()
	if w, err = s.CreateWebhook(ctx, w, secret, atTheShell); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%d %s\n", w.ID, text)
	return nil
}

// listPage is how many rows are asked for at once.
const listPage = 200

func listWebhooks(ctx context.Context, e *env, s *sql.Store, owner string) error {
	out := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "WEBHOOK\tOWNER\tSTATE\tOF\tPROBLEM\tKINDS\tURL")
	for before := int64(0); ; {
		found, err := s.Webhooks(ctx, owner, before, listPage)
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
			fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", w.ID, w.Owner, state, of, w.Problem, strings.Join(w.Kinds, ","), w.URL)
			before = w.ID
		}
		if len(found) < listPage {
			return out.Flush()
		}
	}
}

// webhookLog shows the newest messages to a webhook.
func webhookLog(ctx context.Context, e *env, s *sql.Store, id int64) error {
	if _, err := s.Webhook(ctx, id); err != nil {
		return err
	}
	found, err := s.WebhookDeliveries(ctx, id, 0, listPage)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "MESSAGE\tKIND\tJOB\tMADE\tSTATE\tTRIES\tSTATUS\tERROR")
	for _, d := range found {
		state := "waiting"
		switch {
		case d.Taken:
			state = "taken"
		case d.Done != nil:
			state = "failed"
		}
		fmt.Fprintf(out, "%d\t%s\t%d\t%s\t%s\t%d\t%d\t%s\n", d.ID, d.Kind, d.JobID, d.Created.UTC().Format(time.RFC3339), state, d.Tries, d.Status, d.Error)
	}
	return out.Flush()
}
