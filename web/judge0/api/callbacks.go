package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"deepoj/sql"
	"deepoj/web/judge0"
)

// The pace of callbacks.
const (
	callbackTries = 3
	callbackPoll  = 500 * time.Millisecond // between looks; the table is empty unless runs ask for callbacks
	callbackBatch = 8                      // at once
)

// SendCallbacks tells the addresses of runs that have ended, until ctx is done. Each try has a lease in the database,
// so that several servers share the work and what one of them leaves undone is tried again.
func (s *Room) SendCallbacks(ctx context.Context) error {
	tick := time.NewTicker(callbackPoll)
	defer tick.Stop()
	for {
		due, err := s.Store.DueCallbacks(ctx, callbackBatch)
		if err != nil && ctx.Err() == nil {
			s.Log.DebugContext(ctx, "callbacks cannot be looked for", slog.Any("err", err))
		}
		var calls sync.WaitGroup
		for _, one := range due {
			calls.Go(func() { s.callBack(ctx, one) })
		}
		calls.Wait()
		if len(due) == callbackBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// callBack makes one try. An answer of 5xx, or none, is tried again.
func (s *Room) callBack(ctx context.Context, one sql.Callback) {
	status, err := 0, error(nil)
	body, err := s.callbackBody(ctx, one)
	if err == nil {
		status, err = s.caller.Put(ctx, one.URL, body)
	}
	if ctx.Err() != nil {
		return // of a stop nothing is known: the lease runs out
	}
	log := s.Log.With(slog.Int64("job_id", one.JobID), slog.Int("try", int(one.Tries)), slog.Int("status", status))
	outcome, settle := "told", s.Store.CallbackDone
	switch {
	case err == nil && status < 500:
		log.InfoContext(ctx, "callback made")
	case one.Tries < callbackTries:
		outcome, settle = "again", s.Store.CallbackAgain
		log.InfoContext(ctx, "callback failed and is tried again", slog.Any("err", err))
	default:
		outcome = "failed"
		log.WarnContext(ctx, "callback failed for good", slog.Any("err", err))
	}
	s.Count.Callbacks.WithLabelValues(outcome).Inc()
	if err := settle(ctx, one.Token); err != nil {
		log.WarnContext(ctx, "the end of a callback cannot be recorded", slog.Any("err", err))
	}
}

// callbackBody is what an address is told: the default fields, in Base64.
func (s *Room) callbackBody(ctx context.Context, one sql.Callback) ([]byte, error) {
	run, err := s.Store.Run(ctx, one.JobID)
	if err != nil {
		return nil, err
	}
	out, err := judge0.Encode(run, nil, true, nil)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode a callback: %w", err)
	}
	return body, nil
}
