package judging

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/sandbox"
)

// metrics count what judging does.
type metrics struct {
	runs   *prometheus.CounterVec // by verdict
	builds *prometheus.CounterVec // by where the program came from
	reruns prometheus.Counter
	faults prometheus.Counter
	cut    *prometheus.CounterVec // by stream
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
			Name: "judging_reruns_total", Help: "Runs repeated alone because they were beyond their CPU limit by less than a tenth, or waited for a CPU until the clock ran out.",
		}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "judging_checker_faults_total", Help: "Checks that failed and gave a judging error.",
		}),
	}
	m.cut = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "judge_output_truncated_total", Help: "Outputs of programs and compilers of which only the beginning was kept, by stream.",
	}, []string{"stream"})
	var errs []error
	for _, c := range []prometheus.Collector{m.runs, m.builds, m.reruns, m.faults, m.cut} {
		errs = append(errs, reg.Register(c))
	}
	for _, stream := range []string{stdout, stderr} {
		m.cut.WithLabelValues(stream)
	}
	return m, errors.Join(errs...)
}

// Values of the label "stream".
const (
	stdout = "stdout"
	stderr = "stderr"
)

// truncated counts what a run wrote beyond what was kept. Standard output is
// kept up to the limit on output, if not cut earlier.
func (m *metrics) truncated(c sandbox.Cmd, ran sandbox.Result) {
	if ran.StdoutTruncated || c.Limits.OutputBytes > 0 && ran.StdoutBytes > c.Limits.OutputBytes {
		m.cut.WithLabelValues(stdout).Inc()
	}
	if ran.StderrTruncated {
		m.cut.WithLabelValues(stderr).Inc()
	}
}
