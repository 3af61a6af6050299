package queue

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"deepoj/host/judge"
)

// Publish implements [Delivery] with one round trip.
func (s *Streams) Publish(ctx context.Context, tickets []judge.Ticket) ([]string, error) {
	if len(tickets) == 0 {
		return nil, nil
	}
	p := s.rdb.Pipeline()
	epoch := p.Get(ctx, s.epochKey)
	adds := make([]*redis.StringCmd, len(tickets))
	for i, t := range tickets {
		adds[i] = p.XAdd(ctx, &redis.XAddArgs{Stream: s.key, MaxLen: s.cfg.MaxLen, Approx: true, Values: fields(t)})
	}
	if _, err := p.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("publish %d entries: %w", len(tickets), err)
	}
	ids := make([]string, len(adds))
	for i, a := range adds {
		var err error
		if ids[i], err = a.Result(); err != nil {
			return nil, fmt.Errorf("publish entry %d of %d: %w", i+1, len(adds), err)
		}
	}
	// The entries are in the stream, whatever this says about older ones.
	if epoch.Val() == "" || epoch.Val() != s.known() {
		if err := s.look(ctx); err != nil {
			s.cfg.Log.WarnContext(ctx, "redis changed and cannot be looked at", attrErr(err))
		}
	}
	return ids, nil
}

// Receive implements [Delivery]. It returns no later than a second after ctx ended.
func (s *Streams) Receive(ctx context.Context, limit int, wait time.Duration) ([]judge.Entry, error) {
	if limit <= 0 {
		return nil, nil
	}
	for end := time.Now().Add(wait); ; {
		if ctx.Err() != nil {
			return nil, nil //nolint:nilerr // the caller ends it: there is nothing to receive
		}
		block := min(time.Until(end), longestBlock)
		if block < time.Millisecond {
			block = -1 // do not wait
		}
		streams, err := s.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
			Group: s.cfg.Group, Consumer: s.consumer, Streams: []string{s.key, ">"}, Count: int64(limit), Block: block,
		}).Result()
		switch {
		case err == nil:
			return entries(streams), nil
		case ctx.Err() != nil:
			return nil, nil //nolint:nilerr // as above
		case isNoGroup(err):
			if err := s.restore(ctx); err != nil {
				return nil, fmt.Errorf("receive: %w", err)
			}
			continue // what was added before the group is there now
		case !errors.Is(err, redis.Nil):
			return nil, fmt.Errorf("receive: %w", err)
		}
		if !time.Now().Before(end) {
			return nil, nil
		}
	}
}

func entries(streams []redis.XStream) []judge.Entry {
	var es []judge.Entry
	for _, st := range streams {
		for _, m := range st.Messages {
			es = append(es, parse(m))
		}
	}
	return es
}

// Ack implements [Delivery]: what is acknowledged is deleted, so the stream holds only what nobody has decided about.
func (s *Streams) Ack(ctx context.Context, entries ...judge.Entry) error {
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
	}
	return s.remove(ctx, ids)
}

func (s *Streams) remove(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	p := s.rdb.Pipeline()
	p.XAck(ctx, s.key, s.cfg.Group, ids...)
	p.XDel(ctx, s.key, ids...)
	if _, err := p.Exec(ctx); err != nil {
		return fmt.Errorf("acknowledge %d entries: %w", len(ids), err)
	}
	return nil
}

func isNoGroup(err error) bool { return redis.HasErrorPrefix(err, "NOGROUP") }

func isBusyGroup(err error) bool { return strings.HasPrefix(err.Error(), "BUSYGROUP") }

// The fields of an entry. All but trace_id must be there.
const (
	fieldJob      = "job_id"
	fieldEnqueued = "enqueue_ts" // milliseconds since 1970
	fieldPayload  = "payload_ref"
	fieldPriority = "priority"
	fieldTrace    = "trace_id"
)

// fields is what a ticket looks like in the stream.
func fields(t judge.Ticket) []any {
	return []any{
		fieldJob, t.JobID, fieldEnqueued, t.Enqueued.UnixMilli(), fieldPayload, t.PayloadRef,
		fieldPriority, t.Priority, fieldTrace, t.TraceID,
	}
}

// parse reads an entry. A malformed one says so in Reason and names its job if it can.
func parse(m redis.XMessage) judge.Entry {
	e := judge.Entry{ID: m.ID}
	missing, invalid := false, false
	get := func(name string) string {
		v, ok := m.Values[name].(string)
		if !ok || v == "" {
			missing = true
		}
		return v
	}
	number := func(name string) int64 {
		v := get(name)
		if v == "" {
			return 0
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			invalid = true
			return 0
		}
		return n
	}
	e.JobID = number(fieldJob)
	invalid = invalid || e.JobID < 0
	e.Enqueued = time.UnixMilli(number(fieldEnqueued))
	e.Priority = int(number(fieldPriority))
	e.PayloadRef = get(fieldPayload)
	e.TraceID, _ = m.Values[fieldTrace].(string)
	switch {
	case missing:
		e.Reason = string(judge.ReasonMissingField)
	case invalid || e.JobID == 0 || !validRef(e.PayloadRef, e.JobID):
		e.Reason = string(judge.ReasonPayload)
	}
	return e
}

// validRef reports whether ref can name the payload of a job: pg:<job id> or sha256:<hex>.
func validRef(ref string, jobID int64) bool {
	kind, rest, _ := strings.Cut(ref, ":")
	switch kind {
	case "pg":
		return rest == strconv.FormatInt(jobID, 10)
	case "sha256":
		b, err := hex.DecodeString(rest)
		return err == nil && len(b) == 32
	default:
		return false
	}
}
