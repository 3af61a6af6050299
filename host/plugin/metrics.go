package plugin

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what a runtime counts.
type metrics struct {
	calls          *prometheus.CounterVec
	callSeconds    *prometheus.HistogramVec
	fuel           *prometheus.CounterVec
	refusals       *prometheus.CounterVec
	deaths         prometheus.Counter
	compileSeconds prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plugin_calls_total", Help: "Calls of plugins, by what was asked and how it went.",
		}, []string{"call", "outcome"}),
		callSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "plugin_call_seconds", Help: "Duration of calls of plugins, with waiting for a worker.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"call"}),
		fuel: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plugin_fuel_total", Help: "Fuel that plugins used.",
		}, []string{"call"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plugin_refusals_total", Help: "Modules that were not admitted, by rule.",
		}, []string{"rule"}),
		deaths: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "plugin_worker_deaths_total", Help: "Plugin workers that died at work.",
		}),
		compileSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "plugin_compile_seconds", Help: "Duration of compilations of modules.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 10),
		}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.calls, m.callSeconds, m.fuel, m.refusals, m.deaths, m.compileSeconds} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

// observe counts a call.
func (m *metrics) observe(call string, took time.Duration, fuel uint64, err error) {
	outcome := "answered"
	var fault *Error
	switch {
	case errors.As(err, &fault):
		outcome = "failed"
	case err != nil:
		outcome = "interrupted"
	}
	m.calls.WithLabelValues(call, outcome).Inc()
	m.callSeconds.WithLabelValues(call).Observe(took.Seconds())
	m.fuel.WithLabelValues(call).Add(float64(fuel))
}
