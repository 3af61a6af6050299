package client

import "context"

// UserFilter selects accounts. Zero fields select everything.
type UserFilter = GetUsersParams

// AuditFilter selects entries of the audit log. Zero fields select everything.
type AuditFilter = GetAuditParams

// ChangePassword replaces the caller's own password. Their other sessions end.
func (c *Client) ChangePassword(ctx context.Context, current, fresh string) error {
	return c.PostAccountPassword(ctx, PostAccountPasswordRequest{current, fresh})
}

// Confirm gives the caller's own password again, which some acts ask for that give
// or take away power. It holds for ten minutes.
func (c *Client) Confirm(ctx context.Context, password string) error {
	return c.PostAccountConfirm(ctx, PostAccountConfirmRequest{Password: password})
}

// Users returns accounts by name, and the cursor for the next page: the After of the next call, "" at the end.
func (c *Client) Users(ctx context.Context, f UserFilter) ([]User, string, error) {
	page, err := c.GetUsers(ctx, f)
	return page.Users, orZero(page.Next), err
}

// CreateUser makes an account and returns its password, which the owner has to
// change at the first login and which nobody can read again.
func (c *Client) CreateUser(ctx context.Context, name, role string) (password string, err error) {
	made, err := c.PostUsers(ctx, PostUsersRequest{name, role})
	return made.Password, err
}

// ResetPassword gives an account a password that has to be changed at the next login, and ends its sessions.
func (c *Client) ResetPassword(ctx context.Context, name string) (password string, err error) {
	made, err := c.PostUserPassword(ctx, name)
	return made.Password, err
}

// SetRole changes what a user may do, from their next request on.
func (c *Client) SetRole(ctx context.Context, name, role string) error {
	_, err := c.PostUserRole(ctx, name, PostUserRoleRequest{role})
	return err
}

// DisableUser says whether a user may not log in any more, which ends their sessions.
func (c *Client) DisableUser(ctx context.Context, name string, disabled bool) error {
	_, err := either(disabled, c.PostUserDisable, c.PostUserEnable)(ctx, name)
	return err
}

// AuditLog returns entries of the audit log, newest first, and the cursor for the
// next page: the Before of the next call, 0 at the end.
func (c *Client) AuditLog(ctx context.Context, f AuditFilter) ([]AuditEntry, int64, error) {
	page, err := c.GetAudit(ctx, f)
	return page.Entries, orZero(page.Next), err
}

// CreateKey makes a key of the caller, who has logged in, and returns its secret, which nobody can read again.
func (c *Client) CreateKey(ctx context.Context, k NewKey) (MadeKey, string, error) {
	made, err := c.PostKeys(ctx, k)
	return made, made.Secret, err
}

// Keys returns the caller's keys, newest first, and the cursor for the next page:
// the before of the next call, 0 at the end.
func (c *Client) Keys(ctx context.Context, before int64) ([]Key, int64, error) {
	page, err := c.GetKeys(ctx, GetKeysParams{Before: before})
	return page.Keys, orZero(page.Next), err
}

// UserKeys is [Client.Keys] of another user, for administrators.
func (c *Client) UserKeys(ctx context.Context, user string, before int64) ([]Key, int64, error) {
	page, err := c.GetUserKeys(ctx, user, GetUserKeysParams{Before: before})
	return page.Keys, orZero(page.Next), err
}

// CreateWebhook makes a webhook of the caller, who has logged in, and returns the
// secret that signs its messages, which nobody can read again.
func (c *Client) CreateWebhook(ctx context.Context, w NewWebhook) (MadeWebhook, string, error) {
	made, err := c.PostWebhooks(ctx, w)
	return made, made.Secret, err
}

// ChangeWebhookSecret has messages of one's own webhook signed by another secret from now on, and returns it.
func (c *Client) ChangeWebhookSecret(ctx context.Context, id int64) (string, error) {
	changed, err := c.PostWebhookRotate(ctx, id)
	return changed.Secret, err
}

// Webhooks returns the caller's webhooks, with all those of everybody, newest first,
// and the cursor for the next page: the before of the next call, 0 at the end.
func (c *Client) Webhooks(ctx context.Context, all bool, before int64) ([]Webhook, int64, error) {
	page, err := c.GetWebhooks(ctx, GetWebhooksParams{All: all, Before: before})
	return page.Webhooks, orZero(page.Next), err
}

// DisableWebhook says whether a webhook is told nothing.
func (c *Client) DisableWebhook(ctx context.Context, id int64, disabled bool) error {
	_, err := either(disabled, c.PostWebhookDisable, c.PostWebhookEnable)(ctx, id)
	return err
}

// TryWebhook has a message sent that only tries the address out.
func (c *Client) TryWebhook(ctx context.Context, id int64) error {
	_, err := c.PostWebhookTest(ctx, id)
	return err
}

// WebhookDeliveries returns what a webhook was told, newest first, and the cursor for the next page.
func (c *Client) WebhookDeliveries(ctx context.Context, id, before int64) ([]WebhookDelivery, int64, error) {
	page, err := c.GetWebhookDeliveries(ctx, id, GetWebhookDeliveriesParams{Before: before})
	return page.Deliveries, orZero(page.Next), err
}

// SendAgain has a message sent again, with the same id.
func (c *Client) SendAgain(ctx context.Context, webhook, delivery int64) error {
	_, err := c.PostWebhookDeliveryResend(ctx, webhook, delivery)
	return err
}
