package people

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/web/callback"
	"deepoj/web/site"
)

// webhookJSON is a webhook, for its owner and administrators. Its secret is not in it.
type webhookJSON struct {
	ID       int64      `json:"id"`
	Owner    string     `json:"owner"`
	URL      string     `json:"url"`
	Kinds    []string   `json:"kinds"`
	Everyone bool       `json:"everyone"` // of everybody's submissions; else of the owner's
	Problem  string     `json:"problem"`  // of this problem only; "" = of all
	Created  time.Time  `json:"created_at"`
	Disabled *time.Time `json:"disabled_at"`   // null: it is told
	Failing  *time.Time `json:"failing_since"` // null: the last message was taken
}

// newWebhookJSON is a webhook that was made just now.
type newWebhookJSON struct {
	webhookJSON
	Secret string `json:"secret"`
}

// deliveryJSON is a message to a webhook.
type deliveryJSON struct {
	ID      int64      `json:"id"`
	Message string     `json:"message_id"` // what the receiver knows it by
	Kind    string     `json:"kind"`
	JobID   *int64     `json:"job_id"` // null: somebody tried the address out
	State   string     `json:"state"`  // waiting, taken or failed
	Created time.Time  `json:"created_at"`
	Tries   int32      `json:"tries"`
	Next    *time.Time `json:"next_at"` // null: it is not tried again
	Tried   *time.Time `json:"tried_at"`
	Status  *int32     `json:"status"` // of the last answer; null: there was none
	Error   *string    `json:"error"`  // why there was none
}

func publicWebhook(w judge.Webhook) webhookJSON {
	return webhookJSON{w.ID, w.Owner, w.URL, w.Kinds, w.Everyone, w.Problem, w.Created, w.Disabled, w.Failing}
}

func publicDelivery(d judge.WebhookDelivery) deliveryJSON {
	out := deliveryJSON{
		ID: d.ID, Message: messageID(d.Message), Kind: d.Kind, State: people.DeliveryState(d), Created: d.Created, Tries: d.Tries, Tried: d.Tried, Error: site.OrNull(toldReason(d.Error)),
	}
	if d.JobID != 0 {
		out.JobID = &d.JobID
	}
	if d.Done == nil {
		out.Next = &d.Next
	}
	if d.Status != 0 {
		out.Status = &d.Status
	}
	return out
}

// toldReason is why there was no answer, as the owner of a webhook may know it: rows
// of before told a private address from a name without one.
func toldReason(stored string) string {
	if stored == "private_address" || stored == "no_such_host" {
		return callback.NoPublicAddress
	}
	return stored
}

// messageID is the id of a message as its receiver sees it.
func messageID(uuid string) string { return "msg_" + strings.ReplaceAll(uuid, "-", "") }

// webhookOf returns the webhook that the address names: one's own, and for administrators any.
func (s *Room) webhookOf(c *fiber.Ctx) (judge.Webhook, error) {
	id, err := site.IDOf(c)
	if err != nil {
		return judge.Webhook{}, err
	}
	w, err := s.Store.Webhook(c.UserContext(), id)
	if v := site.ViewerOf(c); err == nil && w.Owner != v.Name && !v.Admin() {
		return judge.Webhook{}, sql.ErrNotFound
	}
	return w, err
}

// apiWebhooks handles GET /api/v1/webhooks?all=&before=&limit=: one's own, and for
// administrators everybody's if all are wanted.
func (s *Room) apiWebhooks(c *fiber.Ctx) error {
	found, next, err := s.webhooks(c)
	if err != nil {
		return err
	}
	out := make([]webhookJSON, len(found))
	for i, w := range found {
		out[i] = publicWebhook(w)
	}
	return c.JSON(fiber.Map{"webhooks": out, "next": next})
}

// webhooks lists webhooks; next is the cursor of the next page, nil at the end.
func (s *Room) webhooks(c *fiber.Ctx) (found []judge.Webhook, next *int64, err error) {
	f, err := site.FilterOf(c)
	if err != nil {
		return nil, nil, err
	}
	all, err := site.FlagOf(c, "all")
	if err != nil {
		return nil, nil, err
	}
	owner := site.ViewerOf(c).Name
	if site.ViewerOf(c).Admin() && all {
		owner = ""
	}
	if found, err = s.Store.Webhooks(c.UserContext(), owner, f.Before, f.Limit); err != nil {
		return nil, nil, err
	}
	if len(found) == f.Limit {
		next = &found[len(found)-1].ID
	}
	return found, next, nil
}

// apiCreateWebhook handles POST /api/v1/webhooks with {"url", "kinds", "everyone",
// "problem"}: it answers with the secret, which nobody can read again.
func (s *Room) apiCreateWebhook(c *fiber.Ctx) error {
	f, err := site.ReadFields(c, "url", "kinds", "everyone", "problem")
	if err != nil {
		return err
	}
	w := judge.Webhook{URL: f.Text("url")}
	f.Value("kinds", "a list of strings", &w.Kinds)
	f.Value("everyone", "true or false", &w.Everyone)
	f.Value("problem", "a string", &w.Problem)
	if err := f.Wrong.Err(); err != nil {
		return err
	}
	w, secret, err := s.createWebhook(c, w)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(newWebhookJSON{publicWebhook(w), secret})
}

// createWebhook makes a webhook of whoever is logged in, and its secret.
func (s *Room) createWebhook(c *fiber.Ctx, w judge.Webhook) (judge.Webhook, string, error) {
	v := site.ViewerOf(c)
	w.Owner = v.Name
	wrong := site.WrongFields(people.CheckWebhook(w, v.Role))
	if w.Problem != "" {
		sees, err := s.seesProblem(c.UserContext(), v, w.Problem)
		if err != nil {
			return w, "", err
		}
		if !sees {
			wrong.Add(site.WrongField("problem", site.ReasonUnknown, "There is no problem %q.", site.Shorten(w.Problem)))
		}
	}
	if err := wrong.Err(); err != nil {
		return w, "", err
	}
	kept, err := s.Store.Webhooks(c.UserContext(), v.Name, 0, site.MaxPage)
	if err != nil {
		return w, "", err
	}
	if len(kept) >= people.MaxWebhooks {
		return w, "", site.WrongField("url", "too_many", "You have %d webhooks; delete those that nobody needs.", len(kept))
	}
	secret, text := people.NewWebhookSecret()
	w, err = s.Store.CreateWebhook(c.UserContext(), w, secret, v.Name)
	return w, text, err
}

// seesProblem reports whether there is a problem of that name that somebody sees.
func (s *Room) seesProblem(ctx context.Context, v site.Viewer, slug string) (bool, error) {
	if !site.PlainWord(slug) {
		return false, nil
	}
	p, err := s.Store.Problem(ctx, slug)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up problem: %w", err)
	}
	return s.Sees(ctx, v, p)
}

// apiWebhook handles GET /api/v1/webhooks/:id.
func (s *Room) apiWebhook(c *fiber.Ctx) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return c.JSON(publicWebhook(w))
}

// apiDeleteWebhook handles DELETE /api/v1/webhooks/:id.
func (s *Room) apiDeleteWebhook(c *fiber.Ctx) error {
	if err := s.deleteWebhook(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Room) deleteWebhook(c *fiber.Ctx) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return s.Store.DeleteWebhook(c.UserContext(), w.ID, site.ViewerOf(c).Name)
}

// apiDisableWebhook handles POST /api/v1/webhooks/:id/disable and …/enable.
func (s *Room) apiDisableWebhook(disabled bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.disableWebhook(c, disabled); err != nil {
			return err
		}
		return s.apiWebhook(c)
	}
}

func (s *Room) disableWebhook(c *fiber.Ctx, disabled bool) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return s.Store.DisableWebhook(c.UserContext(), w.ID, disabled, site.ViewerOf(c).Name)
}

// apiWebhookSecret handles POST /api/v1/webhooks/:id/rotate: another secret signs from now on.
func (s *Room) apiWebhookSecret(c *fiber.Ctx) error {
	w, secret, err := s.changeSecret(c)
	if err != nil {
		return err
	}
	return c.JSON(newWebhookJSON{publicWebhook(w), secret})
}

// changeSecret gives the webhook that the address names another secret. Only its
// owner may know it: it proves that a message is from here.
func (s *Room) changeSecret(c *fiber.Ctx) (judge.Webhook, string, error) {
	w, err := s.webhookOf(c)
	if err != nil {
		return w, "", err
	}
	if w.Owner != site.ViewerOf(c).Name {
		return w, "", site.Refuse(fiber.StatusForbidden, "forbidden", "Only the owner of a webhook may know its secret.", "Disable or delete it instead.")
	}
	secret, text := people.NewWebhookSecret()
	return w, text, s.Store.SetWebhookSecret(c.UserContext(), w.ID, secret, w.Owner)
}

// apiTryWebhook handles POST /api/v1/webhooks/:id/test.
func (s *Room) apiTryWebhook(c *fiber.Ctx) error {
	id, err := s.tryWebhook(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"delivery": id})
}

// tryWebhook stores a message that only tries the address out.
func (s *Room) tryWebhook(c *fiber.Ctx) (int64, error) {
	w, err := s.enabledWebhookOf(c)
	if err != nil {
		return 0, err
	}
	return s.Store.TryWebhook(c.UserContext(), w.ID)
}

// enabledWebhookOf is webhookOf for what a disabled webhook does not do.
func (s *Room) enabledWebhookOf(c *fiber.Ctx) (judge.Webhook, error) {
	w, err := s.webhookOf(c)
	if err == nil && w.Disabled != nil {
		err = site.Refuse(fiber.StatusConflict, "disabled", "The webhook is disabled, so nothing is sent to it.", "Enable it first.")
	}
	return w, err
}

// apiDeliveries handles GET /api/v1/webhooks/:id/deliveries?before=&limit=: what a webhook was told, newest first.
func (s *Room) apiDeliveries(c *fiber.Ctx) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	found, next, err := s.deliveries(c, w)
	if err != nil {
		return err
	}
	out := make([]deliveryJSON, len(found))
	for i, d := range found {
		out[i] = publicDelivery(d)
	}
	return c.JSON(fiber.Map{"deliveries": out, "next": next})
}

func (s *Room) deliveries(c *fiber.Ctx, w judge.Webhook) (found []judge.WebhookDelivery, next *int64, err error) {
	f, err := site.FilterOf(c)
	if err != nil {
		return nil, nil, err
	}
	if found, err = s.Store.WebhookDeliveries(c.UserContext(), w.ID, f.Before, f.Limit); err != nil {
		return nil, nil, err
	}
	if len(found) == f.Limit {
		next = &found[len(found)-1].ID
	}
	return found, next, nil
}

// apiSendAgain handles POST /api/v1/webhooks/:id/deliveries/:delivery/resend.
func (s *Room) apiSendAgain(c *fiber.Ctx) error {
	id, err := s.sendAgain(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"delivery": id})
}

// sendAgain has the message that the address names sent again, with the same id.
func (s *Room) sendAgain(c *fiber.Ctx) (int64, error) {
	w, err := s.enabledWebhookOf(c)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(c.Params("delivery"), 10, 64)
	if err != nil || id < 1 {
		return 0, sql.ErrNotFound
	}
	return id, s.Store.SendAgain(c.UserContext(), w.ID, id)
}
