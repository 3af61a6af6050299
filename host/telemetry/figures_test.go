package telemetry

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// serveFigures starts an address of figures and returns what asks it.
func serveFigures(t *testing.T, f Figures) func(path, host, authorization string) (int, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.Registry = prometheus.NewRegistry()
	f.Registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "is_here", Help: "that it is"}))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(path, host, authorization string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
}

func TestFiguresAnswerUnderTheirOwnNamesAndWithTheirToken(t *testing.T) {
	t.Parallel()
	ready := false
	f := Figures{Hosts: []string{"judge.example.org"}, Ready: func(context.Context) (bool, any) { return ready, map[string]string{"detail": "no redis"} }}
	for _, token := range []string{"", "0123456789abcdef"} {
		f.Token = token
		ask := serveFigures(t, f)
		for host, known := range map[string]bool{
			"": true, "127.0.0.1": true, "[::1]:9180": true, "10.1.2.3:9180": true, "localhost:1": true, "LOCALHOST": true, "Judge.example.org:9180": true,
			"evil.example": false, "judge.example.org.evil.example": false, "127.0.0.1.evil.example:80": false,
		} {
			for sent, right := range map[string]bool{"": token == "", "Bearer 0123456789abcdef": true, "Bearer 0123456789abcdee": token == "", "Basic 0123456789abcdef": token == "", "Bearer ": token == ""} {
				for path, good := range map[string]int{"/metrics": 200, "/readyz": 503, "/debug/pprof/": 404} {
					want := good
					switch {
					case !known:
						want = http.StatusMisdirectedRequest
					case !right:
						want = http.StatusUnauthorized
					}
					status, body := ask(path, host, sent)
					if tells := strings.Contains(body, "is_here") || strings.Contains(body, "no redis"); status != want || tells != (want == good && good != 404) {
						t.Errorf("token %q: %s at %q with %q: %d %s, want %d", token, path, host, sent, status, body, want)
					}
				}
			}
		}
	}
	f.Ready = nil
	if status, body := serveFigures(t, f)("/readyz", "", "Bearer "+f.Token); status != http.StatusNotFound {
		t.Errorf("without something to be ready: %d %s", status, body)
	}
	ready = true
	f.Ready = func(context.Context) (bool, any) { return ready, "well" }
	if status, body := serveFigures(t, f)("/readyz", "", "Bearer "+f.Token); status != http.StatusOK || body != fmt.Sprintln(`"well"`) {
		t.Errorf("ready: %d %s", status, body)
	}
}

func TestATokenIsComparedWhole(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{"Bearer abc": true, "Bearer abc ": true, "Bearer abcd": false, "Bearer ab": false, "bearer abc": false, "abc": false, "": false} {
		if Bearer(header, "abc") != want {
			t.Errorf("%q: %t, want %t", header, !want, want)
		}
	}
	if Bearer("Bearer ", "") || Bearer("", "") {
		t.Error("no token lets in")
	}
}
