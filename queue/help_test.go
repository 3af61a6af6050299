package queue_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/queue"
)

// server is a private Redis that a test may stop, start again and speak to.
type server struct {
	dir string
	*embedded.Redis
	raw *redis.Client // to look behind the package and to break things
}

func newServer(t *testing.T) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "deepoj-queue-") // t.TempDir is long and closed to the server's account
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{dir: filepath.Join(dir, "redis")}
	s.start(t)
	t.Cleanup(func() { s.raw.Close(); s.Close() })
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	r, err := embedded.StartRedis(t.Context(), embedded.RedisConfig{DataDir: s.dir})
	if errors.Is(err, embedded.ErrNoRedis) {
		missing(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Redis = r
	s.raw = redis.NewClient(&redis.Options{Network: "unix", Addr: r.Socket})
}

// restart starts the server again, empty.
func (s *server) restart(t *testing.T) {
	t.Helper()
	s.stop(t)
	s.start(t)
}

func (s *server) stop(t *testing.T) {
	t.Helper()
	s.raw.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// missing skips the test, or fails it where everything must be there.
func missing(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("DEEPOJ_TEST") == "require" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// open returns streams on s that have looked once.
func (s *server) open(t *testing.T, with ...func(*queue.Config)) *queue.Streams {
	t.Helper()
	return open(t, s.URL(), with...)
}

func open(t *testing.T, url string, with ...func(*queue.Config)) *queue.Streams {
	t.Helper()
	cfg := queue.Config{URL: url, Consumer: "w", WatchEvery: 20 * time.Millisecond}
	for _, w := range with {
		w(&cfg)
	}
	q, err := queue.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	if err := q.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// tickets are those of jobs first to last.
func tickets(first, last int64) []judge.Ticket {
	var ts []judge.Ticket
	for id := first; id <= last; id++ {
		ts = append(ts, judge.Ticket{
			JobID: id, TraceID: "trace", PayloadRef: "pg:" + itoa(id), Priority: int(id), Enqueued: time.UnixMilli(1_700_000_000_000 + id),
		})
	}
	return ts
}

func publish(t *testing.T, q *queue.Streams, ts []judge.Ticket) []string {
	t.Helper()
	ids, err := q.Publish(t.Context(), ts)
	if err != nil || len(ids) != len(ts) {
		t.Fatalf("publish = %v, %v", ids, err)
	}
	return ids
}

// receive returns what can be received, which must be n entries.
func receive(t *testing.T, q *queue.Streams, n int) []judge.Entry {
	t.Helper()
	es, err := q.Receive(t.Context(), 100, 0)
	if err != nil || len(es) != n {
		t.Fatalf("received %+v, %v; want %d entries", es, err, n)
	}
	return es
}

func idsOf(es []judge.Entry) []int64 {
	ids := make([]int64, len(es))
	for i, e := range es {
		ids[i] = e.JobID
	}
	return ids
}

// changes waits for a value on Changed.
func changes(t *testing.T, q *queue.Streams) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	select {
	case <-q.Changed():
	case <-ctx.Done():
		t.Fatal("the loss was not noticed")
	}
}

// quiet forgets changes and checks that a look finds no new one.
func quiet(t *testing.T, q *queue.Streams) {
	t.Helper()
	select {
	case <-q.Changed():
	default:
	}
	if err := q.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-q.Changed():
		t.Fatal("a change was reported and there was none")
	default:
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var receiveNothing []judge.Entry
