package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/sandbox"
)

func TestACompilerThatWaitedForACPUIsGivenMoreTimeOnTheClock(t *testing.T) {
	t.Parallel()
	late := func(pressure time.Duration) sandbox.Result {
		return sandbox.Result{Verdict: sandbox.TLE, OverWall: true, CPU: 3 * time.Second, Wall: time.Minute, Pressure: pressure}
	}
	waited, slept, done := late(50*time.Second), late(0), sandbox.Result{Verdict: sandbox.OK, Wall: 2 * time.Minute}
	for name, tt := range map[string]struct {
		results []sandbox.Result
		verdict sandbox.Verdict
		said    string
		err     string
	}{
		"it had its CPU":              {[]sandbox.Result{done}, sandbox.OK, "run 1", ""},
		"it waited the first time":    {[]sandbox.Result{waited, done}, sandbox.OK, "run 2", ""},
		"it waited, and then slept":   {[]sandbox.Result{waited, slept}, sandbox.TLE, "run 2", ""},
		"it slept":                    {[]sandbox.Result{slept}, sandbox.TLE, "run 1", ""},
		"it waited the second time":   {[]sandbox.Result{waited, waited}, "", "", "g++ had 3s of CPU time in 1m0s on the clock, for 50s of which it waited for a CPU: let this machine do less at once"},
		"it used its CPU time":        {[]sandbox.Result{{Verdict: sandbox.TLE, CPU: time.Minute, Pressure: time.Hour}}, sandbox.TLE, "run 1", ""},
		"its sources are at fault":    {[]sandbox.Result{{Verdict: sandbox.RE, ExitCode: 1}}, sandbox.RE, "run 1", ""},
		"it was at fault at the last": {[]sandbox.Result{waited, {Verdict: sandbox.RE, ExitCode: 1}}, sandbox.RE, "run 2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var walls []time.Duration
			run := func(_ context.Context, c sandbox.Cmd) (sandbox.Result, error) {
				walls = append(walls, c.Limits.Wall)
				if len(walls) > len(tt.results) {
					return sandbox.Result{}, fmt.Errorf("run %d is one too many", len(walls))
				}
				_, err := fmt.Fprintf(c.Stderr, "run %d", len(walls))
				return tt.results[len(walls)-1], err
			}
			ran, said, err := compileWith(t, run)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error is %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || ran.Verdict != tt.verdict || said != tt.said {
				t.Errorf("%s, %q, %v; want %s, %q", ran.Verdict, said, err, tt.verdict, tt.said)
			}
			if len(walls) == 2 && walls[1] <= 2*time.Minute {
				t.Errorf("the second time it may take %s on the clock", walls[1])
			}
		})
	}
}

// compileWith runs a compiler as run does, and returns what is on its standard error
// at the end.
func compileWith(t *testing.T, run func(context.Context, sandbox.Cmd) (sandbox.Result, error)) (ran sandbox.Result, said string, err error) {
	r, err := New(t.TempDir(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	streams, err := r.Streams()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { err = errors.Join(err, streams.Close()) }()
	c := sandbox.Cmd{Tool: "g++", Stdout: streams.Out, Stderr: streams.Err}
	if ran, err = r.RunCompiler(t.Context(), run, c, streams); err != nil {
		return ran, "", err
	}
	_, said, err = streams.Read()
	return ran, said, err
}
