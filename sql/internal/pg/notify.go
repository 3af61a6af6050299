package pg

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Channels on which a program tells others that there is something to do. A payload of "" on either means "look for
// yourself": the listener has just connected and may have missed something.
const (
	ChannelOutbox  = "deepoj_outbox"  // work is waiting
	ChannelPlugins = "deepoj_plugins" // the name of a plugin, the payload, means another version
	ChannelStops   = "deepoj_stops"   // jobs were taken from whoever runs them
	ChannelRounds  = "deepoj_rounds"  // the id of a round, the payload, whose log has grown
)

// ChannelEvents is heard in this process alone; the payload is the id of a job that has new events. PostgreSQL hands
// each notification to every connection that listens, on whatever channel, so that with events, of which a job has
// several, all workers would be woken for what each of them does. Whoever watches jobs of other processes asks.
const ChannelEvents = "deepoj_events"

var (
	channels = []string{ChannelOutbox, ChannelPlugins, ChannelStops, ChannelRounds}
	heard    = append([]string{ChannelEvents}, channels...)
)

// Listen calls fn for what is sent on channel, by this process or another, until ctx ends; then it returns nil. Equal
// payloads that wait are handed over once. It reconnects by itself, and calls fn("") after every (re)connect.
func (d *DB) Listen(ctx context.Context, channel string, fn func(payload string)) error {
	if !slices.Contains(heard, channel) {
		return fmt.Errorf("listen on %q: there is no such channel", channel)
	}
	sub := d.hub.subscribe(channel)
	defer d.hub.unsubscribe(sub)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.signal:
		}
		for _, payload := range sub.take() {
			fn(payload)
		}
	}
}

// Look asks until it is told that there is something, an error comes, or wait is
// over: at once, and whenever something was sent on channel.
func (d *DB) Look(ctx context.Context, channel string, wait time.Duration, found func() (bool, error)) error {
	sub := d.hub.subscribe(channel)
	defer d.hub.unsubscribe(sub)
	sub.quiet() // the first look is now
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for last := false; ; {
		some, err := found()
		if err != nil || some || last {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-sub.signal:
			sub.take()
		case <-timer.C:
			last = true
		}
	}
}

// Notify sends payload on channel at once, to this process and to others.
func (d *DB) Notify(ctx context.Context, channel, payload string) error {
	d.hub.local(message{channel, payload})
	if _, err := d.Main.Exec(ctx, "SELECT pg_notify($1, $2)", channel, payload); err != nil {
		return fmt.Errorf("notify %s: %w", channel, err)
	}
	return nil
}

// Wake tells listeners after a commit that there is something to do: in this process at once, in others with the next
// NOTIFY of the debounced notifier. A NOTIFY inside the transaction of a submit would make commits wait for each other.
func (d *DB) Wake(channel, payload string) {
	m := message{channel, payload}
	d.hub.local(m)
	d.hub.remote(m)
}

// WakeEvents tells the listeners of this process that jobs have new events.
func (d *DB) WakeEvents(ids ...int64) {
	ms := make([]message, len(ids))
	for i, id := range ids {
		ms[i] = message{ChannelEvents, strconv.FormatInt(id, 10)}
	}
	d.hub.local(ms...)
}

type message struct{ channel, payload string }

// subscriber collects the payloads of a channel until they are taken.
type subscriber struct {
	channel string
	signal  chan struct{}
	mu      sync.Mutex
	waiting map[string]struct{}
}

func (sub *subscriber) put(payload string) {
	sub.mu.Lock()
	sub.waiting[payload] = struct{}{}
	sub.mu.Unlock()
	select {
	case sub.signal <- struct{}{}:
	default: // it has been told already
	}
}

func (sub *subscriber) take() []string {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	got := slices.Collect(maps.Keys(sub.waiting))
	clear(sub.waiting)
	return got
}

// hub brings messages to subscribers: of this process directly, of others
// through one LISTEN connection, which exists once somebody has subscribed.
type hub struct {
	db    *DB
	mine  sync.Map      // backend pids of this connection: their messages were brought directly
	every time.Duration // the shortest time between two NOTIFY on a channel
	out   map[string]*outgoing
	heard map[string]bool // channels that somebody has subscribed to
	more  chan struct{}   // holds a value when there is another one

	mu   sync.Mutex
	subs map[*subscriber]struct{}
}

// outgoing is what waits for the next NOTIFY on a channel.
type outgoing struct {
	signal chan struct{}
	mu     sync.Mutex
	waits  map[string]struct{}
}

func newHub(d *DB, every time.Duration) *hub {
	h := &hub{
		db: d, every: every, subs: map[*subscriber]struct{}{}, heard: map[string]bool{}, more: make(chan struct{}, 1),
		out: map[string]*outgoing{},
	}
	for _, channel := range channels {
		h.out[channel] = &outgoing{signal: make(chan struct{}, 1), waits: map[string]struct{}{}}
	}
	return h
}

func (h *hub) subscribe(channel string) *subscriber {
	sub := &subscriber{channel: channel, signal: make(chan struct{}, 1), waiting: map[string]struct{}{}}
	h.mu.Lock()
	h.subs[sub] = struct{}{}
	known := h.heard[channel] || channel == ChannelEvents
	if !known {
		h.heard[channel] = true
	}
	h.mu.Unlock()
	sub.put("") // what came before counts as missed
	if !known {
		select {
		case h.more <- struct{}{}:
		default:
		}
	}
	return sub
}

// quiet forgets what has been put so far.
func (sub *subscriber) quiet() {
	sub.take()
	select {
	case <-sub.signal:
	default:
	}
}

func (h *hub) unsubscribe(sub *subscriber) {
	h.mu.Lock()
	delete(h.subs, sub)
	h.mu.Unlock()
}

// local hands messages to the subscribers of this process.
func (h *hub) local(ms ...message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subs {
		for _, m := range ms {
			if m.channel == sub.channel {
				sub.put(m.payload)
			}
		}
	}
}

// remote queues a message for the next NOTIFY.
func (h *hub) remote(m message) {
	o := h.out[m.channel]
	o.mu.Lock()
	o.waits[m.payload] = struct{}{}
	o.mu.Unlock()
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// notify sends what waits on a channel, the first message at once and later ones in batches, until ctx ends.
func (h *hub) notify(ctx context.Context, channel string) {
	for o := h.out[channel]; ; wait(ctx, h.every) {
		select {
		case <-ctx.Done():
			return
		case <-o.signal:
		}
		o.mu.Lock()
		payloads := slices.Collect(maps.Keys(o.waits))
		clear(o.waits)
		o.mu.Unlock()
		// A notification is a transaction, and would wait for the disk, though nothing of it is kept there.
		_, err := h.db.Main.Exec(ctx, "SELECT pg_notify($1, p), set_config('synchronous_commit', 'off', true) FROM unnest($2::text[]) AS p",
			channel, payloads)
		if err != nil && ctx.Err() == nil {
			// Whoever waits polls as well, so a lost notification only costs time.
			h.db.Log.WarnContext(ctx, "notification lost", slog.String("channel", channel), slog.Int("messages", len(payloads)), slog.Any("err", err))
		}
	}
}

// listen hears what is sent on the channels that somebody has subscribed to, until ctx ends.
func (h *hub) listen(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-h.more:
	}
	for delay := 50 * time.Millisecond; ctx.Err() == nil; {
		started := time.Now()
		another, err := h.listenOnce(ctx)
		if another {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(started) > 10*time.Second {
			delay = 50 * time.Millisecond
		}
		h.db.Log.WarnContext(ctx, "listening to the database was interrupted", slog.Any("err", err))
		wait(ctx, delay)
		delay = min(2*delay, 2*time.Second)
	}
}

// farewell is how long a connection may take to be closed.
const farewell = time.Second

// listenOnce listens until the connection ends, or until another channel is to be listened to: then it reports so, and
// whatever is missed until the next connection is made up for by its message to look.
func (h *hub) listenOnce(ctx context.Context) (another bool, err error) {
	select {
	case <-h.more: // is among those that are listened to now
	default:
	}
	h.mu.Lock()
	channels := slices.Sorted(maps.Keys(h.heard))
	h.mu.Unlock()
	config := h.db.Main.Config().ConnConfig
	config.RuntimeParams["application_name"] = "deepoj-listen"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, fmt.Errorf("connect: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+strings.Join(channels, "; LISTEN ")); err != nil {
		return false, fmt.Errorf("listen: %w", err)
	}
	for _, channel := range channels {
		h.local(message{channel, ""})
	}
	waiting, stop := context.WithCancel(ctx)
	var told atomic.Bool
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() {
		select {
		case <-waiting.Done():
		case <-h.more:
			told.Store(true)
			stop()
		}
	})
	for {
		n, err := conn.WaitForNotification(waiting)
		if told.Load() {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("wait for notification: %w", err)
		}
		if _, own := h.mine.Load(n.PID); !own {
			h.local(message{n.Channel, n.Payload})
		}
	}
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
