package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deepoj/host/judge"
	"deepoj/sql/sqltest"
	"deepoj/web/client"
	"deepoj/web/site"
)

// cable joins those who connect to it with a server, and can be cut.
type cable struct {
	ln               net.Listener
	network, address string // of the server

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

func newCable(t *testing.T, ln net.Listener, network, address string) *cable {
	t.Helper()
	c := &cable{ln: ln, network: network, address: address, conns: map[net.Conn]struct{}{}}
	var pairs sync.WaitGroup
	pairs.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			pairs.Go(func() { c.join(near) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		c.set(true)
		pairs.Wait()
	})
	return c
}

// join copies both ways until either end closes or the cable is cut.
func (c *cable) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial(c.network, c.address)
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	if c.cut {
		c.mu.Unlock()
		return
	}
	c.conns[near], c.conns[far] = struct{}{}, struct{}{}
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		wg.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			way[0].Close()
			way[1].Close()
		})
	}
	wg.Wait()
	c.mu.Lock()
	delete(c.conns, near)
	delete(c.conns, far)
	c.mu.Unlock()
}

// set cuts the cable, or mends it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	if cut {
		for conn := range c.conns {
			conn.Close()
		}
	}
}

// cabledDB returns a store that reaches its database over a cable.
func cabledDB(t *testing.T) (*sqltest.Store, *cable) {
	t.Helper()
	u, err := url.Parse(sqltest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "deepoj-web-") // a socket's path is limited to 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	q := u.Query()
	socket := ".s.PGSQL." + q.Get("port")
	ln, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	c := newCable(t, ln, "unix", filepath.Join(q.Get("host"), socket))
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return sqltest.Open(t, u.String()), c
}

func TestADatabaseThatIsAwayIsSaidAndHeals(t *testing.T) {
	store, cable := cabledDB(t)
	s := &stage{T: t, store: store}
	s.addProblems()
	s.beat(languages...)
	s.start()
	body := `{"problem": "aplusb", "language": "cpp", "source": "x"}`
	id := s.submit("aplusb", "cpp", "x")
	stream := make(chan error, 1)
	finished := make(chan struct{})
	go func() {
		stream <- s.client.Events(t.Context(), id, 0, func(e judge.Event) error {
			if e.Kind == judge.EventFinished {
				close(finished)
			}
			return nil
		})
	}()

	cable.set(true)
	f := document(t, s.do(http.MethodPost, "/api/v1/submissions", body, asJSON))
	if f.Status != http.StatusServiceUnavailable || f.Reason != "database_unavailable" {
		t.Errorf("submit without a database: %d %s", f.Status, f.Reason)
	}
	for path, want := range map[string]int{"/": 503, "/submissions": 503, "/healthz": 200, "/readyz": 503, "/metrics": 200, "/login": 200} {
		r := s.do(http.MethodGet, path, "")
		if r.status != want {
			t.Errorf("GET %s without a database: %d, want %d", path, r.status, want)
		}
		if r.status == 503 && r.header.Get("Retry-After") == "" {
			t.Errorf("GET %s does not say when to try again", path)
		}
		if strings.Contains(r.body, "PGSQL") || strings.Contains(r.body, "dial") {
			t.Errorf("GET %s shows the cause: %s", path, r.body)
		}
	}
	if r := s.do(http.MethodGet, "/readyz", ""); !strings.Contains(r.body, `"missing":["postgres"`) {
		t.Errorf("/readyz does not name what is missing: %s", r.body)
	}

	cable.set(false)
	for range 5 { // connections that broke unseen are an outage too
		if r := s.do(http.MethodPost, "/api/v1/submissions", body, asJSON); r.status != http.StatusCreated && r.status != http.StatusServiceUnavailable {
			t.Errorf("submit after a cut: %d %s", r.status, r.body)
		}
		cable.set(true)
		cable.set(false)
	}
	s.eventually("the database is used again", func() bool {
		return s.do(http.MethodPost, "/api/v1/submissions", body, asJSON).status == http.StatusCreated
	})
	if r := s.do(http.MethodGet, "/readyz", ""); r.status != http.StatusOK {
		t.Errorf("/readyz afterwards: %s", r.body)
	}
	a := s.claim(id)
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC}))
	<-finished // the stream has lived through it, or was continued
	if err := <-stream; err != nil {
		t.Errorf("the stream ended with %v", err)
	}
}

func TestTheClientFollowsOverACut(t *testing.T) {
	s := newStage(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	cable := newCable(t, ln, "tcp", s.server.Addr())
	c, err := client.New("http://"+ln.Addr().String(), client.WithHTTP(&http.Client{}))
	s.must(err)
	id := s.submit("aplusb", "cpp", "x")
	var seen []string
	claimed, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- c.Events(t.Context(), id, 0, func(e judge.Event) error {
			seen = append(seen, string(e.Kind))
			if e.Kind == judge.EventClaimed {
				close(claimed)
			}
			return nil
		})
	}()
	a := s.claim(id)
	<-claimed
	cable.set(true)
	s.test(a, 1, judge.TestResult{Index: 1, Verdict: judge.AC})
	cable.set(false)
	s.must(s.store.Finalize(t.Context(), a, judge.Result{Verdict: judge.AC}))
	if err := <-done; err != nil {
		t.Fatalf("Events: %v", err)
	}
	if got := strings.Join(seen, " "); got != "submitted dispatched claimed test finished" {
		t.Errorf("the client saw %q: events were lost, doubled or reordered", got)
	}
}

func TestAStopEndsStreamsAndServesWhatIsOpen(t *testing.T) {
	store := sqltest.DB(t)
	s := &stage{T: t, store: store}
	s.addProblems()
	server, err := New(site.Config{Listen: "127.0.0.1:0", Store: store.Site, Rounds: store.Rounds})
	s.must(err)
	s.server, s.url = server, "http://"+server.Addr()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	id := s.submit("aplusb", "cpp", "x")
	resp := s.sse(site.SubmissionURL(id) + "/events")
	stop()
	if _, err := io.ReadAll(resp.body); err != nil {
		t.Errorf("the stream is torn: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run returned %v", err)
	}
	if _, err := net.Dial("tcp", server.Addr()); err == nil {
		t.Error("the address is still taken")
	}
}
