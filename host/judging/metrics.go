package judging

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what judging does.
type metrics struct {
	runs   *prometheus.CounterVec // by verdict
	faults prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judging_runs_total", Help: "Runs of programs on tests, by verdict.",
		}, []string{"verdict"}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "judging_checker_faults_total", Help: "Checks that failed and gave a judging error.",
		}),
	}
	return m, errors.Join(reg.Register(m.runs), reg.Register(m.faults))
}
