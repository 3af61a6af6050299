package people

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/web/callback"
	"deepoj/web/locale"
	"deepoj/web/site"
)

// webhookURL is the page of a webhook.
func webhookURL(id int64) string { return "/webhooks/" + strconv.FormatInt(id, 10) }

type webhooksView struct {
	Rows  []judge.Webhook
	All   bool   // everybody's
	Older string // address of the next page, "" at the end
	Kinds []string

	Asked judge.Webhook // what was typed, where the form comes back
	Fault *site.Fault   // why it does
}

// Chosen reports whether the form has this kind chosen.
func (view webhooksView) Chosen(kind string) bool { return slices.Contains(view.Asked.Kinds, kind) }

func (s *Room) webhooksPage(c *fiber.Ctx) error {
	return s.showWebhooks(c, fiber.StatusOK, webhooksView{Asked: judge.Webhook{Kinds: []string{judge.WebhookKind(judge.EventFinished), judge.WebhookKind(judge.EventApplied)}}})
}

func (s *Room) showWebhooks(c *fiber.Ctx, status int, view webhooksView) error {
	found, next, err := s.webhooks(c)
	if err != nil {
		return err
	}
	view.Rows, view.Kinds, view.All = found, judge.WebhookKinds, c.QueryBool("all")
	if next != nil {
		q := url.Values{"before": {strconv.FormatInt(*next, 10)}}
		if view.All {
			q.Set("all", "true")
		}
		view.Older = "/webhooks?" + q.Encode()
	}
	return s.Page(c, status, "webhooks", "Webhooks", view)
}

// createWebhookForm handles POST /webhooks. The secret is on the page that answers and nowhere else.
func (s *Room) createWebhookForm(c *fiber.Ctx) error {
	w := judge.Webhook{URL: strings.TrimSpace(c.FormValue("url")), Problem: c.FormValue("problem"), Everyone: c.FormValue("everyone") != ""}
	for _, kind := range judge.WebhookKinds {
		if c.FormValue(kind) != "" {
			w.Kinds = append(w.Kinds, kind)
		}
	}
	made, secret, err := s.createWebhook(c, w)
	if err != nil {
		f := s.Explain(c.UserContext(), err)
		if f.Field == "" {
			return err
		}
		return s.showWebhooks(c, f.Status, webhooksView{Asked: w, Fault: f})
	}
	return s.showWebhook(c, fiber.StatusCreated, made, webhookView{Made: true, Secret: secret})
}

// deliveryRow is a message on the page of a webhook.
type deliveryRow struct {
	judge.WebhookDelivery
	State string          // waiting, taken or failed
	Known string          // by which the receiver knows it
	Last  locale.Sentence // how the last try ended; without a key there was none
}

type webhookView struct {
	Hook   judge.Webhook
	Rows   []deliveryRow
	Older  string // address of the next page, "" at the end
	Made   bool   // just now
	Secret string // likewise
	Mine   bool
	Fault  *site.Fault // why what was asked was refused
}

func (s *Room) webhookPage(c *fiber.Ctx) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	return s.showWebhook(c, fiber.StatusOK, w, webhookView{})
}

func (s *Room) showWebhook(c *fiber.Ctx, status int, w judge.Webhook, view webhookView) error {
	found, next, err := s.deliveries(c, w)
	if err != nil {
		return err
	}
	view.Hook, view.Mine = w, w.Owner == site.ViewerOf(c).Name
	for _, d := range found {
		row := deliveryRow{WebhookDelivery: d, State: people.DeliveryState(d), Known: messageID(d.Message), Last: failureText(toldReason(d.Error))}
		if d.Status != 0 {
			row.Last = locale.Sentence{Key: "HTTP %s", Args: []any{locale.ID(d.Status)}}
		}
		view.Rows = append(view.Rows, row)
	}
	if next != nil {
		view.Older = webhookURL(w.ID) + "?before=" + strconv.FormatInt(*next, 10)
	}
	return s.Page(c, status, "webhook", "Webhook %s", view, locale.ID(w.ID))
}

// WebhookKindText says what happened to a submission.
func WebhookKindText(kind string) locale.Word {
	switch kind {
	case WebhookTest:
		return "tried out"
	case judge.WebhookKind(judge.EventSubmitted):
		return "handed in"
	case judge.WebhookKind(judge.EventFinished):
		return "finished"
	case judge.WebhookKind(judge.EventCancelled):
		return "cancelled"
	case judge.WebhookKind(judge.EventRestored):
		return "restored"
	case judge.WebhookKind(judge.EventRejudge):
		return "judged again"
	case judge.WebhookKind(judge.EventApplied):
		return "given the verdict of a rejudge set"
	case judge.WebhookKind(judge.EventDead):
		return "given up"
	}
	return ""
}

// webhookKinds lists what a webhook is told of.
func webhookKinds(kinds []string) any {
	var list any = ""
	for i, kind := range kinds {
		if list = WebhookKindText(kind); i > 0 {
			list = locale.Sentence{Key: "%s, %s", Args: []any{webhookKinds(kinds[:i]), WebhookKindText(kind)}}
		}
	}
	return list
}

// messageStates are those of [people.DeliveryState].
var messageStates = map[string]locale.Word{"waiting": "waiting", "taken": "taken", "failed": "failed"}

// failureText says for people why a call got no answer: see [callback.Reason].
func failureText(reason string) locale.Sentence {
	if text := failureWord(reason); text != "" {
		return locale.Sentence{Key: text}
	}
	return locale.Sentence{Key: "%s", Args: []any{reason}}
}

func failureWord(reason string) locale.Word {
	switch reason {
	case callback.NoPublicAddress:
		return "the host has no public address"
	case "tls":
		return "the certificate is not trusted"
	case "timeout":
		return "no answer in time"
	case "refused":
		return "the connection was refused"
	case "network":
		return "the connection failed"
	}
	return ""
}

// webhookForm makes a handler of a form on the page of a webhook.
func (s *Room) webhookForm(change func(c *fiber.Ctx) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := change(c); err != nil {
			f := s.Explain(c.UserContext(), err)
			if w, werr := s.webhookOf(c); werr == nil && f.Status == fiber.StatusConflict {
				return s.showWebhook(c, f.Status, w, webhookView{Fault: f})
			}
			return err
		}
		return site.SeeDone(c, site.DoneThat, "/webhooks/"+url.PathEscape(c.Params("id")))
	}
}

func (s *Room) deleteWebhookForm(c *fiber.Ctx) error {
	if err := s.deleteWebhook(c); err != nil {
		return err
	}
	return site.SeeDone(c, site.DoneDeleted, "/webhooks")
}

// webhookSecretForm handles POST /webhooks/:id/rotate. The secret is on the page that answers and nowhere else.
func (s *Room) webhookSecretForm(c *fiber.Ctx) error {
	w, secret, err := s.changeSecret(c)
	if err != nil {
		return err
	}
	return s.showWebhook(c, fiber.StatusOK, w, webhookView{Secret: secret})
}
