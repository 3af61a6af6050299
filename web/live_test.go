package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"deepoj/host/judge"
	"deepoj/web/client"
	"deepoj/web/site"
)

// open is an event stream that was answered. Its body is closed at the end of
// the test at the latest.
type open struct {
	status int
	header http.Header
	body   io.ReadCloser
}

// sse opens an event stream with the given headers.
func (s *stage) sse(path string, headers ...string) open {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	s.must(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	s.must(err)
	s.Cleanup(func() { resp.Body.Close() })
	return open{resp.StatusCode, resp.Header, resp.Body}
}

// next reads the next event of a kind that is asked for, and its id.
func next(t *testing.T, r *bufio.Reader, kinds ...string) (id, kind string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended while waiting for %v: %v", kinds, err)
		}
		line = strings.TrimSpace(line)
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			id = value
		}
		if value, ok := strings.CutPrefix(line, "event: "); ok {
			if slices.Contains(kinds, value) {
				return id, value
			}
			id = ""
		}
	}
}

func TestAStreamTellsWhatHappens(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "x")
	resp := s.sse(site.SubmissionURL(id) + "/events")
	if kind := resp.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		t.Fatalf("content type %q", kind)
	}
	r := bufio.NewReader(resp.body)
	next(t, r, "submitted")
	next(t, r, "place")
	a := s.claim(id)
	next(t, r, "claimed")
	s.compiled(a, 2)
	next(t, r, "compiled")
	s.test(a, 2, judge.TestResult{Index: 1, Verdict: judge.AC})
	last, _ := next(t, r, "test")
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC}))
	next(t, r, "finished")
	next(t, r, "end")
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("the stream does not end well: %v", err)
	}

	// A client that was cut after the test sees what it missed, and nothing twice.
	again := bufio.NewReader(s.sse(site.SubmissionURL(id)+"/events", "Last-Event-ID: "+last).body)
	if _, kind := next(t, again, "submitted", "claimed", "compiled", "test", "finished"); kind != "finished" {
		t.Errorf("after the test comes %q, want finished", kind)
	}
	lastID, _ := next(t, bufio.NewReader(s.sse("/api/v1/submissions/1/events").body), "finished")
	if resp := s.sse(site.SubmissionURL(id)+"/events", "Last-Event-ID: "+lastID); resp.status != http.StatusNoContent {
		t.Errorf("with nothing left to see: status %d, want 204", resp.status)
	}
	if r := s.do(http.MethodGet, site.SubmissionURL(id)+"/events", "", "Last-Event-ID: x"); r.status != http.StatusBadRequest {
		t.Errorf("a last event id that is no number: %d", r.status)
	}
}

func TestThePageOfWhatWasJustHandedInWaitsForItsFirstTest(t *testing.T) {
	s := newStage(t)
	first := judge.TestResult{Index: 1, Verdict: judge.AC}
	for what, c := range map[string]struct {
		happens func(a judge.Attempt)
		shown   []string
		not     string
	}{
		"its first test": {
			func(a judge.Attempt) { s.compiled(a, 2); s.test(a, 2, first) },
			[]string{`<li class="cell v-ac"`, `<li class="cell v-"`, `class="fresh"`, "1 of 2", `data-announce="Running"`},
			"data-done",
		},
		"its result": {
			func(a judge.Attempt) {
				s.must(s.store.Finalize(s.Context(), a, judge.Result{Verdict: judge.WA, Tests: []judge.TestResult{first, {Index: 2, Verdict: judge.WA}}}))
			},
			[]string{`<li class="cell v-ac"`, `<li class="cell v-wa"`, "2 of 2", "data-done"},
			`class="fresh"`,
		},
	} {
		t.Run(what, func(t *testing.T) {
			var page string
			for range 20 { // on a busy machine a moment may be too short
				id := s.submit("aplusb", "cpp", "x")
				got := make(chan string, 1)
				go func() { got <- s.do(http.MethodGet, site.SubmissionURL(id), "").body }()
				time.Sleep(25 * time.Millisecond) // in which it is made, if it does not wait
				c.happens(s.claim(id))
				page = <-got
				if !strings.Contains(page, c.shown[0]) {
					continue
				}
				for _, part := range c.shown {
					if !strings.Contains(page, part) || strings.Contains(page, c.not) {
						t.Fatalf("the page is to show %q, and no %q:\n%s", part, c.not, page)
					}
				}
				return
			}
			t.Errorf("no page shows it; the last:\n%s", page)
		})
	}
}

func TestACallbackEndsTheStreamWithItsError(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "x")
	stop := errors.New("enough")
	if err := s.client.Events(t.Context(), id, 0, func(judge.Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Events ended with %v", err)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	s := newStage(t, func(c *site.Config) { c.MaxStreamsPerClient = 2 })
	id := s.submit("aplusb", "cpp", "x")
	first := s.sse(site.SubmissionURL(id) + "/events")
	s.sse(site.SubmissionURL(id) + "/events")
	f := document(t, s.do(http.MethodGet, site.SubmissionURL(id)+"/events", "", "Accept: text/event-stream"))
	if f.Status != http.StatusTooManyRequests || f.Reason != "too_many_streams" {
		t.Errorf("the third stream: %d %s", f.Status, f.Reason)
	}
	first.body.Close()
	s.eventually("a place becomes free", func() bool {
		s.server.job.WakeStreams("") // a write notices that the client is gone
		return s.server.job.OpenStreams() < 2
	})
}

// eventually waits until is reports true.
func (s *stage) eventually(what string, is func() bool) {
	s.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	over := time.After(2 * time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-over:
			s.Fatalf("%s: not in time", what)
		}
	}
}

func TestAReaderThatStopsIsDropped(t *testing.T) {
	t.Parallel()
	server, far := net.Pipe() // nobody reads from far
	defer far.Close()
	c := &patientConn{Conn: server, patience: 20 * time.Millisecond}
	if _, err := c.Write([]byte("data")); err == nil {
		t.Error("a write to a client that does not read succeeds")
	}
}

func TestAClientThatReadsIsNotDroppedHoweverLongItStays(t *testing.T) {
	t.Parallel()
	server, far := net.Pipe()
	defer far.Close()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	c := &patientConn{Conn: server, patience: 800 * time.Millisecond}
	for begun := time.Now(); time.Since(begun) < c.patience*3/2; time.Sleep(c.patience / 10) {
		if _, err := c.Write([]byte("data")); err != nil {
			t.Fatalf("after %v: %v", time.Since(begun), err)
		}
	}
}

func TestAWaitEndsWhenItsTimeIsOver(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "x")
	r := s.do(http.MethodGet, "/api/v1/submissions/1?wait=0.05", "")
	if r.status != http.StatusOK || !strings.Contains(r.body, `"PENDING"`) {
		t.Errorf("a wait that is over: %d %s", r.status, r.body)
	}
	for _, wait := range []string{"x", "-1", "NaN"} {
		if r := s.do(http.MethodGet, "/api/v1/submissions/1?wait="+wait, ""); r.status != http.StatusUnprocessableEntity {
			t.Errorf("wait=%s: %d", wait, r.status)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.client.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the client's wait ends with %v", err)
	}
	var p *client.Problem
	if _, err := s.client.Wait(t.Context(), 99); !errors.As(err, &p) {
		t.Errorf("a wait for nothing ends with %v", err)
	}
}

func TestARetryIsShownHonestly(t *testing.T) {
	s := newStage(t)
	id := s.submit("aplusb", "cpp", "x")
	a := s.claim(id)
	s.test(a, 5, judge.TestResult{Index: 1, Verdict: judge.AC})
	_, err := s.store.Fail(t.Context(), a, "the sandbox is broken on judge1", true)
	s.must(err)
	r := s.do(http.MethodGet, site.SubmissionURL(id), "")
	for _, want := range []string{"Waiting for another try", "does not count against you", "attempt 1: failed on our side after 1 test"} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(r.body, "judge1") {
		t.Error("the page shows contestants why it failed")
	}
	if r := s.do(http.MethodGet, "/status/1", ""); !strings.Contains(r.body, "RETRYING") {
		t.Errorf("status: %s", r.body)
	}
}

func TestARetryOfARunIsShownAsThatOfASubmission(t *testing.T) {
	s := newStage(t)
	if r := s.do(http.MethodPost, "/api/v1/runs", `{"language":"cpp","source":"x"}`, asJSON); r.status != http.StatusAccepted {
		t.Fatalf("a run: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodGet, "/runs/1", ""); !strings.Contains(r.body, "Waiting") || !strings.Contains(r.body, `<details id="history">`) {
		t.Errorf("a run that nothing happened to has its history open, or none: %s", r.body)
	}
	_, err := s.store.Fail(t.Context(), s.claimJob(1).Attempt, "the sandbox is broken on judge1", true)
	s.must(err)
	r := s.do(http.MethodGet, "/runs/1", "")
	for _, want := range []string{"Waiting for another try", "Try 1 of 5 failed on our side.", `<details id="history" open>`, "attempt 1: failed on our side"} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the page does not show %q: %s", want, r.body)
		}
	}
	if strings.Contains(r.body, "judge1") {
		t.Error("the page shows why it failed to whoever asked")
	}
}
