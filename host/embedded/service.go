package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Pace of starting a server again that died by itself.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// service keeps one child alive.
type service struct {
	name   string
	log    *slog.Logger
	launch func(context.Context) (*child, error) // starts it and waits until it is ready
	steps  []step                                // how it is stopped
	lock   *folderLock

	mu     sync.Mutex
	cur    *child
	closed bool
}

// PID returns the process id of the running server.
func (s *service) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur.pid
}

// Run starts the server again whenever it ends by itself, until ctx is done;
// then it stops the server and returns nil. An error says that the server did
// not stop in order.
func (s *service) Run(ctx context.Context) error {
	pause, began := firstPause, time.Now()
	for {
		s.mu.Lock()
		cur, closed := s.cur, s.closed
		s.mu.Unlock()
		if closed {
			return nil
		}
		select {
		case <-ctx.Done():
			return s.Close()
		case <-cur.done:
		}
		if time.Since(began) > longestPause {
			pause = firstPause // it was well for a while
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			continue
		case <-timer.C:
		}
		pause, began = min(2*pause, longestPause), time.Now()
		if err := s.again(ctx, cur); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "embedded server does not start", slog.String("server", s.name), slog.Any("err", err))
		}
	}
}

// again starts the server in place of the ended child old.
func (s *service) again(ctx context.Context, old *child) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.cur != old || ctx.Err() != nil {
		return nil
	}
	s.log.WarnContext(ctx, "embedded server ended by itself; starting it again",
		slog.String("server", s.name), slog.Int("pid", old.pid), slog.Any("err", old.err))
	c, err := s.launch(ctx)
	if err != nil {
		return err
	}
	s.cur = c
	return nil
}

// Close stops the server and gives its folder free. It may be called more than
// once. An error says that the server had to be killed; its data is safe.
func (s *service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.cur.end(s.steps)
	if err != nil {
		err = fmt.Errorf("stop %s: %w", s.name, err)
	}
	return errors.Join(err, s.lock.release())
}
