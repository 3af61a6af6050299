package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/telemetry"
)

// Values of the labels "status" and "result".
const (
	statusOK       = "ok"
	statusReject   = "reject"
	statusError    = "error"
	statusDead     = "dead"
	statusRetry    = "retry"
	statusReleased = "released"
	resultTimeout  = "timeout"

	journalKept       = "kept"
	journalUnreadable = "unreadable"
)

type metrics struct {
	claims      *prometheus.CounterVec
	heartbeats  *prometheus.CounterVec
	stale       prometheus.Counter
	finalized   *prometheus.CounterVec
	rejected    *prometheus.CounterVec
	errors      prometheus.Counter
	latency     prometheus.Histogram
	acks        *prometheus.CounterVec
	ahead       prometheus.Gauge
	execTime    *prometheus.HistogramVec
	execRunning prometheus.Gauge
	execTotal   *prometheus.CounterVec
	verdicts    *prometheus.CounterVec
	journal     *prometheus.CounterVec
	unfit       *prometheus.GaugeVec
	again       prometheus.Counter
}

// newMetrics makes the worker's figures and has reg gather them; a nil reg
// gathers nothing. Workers of one process share their figures.
func newMetrics(reg prometheus.Registerer) (m metrics, err error) {
	counters := []struct {
		to         **prometheus.CounterVec
		name, help string
		labels     []string
	}{
		{&m.claims, "worker_claim_total", "Entries that were claimed, or why not.", []string{"status", "reason"}},
		{&m.heartbeats, "worker_lease_heartbeat_total", "Leases that were renewed, or why not.", []string{"status", "reason"}},
		{&m.finalized, "worker_finalize_total", "Jobs that this worker ended: ok, reject, retry, dead or released.", []string{"status"}},
		{&m.rejected, "worker_finalize_rejected_total", "Results that the database refused, by reason.", []string{"reason"}},
		{&m.journal, "worker_journal_total", "Results that were written down because the database gave no answer, and entries that could not be read.", []string{"status"}},
		{&m.acks, "worker_ack_total", "Entries that were acknowledged, or not.", []string{"status", "reason"}},
		{&m.execTotal, "judge_exec_total", "Judgings that ended: ok, reject, error or timeout.", []string{"result"}},
		{&m.verdicts, "judge_verdict_total", "Verdicts that were recorded.", []string{"verdict"}},
	}
	for _, c := range counters {
		*c.to, err = telemetry.Register(reg, prometheus.NewCounterVec(prometheus.CounterOpts{Name: c.name, Help: c.help}, c.labels))
		if err != nil {
			return m, err
		}
	}
	m.stale, err = telemetry.Register(reg, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "worker_stale_attempt_total", Help: "Writes refused because a newer attempt exists.",
	}))
	if err != nil {
		return m, err
	}
	m.again, err = telemetry.Register(reg, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "worker_judged_again_total", Help: "Judgings that were repeated at once because what they need was lost for a moment.",
	}))
	if err != nil {
		return m, err
	}
	m.unfit, err = telemetry.Register(reg, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "worker_unfit", Help: "Whether this worker takes no jobs (1) because of what it lacks.",
	}, []string{"reason"}))
	if err != nil {
		return m, err
	}
	m.errors, err = telemetry.Register(reg, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "worker_finalize_errors_total", Help: "Writes of a result that got no answer, and were or will be repeated.",
	}))
	if err != nil {
		return m, err
	}
	m.latency, err = telemetry.Register(reg, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "worker_finalize_latency_ms", Help: "Time from a finished judging to the database's answer.",
		Buckets: prometheus.ExponentialBucketsRange(0.5, 60_000, 18),
	}))
	if err != nil {
		return m, err
	}
	m.execRunning, err = telemetry.Register(reg, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "judge_exec_inflight", Help: "Judgings under way.",
	}))
	if err != nil {
		return m, err
	}
	m.ahead, err = telemetry.Register(reg, prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "worker_claimed_ahead", Help: "Claimed jobs that wait for a slot.",
	}))
	if err != nil {
		return m, err
	}
	m.execTime, err = telemetry.Register(reg, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "judge_exec_duration_seconds", Help: "Time of a judging.",
		Buckets: prometheus.ExponentialBucketsRange(0.005, 600, 18),
	}, []string{"result"}))
	return m, err
}
