package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"deepoj/host/judge"
	"deepoj/sql/internal/dbsqlc"
	"deepoj/sql/internal/pg"
)

// CreateWebhook stores a webhook with the secret that signs its messages, and returns it with its id. It is told what
// happens from now on. It returns [ErrNotFound] if its owner does not exist or is disabled.
func (s *Site) CreateWebhook(ctx context.Context, w judge.Webhook, secret []byte, by string) (judge.Webhook, error) {
	made, err := s.q.WebhookCreate(ctx, s.main, dbsqlc.WebhookCreateParams{
		Owner: w.Owner, Everyone: w.Everyone, Problem: w.Problem, Url: w.URL, Kinds: w.Kinds, Secret: secret, By: by,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return judge.Webhook{}, fmt.Errorf("create a webhook of %s: %w", w.Owner, err)
	}
	w.ID, w.Created = made.ID, made.CreatedAt
	return w, nil
}

// Webhooks returns webhooks of an owner, or of everybody (""), with an id below before (0 = no bound), newest first.
func (s *Site) Webhooks(ctx context.Context, owner string, before int64, limit int) ([]judge.Webhook, error) {
	found, err := s.q.WebhookList(ctx, s.main, dbsqlc.WebhookListParams{Owner: owner, Before: orMax(before), Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	out := make([]judge.Webhook, len(found))
	for i, w := range found {
		out[i] = webhook(w)
	}
	return out, nil
}

// Webhook returns a webhook, or [ErrNotFound].
func (s *Site) Webhook(ctx context.Context, id int64) (judge.Webhook, error) {
	w, err := s.q.WebhookGet(ctx, s.main, id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return judge.Webhook{}, fmt.Errorf("webhook %d: %w", id, err)
	}
	return webhook(dbsqlc.WebhookListRow(w)), nil
}

func webhook(w dbsqlc.WebhookListRow) judge.Webhook {
	return judge.Webhook{
		ID: w.ID, Owner: w.Owner, Everyone: w.Everyone, Problem: w.Problem, URL: w.Url, Kinds: w.Kinds,
		Created: w.CreatedAt, Disabled: w.DisabledAt, Failing: w.FailingSince,
	}
}

// DeleteWebhook removes a webhook and what is known of its messages; [ErrNotFound] if there is none.
func (s *Site) DeleteWebhook(ctx context.Context, id int64, by string) error {
	n, err := s.q.WebhookDelete(ctx, s.main, dbsqlc.WebhookDeleteParams{ID: id, By: by})
	return changed(n, err, fmt.Sprintf("delete webhook %d", id))
}

// DisableWebhook says whether a webhook is told nothing. What happens meanwhile it never learns; messages that wait go
// on when it is enabled. It returns [ErrNotFound] if there is no such webhook.
func (s *Site) DisableWebhook(ctx context.Context, id int64, disabled bool, by string) error {
	_, err := s.q.WebhookDisable(ctx, s.main, dbsqlc.WebhookDisableParams{ID: id, Disabled: disabled, By: by})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("disable or enable webhook %d: %w", id, err)
	}
	return nil
}

// SetWebhookSecret has messages of a webhook signed by another secret from now on;
// [ErrNotFound] if there is no such webhook.
func (s *Site) SetWebhookSecret(ctx context.Context, id int64, secret []byte, by string) error {
	n, err := s.q.WebhookSecret(ctx, s.main, dbsqlc.WebhookSecretParams{ID: id, Secret: secret, By: by})
	return changed(n, err, fmt.Sprintf("change the secret of webhook %d", id))
}

// TryWebhook stores a message of the kind "webhook.test" and returns its id; [ErrNotFound] if there is no such webhook.
func (s *Site) TryWebhook(ctx context.Context, id int64) (int64, error) {
	delivery, err := s.q.WebhookTry(ctx, s.main, id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("try webhook %d: %w", id, err)
	}
	return delivery, nil
}

// WebhookDeliveries returns messages to a webhook with an id below before (0 = no bound), newest first.
func (s *Site) WebhookDeliveries(ctx context.Context, webhook, before int64, limit int) ([]judge.WebhookDelivery, error) {
	found, err := s.q.DeliveryList(ctx, s.main, dbsqlc.DeliveryListParams{WebhookID: webhook, Before: orMax(before), Max: pg.Bounded(limit)})
	if err != nil {
		return nil, fmt.Errorf("list messages to webhook %d: %w", webhook, err)
	}
	out := make([]judge.WebhookDelivery, len(found))
	for i, d := range found {
		out[i] = judge.WebhookDelivery{
			ID: d.ID, JobID: d.JobID, Message: d.Message, Kind: d.Kind, Created: d.CreatedAt, Tries: d.Tries, Next: d.NextAt, Tried: d.TriedAt, Done: d.DoneAt,
		}
		if d.Status != nil {
			out[i].Status = *d.Status
		}
		if d.Error != nil {
			out[i].Error = *d.Error
		}
		out[i].Taken = d.Taken != nil && *d.Taken
	}
	return out, nil
}

// SendAgain has a message to a webhook sent again, with the same id. It returns
// [ErrNotFound] if there is none, or it is being sent.
func (s *Site) SendAgain(ctx context.Context, webhook, delivery int64) error {
	n, err := s.q.DeliveryAgain(ctx, s.main, dbsqlc.DeliveryAgainParams{ID: delivery, WebhookID: webhook})
	return changed(n, err, fmt.Sprintf("send message %d again", delivery))
}

// Fed is what one step of the feed of webhooks did.
type Fed struct {
	More    bool  // there may be more events at once
	Made    int64 // messages that wait now
	Skipped bool  // the database was restored elsewhere: the feed begins again with what comes
}

// FeedWebhooks reads at most limit events after those that were read before, and stores a message for each webhook that
// wants one of them: each event once for each, also when several processes do so.
func (s *Site) FeedWebhooks(ctx context.Context, limit int) (Fed, error) {
	kinds := make([]string, len(judge.WebhookKinds))
	for i, kind := range judge.WebhookKinds {
		kinds[i] = strings.TrimPrefix(kind, judge.WebhookKind(""))
	}
	fed, _, err := pg.Row(ctx, s.db, s.queue, "WebhookFeed", pg.Args{"max": limit, "kinds": kinds}, func(c pgx.CollectableRow) (f Fed, err error) {
		return f, c.Scan(&f.More, &f.Made, &f.Skipped)
	})
	if err != nil {
		return Fed{}, fmt.Errorf("feed webhooks: %w", err)
	}
	return fed, nil
}

// DueDelivery is a message that has to be sent now.
type DueDelivery struct {
	ID, Webhook int64
	Message     string // a UUID
	Kind        string
	Body        string // JSON
	Tries       int32  // with this one
	URL         string
	Secret      []byte
}

// DueDeliveries takes messages that are due, at most limit, and at most each of one
// webhook. Nobody else gets one of them during the lease.
func (s *Site) DueDeliveries(ctx context.Context, limit, each int, lease time.Duration) ([]DueDelivery, error) {
	due, err := pg.Rows(ctx, s.db, s.queue, "WebhookDue", pg.Args{"max": limit, "each": each, "lease": lease}, func(c pgx.CollectableRow) (d DueDelivery, err error) {
		return d, c.Scan(&d.ID, &d.Webhook, &d.Message, &d.Kind, &d.Body, &d.Tries, &d.URL, &d.Secret)
	})
	if err != nil {
		return nil, fmt.Errorf("take messages to webhooks: %w", err)
	}
	return due, nil
}

// Sent is how a try of a message ended.
type Sent struct {
	Taken  bool
	Final  bool          // it failed in a way that no other try would mend
	Gone   bool          // the receiver wants nothing more: the webhook is disabled
	Status int           // of the answer; 0 = there was none
	Error  string        // why there was none
	Wait   time.Duration // how long the receiver asked to wait
}

// Retrying says how long and how often messages are tried again.
type Retrying struct {
	Tries             int           // in all
	Shortest, Longest time.Duration // after the first failure, four times as long after each other, up to the longest; jittered by a quarter
	Patience          time.Duration // a webhook whose messages all failed for so long is disabled
}

// Or returns r with its zero fields as they are in d.
func (r Retrying) Or(d Retrying) Retrying {
	return Retrying{cmp.Or(r.Tries, d.Tries), cmp.Or(r.Shortest, d.Shortest), cmp.Or(r.Longest, d.Longest), cmp.Or(r.Patience, d.Patience)}
}

// SettleDelivery records the end of a try. Again says that it will be tried again, off that the webhook has been
// disabled. A try that somebody else has repeated since changes nothing.
func (s *Site) SettleDelivery(ctx context.Context, d DueDelivery, sent Sent, r Retrying) (again, off bool, err error) {
	type end struct{ again, off bool }
	e, _, err := pg.Row(ctx, s.db, s.queue, "WebhookSettle", pg.Args{
		"id": d.ID, "tries": d.Tries, "taken": sent.Taken, "final": sent.Final, "gone": sent.Gone, "status": sent.Status, "error": sent.Error,
		"wait": sent.Wait, "tries_max": r.Tries, "shortest": r.Shortest, "longest": r.Longest, "patience": r.Patience,
	}, func(c pgx.CollectableRow) (e end, err error) { return e, c.Scan(&e.again, &e.off) })
	if err != nil {
		return false, false, fmt.Errorf("record a try of message %d: %w", d.ID, err)
	}
	return e.again, e.off, nil
}
