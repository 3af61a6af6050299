package telemetry

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Figures serves what only operators should read of a process, on an address of its own: /metrics, and /readyz with
// what is wrong. They tell how busy a site is and where its services are.
type Figures struct {
	// Registry is what /metrics shows.
	Registry *prometheus.Registry

	// Ready answers /readyz: whether the process is ready, and what that rests on. Without it there is no /readyz.
	Ready func(ctx context.Context) (ready bool, document any)

	// Pages answer further addresses with JSON, by their paths, such as "/status".
	Pages map[string]func() any

	// Token has to come with each request, as Authorization: Bearer. Without one
	// everybody who reaches the address may read.
	Token string

	// Hosts are names that the address is known by, without ports, besides itself and
	// localhost: under another name a page of another site made a browser ask.
	Hosts []string
}

// figuresTime bounds a request.
const figuresTime = 15 * time.Second

// Serve answers requests at ln until ctx is done, and closes it.
func (f Figures) Serve(ctx context.Context, ln net.Listener) error {
	server := &http.Server{
		Handler: f.Handler(), ReadTimeout: figuresTime, WriteTimeout: 2 * figuresTime, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		_ = server.Close() // who reads figures asks again
	}()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics at %s: %w", ln.Addr(), err)
	}
	<-stopped
	return nil
}

// Handler answers the requests.
func (f Figures) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(f.Registry, promhttp.HandlerOpts{}))
	if f.Ready != nil {
		mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), figuresTime)
			defer cancel()
			ready, document := f.Ready(ctx)
			w.Header().Set("Content-Type", "application/json")
			if !ready {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_ = json.NewEncoder(w).Encode(document) // whoever asked is gone
		})
	}
	for path, document := range f.Pages {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(document()) // whoever asked is gone
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case !f.known(r.Host):
			http.Error(w, "This address does not answer to that host name: ask by its address, or name it in PUBLIC_HOSTS.", http.StatusMisdirectedRequest)
		case f.Token != "" && !Bearer(r.Header.Get("Authorization"), f.Token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "Send METRICS_TOKEN as Authorization: Bearer.", http.StatusUnauthorized)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// known reports whether a Host header names this address. A number and localhost
// cannot be made to mean it by somebody else.
func (f Figures) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(f.Hosts, func(h string) bool { return name != "" && strings.EqualFold(h, name) })
}

// Bearer reports whether an Authorization header holds a token, in constant time.
func Bearer(authorization, token string) bool {
	got, is := strings.CutPrefix(authorization, "Bearer ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(got))), sha256.Sum256([]byte(token))
	return is && token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

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

// Register adds c to reg, or returns the collector of the same name that is there already, so that several runners of a
// process share their figures. A nil reg gathers nothing.
func Register[C prometheus.Collector](reg prometheus.Registerer, c C) (C, error) {
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
