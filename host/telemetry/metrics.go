package telemetry

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// BuildInfo says which program this is.
type BuildInfo struct {
	Version  string `json:"version"`  // of the module, or "devel"
	Commit   string `json:"commit"`   // of the source, or "unknown"
	Modified bool   `json:"modified"` // whether the source differed from the commit
	Go       string `json:"go"`       // version of the compiler
}

// Build returns what the compiler recorded about this program.
func Build() BuildInfo {
	b := BuildInfo{Version: "devel", Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Registry returns a new registry that gathers the figures of the Go runtime
// and of this process, and deepoj_build_info.
func Registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	b := Build()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "deepoj_build_info",
		Help:        "Which program this is; the value is always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go": b.Go},
	})
	info.Set(1)
	// A new registry refuses none of these, so that Must cannot fail.
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), info)
	return r
}
