// Package faults breaks Deep-OJ's queue from outside and proves that it loses
// and doubles nothing. It consists of tests only.
//
// The roles run as processes of their own: an api that takes submits, two
// schedulers, some workers, with PostgreSQL and Redis behind proxies of ours.
// They are the product's packages with its protocol, put together as the command
// does; only judging is replaced by a function that answers at once what the
// source says. They are killed and stopped at named steps and at any moment, and
// so is all that they need. What the clients were told and what the workers did
// is written down apart from the system and compared with its tables.
//
// `make faults FOR=60s SEED=7` runs it for as long as is wanted.
package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"deepoj/host/blob"
	"deepoj/host/judge"
	"deepoj/host/liveness"
	"deepoj/host/scheduler"
	"deepoj/host/worker"
	"deepoj/queue"
	"deepoj/sql"
	"deepoj/sql/sqltest"
)

// roleEnv makes this test binary a process of the system; it holds a [role].
const roleEnv = "DEEPOJ_FAULTS_ROLE"

func TestMain(m *testing.M) {
	if text := os.Getenv(roleEnv); text != "" {
		if err := play(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// role says what a process does, and how it is to die.
type role struct {
	Kind    string // api, scheduler or worker
	Name    string
	DSN     string
	Redis   string
	Socket  string        // where an api listens
	Blobs   string        // folder of a worker's blob store
	Packet  blob.Digest   // what a worker reads there for every job
	Journal string        // file in which a worker writes down what it does
	Step    string        // at which a worker ends or stops itself; "" = never
	Nth     int           // time that it comes there
	Stops   bool          // with SIGSTOP instead of SIGKILL, which comes later
	Once    bool          // or not at all
	Skew    time.Duration // by which a worker's clock is wrong
	Mutant  string        // a defect that the oracle must find; "" = none
	Shards  int           // that two schedulers share
}

// The pace of everything: leases run out while one looks on.
const (
	lease     = 1500 * time.Millisecond
	heartbeat = 300 * time.Millisecond
	grace     = 500 * time.Millisecond
	redeliver = 2 * time.Second
	slots     = 4
)

func play(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("LOG_LEVEL") == "debug" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With(slog.String("role", r.Name))
	}
	store, err := r.store(ctx, log)
	if ctx.Err() != nil {
		return nil // told to end before the database came
	}
	if err != nil {
		return err
	}
	defer store.Close()
	if r.Kind == "api" {
		return r.api(ctx, store)
	}
	streams, err := queue.Open(ctx, queue.Config{
		URL: r.Redis, Consumer: r.Name, MinIdle: lease + grace, WatchEvery: 200 * time.Millisecond, Log: log,
	})
	if err != nil {
		return err
	}
	defer func() { _ = streams.Close() }()
	if r.Kind == "scheduler" {
		return r.scheduler(ctx, store, streams, log)
	}
	return r.worker(ctx, store, streams, log)
}

// store waits for the database.
func (r role) store(ctx context.Context, log *slog.Logger) (*sqltest.Store, error) {
	for {
		c, cancel := context.WithTimeout(ctx, 3*time.Second)
		s, err := sqltest.OpenWith(c, sql.Config{DSN: r.DSN, Log: log})
		cancel()
		if err == nil || !pause(ctx, 50*time.Millisecond) {
			return s, err
		}
	}
}

// api takes submits and the orders of staff.
func (r role) api(ctx context.Context, store *sqltest.Store) error {
	mux := http.NewServeMux()
	answer := func(path string, do func(ctx context.Context, q *http.Request) (int64, error)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, q *http.Request) {
			c, cancel := context.WithTimeout(q.Context(), 5*time.Second)
			defer cancel()
			id, err := do(c, q)
			if err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			fmt.Fprint(w, id)
		})
	}
	answer("/submit", func(ctx context.Context, q *http.Request) (int64, error) {
		key := q.FormValue("key")
		n := sql.NewJob{
			Problem: "p", Language: "cpp", Author: "user" + q.FormValue("user"), IdempotencyKey: key,
			Sources: []judge.Source{{Name: "main.cpp", Text: key}},
		}
		switch r.Mutant {
		case mutantNoKeys:
			n.IdempotencyKey = ""
		case mutantAnswerFirst: // tells an id and stores nothing, once in a while
			if i, _ := strconv.Atoi(key); i%20 == 7 {
				return 1_000_000 + int64(i), nil
			}
		}
		receipt, err := store.Submit(ctx, n)
		return receipt.JobID, err
	})
	answer("/cancel", func(ctx context.Context, q *http.Request) (int64, error) {
		id, err := strconv.ParseInt(q.FormValue("id"), 10, 64)
		if err != nil {
			return 0, err
		}
		return id, store.Cancel(ctx, id, "staff", "")
	})
	answer("/rejudge", func(ctx context.Context, q *http.Request) (int64, error) {
		id, err := strconv.ParseInt(q.FormValue("id"), 10, 64)
		if err != nil {
			return 0, err
		}
		_, err = store.Rejudge(ctx, []int64{id}, judge.LaneRejudge, "staff")
		return id, err
	})
	answer("/set", func(ctx context.Context, q *http.Request) (int64, error) {
		request := sql.RejudgeRequest{Key: q.FormValue("key"), By: "staff"}
		for _, text := range q.Form["id"] {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, err
			}
			request.JobIDs = append(request.JobIDs, id)
		}
		set, err := store.StartRejudge(ctx, request)
		return set.ID, err
	})
	answer("/resolve", func(ctx context.Context, q *http.Request) (int64, error) {
		id, err := strconv.ParseInt(q.FormValue("set"), 10, 64)
		if err != nil {
			return 0, err
		}
		if q.FormValue("how") == "apply" {
			return id, store.ApplyRejudge(ctx, id, "staff")
		}
		return id, store.CancelRejudge(ctx, id, "staff")
	})
	_ = os.Remove(r.Socket) // of an earlier life
	l, err := net.Listen("unix", r.Socket)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = s.Close()
	}()
	if err := s.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// scheduler is what `deepoj scheduler` runs.
func (r role) scheduler(ctx context.Context, store *sqltest.Store, streams *queue.Streams, log *slog.Logger) error {
	var d *scheduler.Dispatcher
	redriver, err := scheduler.NewRedriver(scheduler.RedriverConfig{
		Interval: 200 * time.Millisecond, Changed: streams.Changed(), Wake: func() { d.Wake() }, Log: log,
	}, store)
	if err != nil {
		return err
	}
	sw, err := r.delivery(store, streams, log, func(bool) { redriver.Resend(); d.Wake() })
	if err != nil {
		return err
	}
	d, err = scheduler.NewDispatcher(scheduler.DispatcherConfig{
		Name: r.Name, Shards: r.Shards, ShardLease: lease, PollInterval: 200 * time.Millisecond, WorkerAge: 3 * time.Second, Hold: sw.Hold, Log: log,
	}, store, sw)
	if err != nil {
		return err
	}
	reclaimer, err := scheduler.NewReclaimer(scheduler.ReclaimerConfig{
		Interval: 200 * time.Millisecond, Grace: grace, Losses: 100, Wake: d.Wake, Log: log,
	}, store, streams)
	if err != nil {
		return err
	}
	runs := []func(context.Context) error{sw.Run, d.Run}
	if r.Mutant != mutantNoRedelivery {
		runs = append(runs, redriver.Run)
	}
	if r.Mutant != mutantNoReaper {
		runs = append(runs, reclaimer.Run)
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, run := range runs {
		g.Go(func() error { return run(ctx) })
	}
	return g.Wait()
}

// delivery is that of DELIVERY=auto.
func (r role) delivery(store *sqltest.Store, streams *queue.Streams, log *slog.Logger, changed func(bool)) (*scheduler.Switch, error) {
	return scheduler.NewSwitch(scheduler.SwitchConfig{
		Interval: 200 * time.Millisecond, Timeout: 500 * time.Millisecond, Quiet: time.Second, Changed: changed, Log: log,
	}, streams, store.Delivery("", "", r.Name, nil))
}

// worker is what `deepoj worker` runs, with a journal.
func (r role) worker(ctx context.Context, store *sqltest.Store, streams *queue.Streams, log *slog.Logger) error {
	j, err := openJournal(r)
	if err != nil {
		return err
	}
	if j.blobs, err = r.openBlobs(ctx); err != nil {
		return err
	}
	sw, err := r.delivery(store, streams, log, nil)
	if err != nil {
		return err
	}
	w, err := worker.New(worker.Config{
		Name: r.Name, Slots: slots, Lease: lease, Heartbeat: heartbeat, Grace: time.Second,
		ReceiveWait: 200 * time.Millisecond, BeatEvery: 500 * time.Millisecond, Log: log,
		ProbeEvery: time.Second,
		Needs:      []worker.Need{{Name: needBlobs, Probe: j.blobs.Probe}},
		Languages:  func(context.Context) []judge.Language { return []judge.Language{{ID: "cpp", Available: true}} },
		Context: func(ctx context.Context, job judge.Claim) context.Context {
			return context.WithValue(ctx, jobKey{}, job)
		},
	}, &journalledStore{store, j}, &journalledDelivery{sw, j}, j, skewed{liveness.NewPostgres(store.Queue, 0), r.Skew})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return sw.Run(ctx) })
	g.Go(func() error { return w.Run(ctx) })
	return g.Wait()
}

// needBlobs is the worker's name for its blob store.
const needBlobs = "blob_store"

// openBlobs waits for the blob store.
func (r role) openBlobs(ctx context.Context) (*blob.Dir, error) {
	for {
		d, err := blob.OpenDir(r.Blobs)
		if err == nil || !pause(ctx, 50*time.Millisecond) {
			return d, err
		}
	}
}

// skewed is a directory for a worker whose clock is wrong. These are the only
// times of a worker that leave it: everything else it measures by its monotonic
// clock, or leaves to the database.
type skewed struct {
	worker.Directory
	by time.Duration
}

func (s skewed) Beat(ctx context.Context, w judge.WorkerInfo) error {
	w.Started, w.Seen = w.Started.Add(s.by), w.Seen.Add(s.by)
	return s.Directory.Beat(ctx, w)
}
