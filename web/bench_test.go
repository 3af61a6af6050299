package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"

	"deepoj/host/embedded"
	"deepoj/host/judge"
	"deepoj/host/people"
	"deepoj/sql"
	"deepoj/sql/sqltest"
	peopleroom "deepoj/web/people"
	"deepoj/web/site"
)

// BenchmarkWeb measures a server on a PostgreSQL with its default durability (every
// commit is on the disk). What goes over HTTP takes turns with the same statements
// issued directly, so that both see the same machine. `make bench-web` runs it; b.N
// is the number of rounds.
func BenchmarkWeb(b *testing.B) {
	h := newBenchServer(b)
	if b.N > 1 {
		load, err := os.ReadFile("/proc/loadavg")
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("\n%s, %d cores, load %s", runtime.Version(), runtime.NumCPU(), load)
	}
	h.submits(b)
	h.reads(b)
	h.pages(b)
	h.streams(b)
}

const (
	benchClients = 64
	benchEach    = 50 // requests of each client in a round
)

// benchServer is a server with somebody who is logged in.
type benchServer struct {
	store  *sqltest.Store
	server *Server
	token  string
	serial atomic.Int64
}

func newBenchServer(b *testing.B) *benchServer {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "deepoj-web-bench-")
	must(err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	must(os.Chmod(dir, 0o711)) // the server's account goes through it
	pg, err := embedded.StartPostgres(b.Context(), embedded.PostgresConfig{
		DataDir: filepath.Join(dir, "pg"), Settings: map[string]string{"shared_buffers": "256MB", "max_wal_size": "4GB"},
	})
	must(err)
	b.Cleanup(func() { pg.Close() })
	h := &benchServer{}
	h.store, err = sqltest.OpenWith(b.Context(), sql.Config{DSN: pg.DSN()})
	must(err)
	b.Cleanup(h.store.Close)
	must(h.store.Migrate(b.Context()))
	must(h.store.SaveProblem(b.Context(), judge.Problem{
		Slug: "aplusb", Title: "A plus B", Version: "sha256:" + strings.Repeat("a1", 32),
		Statement: strings.Repeat("<p>Two whole numbers <var>a</var> and <var>b</var> are given. Write their sum.</p>", 20),
		Samples:   []judge.Sample{{Name: "sample/1", Input: "1 2\n", Output: "3\n"}}, CPUMillis: 1000, MemoryMiB: 256, CodeKiB: 64,
	}, "bench"))
	must(h.store.WorkerBeat(b.Context(), judge.WorkerInfo{
		Name: "bench", Pool: "default", Slots: 2, Languages: languages, Version: "bench", Started: time.Now(), Seen: time.Now(),
	}))
	must(h.store.CreateUser(b.Context(), sql.NewUser{Name: "ann", PasswordHash: "hash", Role: judge.RoleContestant}))
	ann, err := h.store.User(b.Context(), "ann")
	must(err)
	h.token = "bench"
	must(h.store.SaveSession(b.Context(), people.HashToken(h.token), ann, time.Now().Add(24*time.Hour)))
	// A bound that is never reached costs what one costs.
	h.server, err = New(site.Config{Listen: "127.0.0.1:0", Store: h.store.Site, Rounds: h.store.Rounds, Version: "bench", WorkerAge: 24 * time.Hour, RatePerUser: 1 << 25})
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.server.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return h
}

// request is a whole request, with a body if there is one.
func (h *benchServer) request(method, path, body string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, h.server.Addr(), h.token, len(body), body)
}

// line is a client's connection. It reads no more of an answer than it must: what a
// client costs is not the server's.
type line struct {
	net.Conn
	r *bufio.Reader
}

func (h *benchServer) dial(b *testing.B) *line {
	b.Helper()
	c, err := net.Dial("tcp", h.server.Addr())
	if err != nil {
		b.Fatal(err)
	}
	return &line{c, bufio.NewReaderSize(c, 8<<10)}
}

// ask sends a request and returns the status of the answer.
func (l *line) ask(request []byte) (status int, err error) {
	if _, err := l.Write(request); err != nil {
		return 0, err
	}
	status, length, err := l.head()
	if err != nil {
		return 0, err
	}
	_, err = l.r.Discard(length)
	return status, err
}

// head reads up to the body of an answer.
func (l *line) head() (status, length int, err error) {
	for first := true; ; first = false {
		text, err := l.r.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		text = bytes.TrimRight(text, "\r\n")
		switch {
		case len(text) == 0:
			return status, length, nil
		case first && len(text) > 12:
			if status, err = strconv.Atoi(string(text[9:12])); err != nil {
				return 0, 0, err
			}
		case bytes.HasPrefix(text, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(text[len("Content-Length: "):])); err != nil {
				return 0, 0, err
			}
		}
	}
}

// crowd has benchClients clients ask benchEach times, and returns how many answers
// a second there were and how long each took.
func crowd(b *testing.B, client func(i int) func() error) (perSecond float64, took []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var asks []func() error
	for i := range benchClients {
		asks = append(asks, client(i))
	}
	begun := time.Now()
	for _, ask := range asks {
		wg.Go(func() {
			mine := make([]time.Duration, 0, benchEach)
			for range benchEach {
				at := time.Now()
				if err := ask(); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return float64(len(took)) / time.Since(begun).Seconds(), took
}

// compare has two crowds take turns and prints what they got.
func (h *benchServer) compare(b *testing.B, what string, least float64, served, direct func(i int) func() error) {
	b.Helper()
	var ratios, rates, plain []float64
	var took []time.Duration
	for range b.N {
		s, t := crowd(b, served)
		d, _ := crowd(b, direct)
		ratios, rates, plain, took = append(ratios, s/d), append(rates, s), append(plain, d), append(took, t...)
	}
	if b.N == 1 || b.Failed() {
		return
	}
	bound := ""
	if least > 0 {
		bound = fmt.Sprintf(", at least %.2f wanted", least)
	}
	fmt.Printf("%s, %d clients: %.0f/s, p50 %v, p99 %v; the same statements directly %.0f/s: %.2f×%s\n", what, benchClients, median(rates),
		quantile(took, 50).Round(10*time.Microsecond), quantile(took, 99).Round(10*time.Microsecond), median(plain), median(ratios), bound)
	b.ReportMetric(median(ratios), strings.ReplaceAll(what, " ", "_")+"_of_direct")
}

func median[T cmp.Ordered](of []T) T { return quantile(of, 50) }

func quantile[T cmp.Ordered](of []T, percent int) T {
	slices.Sort(of)
	return of[min(len(of)-1, len(of)*percent/100)]
}

// submits hands programs of a kilobyte in.
func (h *benchServer) submits(b *testing.B) {
	b.Helper()
	rest := strings.Repeat("int main(void) { return 0; }\n", 34)
	quoted := strings.Trim(strconv.Quote(rest), `"`)
	first := func() string { return "// " + strconv.FormatInt(h.serial.Add(1), 10) } // no two are the same
	h.compare(b, "submit", 0.7, func(int) func() error {
		l := h.dial(b)
		b.Cleanup(func() { l.Close() })
		return func() error {
			body := `{"problem":"aplusb","language":"cpp","source":"` + first() + `\n` + quoted + `"}`
			status, err := l.ask(h.request(http.MethodPost, "/api/v1/submissions", body))
			if err == nil && status != http.StatusCreated && status != http.StatusAccepted {
				err = fmt.Errorf("a submit is answered with %d", status)
			}
			return err
		}
	}, func(int) func() error {
		return func() error {
			if _, err := h.store.Session(b.Context(), people.HashToken(h.token)); err != nil {
				return err
			}
			if _, err := h.store.Problem(b.Context(), "aplusb"); err != nil {
				return err
			}
			_, err := h.store.Submit(b.Context(), sql.NewJob{
				Problem: "aplusb", Language: "cpp", Author: "ann", GroupKey: "ann", TraceID: strings.Repeat("0", 32),
				Sources: []judge.Source{{Name: "main.cpp", Text: first() + "\n" + rest}}, Kind: judge.KindSubmission, Lane: judge.LaneNormal,
			})
			return err
		}
	})
}

// reads asks for the state of submissions.
func (h *benchServer) reads(b *testing.B) {
	b.Helper()
	var n atomic.Int64
	next := func() int64 { return 1 + n.Add(1)%(benchClients*benchEach) }
	h.compare(b, "status", 0, func(int) func() error {
		l := h.dial(b)
		b.Cleanup(func() { l.Close() })
		return func() error {
			status, err := l.ask(h.request(http.MethodGet, "/api/v1/submissions/"+strconv.FormatInt(next(), 10), ""))
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("a status is answered with %d", status)
			}
			return err
		}
	}, func(int) func() error {
		return func() error {
			if _, err := h.store.Session(b.Context(), people.HashToken(h.token)); err != nil {
				return err
			}
			_, err := h.store.Submission(b.Context(), next())
			return err
		}
	})
}

// pages renders pages and counts the CPU time of the thread that does it, queries
// included as far as this process has to do with them.
func (h *benchServer) pages(b *testing.B) {
	b.Helper()
	const most = 2 * time.Millisecond
	handler := h.server.app.Handler()
	for _, path := range []string{"/", "/problems/aplusb", "/submissions", "/submissions/1", "/queue"} {
		var cpu []time.Duration
		runtime.LockOSThread()
		for range 20 * b.N {
			var c fasthttp.RequestCtx
			c.Init(&fasthttp.Request{}, nil, nil)
			c.Request.Header.SetMethod(http.MethodGet)
			c.Request.SetRequestURI(path)
			c.Request.Header.SetHost(h.server.Addr())
			c.Request.Header.Set("Accept", "text/html")
			c.Request.Header.SetCookie(peopleroom.SessionCookie, h.token)
			begun := threadTime(b)
			handler(&c)
			cpu = append(cpu, threadTime(b)-begun)
			if c.Response.StatusCode() != http.StatusOK {
				b.Fatalf("%s is answered with %d", path, c.Response.StatusCode())
			}
		}
		runtime.UnlockOSThread()
		if b.N > 1 {
			fmt.Printf("page %-18s p50 %v, p99 %v of CPU time; p50 below %v wanted\n", path, quantile(cpu, 50).Round(time.Microsecond),
				quantile(cpu, 99).Round(time.Microsecond), most)
			b.ReportMetric(float64(median(cpu).Microseconds()), "page"+strings.ReplaceAll(path, "/", "_")+"_us")
		}
	}
}

func threadTime(b *testing.B) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

// streams opens event streams, measures the memory of this process for each, and
// how long it takes until all of them have told of an event.
func (h *benchServer) streams(b *testing.B) {
	b.Helper()
	const open, jobs = 1000, 50
	ids := make([]int64, jobs)
	for i := range ids {
		r, err := h.store.Submit(b.Context(), sql.NewJob{
			Problem: "aplusb", Language: "cpp", Author: "ann", GroupKey: "ann",
			Sources: []judge.Source{{Name: "main.cpp", Text: fmt.Sprint(i)}}, Kind: judge.KindSubmission, Lane: judge.LaneNormal,
		})
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = r.JobID
	}
	lines := make([]*line, open)
	before := held()
	for i := range lines {
		l := h.dial(b)
		defer l.Close()
		l.r = bufio.NewReaderSize(l.Conn, 512)
		lines[i] = l
		if _, err := l.Write(h.request(http.MethodGet, fmt.Sprintf("/api/v1/submissions/%d/events", ids[i%jobs]), "")); err != nil {
			b.Fatal(err)
		}
		if status, _, err := l.head(); err != nil || status != http.StatusOK {
			b.Fatalf("stream %d is answered with %d, %v", i, status, err)
		}
		if err := l.until("event: submitted"); err != nil {
			b.Fatal(err)
		}
	}
	each := (held() - before) / open
	var mu sync.Mutex
	var wg sync.WaitGroup
	var took []time.Duration
	begun := time.Now()
	for _, l := range lines {
		wg.Go(func() {
			err := l.until("event: cancelled")
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(begun))
			if err != nil {
				b.Error(err)
			}
		})
	}
	for _, id := range ids {
		if err := h.store.Cancel(b.Context(), id, "bench", ""); err != nil {
			b.Fatal(err)
		}
	}
	wg.Wait()
	if b.N > 1 {
		fmt.Printf("%d open streams: %d KB each, at most 64 wanted; %d jobs cancelled: half of the streams tell it within %v, all within %v\n",
			open, each>>10, jobs, median(took).Round(time.Millisecond), quantile(took, 100).Round(time.Millisecond))
		b.ReportMetric(float64(each>>10), "stream_KB")
	}
}

// held is the memory that this process has from the kernel and uses.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// until reads lines up to one that begins with text.
func (l *line) until(text string) error {
	for {
		got, err := l.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return fmt.Errorf("a stream ended before %q: %w", text, err)
		}
		if bytes.HasPrefix(got, []byte(text)) {
			return nil
		}
	}
}
