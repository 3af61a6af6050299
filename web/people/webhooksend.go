package people

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"deepoj/host/judge"
	"deepoj/sql"
	"deepoj/web/callback"
	"deepoj/web/site"
)

// The pace of webhooks.
const (
	webhookPoll  = time.Second
	webhookFeed  = 500              // events that are read at once
	webhookSlots = 64               // messages under way at once in this process
	webhookEach  = 4                // of them, of one webhook in all processes
	webhookWait  = 24 * time.Hour   // the longest that a receiver may ask to wait
	settleTime   = 10 * time.Second // to record the end of a try, also while the server stops
)

// WebhookTest is the kind of a message that tries an address out.
const WebhookTest = "webhook.test"

// MessageJSON is what a webhook is told, as the database writes it.
type MessageJSON struct {
	Type string    `json:"type"`
	At   time.Time `json:"timestamp"` // of the event
	Data struct {
		Webhook    int64         `json:"webhook_id,omitempty"` // of a message that tries the address out, and nothing else
		Event      int64         `json:"event_id,omitempty"`   // grows within a submission
		JobID      int64         `json:"job_id,omitempty"`
		URL        string        `json:"url,omitempty"` // of the page, on this server
		Problem    string        `json:"problem,omitempty"`
		Language   string        `json:"language,omitempty"`
		Author     string        `json:"author,omitempty"`
		Generation int32         `json:"generation,omitempty"` // raised by each rejudge
		AttemptID  int32         `json:"attempt_id,omitempty"`
		Verdict    judge.Verdict `json:"verdict,omitempty"` // of finished and applied
		Score      *float64      `json:"score,omitempty"`   // likewise, where there are scores
	} `json:"data"`
}

// SendWebhooks stores and sends messages to webhooks until ctx is done. Messages are rows, and each try has a lease, so
// that several servers share the work and what one of them leaves undone is sent again, with the same id.
func (s *Room) SendWebhooks(ctx context.Context) error {
	tick := time.NewTicker(webhookPoll)
	defer tick.Stop()
	slots := make(chan struct{}, webhookSlots)
	ended := make(chan struct{}, 1) // a try: its webhook may have more
	var tries sync.WaitGroup
	defer tries.Wait()
	for {
		more, err := s.webhookStep(ctx, slots, &tries, ended)
		if err != nil && ctx.Err() == nil {
			s.Log.DebugContext(ctx, "webhooks cannot be looked for", slog.Any("err", err))
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-ended:
		}
	}
}

// webhookStep reads the feed on and starts what is due. It reports whether there is more to read at once.
func (s *Room) webhookStep(ctx context.Context, slots chan struct{}, tries *sync.WaitGroup, ended chan struct{}) (more bool, err error) {
	fed, err := s.Store.FeedWebhooks(ctx, webhookFeed)
	if err != nil {
		return false, err
	}
	if fed.Skipped {
		s.Log.WarnContext(ctx, "the database was restored elsewhere: webhooks are told what happens from now on")
	}
	free := cap(slots) - len(slots)
	if free == 0 {
		return fed.More, nil
	}
	due, err := s.Store.DueDeliveries(ctx, free, webhookEach, site.WebhookLease)
	for _, d := range due {
		slots <- struct{}{}
		tries.Go(func() {
			defer func() { <-slots }()
			s.tell(ctx, d)
			select {
			case ended <- struct{}{}:
			default: // there is a sign already
			}
		})
	}
	return fed.More, err
}

// tell makes one try.
func (s *Room) tell(ctx context.Context, d sql.DueDelivery) {
	answer, err := s.caller.Post(ctx, d.URL, []byte(d.Body), WebhookHeaders(d, time.Now()))
	if err != nil && ctx.Err() != nil {
		return // of a stop nothing is known: the lease runs out
	}
	sent := outcomeOf(answer, err)
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	log := s.Log.With(slog.Int64("webhook", d.Webhook), slog.String("message_id", messageID(d.Message)), slog.Int("try", int(d.Tries)), slog.Int("status", sent.Status))
	again, off, serr := s.Store.SettleDelivery(done, d, sent, s.Config.WebhookRetry)
	outcome := "failed"
	switch {
	case serr != nil:
		log.WarnContext(ctx, "the end of a message to a webhook cannot be recorded, so it will be sent again", slog.Any("err", serr))
		outcome = "again"
	case sent.Taken:
		outcome = "taken"
	case again:
		outcome = "again"
	}
	log.InfoContext(ctx, "webhook told", slog.String("outcome", outcome), slog.Any("err", err))
	if off {
		log.WarnContext(ctx, "webhook disabled, for its receiver wants or takes nothing")
	}
	s.Count.Webhooks.WithLabelValues(outcome).Inc()
}

// outcomeOf says what an answer means. No answer, whatever the reason, 429 and 5xx are worth another
// try; a redirect is not followed and counts as a refusal.
func outcomeOf(a callback.Answer, err error) sql.Sent {
	if err != nil {
		return sql.Sent{Error: callback.Reason(err)}
	}
	return sql.Sent{
		Taken: a.Status/100 == 2, Status: a.Status, Gone: a.Status == http.StatusGone,
		Final: a.Status != http.StatusTooManyRequests && a.Status != http.StatusRequestTimeout && a.Status < http.StatusInternalServerError,
		Wait:  min(a.Wait, webhookWait),
	}
}

// WebhookHeaders are those of a message that is sent now.
func WebhookHeaders(d sql.DueDelivery, now time.Time) map[string]string {
	id, at := messageID(d.Message), strconv.FormatInt(now.Unix(), 10)
	return map[string]string{"webhook-id": id, "webhook-timestamp": at, "webhook-signature": sign(d.Secret, id, at, d.Body)}
}

// sign signs a message as Standard Webhooks (standardwebhooks.com) has it: by
// HMAC-SHA256 of its id, the seconds since 1970, and its body, with points between.
func sign(secret []byte, id, at, body string) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(id + "." + at + "." + body)) // never fails: see hash.Hash
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
