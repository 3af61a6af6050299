package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// User is an account.
type User struct {
	Name     string     `json:"name"`
	Role     string     `json:"role"` // contestant, setter, staff or admin
	Created  time.Time  `json:"created_at"`
	Disabled *time.Time `json:"disabled_at"` // since when they may not log in; nil = they may
	OneTime  bool       `json:"one_time"`    // the password has to be changed first
}

// UserFilter selects accounts. Zero fields select everything.
type UserFilter struct {
	Prefix string // of the name
	Role   string
	After  string // only names behind this one: the cursor
	Limit  int    // at most 200; 0 means 50
}

// Account returns the account of whoever the token belongs to.
func (c *Client) Account(ctx context.Context) (u User, err error) {
	err = c.call(ctx, http.MethodGet, "/api/v1/account", nil, nil, &u)
	return u, err
}

// ChangePassword replaces the caller's own password. Their other sessions end.
func (c *Client) ChangePassword(ctx context.Context, current, fresh string) error {
	in := map[string]string{"current": current, "new": fresh}
	return c.call(ctx, http.MethodPost, "/api/v1/account/password", nil, in, nil)
}

// Confirm gives the caller's own password again, which some acts ask for that give
// or take away power. It holds for ten minutes.
func (c *Client) Confirm(ctx context.Context, password string) error {
	return c.call(ctx, http.MethodPost, "/api/v1/account/confirm", nil, map[string]string{"password": password}, nil)
}

// Users returns accounts by name, and the cursor for the next page: the After of
// the next call, "" at the end. This and what follows is for administrators.
func (c *Client) Users(ctx context.Context, f UserFilter) ([]User, string, error) {
	q := url.Values{}
	for name, value := range map[string]string{"prefix": f.Prefix, "role": f.Role, "after": f.After} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Limit > 0 {
		q.Set("limit", fmt.Sprint(f.Limit))
	}
	var page struct {
		Users []User  `json:"users"`
		Next  *string `json:"next"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/users?"+q.Encode(), nil, nil, &page); err != nil {
		return nil, "", err
	}
	if page.Next == nil {
		return page.Users, "", nil
	}
	return page.Users, *page.Next, nil
}

// User returns an account.
func (c *Client) User(ctx context.Context, name string) (u User, err error) {
	err = c.call(ctx, http.MethodGet, userPath(name), nil, nil, &u)
	return u, err
}

// CreateUser makes an account and returns its password, which the owner has to
// change at the first login and which nobody can read again.
func (c *Client) CreateUser(ctx context.Context, name, role string) (password string, err error) {
	in := map[string]string{"name": name, "role": role}
	return c.password(ctx, "/api/v1/users", in)
}

// ResetPassword gives an account a password that has to be changed at the next
// login, and ends its sessions.
func (c *Client) ResetPassword(ctx context.Context, name string) (password string, err error) {
	return c.password(ctx, userPath(name)+"/password", struct{}{})
}

func (c *Client) password(ctx context.Context, path string, in any) (string, error) {
	var reply struct {
		Password string `json:"password"`
	}
	err := c.call(ctx, http.MethodPost, path, nil, in, &reply)
	return reply.Password, err
}

// SetRole changes what a user may do, from their next request on.
func (c *Client) SetRole(ctx context.Context, name, role string) error {
	return c.call(ctx, http.MethodPost, userPath(name)+"/role", nil, map[string]string{"role": role}, nil)
}

// DisableUser says whether a user may not log in any more, which ends their
// sessions.
func (c *Client) DisableUser(ctx context.Context, name string, disabled bool) error {
	verb := "/enable"
	if disabled {
		verb = "/disable"
	}
	return c.call(ctx, http.MethodPost, userPath(name)+verb, nil, struct{}{}, nil)
}

func userPath(name string) string { return "/api/v1/users/" + url.PathEscape(name) }
