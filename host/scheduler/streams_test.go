package scheduler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"deepoj/host/judge"
	"deepoj/queue"
)

// command sends one command to Redis.
func (r *redis) command(words string) {
	r.t.Helper()
	conn, err := net.Dial("unix", r.Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "%s\r\n", words); err != nil {
		r.t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || strings.HasPrefix(line, "-") {
		r.t.Fatalf("%s: %q (%v)", words, line, err)
	}
}

func TestJobsTravelOverStreams(t *testing.T) {
	t.Parallel()
	b, r := newBench(t), newRedis(t)
	sending, receiving := r.streams(), r.streams()
	d := b.dispatcher(sending)
	b.run(d)
	b.run(b.redriver(sending.Changed(), d.Wake))
	for range 2 {
		b.run(b.worker(receiving, 4, accept, d.Wake))
	}
	b.allFinished(b.submit(200))
	b.eventually("the stream is empty again", func() bool {
		s, err := receiving.Stats(t.Context())
		return err == nil && s.Length == 0 && s.Pending == 0
	})
}

func TestNoJobIsLostWithRedis(t *testing.T) {
	t.Parallel()
	tests := map[string]func(r *redis){
		"flushed":          func(r *redis) { r.command("FLUSHALL") },
		"restarted, empty": func(r *redis) { r.stop(); r.start() },
	}
	for name, lose := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newBench(t), newRedis(t)
			b.seen(2, "cpp") // so that jobs are sent before anybody reads
			sending := r.streams()
			d := b.dispatcher(sending, func(c *DispatcherConfig) { c.WorkerAge = time.Hour })
			b.run(d)
			b.run(b.redriver(sending.Changed(), d.Wake))
			ids := b.submit(30)
			b.eventually("all are in the stream", func() bool { return b.stats().Delivered == 30 })
			lose(r)
			b.run(b.worker(r.streams(), 4, accept, d.Wake))
			b.allFinished(ids)
		})
	}
}

// auto is a whole installation with DELIVERY=auto.
func (b bench) auto(r *redis, j judgeFunc) (*Switch, *Dispatcher) {
	b.t.Helper()
	var d *Dispatcher
	var redrive *Redriver
	newSwitch := func(streams *queue.Streams, changed func(bool)) *Switch {
		s, err := NewSwitch(SwitchConfig{
			Interval: 100 * time.Millisecond, Timeout: 500 * time.Millisecond, Quiet: 300 * time.Millisecond,
			Changed: changed, Log: b.log, Registerer: b.reg,
		}, streams, b.Delivery("", "", "w", nil))
		if err != nil {
			b.t.Fatal(err)
		}
		return s
	}
	sending := r.streams()
	sender := newSwitch(sending, func(bool) {
		redrive.Resend()
		d.Wake()
	})
	d = b.dispatcher(sender, func(c *DispatcherConfig) { c.Hold = sender.Hold })
	redrive = b.redriver(sending.Changed(), d.Wake)
	receiver := newSwitch(r.streams(), nil)
	b.run(sender)
	b.run(receiver)
	b.run(d)
	b.run(redrive)
	b.run(b.worker(receiver, 4, j, d.Wake))
	return sender, d
}

func TestWorkGoesOnWithoutRedisAndReturnsToIt(t *testing.T) {
	t.Parallel()
	b, r := newBench(t), newRedis(t)
	var judged atomic.Int32
	s, _ := b.auto(r, func(ctx context.Context) (judge.Result, error) {
		judged.Add(1)
		return accept(ctx)
	})
	ids := b.submit(20)
	b.allFinished(ids)
	if !s.Streaming() || b.figure("delivery_streams_up") != 1 {
		t.Error("jobs do not travel over streams though Redis is well")
	}

	r.stop()
	more := b.submit(40)
	b.allFinished(more)
	b.eventually("the switch has turned", func() bool { return !s.Streaming() && b.figure("delivery_streams_up") == 0 })

	r.start()
	b.eventually("the switch has turned back", s.Streaming)
	before := b.figure("api_outbox_dispatch_total", "status", statusOK)
	last := b.submit(20)
	b.allFinished(last)
	b.eventually("jobs travelled over streams after Redis was back", func() bool {
		return b.figure("api_outbox_dispatch_total", "status", statusOK) > before
	})
	if got := int(judged.Load()); got != 80 {
		t.Errorf("judged %d times, want each of 80 jobs once", got)
	}
}

func TestAHungRedisIsNoReasonToWait(t *testing.T) {
	t.Parallel()
	b, r := newBench(t), newRedis(t)
	s, _ := b.auto(r, accept)
	b.allFinished(b.submit(5))
	pid := r.PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b.allFinished(b.submit(20))
	b.eventually("the switch has turned", func() bool { return !s.Streaming() })
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	b.eventually("the switch has turned back", s.Streaming)
	b.allFinished(b.submit(5))
}

// hung is a Redis that takes connections and answers nothing.
type hung struct{ shelf }

func (h *hung) Ping(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (h *hung) Receive(ctx context.Context, _ int, _ time.Duration) ([]judge.Entry, error) {
	<-ctx.Done()
	return nil, nil
}

// stocked is a database that has work.
type stocked struct{ shelf }

func (f *stocked) Receive(context.Context, int, time.Duration) ([]judge.Entry, error) {
	return []judge.Entry{{Ticket: judge.Ticket{JobID: 7}}}, nil
}

func TestASilentReadIsGivenUpAndMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, err := NewSwitch(SwitchConfig{Quiet: time.Hour}, &hung{}, &stocked{})
		if err != nil {
			t.Fatal(err)
		}
		es, err := s.Receive(t.Context(), 1, time.Second)
		if err != nil || len(es) != 1 || es[0].JobID != 7 {
			t.Errorf("received %v (%v), want the job from the database", es, err)
		}
		if took := time.Since(began); took != 3*time.Second { // what it was to wait, and the time for an answer
			t.Errorf("after %s, want 3s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		<-time.After(5 * time.Second)
		synctest.Wait()
		if s.Streaming() {
			t.Error("a Redis that does not answer is trusted")
		}
		if _, err := s.Publish(ctx, []judge.Ticket{{JobID: 8}}); !errors.Is(err, errHolding) {
			t.Errorf("Publish returned %v, want a refusal", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	})
}

func TestAWorkerLooksForItselfWhenTheDispatcherIsSilent(t *testing.T) {
	t.Parallel()
	b, r := newBench(t), newRedis(t)
	s, err := NewSwitch(SwitchConfig{Quiet: 200 * time.Millisecond, Log: b.log}, r.streams(), b.Delivery("", "", "w", nil))
	if err != nil {
		t.Fatal(err)
	}
	b.run(s)
	b.run(b.worker(s, 2, accept, nil)) // and no dispatcher at all
	b.allFinished(b.submit(3))
}

func TestFiguresAreKeptUpToDate(t *testing.T) {
	t.Parallel()
	b, r := newBench(t), newRedis(t)
	b.seen(1, "cpp")
	streams := r.streams()
	b.run(b.dispatcher(streams, func(c *DispatcherConfig) { c.WorkerAge = time.Hour }))
	o, err := NewObserver(ObserverConfig{Interval: 50 * time.Millisecond, Log: b.log, Registerer: b.reg}, b.Store, streams)
	if err != nil {
		t.Fatal(err)
	}
	b.run(o)
	b.submit(40) // the window is 34
	for name, want := range map[string]float64{
		gaugePending: 6, gaugeDelivered: 34, gaugeLength: 34, gaugeLag: 34, gaugePEL: 0, gaugeRunning: 0, gaugeDead: 0,
	} {
		b.eventually(name, func() bool { return b.figure(name) == want })
	}
	b.eventually("depth", func() bool { return b.figure("queue_depth", "lane", "2") == 6 })
	b.eventually("age", func() bool { return b.figure(gaugeOldest) > 0 })
	if _, err := streams.Receive(t.Context(), 5, time.Second); err != nil {
		t.Fatal(err)
	}
	b.eventually("entries that are read", func() bool { return b.figure(gaugePEL) == 5 })
}
