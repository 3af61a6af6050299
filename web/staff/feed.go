package staff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	"deepoj/web/locale"
)

const (
	feedWait = 2 * time.Second // how long a feed may take to say how far it is
	feedMost = 256 << 10       // bytes of what it says that are read
)

// feedView is the change feed as staff see it.
type feedView struct {
	Slots   []judge.Slot
	Feeds   []judge.FeedStatus
	Asked   string // where the feed is asked; "" = nowhere
	Problem string // why it did not answer; "" = it did
}

// feed asks PostgreSQL what it keeps for feeds, and the feed how far it is.
func (s *Room) feed(ctx context.Context) (v feedView, err error) {
	if v.Slots, err = s.Store.Slots(ctx); err != nil {
		return v, fmt.Errorf("ask for replication slots: %w", err)
	}
	if v.Asked = s.Config.FeedStatus; v.Asked == "" {
		return v, nil
	}
	if v.Feeds, err = askFeed(ctx, v.Asked); err != nil {
		v.Problem = err.Error()
	}
	return v, nil
}

// askFeed asks the feed at an address how far it is.
func askFeed(ctx context.Context, address string) ([]judge.FeedStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, feedWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/status", nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("nothing was heard within %s", feedWait)
		}
		return nil, errors.Unwrap(err) // without the address, which is beside it
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", answer.Status)
	}
	var said struct {
		Feeds []judge.FeedStatus `json:"feeds"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, feedMost)).Decode(&said); err != nil {
		return nil, fmt.Errorf("what it answers is no status: %w", err)
	}
	return said.Feeds, nil
}

// apiFeed handles GET /api/v1/feed: how far the change feed is, and what PostgreSQL keeps for it.
func (s *Room) apiFeed(c *fiber.Ctx) error {
	v, err := s.feed(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"slots": v.Slots, "feeds": v.Feeds, "problem": v.Problem})
}

func (s *Room) feedPage(c *fiber.Ctx) error {
	v, err := s.feed(c.UserContext())
	if err != nil {
		return err
	}
	return s.Page(c, fiber.StatusOK, "feed", "Change feed", v)
}

// feedStates are the states of a feed, as the page says them.
var feedStates = map[string]locale.Word{
	judge.FeedStopped: "stopped", judge.FeedStarting: "connecting", judge.FeedPurged: "needs a snapshot", judge.FeedSnapshot: "snapshot",
	judge.FeedCatchUp: "catching up", judge.FeedStreaming: "streaming",
}

// State says where a feed stands; what a newer program says is said by its name.
func (v feedView) State(f judge.FeedStatus) locale.Sentence {
	if word, known := feedStates[f.State]; known {
		return locale.Sentence{Key: word}
	}
	return locale.Sentence{Key: "%s", Args: []any{f.State}}
}

// Lag is for how long what was not sent has been waiting.
func (v feedView) Lag(f judge.FeedStatus) time.Duration {
	return time.Duration(f.Lag * float64(time.Second))
}

// KiB is a number of bytes as the page has it.
func (v feedView) KiB(bytes int64) int64 { return (bytes + 1023) / 1024 }
