package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/callback"
)

const (
	maxWebhooks   = 20   // of a user
	maxWebhookURL = 2000 // bytes

	// secretPrefix is of every secret of a webhook, as Standard Webhooks has it: what
	// follows is Base64.
	secretPrefix = "whsec_"
)

// webhookJSON is a webhook, for its owner and administrators. Its secret is not in
// it.
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

func publicWebhook(w sql.Webhook) webhookJSON {
	return webhookJSON{w.ID, w.Owner, w.URL, w.Kinds, w.Everyone, w.Problem, w.Created, w.Disabled, w.Failing}
}

func publicDelivery(d sql.WebhookDelivery) deliveryJSON {
	out := deliveryJSON{
		ID: d.ID, Message: messageID(d.Message), Kind: d.Kind, State: deliveryState(d), Created: d.Created, Tries: d.Tries, Tried: d.Tried, Error: orNull(toldReason(d.Error)),
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

// deliveryState is where a message stands, in a word.
func deliveryState(d sql.WebhookDelivery) string {
	switch {
	case d.Done == nil:
		return "waiting"
	case d.Taken:
		return "taken"
	}
	return "failed"
}

// messageID is the id of a message as its receiver sees it.
func messageID(uuid string) string { return "msg_" + strings.ReplaceAll(uuid, "-", "") }

// NewWebhookSecret makes the secret of a webhook, and writes it as its owner sees
// it.
func NewWebhookSecret() (secret []byte, text string) {
	secret = make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: see crypto/rand
	return secret, secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// CheckWebhook reports every reason why a user with this role may not have the
// webhook.
func CheckWebhook(w sql.Webhook, owner sql.Role) (wrong []*judge.FieldError) {
	u, err := url.Parse(w.URL)
	switch {
	case w.URL == "":
		wrong = append(wrong, wrongField("url", reasonEmpty, "Say which address is to be told."))
	case len(w.URL) > maxWebhookURL:
		wrong = append(wrong, wrongField("url", reasonTooLong, "An address has up to %d bytes.", maxWebhookURL))
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" || strings.ContainsFunc(w.URL, func(r rune) bool { return r <= ' ' || r > '~' }):
		wrong = append(wrong, wrongField("url", reasonInvalid, "The address has to be like https://example.org/path."))
	case u.User != nil:
		wrong = append(wrong, wrongField("url", reasonInvalid, "The address has a name or password in it; check the signature instead, or put a secret word into the path."))
	}
	if len(w.Kinds) == 0 {
		wrong = append(wrong, wrongField("kinds", reasonEmpty, "Choose at least one kind of event."))
	}
	for i, kind := range w.Kinds {
		if !slices.Contains(sql.WebhookKinds, kind) {
			wrong = append(wrong, wrongField("kinds", reasonUnknown, "There is no kind %q; the kinds are %s.", shorten(kind), strings.Join(sql.WebhookKinds, ", ")))
			break
		}
		if slices.Contains(w.Kinds[:i], kind) {
			wrong = append(wrong, wrongField("kinds", "duplicate", "%s is there twice.", kind))
			break
		}
	}
	if w.Everyone && owner != sql.RoleStaff && owner != sql.RoleAdmin {
		wrong = append(wrong, wrongField("everyone", "not_allowed", "Only staff are told of the submissions of others."))
	}
	return wrong
}

// webhookRoutes are the addresses of webhooks for programs. They are for people who
// have logged in: what a key leaks should end with the key.
func (s *Server) webhookRoutes(r fiber.Router) {
	r.Get("", s.apiWebhooks)
	r.Post("", s.confirmed(makesWebhook), s.apiCreateWebhook)
	r.Get("/:id", s.apiWebhook)
	r.Delete("/:id", s.confirmed(deletesWebhook), s.apiDeleteWebhook)
	r.Post("/:id/disable", s.apiDisableWebhook(true))
	r.Post("/:id/enable", s.apiDisableWebhook(false))
	r.Post("/:id/rotate", s.confirmed(changesSecret), s.apiWebhookSecret)
	r.Post("/:id/test", s.apiTryWebhook)
	r.Get("/:id/deliveries", s.apiDeliveries)
	r.Post("/:id/deliveries/:delivery/resend", s.apiSendAgain)
}

// webhookOf returns the webhook that the address names: one's own, and for
// administrators any.
func (s *Server) webhookOf(c *fiber.Ctx) (sql.Webhook, error) {
	id, err := idOf(c)
	if err != nil {
		return sql.Webhook{}, err
	}
	w, err := s.store.Webhook(c.UserContext(), id)
	if v := viewerOf(c); err == nil && w.Owner != v.Name && !v.Admin() {
		return sql.Webhook{}, sql.ErrNotFound
	}
	return w, err
}

// apiWebhooks handles GET /api/v1/webhooks?all=&before=&limit=: one's own, and for
// administrators everybody's if all are wanted.
func (s *Server) apiWebhooks(c *fiber.Ctx) error {
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
func (s *Server) webhooks(c *fiber.Ctx) (found []sql.Webhook, next *int64, err error) {
	f, err := filterOf(c)
	if err != nil {
		return nil, nil, err
	}
	all, err := flagOf(c, "all")
	if err != nil {
		return nil, nil, err
	}
	owner := viewerOf(c).Name
	if viewerOf(c).Admin() && all {
		owner = ""
	}
	if found, err = s.store.Webhooks(c.UserContext(), owner, f.Before, f.Limit); err != nil {
		return nil, nil, err
	}
	if len(found) == f.Limit {
		next = &found[len(found)-1].ID
	}
	return found, next, nil
}

// apiCreateWebhook handles POST /api/v1/webhooks with {"url", "kinds", "everyone",
// "problem"}: it answers with the secret, which nobody can read again.
func (s *Server) apiCreateWebhook(c *fiber.Ctx) error {
	f, err := readFields(c, "url", "kinds", "everyone", "problem")
	if err != nil {
		return err
	}
	w := sql.Webhook{URL: f.text("url")}
	f.value("kinds", "a list of strings", &w.Kinds)
	f.value("everyone", "true or false", &w.Everyone)
	f.value("problem", "a string", &w.Problem)
	if err := f.wrong.err(); err != nil {
		return err
	}
	w, secret, err := s.createWebhook(c, w)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(newWebhookJSON{publicWebhook(w), secret})
}

// createWebhook makes a webhook of whoever is logged in, and its secret.
func (s *Server) createWebhook(c *fiber.Ctx, w sql.Webhook) (sql.Webhook, string, error) {
	v := viewerOf(c)
	w.Owner = v.Name
	wrong := wrongFields(CheckWebhook(w, v.Role))
	if w.Problem != "" {
		sees, err := s.seesProblem(c.UserContext(), v, w.Problem)
		if err != nil {
			return w, "", err
		}
		if !sees {
			wrong.add(wrongField("problem", reasonUnknown, "There is no problem %q.", shorten(w.Problem)))
		}
	}
	if err := wrong.err(); err != nil {
		return w, "", err
	}
	kept, err := s.store.Webhooks(c.UserContext(), v.Name, 0, maxPage)
	if err != nil {
		return w, "", err
	}
	if len(kept) >= maxWebhooks {
		return w, "", wrongField("url", "too_many", "You have %d webhooks; delete those that nobody needs.", len(kept))
	}
	secret, text := NewWebhookSecret()
	w, err = s.store.CreateWebhook(c.UserContext(), w, secret, v.Name)
	return w, text, err
}

// seesProblem reports whether there is a problem of that name that somebody sees.
func (s *Server) seesProblem(ctx context.Context, v viewer, slug string) (bool, error) {
	if !plainWord(slug) {
		return false, nil
	}
	p, err := s.store.Problem(ctx, slug)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up problem: %w", err)
	}
	return s.sees(ctx, v, p)
}

// apiWebhook handles GET /api/v1/webhooks/:id.
func (s *Server) apiWebhook(c *fiber.Ctx) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return c.JSON(publicWebhook(w))
}

// apiDeleteWebhook handles DELETE /api/v1/webhooks/:id.
func (s *Server) apiDeleteWebhook(c *fiber.Ctx) error {
	if err := s.deleteWebhook(c); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (s *Server) deleteWebhook(c *fiber.Ctx) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return s.store.DeleteWebhook(c.UserContext(), w.ID, viewerOf(c).Name)
}

// apiDisableWebhook handles POST /api/v1/webhooks/:id/disable and …/enable.
func (s *Server) apiDisableWebhook(disabled bool) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := s.disableWebhook(c, disabled); err != nil {
			return err
		}
		return s.apiWebhook(c)
	}
}

func (s *Server) disableWebhook(c *fiber.Ctx, disabled bool) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return s.store.DisableWebhook(c.UserContext(), w.ID, disabled, viewerOf(c).Name)
}

// apiWebhookSecret handles POST /api/v1/webhooks/:id/rotate: another secret signs
// from now on.
func (s *Server) apiWebhookSecret(c *fiber.Ctx) error {
	w, secret, err := s.changeSecret(c)
	if err != nil {
		return err
	}
	return c.JSON(newWebhookJSON{publicWebhook(w), secret})
}

// changeSecret gives the webhook that the address names another secret. Only its
// owner may know it: it proves that a message is from here.
func (s *Server) changeSecret(c *fiber.Ctx) (sql.Webhook, string, error) {
	w, err := s.webhookOf(c)
	if err != nil {
		return w, "", err
	}
	if w.Owner != viewerOf(c).Name {
		return w, "", refuse(fiber.StatusForbidden, "forbidden", "Only the owner of a webhook may know its secret.", "Disable or delete it instead.")
	}
	secret, text := NewWebhookSecret()
	return w, text, s.store.SetWebhookSecret(c.UserContext(), w.ID, secret, w.Owner)
}

// apiTryWebhook handles POST /api/v1/webhooks/:id/test.
func (s *Server) apiTryWebhook(c *fiber.Ctx) error {
	id, err := s.tryWebhook(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"delivery": id})
}

// tryWebhook stores a message that only tries the address out.
func (s *Server) tryWebhook(c *fiber.Ctx) (int64, error) {
	w, err := s.enabledWebhookOf(c)
	if err != nil {
		return 0, err
	}
	return s.store.TryWebhook(c.UserContext(), w.ID)
}

// enabledWebhookOf is webhookOf for what a disabled webhook does not do.
func (s *Server) enabledWebhookOf(c *fiber.Ctx) (sql.Webhook, error) {
	w, err := s.webhookOf(c)
	if err == nil && w.Disabled != nil {
		err = refuse(fiber.StatusConflict, "disabled", "The webhook is disabled, so nothing is sent to it.", "Enable it first.")
	}
	return w, err
}

// apiDeliveries handles GET /api/v1/webhooks/:id/deliveries?before=&limit=: what a
// webhook was told, newest first.
func (s *Server) apiDeliveries(c *fiber.Ctx) error {
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

func (s *Server) deliveries(c *fiber.Ctx, w sql.Webhook) (found []sql.WebhookDelivery, next *int64, err error) {
	f, err := filterOf(c)
	if err != nil {
		return nil, nil, err
	}
	if found, err = s.store.WebhookDeliveries(c.UserContext(), w.ID, f.Before, f.Limit); err != nil {
		return nil, nil, err
	}
	if len(found) == f.Limit {
		next = &found[len(found)-1].ID
	}
	return found, next, nil
}

// apiSendAgain handles POST /api/v1/webhooks/:id/deliveries/:delivery/resend.
func (s *Server) apiSendAgain(c *fiber.Ctx) error {
	id, err := s.sendAgain(c)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"delivery": id})
}

// sendAgain has the message that the address names sent again, with the same id.
func (s *Server) sendAgain(c *fiber.Ctx) (int64, error) {
	w, err := s.enabledWebhookOf(c)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(c.Params("delivery"), 10, 64)
	if err != nil || id < 1 {
		return 0, sql.ErrNotFound
	}
	return id, s.store.SendAgain(c.UserContext(), w.ID, id)
}
