package scheduler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Values of the label "status".
const (
	statusOK    = "ok"
	statusError = "error"
	statusDead  = "dead"
	statusIdle  = "idle"

	statusReject = "reject"
)

// latencySeconds and latencyMillis are the buckets of the histograms: from half
// a millisecond to a minute.
var (
	latencySeconds = prometheus.ExponentialBucketsRange(0.0005, 60, 18)
	latencyMillis  = prometheus.ExponentialBucketsRange(0.5, 60_000, 18)
)

// register adds c to reg, or returns the collector of the same name that is
// there already, so that several runners of a process share their figures. A
// nil reg gathers nothing.
func register[C prometheus.Collector](reg prometheus.Registerer, c C) (C, error) {
	if reg == nil {
		return c, nil
	}
	err := reg.Register(c)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		same, ok := there.ExistingCollector.(C)
		if !ok {
			return c, fmt.Errorf("metric of another type is registered: %w", err)
		}
		return same, nil
	}
	return c, err
}

// jitter returns d, up to a fifth longer or shorter, so that several processes
// do not ask at the same moment.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // pace, not secrecy
}
