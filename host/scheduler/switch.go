package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/queue"
)

// Streams is what a [Switch] asks of Redis; a [*queue.Streams] answers.
type Streams interface {
	queue.Delivery
	Ping(ctx context.Context) error
}

// SwitchConfig sets the pace of a [Switch].
type SwitchConfig struct {
	// Interval is the time between two questions to Redis whether it answers. Defaults to 1 second.
	Interval time.Duration

	// Timeout is how long it may take to answer. Defaults to 2 seconds.
	Timeout time.Duration

	// Quiet is how long a worker waits on a silent stream before it looks into the database itself, in case the
	// dispatcher cannot reach Redis. Defaults to 3 seconds.
	Quiet time.Duration

	// Changed is called after each change, such as to wake a dispatcher and to
	// deliver again what lies in a queue that is gone. Defaults to nothing.
	Changed func(streaming bool)

	// Log gets every change. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Validate reports every field that is out of range.
func (c SwitchConfig) Validate() error {
	return errors.Join(negative("Interval", c.Interval), negative("Timeout", c.Timeout), negative("Quiet", c.Quiet))
}

// Switch is the delivery of DELIVERY=auto: Redis streams while Redis answers, PostgreSQL while it does not, and back by
// itself. It needs no agreement between processes: a job that arrives both ways is claimed once.
type Switch struct {
	cfg      SwitchConfig
	streams  Streams
	direct   queue.Delivery
	gauge    prometheus.Gauge
	down     atomic.Bool
	trouble  chan error   // failures seen in passing, for Run
	lastWork atomic.Int64 // when the stream last gave something or the database was asked, in Unix nanoseconds
}

var (
	_ queue.Delivery = (*Switch)(nil)
	_ queue.Taker    = (*Switch)(nil)
)

// NewSwitch returns a switch between streams and direct. It begins with streams.
func NewSwitch(cfg SwitchConfig, streams Streams, direct queue.Delivery) (*Switch, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("delivery switch: %w", err)
	}
	cfg.Interval = cmp.Or(cfg.Interval, time.Second)
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Second)
	cfg.Quiet = cmp.Or(cfg.Quiet, 3*time.Second)
	if cfg.Changed == nil {
		cfg.Changed = func(bool) {}
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	gauge, err := telemetry.Register(cfg.Registerer, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "delivery_streams_up", Help: "1 while jobs travel over Redis streams, 0 while workers take them from PostgreSQL.",
	}))
	if err != nil {
		return nil, err
	}
	gauge.Set(1)
	s := &Switch{cfg: cfg, streams: streams, direct: direct, gauge: gauge, trouble: make(chan error, 1)}
	s.lastWork.Store(time.Now().UnixNano())
	return s, nil
}

// Streaming reports whether jobs travel over Redis streams now.
func (s *Switch) Streaming() bool { return !s.down.Load() }

// Hold reports that a dispatcher must leave jobs in the database (see [DispatcherConfig]).
func (s *Switch) Hold() bool { return s.down.Load() }

// Run asks Redis whether it answers until ctx is done, then returns nil.
func (s *Switch) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var seen error
		select {
		case <-ctx.Done():
			return nil
		case seen = <-s.trouble:
		case <-timer.C:
		}
		err := s.ping(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			s.turn(ctx, false, errors.Join(seen, err))
		default:
			s.turn(ctx, true, nil)
		}
		timer.Reset(jitter(s.cfg.Interval))
	}
}

func (s *Switch) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	return s.streams.Ping(ctx)
}

// turn makes streaming the state of things.
func (s *Switch) turn(ctx context.Context, streaming bool, err error) {
	if s.down.Swap(!streaming) != streaming {
		return // as before
	}
	if streaming {
		s.gauge.Set(1)
		s.cfg.Log.InfoContext(ctx, "redis answers: jobs travel over its streams again")
	} else {
		s.gauge.Set(0)
		s.cfg.Log.WarnContext(ctx, "redis does not answer: workers take jobs from the database", slog.Any("err", err))
	}
	s.cfg.Changed(streaming)
}

// suspect has Run ask at once.
func (s *Switch) suspect(err error) {
	select {
	case s.trouble <- err:
	default:
	}
}

// Publish adds tickets to the stream. While Redis does not answer it refuses: the jobs are to stay in the database.
func (s *Switch) Publish(ctx context.Context, tickets []judge.Ticket) ([]string, error) {
	if !s.Streaming() {
		return nil, errHolding
	}
	ids, err := s.streams.Publish(ctx, tickets)
	if err != nil {
		s.suspect(err)
	}
	return ids, err
}

// errHolding is returned by a Publish that came while the switch turned.
var errHolding = errors.New("redis does not answer: jobs stay in the database")

// Receive takes entries from the stream, or jobs from the database while Redis
// does not answer, and also when the stream has been silent for long.
func (s *Switch) Receive(ctx context.Context, limit int, wait time.Duration) ([]judge.Entry, error) {
	if !s.Streaming() {
		return s.direct.Receive(ctx, limit, wait)
	}
	entries, err := s.read(ctx, limit, wait)
	switch {
	case ctx.Err() != nil:
		return entries, nil //nolint:nilerr // a stop is not a failure
	case err != nil:
		s.suspect(err)
	case len(entries) > 0:
		s.lastWork.Store(time.Now().UnixNano())
		return entries, nil
	case time.Since(time.Unix(0, s.lastWork.Load())) < s.cfg.Quiet:
		return nil, nil
	}
	s.lastWork.Store(time.Now().UnixNano())
	found, failed := s.direct.Receive(ctx, limit, 0)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	return found, nil
}

// Taking reports whether workers take jobs from the database now.
func (s *Switch) Taking() bool {
	t, ok := s.direct.(queue.Taker)
	return ok && t.Taking() && !s.Streaming()
}

// Take implements [queue.Taker]; without one to ask there is nothing to take.
func (s *Switch) Take(ctx context.Context, limit int, wait time.Duration, owner, token string, lease time.Duration) ([]judge.Claim, time.Time, error) {
	t, ok := s.direct.(queue.Taker)
	if !ok {
		return nil, time.Time{}, nil
	}
	return t.Take(ctx, limit, wait, owner, token, lease)
}

// read takes entries from the stream. A Redis that is silent for longer than it was asked to wait is a failure.
func (s *Switch) read(ctx context.Context, limit int, wait time.Duration) ([]judge.Entry, error) {
	c, cancel := context.WithTimeout(ctx, wait+s.cfg.Timeout)
	defer cancel()
	entries, err := s.streams.Receive(c, limit, wait)
	if err == nil && len(entries) == 0 {
		err = c.Err()
	}
	return entries, err
}

// Ack removes entries of the stream; jobs from the database need none.
func (s *Switch) Ack(ctx context.Context, entries ...judge.Entry) error {
	var streamed []judge.Entry
	for _, e := range entries {
		if e.ID != "" {
			streamed = append(streamed, e)
		}
	}
	if len(streamed) == 0 {
		return nil
	}
	err := s.streams.Ack(ctx, streamed...)
	if err != nil {
		s.suspect(err)
	}
	return err
}
