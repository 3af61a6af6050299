package replica

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/event"
	"deepoj/host/feed/pikiwidb/mastertest"
	"deepoj/host/feed/wal"
)

// site is a master, ours or a real one, whose db0 tests may write keys with a prefix of their own into.
type site struct {
	settings map[string]string
	prefix   string
	do       func(argv ...string)
	content  func() map[string]string
}

// sites calls test with the master that plays one, and with the real one that PIKIWIDB_ADDR names, as host:port, with the
// password in PIKIWIDB_PASSWORD. What has to be broken in a master is tested with ours alone: restarts, a purged binlog,
// another replication_id, dumps that are replaced, wrong messages, and silence.
func sites(t *testing.T, test func(t *testing.T, s site)) {
	t.Run("ours", func(t *testing.T) {
		m := newMaster(t, mastertest.Options{Password: "secret", Instances: 3, FileBytes: 8 << 10})
		test(t, site{
			settings: map[string]string{"master_port": strconv.Itoa(m.Port()), "password": "secret"}, prefix: "test:",
			do:      func(argv ...string) { m.Do("db0", argv...) },
			content: func() map[string]string { return m.Content("db0") },
		})
	})
	address := os.Getenv("PIKIWIDB_ADDR")
	if address == "" {
		return
	}
	t.Run("real", func(t *testing.T) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		password := os.Getenv("PIKIWIDB_PASSWORD")
		c := dialRedis(t, address)
		if password != "" {
			c.do("AUTH", password)
		}
		prefix := fmt.Sprintf("deepoj-feed-test:%d:", time.Now().UnixNano())
		test(t, site{
			settings: map[string]string{"master_host": host, "master_port": port, "password": password}, prefix: prefix,
			do: func(argv ...string) { c.do(argv...) },
			content: func() map[string]string {
				all := map[string]string{}
				for _, key := range c.do("KEYS", prefix+"*") {
					all[key] = c.do("GET", key)[0]
				}
				return all
			},
		})
	})
}

// redis is a client of a real master.
type redis struct {
	t   *testing.T
	tcp net.Conn
	in  *bufio.Reader
}

func dialRedis(t *testing.T, address string) *redis {
	t.Helper()
	tcp, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	return &redis{t, tcp, bufio.NewReader(tcp)}
}

// do executes a command and returns the texts of its answer.
func (r *redis) do(argv ...string) []string {
	r.t.Helper()
	var words [][]byte
	for _, a := range argv {
		words = append(words, []byte(a))
	}
	if _, err := r.tcp.Write(event.AppendResp(nil, words, 0)); err != nil {
		r.t.Fatal(err)
	}
	return r.answer()
}

func (r *redis) answer() []string {
	r.t.Helper()
	line, err := r.in.ReadString('\n')
	if err != nil || len(line) < 3 {
		r.t.Fatalf("%q, %v", line, err)
	}
	text := line[1 : len(line)-2]
	n, _ := strconv.Atoi(text)
	switch {
	case line[0] == '-':
		r.t.Fatalf("the master answers %s", text)
	case line[0] == '$' && n >= 0:
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r.in, b); err != nil {
			r.t.Fatal(err)
		}
		return []string{string(b[:n])}
	case line[0] == '*':
		var all []string
		for range n {
			all = append(all, r.answer()...)
		}
		return all
	}
	return []string{text}
}

// what a consumer has that did all that the ride brought, of the keys of the site.
func (r *ride) of(s site) map[string]string {
	all := r.content()
	maps.DeleteFunc(all, func(key, _ string) bool { return !strings.HasPrefix(key, s.prefix) })
	return all
}

// sentinel writes a key and waits until its event comes.
func (s site) sentinel(r *ride, value string) {
	r.t.Helper()
	s.do("SET", s.prefix+"sentinel", value)
	r.until("the sentinel comes", func() bool {
		if r.plan.Snapshot && !r.whole {
			return false
		}
		events := r.events()
		return slices.ContainsFunc(events, func(o feed.Out) bool {
			e := read(r.t, o)
			return e.Key == s.prefix+"sentinel" && e.Args[len(e.Args)-1] == value
		})
	})
}

// A master, ours or a real one, is followed from a snapshot on, and further from where the feed was; and what it has
// no item for is told.
func TestASiteIsFollowed(t *testing.T) {
	t.Parallel()
	sites(t, func(t *testing.T, s site) {
		ours := newMaster(t, mastertest.Options{}) // its folders are used, and no more of it
		more := maps.Clone(s.settings)
		more["filter"] = `{allow: [{key: ["` + s.prefix + `*"]}]}`
		source := newSource(t, settings(t, ours, more))
		for i := range 300 {
			s.do("SET", fmt.Sprintf("%sk%d", s.prefix, i%200), strconv.Itoa(i))
		}
		r := board(t, source, fresh)
		if !r.plan.Snapshot {
			t.Fatalf("the plan is %+v", r.plan)
		}
		for i := range 300 {
			s.do("SET", fmt.Sprintf("%sk%d", s.prefix, i%150), fmt.Sprintf("new %d", i))
			if i%9 == 0 {
				s.do("DEL", fmt.Sprintf("%sk%d", s.prefix, (i+70)%200))
			}
		}
		s.sentinel(r, "first")
		if got, want := r.of(s), s.content(); !maps.Equal(got, want) {
			t.Errorf("a consumer has %d keys and the master %d, or others", len(got), len(want))
		}
		have := feed.Have{Epoch: 2, Durable: r.log.Last(), System: &r.plan.System, Snapshot: checkpoint.Snapshot{State: checkpoint.Done}}
		r.end()

		r = board(t, source, have)
		if r.plan.Snapshot || r.plan.At != have.Durable.Position {
			t.Errorf("the plan is %+v", r.plan)
		}
		s.sentinel(r, "second")
		for _, o := range r.events() {
			if e := read(t, o); e.Key != s.prefix+"sentinel" || e.Args[len(e.Args)-1] != "second" {
				t.Errorf("%s comes again", o.Value)
			}
		}
		r.end()

		master := fresh
		master.Start.FromMaster = true
		r = board(t, source, master)
		s.sentinel(r, "third")
		if n := len(r.events()); r.plan.Snapshot || n != 1 {
			t.Errorf("the plan is %+v, and %d events come", r.plan, n)
		}
		r.end()
		for _, at := range []wal.Position{{Filenum: 1 << 30}, {Filenum: have.Durable.Position.Filenum, Offset: have.Durable.Position.Offset + 1}} {
			h := have
			h.Durable.Position = at
			if err, final := refused(t, source, h); !final || !strings.Contains(err.Error(), "deepoj feed reset") {
				t.Errorf("at %s: %v (final %v)", at, err, final)
			}
		}
		if s.settings["password"] != "" {
			more["password"] = "wrong"
			if err, final := refused(t, newSource(t, settings(t, ours, more)), fresh); !final {
				t.Errorf("with a wrong password: %v", err)
			}
		}
	})
}
