package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"deepoj/host/judge"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// feedThatSays is the address of a feed that answers with these.
func feedThatSays(t *testing.T, feeds ...judge.FeedStatus) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(fiber.Map{"feeds": feeds})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// streamingFeed is a feed with whom all is well.
var streamingFeed = judge.FeedStatus{
	Source: "db.example.org:5432/deepoj", State: judge.FeedStreaming, Epoch: 3, Snapshot: 1200,
	Durable: judge.FeedPoint{Seq: 4711, Position: "16/B374D848"}, Sent: judge.FeedPoint{Seq: 4700, Position: "16/B374D000"},
	Behind: 11, Lag: 0.012, LogBytes: 3 << 20, LogMost: 16 << 30,
}

func TestStaffSeeHowFarTheChangeFeedIs(t *testing.T) {
	stopped := judge.FeedStatus{
		Source: "10.0.0.1:9221", Database: "db1", State: judge.FeedPurged, Full: true, LogMost: 1 << 30, SourceError: "the master is away", SinkError: "no broker", DeadLetters: 2,
	}
	s := newStage(t, func(c *site.Config) { c.FeedStatus = feedThatSays(t, streamingFeed, stopped) })
	prof := s.someone("prof", judge.RoleStaff)
	if r := s.do(http.MethodGet, "/feed", ""); r.status != http.StatusForbidden {
		t.Errorf("the guest sees the page of the feed: %d", r.status)
	}
	cookie := "Cookie: " + peopleroom.SessionCookie + "=" + s.session("prof")
	page := s.do(http.MethodGet, "/feed", "", cookie).body
	for _, want := range []string{
		"db.example.org:5432/deepoj", ">streaming<", "16/B374D848", "record 4,711", "16/B374D000", "<dd>11</dd>", "12 ms", "3 MiB", "1,200 records",
		"10.0.0.1:9221 db1", `class="state warn">needs a snapshot<`, "The source is not heard:</strong> the master is away", "Kafka takes nothing:</strong> no broker",
		"has reached its bound</strong> of 1,024 MiB", "No change feed reads this database.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(page, "FEED_STATUS_URL") {
		t.Error("the page asks for a setting that is set")
	}
	if got, err := prof.GetFeed(t.Context()); err != nil || len(got.Feeds) != 2 || got.Feeds[0] != streamingFeed || got.Problem != "" {
		t.Errorf("the API says %+v, %v", got, err)
	}
}

func TestAFeedThatDoesNotAnswerIsToldAndWaitedForOnlyShortly(t *testing.T) {
	release := make(chan struct{})
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(mute.Close)
	t.Cleanup(func() { close(release) })
	wrong := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(wrong.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for address, want := range map[string]string{
		mute.URL: "nothing was heard within 2s", wrong.URL: "it answers 404 Not Found", gone.URL: "connection refused", "": "Set FEED_STATUS_URL to the address",
	} {
		s := newStage(t, func(c *site.Config) { c.FeedStatus = address })
		s.someone("prof", judge.RoleStaff)
		r := s.do(http.MethodGet, "/feed", "", "Cookie: "+peopleroom.SessionCookie+"="+s.session("prof"))
		if r.status != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("of a feed at %q the page has not %q: %d", address, want, r.status)
		}
	}
}
