package judging

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what judging does.
type metrics struct {
	runs   *prometheus.CounterVec // by verdict
	builds *prometheus.CounterVec // by where the program came from
	reruns prometheus.Counter
	faults prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judging_runs_total", Help: "Runs of programs on tests, by verdict.",
		}, []string{"verdict"}),
		builds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "judging_builds_total", Help: "Programs made ready, by origin: compiled, cached or refused.",
		}, []string{"origin"}),
		reruns: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "judging_reruns_total", Help: "Runs repeated because the clock ran out while others had the CPU.",
		}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "judging_checker_faults_total", Help: "Checks that failed and gave a judging error.",
		}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.runs, m.builds, m.reruns, m.faults} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}
