package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Key is a secret with which programs act for a user, to be given to [WithToken].
type Key struct {
	ID       int64      `json:"id"`
	Label    string     `json:"label"`
	Scope    string     `json:"scope"` // read, submit, setter, staff or admin
	Works    bool       `json:"works"`
	Created  time.Time  `json:"created_at"`
	Expires  *time.Time `json:"expires_at"`   // nil = never
	LastUsed *time.Time `json:"last_used_at"` // to the minute; nil = never
	Revoked  *time.Time `json:"revoked_at"`
}

// NewKey is a key to be made.
type NewKey struct {
	Label   string     `json:"label"` // what it is for
	Scope   string     `json:"scope"`
	Expires *time.Time `json:"expires_at,omitempty"` // nil = never
}

// CreateKey makes a key of the caller, who has logged in, and returns its secret,
// which nobody can read again.
func (c *Client) CreateKey(ctx context.Context, k NewKey) (Key, string, error) {
	var reply struct {
		Key
		Secret string `json:"secret"`
	}
	err := c.call(ctx, http.MethodPost, "/api/v1/keys", nil, k, &reply)
	return reply.Key, reply.Secret, err
}

// Keys returns the caller's keys, newest first, and the cursor for the next page:
// the before of the next call, 0 at the end.
func (c *Client) Keys(ctx context.Context, before int64) ([]Key, int64, error) {
	return c.keys(ctx, "/api/v1/keys", before)
}

// UserKeys is [Client.Keys] of another user, for administrators.
func (c *Client) UserKeys(ctx context.Context, user string, before int64) ([]Key, int64, error) {
	return c.keys(ctx, userPath(user)+"/keys", before)
}

func (c *Client) keys(ctx context.Context, path string, before int64) ([]Key, int64, error) {
	if before > 0 {
		path += fmt.Sprint("?before=", before)
	}
	var page struct {
		Keys []Key  `json:"keys"`
		Next *int64 `json:"next"`
	}
	if err := c.call(ctx, http.MethodGet, path, nil, nil, &page); err != nil {
		return nil, 0, err
	}
	if page.Next == nil {
		return page.Keys, 0, nil
	}
	return page.Keys, *page.Next, nil
}

// RevokeKey has a key of the caller refused from now on.
func (c *Client) RevokeKey(ctx context.Context, id int64) error {
	return c.call(ctx, http.MethodDelete, fmt.Sprint("/api/v1/keys/", id), nil, nil, nil)
}

// RevokeUserKey is [Client.RevokeKey] of another user, for administrators.
func (c *Client) RevokeUserKey(ctx context.Context, user string, id int64) error {
	return c.call(ctx, http.MethodDelete, fmt.Sprint(userPath(user), "/keys/", id), nil, nil, nil)
}
