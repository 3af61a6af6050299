package people

import (
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"deepoj/host/judge"
)

const (
	// MaxWebhooks is how many webhooks a user has at most.
	MaxWebhooks = 20

	maxWebhookURL = 2000 // bytes

	// secretPrefix is of every secret of a webhook, as Standard Webhooks has it: what follows is Base64.
	secretPrefix = "whsec_"
)

// NewWebhookSecret makes the secret of a webhook, and writes it as its owner sees it.
func NewWebhookSecret() (secret []byte, text string) {
	secret = make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: see crypto/rand
	return secret, secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// CheckWebhook reports every reason why a user with this role may not have the webhook.
func CheckWebhook(w judge.Webhook, owner judge.Role) (all []*judge.FieldError) {
	all = CheckCallback(w.URL)
	if len(w.Kinds) == 0 {
		all = append(all, wrong("kinds", reasonEmpty, "Choose at least one kind of event."))
	}
	for i, kind := range w.Kinds {
		if !slices.Contains(judge.WebhookKinds, kind) {
			all = append(all, wrong("kinds", reasonUnknown, "There is no kind %.64q; the kinds are %s.", kind, judge.Names(judge.WebhookKinds)))
			break
		}
		if slices.Contains(w.Kinds[:i], kind) {
			all = append(all, wrong("kinds", "duplicate", "%s is there twice.", kind))
			break
		}
	}
	if w.Everyone && owner != judge.RoleStaff && owner != judge.RoleAdmin {
		all = append(all, wrong("everyone", reasonDenied, "Only staff are told of the submissions of others."))
	}
	return all
}

// CheckCallback reports why an address cannot be told anything.
func CheckCallback(address string) (all []*judge.FieldError) {
	u, err := url.Parse(address)
	switch {
	case address == "":
		all = append(all, wrong("url", reasonEmpty, "Say which address is to be told."))
	case len(address) > maxWebhookURL:
		all = append(all, wrong("url", reasonTooLong, "An address has up to %d bytes.", maxWebhookURL))
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }):
		all = append(all, wrong("url", reasonInvalid, "The address has to be like https://example.org/path."))
	case u.User != nil:
		all = append(all, wrong("url", reasonInvalid, "The address has a name or password in it; check the signature instead, or put a secret word into the path."))
	}
	return all
}

// DeliveryState is where a message to a webhook stands, in a word.
func DeliveryState(d judge.WebhookDelivery) string {
	switch {
	case d.Done == nil:
		return "waiting"
	case d.Taken:
		return "taken"
	}
	return "failed"
}
