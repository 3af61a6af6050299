package feed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/feedtest"
	"deepoj/host/feed/wal"
)

// childEnv has the life of a child, which is this program once more.
const childEnv = "FEED_TEST_CHILD"

// life is what a child does: it runs a feed until all changes are in Kafka, or dies at a step.
type life struct {
	Dir      string
	Brokers  []string
	Exactly  bool
	From, To uint64 // what has come to pass when it begins, and later
	Step     string // at which it dies; empty = it does not
	Nth      int
	Slowly   bool // changes come bit by bit, and the checkpoint is waited for

	Transaction, Oldest uint64
	Cuts, Fails         []uint64 // changes behind which the source breaks, and records of snapshots
	System              string   // of which the data is; empty = as always
	Excused             bool     // the source may find that positions do not fit
}

// child lives.
func child() {
	var l life
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &l); err != nil {
		panic(err)
	}
	if err := l.live(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

func (l life) live() error {
	source := &feedtest.Source{Confirmed: filepath.Join(l.Dir, "confirmed"), Transaction: l.Transaction}
	source.Produce(l.From)
	source.Purge(l.Oldest)
	source.CutBehind(l.Cuts...)
	source.FailSnapshots(l.Fails...)
	if l.System != "" {
		source.Replace(l.System)
	}
	o, err := options(source, l.Dir, l.Brokers, l.Exactly)
	if err != nil {
		return err
	}
	steps := make(chan string)
	go func() {
		for n := 0; ; {
			if <-steps == l.Step {
				if n++; n == l.Nth {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}
			}
			steps <- ""
		}
	}()
	turn := make(chan struct{}, 1) // one step at a time
	o.Step = func(step string) {
		turn <- struct{}{}
		steps <- step
		<-steps
		<-turn
	}
	f, err := feed.New(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	go func() {
		if !wait(ctx, func() bool { return len(source.Sessions()) > 0 }) {
			return
		}
		for n := l.From; n < l.To; {
			n = min(n+40, l.To)
			if !l.Slowly {
				n = l.To
			}
			source.Produce(n)
			if !wait(ctx, func() bool { return !l.Slowly || l.saved(n) }) {
				return
			}
		}
		if wait(ctx, func() bool { return l.saved(l.To) }) {
			cancel()
		}
	}()
	if err := f.Run(ctx); err != nil {
		return err
	}
	for _, p := range source.Sessions() {
		if l.Excused {
			break
		}
		if p.Why == "the log is lost" || p.Why == "the position is gone" || p.Why == "the data is another" {
			return fmt.Errorf("the source was acknowledged what was not durable: %+v", p)
		}
	}
	if !l.saved(l.To) {
		return fmt.Errorf("not all changes are in Kafka: %+v", f.Status())
	}
	return nil
}

// saved reports whether the checkpoint says that the sink has all up to change n.
func (l life) saved(n uint64) bool {
	c, found, err := checkpoint.Load(filepath.Join(l.Dir, "checkpoint.json"), "test:1")
	return err == nil && found && c.Ack.Offset >= n && c.Snapshot.State != checkpoint.Running
}

func wait(ctx context.Context, so func() bool) bool {
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// live runs a child and reports whether it was killed. Any other bad end is one of the test.
func live(t *testing.T, l life) (killed bool) {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL && l.Step != "" {
			return true
		}
	}
	if err != nil {
		t.Fatalf("a life of %+v ends with %v: %s", l, err, out.Bytes())
	}
	return false
}

func TestADeathAtAnyStepLosesNothingAndDoublesOnlyWhatItMay(t *testing.T) {
	t.Parallel()
	for step, nth := range map[string]int{
		"received": 37, "half": 3, "written": 3, "synced": 4, "durable": 3, "rotating": 2, "rotated": 2, "cleaning": 1, "cleaned": 1,
		"produced": 4, "acknowledged": 4, "snapshot": 2, "snapshot-end": 1,
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, exactly bool) {
				s := newSetup(t, exactly)
				l := life{
					Dir: s.dir, Brokers: s.kafka.ListenAddrs(), Exactly: exactly, From: 100, To: 300, Step: step, Nth: nth,
					Slowly: step == "cleaning" || step == "cleaned",
				}
				if !live(t, l) {
					t.Fatalf("the step %s was not taken %d times", step, nth)
				}
				l.From, l.To = 300, 500
				live(t, l) // the step may be behind it for ever, as that of a snapshot
				l.From, l.To, l.Step = 500, 700, ""
				live(t, l)
				s.check(700, feedtest.Rules{Once: exactly})
				if rep, err := wal.Verify(t.Context(), filepath.Join(s.dir, "wal")); err != nil || len(rep.Faults) > 0 || rep.Torn != nil {
					t.Errorf("the log has %+v, %v", rep, err)
				}
			})
		})
	}
}
