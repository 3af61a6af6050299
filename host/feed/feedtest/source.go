// Package feedtest has a source whose truth is a function of the position, and a check of what a sink has against it.
//
// Change n lies at position 1/n and is of key n modulo Keys. Every tenth is dropped by the filter. A snapshot at n has of
// each key the newest change up to n.
package feedtest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"deepoj/host/feed"
	"deepoj/host/feed/checkpoint"
	"deepoj/host/feed/wal"
)

// Source is the source. Fields are set before use.
type Source struct {
	Keys        uint64             // 7 if 0
	Transaction uint64             // changes that are one transaction; each is whole if 0
	Size        func(n uint64) int // bytes that change n has besides; nil = 100 each
	Confirmed   string             // file that keeps how far the source was acknowledged over processes; "" = none

	mu        sync.Mutex
	changed   chan struct{}
	system    string
	head      uint64 // changes up to here have come to pass
	oldest    uint64 // changes from here on are still there
	confirmed uint64
	cut       error // what ends sessions that are open
	cuts      int
	refuse    []error
	fail      []uint64 // of snapshots that come: after how many records they break
	cutAt     []uint64 // the session that comes to such a change breaks behind it
	hold      chan struct{}
	sessions  []feed.Plan
}

// Event is what consumers get, and what [Check] reads. Markers have the same fields, as far as they have any.
type Event struct {
	Type  string `json:"event_type"`
	ID    string `json:"event_id"`
	N     uint64 `json:"n"`
	At    uint64 `json:"at"` // what a snapshot is of
	Epoch uint32 `json:"epoch"`
	Fill  string `json:"fill,omitempty"`
}

func (s *Source) lock() {
	s.mu.Lock()
	if s.changed == nil {
		s.changed = make(chan struct{})
		s.system = "one"
		if s.Confirmed != "" {
			text, _ := os.ReadFile(filepath.Clean(s.Confirmed))
			s.confirmed, _ = strconv.ParseUint(string(text), 10, 64)
		}
	}
}

func (s *Source) change(how func()) {
	s.lock()
	defer s.mu.Unlock()
	how()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Produce lets changes up to n come to pass.
func (s *Source) Produce(n uint64) { s.change(func() { s.head = max(s.head, n) }) }

// Purge lets the source forget changes before n.
func (s *Source) Purge(n uint64) { s.change(func() { s.oldest = n }) }

// Cut ends open sessions with an error.
func (s *Source) Cut(err error) { s.change(func() { s.cut, s.cuts = err, s.cuts+1 }) }

// CutBehind ends the sessions that come to these changes, once for each, which are in rising order.
func (s *Source) CutBehind(n ...uint64) { s.change(func() { s.cutAt = n }) }

// Refuse lets the next calls of Open fail.
func (s *Source) Refuse(errs ...error) { s.change(func() { s.refuse = append(s.refuse, errs...) }) }

// FailSnapshots lets the next snapshots break after so many records each.
func (s *Source) FailSnapshots(after ...uint64) {
	s.change(func() { s.fail = append(s.fail, after...) })
}

// HoldSnapshots lets snapshots wait before their last record until the returned function is called.
func (s *Source) HoldSnapshots() (release func()) {
	c := make(chan struct{})
	s.change(func() { s.hold = c })
	return sync.OnceFunc(func() { close(c) })
}

// Replace lets the source have other data from now on, as after a failover.
func (s *Source) Replace(system string) { s.change(func() { s.system = system }) }

// Acknowledged is the last change that the source was told to be durable.
func (s *Source) Acknowledged() uint64 {
	s.lock()
	defer s.mu.Unlock()
	return s.confirmed
}

// Sessions are the plans of all sessions that were opened.
func (s *Source) Sessions() []feed.Plan {
	s.lock()
	defer s.mu.Unlock()
	return append([]feed.Plan(nil), s.sessions...)
}

func (s *Source) keys() uint64 { return max(1, s.Keys+7*yes(s.Keys == 0)) }

func yes(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Kept reports whether change n goes to the sink.
func Kept(n uint64) bool { return n%10 != 0 }

// Whole implements [feed.Source].
func (s *Source) Whole(r wal.Record) bool {
	return s.Transaction == 0 || binary.BigEndian.Uint64(r.Payload)%s.Transaction == 0
}

// Event implements [feed.Source].
func (s *Source) Event(dst []byte, r wal.Record) (feed.Out, error) {
	if len(r.Payload) < 8 {
		return feed.Out{}, errors.New("a change without a number")
	}
	n := binary.BigEndian.Uint64(r.Payload)
	if n != r.Position.Offset {
		return feed.Out{}, fmt.Errorf("change %d lies at %s", n, r.Position)
	}
	if !Kept(n) {
		return feed.Out{}, nil
	}
	return s.out(dst, Event{Type: "change", N: n, ID: fmt.Sprintf("change:%d", n), Epoch: r.Epoch, Fill: string(r.Payload[8:])})
}

func (s *Source) out(dst []byte, e Event) (feed.Out, error) {
	dst = fmt.Appendf(dst, "db0:string:k%d", e.N%s.keys())
	split := len(dst)
	value, err := json.Marshal(e)
	dst = append(dst, value...)
	return feed.Out{Keep: true, Key: dst[:split], Value: dst[split:], ID: e.ID, Snapshot: e.Type == "snapshot"}, err
}

// Open implements [feed.Source].
func (s *Source) Open(_ context.Context, have feed.Have) (feed.Session, error) {
	s.lock()
	defer s.mu.Unlock()
	if len(s.refuse) > 0 {
		err := s.refuse[0]
		s.refuse = s.refuse[1:]
		return nil, err
	}
	resume := have.Durable.Position.Offset
	if resume == 0 {
		resume = have.Ack.Offset
	}
	p := feed.Plan{System: checkpoint.System{ID: s.system}, At: wal.Position{Filenum: 1, Offset: s.head}, Snapshot: true}
	switch {
	case have.Fresh && have.Start.Given:
		p.At, p.Snapshot = have.Start.Position, false
	case have.Fresh && have.Start.FromMaster:
		p.Snapshot = false
	case have.Fresh:
		p.Why = "there is nothing yet"
	case have.Snapshot.State == checkpoint.Running:
		p.Why = "the last one did not come to its end"
	case have.System == nil || have.System.ID != s.system:
		p.Why = "the data is another"
	case resume+1 < s.oldest:
		p.Why = "the position is gone"
	case resume < s.confirmed:
		p.Why = "the log is lost"
	default:
		p.At, p.Snapshot = wal.Position{Filenum: 1, Offset: resume}, false
	}
	p.Lag = func() (int64, string, bool) {
		s.lock()
		defer s.mu.Unlock()
		return int64(s.head - min(s.confirmed, s.head)), "changes", true
	}
	s.sessions = append(s.sessions, p)
	return &session{s: s, plan: p, epoch: have.Epoch, cuts: s.cuts}, nil
}

type session struct {
	s     *Source
	plan  feed.Plan
	epoch uint32
	cuts  int
}

// Plan implements [feed.Session].
func (x *session) Plan() feed.Plan { return x.plan }

// Close implements [feed.Session].
func (x *session) Close() error { return nil }

// Durable implements [feed.Session].
func (x *session) Durable(p wal.Point) {
	x.s.change(func() {
		x.s.confirmed = max(x.s.confirmed, p.Position.Offset)
		if x.s.Confirmed != "" {
			_ = os.WriteFile(x.s.Confirmed, strconv.AppendUint(nil, x.s.confirmed, 10), 0o600) // a death is of the process
		}
	})
}

// Snapshot implements [feed.Session].
func (x *session) Snapshot(ctx context.Context, emit func(feed.Out) error) error {
	s := x.s
	s.lock()
	after, hold := ^uint64(0), s.hold
	if len(s.fail) > 0 {
		after, s.fail = s.fail[0], s.fail[1:]
	}
	s.mu.Unlock()
	all := Content(x.plan.At.Offset, s.keys())
	for i, n := range all {
		if uint64(i) >= after {
			return errors.New("the snapshot broke")
		}
		if hold != nil && i == len(all)-1 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-hold:
			}
		}
		out, err := s.out(nil, Event{Type: "snapshot", N: n, ID: fmt.Sprintf("snapshot:%d", n%s.keys()), At: x.plan.At.Offset, Epoch: x.epoch})
		if err == nil {
			err = emit(out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Content are the changes that a snapshot at n has.
func Content(at, keys uint64) (all []uint64) {
	for key := range keys {
		for n := at; n > 0 && n+10*keys > at; n-- {
			if n%keys == key && Kept(n) {
				all = append(all, n)
				break
			}
		}
	}
	return all
}

// Receive implements [feed.Session].
func (x *session) Receive(ctx context.Context, put func(at wal.Position, parts ...[]byte) error) error {
	s := x.s
	for n := x.plan.At.Offset + 1; ; n++ {
		if err := x.wait(ctx, n); err != nil {
			return err
		}
		payload := binary.BigEndian.AppendUint64(nil, n)
		size := 100
		if s.Size != nil {
			size = s.Size(n)
		}
		fill := make([]byte, size)
		for i := range fill {
			fill[i] = 'a' + byte(n%26)
		}
		if err := put(wal.Position{Filenum: 1, Offset: n}, payload, fill); err != nil {
			return err
		}
		s.lock()
		broken := len(s.cutAt) > 0 && s.cutAt[0] == n
		if broken {
			s.cutAt = s.cutAt[1:]
		}
		s.mu.Unlock()
		if broken {
			return fmt.Errorf("the connection broke behind change %d", n)
		}
	}
}

// wait waits for change n.
func (x *session) wait(ctx context.Context, n uint64) error {
	for {
		x.s.lock()
		changed, ready, cut, err := x.s.changed, x.s.head >= n, x.s.cuts != x.cuts, x.s.cut
		x.s.mu.Unlock()
		switch {
		case cut:
			return err
		case ready:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
