package telemetry

import (
	"context"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// repeatEvery is how often a line that stays the same is written.
	repeatEvery = 30 * time.Second

	// maxLines bounds how many different lines are remembered.
	maxLines = 4096
)

// LimitRepeats returns a handler that hands a line to h, and the same line again only when every has passed since; then
// it carries how many were left out, as "repeated". Lines are the same when level, message and all attributes are. Time
// is taken from the lines.
func LimitRepeats(h slog.Handler, every time.Duration) slog.Handler {
	return &repeatHandler{next: h, seen: &lines{seed: maphash.MakeSeed(), every: every, last: map[uint64]*line{}}}
}

type repeatHandler struct {
	next   slog.Handler
	prefix string // attributes and groups of the logger
	seen   *lines
}

func (h *repeatHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.next.Enabled(ctx, l)
}

func (h *repeatHandler) Handle(ctx context.Context, r slog.Record) error {
	write, repeated := h.seen.admit(h.prefix, r)
	if !write {
		return nil
	}
	if repeated > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("repeated", repeated))
	}
	return h.next.Handle(ctx, r)
}

func (h *repeatHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var prefix strings.Builder
	prefix.WriteString(h.prefix)
	for _, a := range attrs {
		prefix.WriteString(a.String() + "\x00")
	}
	return &repeatHandler{next: h.next.WithAttrs(attrs), prefix: prefix.String(), seen: h.seen}
}

func (h *repeatHandler) WithGroup(name string) slog.Handler {
	return &repeatHandler{next: h.next.WithGroup(name), prefix: h.prefix + name + ".\x00", seen: h.seen}
}

// lines remembers when which line was written.
type lines struct {
	seed  maphash.Seed
	every time.Duration

	mu   sync.Mutex
	last map[uint64]*line
}

type line struct {
	written time.Time
	left    int64 // how many were left out since
}

// admit reports whether the line is to be written, and how many of its kind were left out before it.
func (l *lines) admit(prefix string, r slog.Record) (write bool, repeated int64) {
	key := l.key(prefix, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.last[key]
	if old != nil && r.Time.Sub(old.written) < l.every {
		old.left++
		return false, 0
	}
	if old != nil {
		repeated = old.left
	} else if len(l.last) >= maxLines {
		l.forget(r.Time)
	}
	l.last[key] = &line{written: r.Time}
	return true, repeated
}

// forget makes room: by what is over, or else by everything.
func (l *lines) forget(now time.Time) {
	for k, v := range l.last {
		if now.Sub(v.written) >= l.every {
			delete(l.last, k)
		}
	}
	if len(l.last) >= maxLines {
		clear(l.last)
	}
}

func (l *lines) key(prefix string, r slog.Record) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	write := func(s string) {
		_, _ = h.WriteString(s) // never fails
		_ = h.WriteByte(0)      // never fails
	}
	write(prefix)
	write(r.Level.String())
	write(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		write(a.String())
		return true
	})
	return h.Sum64()
}
