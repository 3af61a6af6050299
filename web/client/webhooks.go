package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Webhook is an address that is told what happens to submissions.
type Webhook struct {
	ID       int64      `json:"id"`
	Owner    string     `json:"owner"`
	URL      string     `json:"url"`
	Kinds    []string   `json:"kinds"`    // such as submission.finished
	Everyone bool       `json:"everyone"` // of everybody's submissions; else of the owner's
	Problem  string     `json:"problem"`  // of this problem only; "" = of all
	Created  time.Time  `json:"created_at"`
	Disabled *time.Time `json:"disabled_at"`   // nil = it is told
	Failing  *time.Time `json:"failing_since"` // nil = the last message was taken
}

// NewWebhook is a webhook to be made.
type NewWebhook struct {
	URL      string   `json:"url"`
	Kinds    []string `json:"kinds"`
	Everyone bool     `json:"everyone,omitempty"` // for staff
	Problem  string   `json:"problem,omitempty"`  // "" = all
}

// WebhookDelivery is a message to a webhook.
type WebhookDelivery struct {
	ID      int64      `json:"id"`
	Message string     `json:"message_id"` // what the receiver knows it by
	Kind    string     `json:"kind"`
	JobID   *int64     `json:"job_id"` // nil = somebody tried the address out
	State   string     `json:"state"`  // waiting, taken or failed
	Created time.Time  `json:"created_at"`
	Tries   int32      `json:"tries"`
	Next    *time.Time `json:"next_at"` // nil = it is not tried again
	Tried   *time.Time `json:"tried_at"`
	Status  *int32     `json:"status"` // of the last answer; nil = there was none
	Error   *string    `json:"error"`  // why there was none
}

// CreateWebhook makes a webhook of the caller, who has logged in, and returns the
// secret that signs its messages, which nobody can read again.
func (c *Client) CreateWebhook(ctx context.Context, w NewWebhook) (Webhook, string, error) {
	return c.withSecret(ctx, "/api/v1/webhooks", w)
}

// ChangeWebhookSecret has messages of one's own webhook signed by another secret
// from now on, and returns it.
func (c *Client) ChangeWebhookSecret(ctx context.Context, id int64) (string, error) {
	_, secret, err := c.withSecret(ctx, webhookPath(id)+"/rotate", struct{}{})
	return secret, err
}

func (c *Client) withSecret(ctx context.Context, path string, in any) (Webhook, string, error) {
	var reply struct {
		Webhook
		Secret string `json:"secret"`
	}
	err := c.call(ctx, http.MethodPost, path, nil, in, &reply)
	return reply.Webhook, reply.Secret, err
}

// Webhooks returns the caller's webhooks, newest first, and the cursor for the next
// page: the before of the next call, 0 at the end.
func (c *Client) Webhooks(ctx context.Context, before int64) ([]Webhook, int64, error) {
	return c.webhooks(ctx, "?", before)
}

// AllWebhooks is [Client.Webhooks] of everybody, for administrators.
func (c *Client) AllWebhooks(ctx context.Context, before int64) ([]Webhook, int64, error) {
	return c.webhooks(ctx, "?all=true&", before)
}

func (c *Client) webhooks(ctx context.Context, query string, before int64) ([]Webhook, int64, error) {
	var page struct {
		Webhooks []Webhook `json:"webhooks"`
		Next     *int64    `json:"next"`
	}
	err := c.call(ctx, http.MethodGet, "/api/v1/webhooks"+query+beforeOf(before), nil, nil, &page)
	return page.Webhooks, orZero(page.Next), err
}

// Webhook returns a webhook of the caller, and for administrators any.
func (c *Client) Webhook(ctx context.Context, id int64) (w Webhook, err error) {
	err = c.call(ctx, http.MethodGet, webhookPath(id), nil, nil, &w)
	return w, err
}

// DisableWebhook says whether a webhook is told nothing.
func (c *Client) DisableWebhook(ctx context.Context, id int64, disabled bool) error {
	verb := "/enable"
	if disabled {
		verb = "/disable"
	}
	return c.call(ctx, http.MethodPost, webhookPath(id)+verb, nil, struct{}{}, nil)
}

// DeleteWebhook removes a webhook and what is known of its messages.
func (c *Client) DeleteWebhook(ctx context.Context, id int64) error {
	return c.call(ctx, http.MethodDelete, webhookPath(id), nil, nil, nil)
}

// TryWebhook has a message sent that only tries the address out.
func (c *Client) TryWebhook(ctx context.Context, id int64) error {
	return c.call(ctx, http.MethodPost, webhookPath(id)+"/test", nil, struct{}{}, nil)
}

// WebhookDeliveries returns what a webhook was told, newest first, and the cursor
// for the next page.
func (c *Client) WebhookDeliveries(ctx context.Context, id, before int64) ([]WebhookDelivery, int64, error) {
	var page struct {
		Deliveries []WebhookDelivery `json:"deliveries"`
		Next       *int64            `json:"next"`
	}
	err := c.call(ctx, http.MethodGet, webhookPath(id)+"/deliveries?"+beforeOf(before), nil, nil, &page)
	return page.Deliveries, orZero(page.Next), err
}

// SendAgain has a message sent again, with the same id.
func (c *Client) SendAgain(ctx context.Context, webhook, delivery int64) error {
	return c.call(ctx, http.MethodPost, fmt.Sprint(webhookPath(webhook), "/deliveries/", delivery, "/resend"), nil, struct{}{}, nil)
}

func webhookPath(id int64) string { return fmt.Sprint("/api/v1/webhooks/", id) }

func beforeOf(before int64) string {
	if before > 0 {
		return fmt.Sprint("before=", before)
	}
	return ""
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
