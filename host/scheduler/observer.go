package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judge"
	"deepoj/host/telemetry"
	"deepoj/queue"
	"deepoj/sql/jobs"
)

// Figures is what an [Observer] asks of the database; a [*jobs.Queue] answers.
type Figures interface {
	QueueStats(ctx context.Context) (judge.QueueStats, error)
	Audit(ctx context.Context) (jobs.Audit, error)
	Slots(ctx context.Context) ([]judge.Slot, error)
}

// StreamFigures is what an [Observer] asks of Redis; a [*queue.Streams] answers.
type StreamFigures interface {
	Stats(ctx context.Context) (queue.Stats, error)
}

// ObserverConfig sets the pace of an [Observer].
type ObserverConfig struct {
	// Interval is the time between two counts. Defaults to 5 seconds.
	Interval time.Duration

	// AuditInterval is the time between two audits, which read whole tables. Defaults to 1 minute.
	AuditInterval time.Duration

	// Log gets what cannot be counted, and violations. Defaults to none.
	Log *slog.Logger

	// Registerer gathers the figures. Defaults to none.
	Registerer prometheus.Registerer
}

// Observer keeps the figures about the queue up to date.
type Observer struct {
	cfg     ObserverConfig
	store   Figures
	streams StreamFigures

	depth     *prometheus.GaugeVec
	audit     *prometheus.GaugeVec
	slots     slotGauges
	single    map[string]prometheus.Gauge
	lastAudit time.Time
}

// Names of the single figures.
const (
	gaugePending     = "api_outbox_pending"
	gaugeDelivered   = "queue_delivered"
	gaugeRunning     = "queue_running"
	gaugeOldest      = "queue_oldest_unfinished_age_seconds"
	gaugeDead        = "queue_dead_letters"
	gaugeLength      = "queue_stream_length"
	gaugeLag         = "queue_stream_lag"
	gaugePEL         = "queue_stream_pending"
	gaugeIdle        = "queue_stream_oldest_idle_seconds"
	gaugeStreamReads = "queue_stream_consumers"
)

var gaugeHelp = map[string]string{
	gaugePending:     "Jobs that wait to be delivered, ready or scheduled.",
	gaugeDelivered:   "Jobs that are delivered and not claimed.",
	gaugeRunning:     "Jobs that a worker has claimed.",
	gaugeOldest:      "Age of the oldest unfinished job.",
	gaugeDead:        "Dead letters that nobody has resolved.",
	gaugeLength:      "Entries in the stream.",
	gaugeLag:         "Entries that no worker has read; -1 when Redis does not know.",
	gaugePEL:         "Entries that a worker has read and not acknowledged.",
	gaugeIdle:        "How long the oldest of those has been lying.",
	gaugeStreamReads: "Consumers of the group.",
}

// NewObserver returns an observer of store and, unless nil, of streams.
func NewObserver(cfg ObserverConfig, store Figures, streams StreamFigures) (*Observer, error) {
	if cfg.Interval <= 0 {
		cfg.Interval = 5 * time.Second
	}
	if cfg.AuditInterval <= 0 {
		cfg.AuditInterval = time.Minute
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	o := &Observer{cfg: cfg, store: store, streams: streams, single: map[string]prometheus.Gauge{}}
	var err error
	o.depth, err = telemetry.Register(cfg.Registerer, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "queue_depth", Help: "Waiting jobs by lane.",
	}, []string{"lane"}))
	if err != nil {
		return nil, err
	}
	o.audit, err = telemetry.Register(cfg.Registerer, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "audit_violations", Help: "Violations of the protocol; anything but 0 is a defect.",
	}, []string{"check"}))
	if err != nil {
		return nil, err
	}
	if o.slots, err = newSlotGauges(cfg.Registerer); err != nil {
		return nil, err
	}
	for name, help := range gaugeHelp {
		o.single[name], err = telemetry.Register(cfg.Registerer, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}))
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Run counts until ctx is done, then returns nil.
func (o *Observer) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		o.look(ctx)
		timer.Reset(jitter(o.cfg.Interval))
	}
}

func (o *Observer) look(ctx context.Context) {
	if s, err := o.store.QueueStats(ctx); o.known(ctx, "the queue", err) {
		o.queue(s)
	}
	if s, err := o.store.Slots(ctx); o.known(ctx, "replication slots", err) {
		o.slots.set(s)
	}
	if o.streams != nil {
		if s, err := o.streams.Stats(ctx); o.known(ctx, "the stream", err) {
			o.stream(s)
		}
	}
	if o.lastAudit.IsZero() || time.Since(o.lastAudit) >= o.cfg.AuditInterval {
		if a, err := o.store.Audit(ctx); o.known(ctx, "the audit", err) {
			o.lastAudit = time.Now()
			o.violations(ctx, a)
		}
	}
}

func (o *Observer) known(ctx context.Context, what string, err error) bool {
	if err != nil && ctx.Err() == nil {
		o.cfg.Log.WarnContext(ctx, "figures are missing", slog.String("what", what), slog.Any("err", err))
	}
	return err == nil
}

func (o *Observer) queue(s judge.QueueStats) {
	for _, lane := range judge.Lanes {
		o.depth.WithLabelValues(strconv.Itoa(int(lane.Number()))).Set(float64(s.Lanes[lane]))
	}
	o.single[gaugePending].Set(float64(s.Pending))
	o.single[gaugeDelivered].Set(float64(s.Delivered))
	o.single[gaugeRunning].Set(float64(s.Running))
	o.single[gaugeOldest].Set(s.Oldest.Seconds())
	o.single[gaugeDead].Set(float64(s.DeadLetters))
}

func (o *Observer) stream(s queue.Stats) {
	o.single[gaugeLength].Set(float64(s.Length))
	o.single[gaugeLag].Set(float64(s.Lag))
	o.single[gaugePEL].Set(float64(s.Pending))
	o.single[gaugeIdle].Set(s.OldestIdle.Seconds())
	o.single[gaugeStreamReads].Set(float64(s.Consumers))
}

func (o *Observer) violations(ctx context.Context, a jobs.Audit) {
	for _, row := range a.Rows() {
		o.audit.WithLabelValues(row.Name).Set(float64(row.Count))
		if row.Count > 0 {
			o.cfg.Log.ErrorContext(ctx, "the audit found violations", slog.String("check", row.Name), slog.Int64("count", row.Count))
		}
	}
}

// Values of the label "status".
const (
	statusOK    = "ok"
	statusError = "error"
	statusDead  = "dead"
	statusIdle  = "idle"

	statusReject = "reject"
)

// latencySeconds and latencyMillis are the buckets of the histograms: from half a millisecond to a minute.
var (
	latencySeconds = prometheus.ExponentialBucketsRange(0.0005, 60, 18)
	latencyMillis  = prometheus.ExponentialBucketsRange(0.5, 60_000, 18)
)

// jitter returns d, up to a fifth longer or shorter, so that several processes do not ask at the same moment.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // pace, not secrecy
}
