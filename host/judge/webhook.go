package judge

import "time"

// ofSubmission comes before the kind of an event in the name that webhooks know it by.
const ofSubmission = "submission."

// WebhookKind is the name by which webhooks are told of an event of a submission.
func WebhookKind(kind EventKind) string { return ofSubmission + string(kind) }

// WebhookKinds are the kinds of events of submissions that webhooks may be told.
var WebhookKinds = []string{
	WebhookKind(EventSubmitted), WebhookKind(EventFinished), WebhookKind(EventCancelled), WebhookKind(EventRestored),
	WebhookKind(EventRejudge), WebhookKind(EventApplied), WebhookKind(EventDead),
}

// Webhook is an address that is told what happens to submissions. Its secret is nowhere but with a message that is due.
type Webhook struct {
	ID       int64
	Owner    string
	Everyone bool   // of everybody's submissions, as long as the owner is staff; else of the owner's
	Problem  string // of this problem only; "" = of all
	URL      string
	Kinds    []string // of [WebhookKinds]
	Created  time.Time
	Disabled *time.Time // nil = it is told
	Failing  *time.Time // the first failure after the last success; nil = none
}

// WebhookDelivery is a message to a webhook.
type WebhookDelivery struct {
	ID      int64
	JobID   int64  // 0 = somebody tries the address out
	Message string // by which the receiver knows it again: a UUID
	Kind    string
	Created time.Time
	Tries   int32
	Next    time.Time  // when it is tried again, unless it is done
	Tried   *time.Time // the end of the last try
	Status  int32      // that the last try was answered with; 0 = none
	Error   string     // why there was no answer; "" = there was one, or no try yet
	Done    *time.Time
	Taken   bool // it was answered with success
}
