package kafka

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Producer sends records to Kafka. Of each partition one batch at a time is under way: when it fails, nothing that comes
// after it is there already, so records arrive in order whatever happens. Methods but DeadLetters are for one goroutine.
type Producer struct {
	cfg     Config
	client  *kgo.Client
	limits  map[string]int32 // of batches, by topic
	half    *work            // that was waited for in vain, and is still under way
	letters atomic.Int64
}

// work is a batch that is being sent.
type work struct {
	batch   []Record
	from    int            // the first that is not there yet
	alone   int            // records before this one are sent each by itself
	refused map[int]string // what is too large, and why
	flight  *flight        // what is under way
}

// flight is a part of a batch that the client has and has not said all of.
type flight struct {
	records []*kgo.Record
	mu      sync.Mutex
	failed  map[*kgo.Record]error
}

// is reports whether a batch is the one that is being sent.
func (w *work) is(batch []Record) bool {
	return slices.EqualFunc(w.batch, batch, func(a, b Record) bool { return a.ID == b.ID && a.Topic == b.Topic })
}

// keeps reports whether a batch that was waited for in vain stays under way. What a broker took before it stood still, it
// may write at any time later: a second producer that sends the batch again, and then newer ones, would have it come
// after them. The same producer numbers its batches, by which the broker knows this one again and keeps the order. A
// transaction is safe from it: its next producer shuts the earlier one out.
func (p *Producer) keeps() bool { return p.cfg.Idempotent && !p.cfg.ExactlyOnce }

var _ Sink = (*Producer)(nil)

// overhead is what a batch and a record in it take at most beside key and value.
const overhead = 256

// New prepares a producer, which is connected by Open.
func New(cfg Config) (*Producer, error) {
	cfg.Timeout = cmp.Or(cfg.Timeout, 15*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Producer{cfg: cfg}, nil
}

// DeadLetters returns how many records went to the topic of dead letters.
func (p *Producer) DeadLetters() int64 { return p.letters.Load() }

// Open connects, looks at the topics and makes those that are missing, if it may. With exactly-once delivery it ends
// what an earlier producer of the same feed left open, which from then on cannot send any more. A producer with a batch
// under way looks whether Kafka answers again.
func (p *Producer) Open(ctx context.Context) (position []byte, err error) {
	if p.half != nil {
		ask, cancel := p.asking(ctx)
		defer cancel()
		return nil, p.explain(ask, p.client.Ping(ask))
	}
	return p.open(ctx)
}

// asking bounds a question to brokers.
func (p *Producer) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, p.cfg.Timeout, fmt.Errorf("no answer within %s", p.cfg.Timeout))
}

func (p *Producer) open(ctx context.Context) (position []byte, err error) {
	if err := p.Close(); err != nil {
		return nil, err
	}
	opts, err := p.cfg.reach()
	if err != nil {
		return nil, &FinalError{err}
	}
	opts = append(opts,
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ManualFlushing(), kgo.MaxProduceRequestsInflightPerBroker(1),
		kgo.MaxBufferedRecords(1<<20), kgo.ProducerBatchCompression(compressions[p.cfg.Compression]),
		kgo.ProducerBatchMaxBytesFn(p.limit), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)))
	switch {
	case p.cfg.ExactlyOnce:
		opts = append(opts, kgo.TransactionalID(p.cfg.ID))
	case !p.cfg.Idempotent:
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	ask, cancel := p.asking(ctx)
	defer cancel()
	p.limits = map[string]int32{}
	for again := true; again; {
		if p.client, err = kgo.NewClient(opts...); err != nil {
			return nil, &FinalError{fmt.Errorf("kafka: %w", err)}
		}
		if again, err = p.lookAtTopics(ask); err != nil {
			return nil, p.explain(ask, err)
		}
		if again {
			p.client.Close() // one that remembers that topics are missing
		}
	}
	if !p.cfg.ExactlyOnce {
		return nil, nil // there is none
	}
	if _, _, err := p.client.ProducerID(ask); err != nil {
		return nil, p.explain(ask, err)
	}
	position, err = p.position(ask)
	return position, p.explain(ask, err)
}

// limit is the most that a batch of a topic may have.
func (p *Producer) limit(topic string) int32 {
	if n, ok := p.limits[topic]; ok {
		return n
	}
	return p.cfg.MaxBytes
}

// Close gives up what is under way and disconnects.
func (p *Producer) Close() error {
	if p.client == nil {
		return nil
	}
	p.client.UnsafeAbortBufferedRecords()
	p.client.Close()
	p.client, p.half = nil, nil
	return nil
}

// Send sends a batch, with exactly-once delivery in one transaction with the position. What is too large for its topic
// goes to the dead letters. After an error the producer has to be opened again, and gets the same batch.
func (p *Producer) Send(ctx context.Context, batch []Record, position []byte) error {
	if p.half != nil && !p.half.is(batch) {
		if _, err := p.open(ctx); err != nil {
			return err
		}
	}
	if p.client == nil {
		return errors.New("the producer is not open")
	}
	w := p.half
	if p.half = nil; w == nil {
		w = &work{batch: batch, refused: map[int]string{}}
	}
	for {
		if p.cfg.ExactlyOnce {
			if err := p.client.BeginTransaction(); err != nil {
				return p.explain(ctx, err)
			}
		}
		found, err := p.sendAll(ctx, w, position)
		if p.cfg.ExactlyOnce {
			commit := kgo.TryCommit
			if err != nil || found {
				commit = kgo.TryAbort
			}
			err = errors.Join(err, p.client.EndTransaction(ctx, commit))
		}
		if err != nil && w.flight != nil {
			p.half = w
		}
		if err != nil || !found {
			return p.explain(ctx, err)
		}
		w.from, w.alone = 0, len(batch)
	}
}

// sendAll sends a batch by chunks, one after the other. A chunk that the broker finds too large is sent once more record
// by record: those that are there already are there once more, with the same id. A refusal spoils a transaction: found
// says that another has to be tried, with each record alone.
func (p *Producer) sendAll(ctx context.Context, w *work, position []byte) (found bool, err error) {
	for w.from < len(w.batch) {
		to, size := w.from, 0
		for limit := int(p.limit(w.batch[w.from].Topic)); to < len(w.batch); to++ {
			size += len(w.batch[to].Key) + len(w.batch[to].Value) + overhead
			if to > w.from && (w.from < w.alone || size > limit || w.batch[to].Topic != w.batch[w.from].Topic) {
				break
			}
		}
		large, err := p.chunk(ctx, w, to)
		switch {
		case err != nil:
			return false, err
		case len(large) == 0:
			w.from = to
			continue
		case to-w.from > 1:
			w.alone = to
		default:
			w.refused[w.from] = large[w.from]
		}
		if p.cfg.ExactlyOnce {
			return true, nil
		}
	}
	if p.cfg.ExactlyOnce {
		w.flight = p.produce(ctx, []*kgo.Record{{Topic: p.cfg.Position, Key: []byte(p.cfg.ID), Value: position}})
		_, err = p.wait(ctx, w)
	}
	return false, err
}

// chunk sends what is from the first that is not there to another, and returns what is too large and why.
func (p *Producer) chunk(ctx context.Context, w *work, to int) (large map[int]string, err error) {
	if w.flight == nil {
		records, err := p.recordsOf(ctx, w, to)
		if err != nil {
			return nil, err
		}
		w.flight = p.produce(ctx, records)
	}
	records := w.flight.records
	errs, err := p.wait(ctx, w)
	if err == nil {
		for _, r := range records {
			if r.Topic == p.cfg.DeadLetter {
				p.letters.Add(1)
			}
		}
		return nil, nil
	}
	if errs == nil {
		return nil, err
	}
	large = map[int]string{}
	for i, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, kerr.MessageTooLarge) || records[i].Topic == p.cfg.DeadLetter:
			return nil, err
		default:
			large[w.from+i] = fmt.Sprintf("%d bytes, which the broker finds too large: %v", len(records[i].Value), err)
		}
	}
	return large, nil
}

// recordsOf makes what Kafka gets of a chunk: dead letters of what is too large.
func (p *Producer) recordsOf(ctx context.Context, w *work, to int) ([]*kgo.Record, error) {
	room := make([]kgo.Record, to-w.from)
	records := make([]*kgo.Record, 0, to-w.from)
	for i := w.from; i < to; i++ {
		r := w.batch[i]
		why := w.refused[i]
		if size, limit := len(r.Key)+len(r.Value)+overhead, int(p.limit(r.Topic)); why == "" && size > limit {
			why = fmt.Sprintf("%d bytes, and a record of topic %s may have %d", size, r.Topic, limit)
		}
		if why == "" {
			n := &room[i-w.from]
			n.Topic, n.Key, n.Value = r.Topic, r.Key, r.Value
			records = append(records, n)
			continue
		}
		letter, err := p.letter(r, why)
		if err != nil {
			return nil, err
		}
		p.cfg.Log.WarnContext(ctx, "a record is too large and goes to the dead letters", slog.String("event_id", r.ID), slog.String("why", why))
		records = append(records, letter)
	}
	return records, nil
}

// produce gives records to the client.
func (p *Producer) produce(ctx context.Context, records []*kgo.Record) *flight {
	f := &flight{records: records, failed: map[*kgo.Record]error{}}
	if p.keeps() {
		ctx = context.WithoutCancel(ctx)
	}
	for _, r := range records {
		p.client.Produce(ctx, r, func(r *kgo.Record, err error) {
			if err != nil {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.failed[r] = err
			}
		})
	}
	return f
}

// wait waits for what becomes of each record that is under way. Nothing but an error is returned if it waited in vain.
func (p *Producer) wait(ctx context.Context, w *work) ([]error, error) {
	f := w.flight
	if err := p.client.Flush(ctx); err != nil { // what became of each is not known yet
		if !p.keeps() {
			p.client.UnsafeAbortBufferedRecords()
			w.flight = nil
		}
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	w.flight = nil
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.failed) == 0 {
		return nil, nil
	}
	errs := make([]error, len(f.records))
	var first error
	for i, r := range f.records {
		errs[i] = f.failed[r]
		first = cmp.Or(first, errs[i])
	}
	return errs, first
}

// DeadLetter is what consumers get of a record that is too large.
type DeadLetter struct {
	EventID string `json:"event_id"`
	Topic   string `json:"topic"` // where it belongs
	Key     string `json:"key"`
	Bytes   int    `json:"bytes"` // of the value
	Reason  string `json:"reason"`
}

func (p *Producer) letter(r Record, why string) (*kgo.Record, error) {
	value, err := json.Marshal(DeadLetter{EventID: r.ID, Topic: r.Topic, Key: short(r.Key), Bytes: len(r.Value), Reason: why})
	return &kgo.Record{Topic: p.cfg.DeadLetter, Key: []byte(short(r.Key)), Value: value}, err
}

// short is a key as a dead letter has it.
func short(key []byte) string {
	if len(key) > leastBytes/4 {
		return string(key[:leastBytes/4]) + "…"
	}
	return string(key)
}
