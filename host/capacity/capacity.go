// Package capacity measures what one machine can do: how fast a core is, how many programs the sandbox starts, what the
// disk and PostgreSQL commit, and how many jobs pass through the queue.
//
// It measures what it is given, and never a database in use.
package capacity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"deepoj/sandbox"
)

// Figure is one thing that was measured.
type Figure struct {
	Name   string  `json:"name"`             // such as "sandbox starts"
	Value  float64 `json:"value"`            // in Unit
	Unit   string  `json:"unit"`             // such as "1/s" or "ms"
	Detail string  `json:"detail,omitempty"` // more about it, for people
}

// Report is what was measured of a machine, and what could not be.
type Report struct {
	Figures []Figure `json:"figures"`
	Missing []string `json:"missing"` // what could not be measured, each with the reason
}

// Add measures one more thing. A failure is noted and stops nothing.
func (r *Report) Add(what string, measure func() ([]Figure, error)) {
	figures, err := measure()
	r.Figures = append(r.Figures, figures...)
	if err != nil {
		r.Missing = append(r.Missing, fmt.Sprintf("%s: %v", what, err))
	}
}

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(w io.Writer) error {
	if r.Missing == nil {
		r.Missing = []string{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteText writes the report as a table.
func (r Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range r.Figures {
		fmt.Fprintf(t, "%s\t%.4g %s\t%s\n", f.Name, f.Value, f.Unit, f.Detail)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(t, "not measured\t\t%s\n", m)
	}
	return t.Flush()
}

// each runs one thing again and again in so many goroutines for about as long as is said, and returns how often it was
// done per second and how long it took, in order.
func each(ctx context.Context, clients int, during time.Duration, do func(ctx context.Context, client int) error) (rate float64, took []time.Duration, err error) {
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		failed error
		stop   atomic.Bool
	)
	began := time.Now()
	for client := range clients {
		wg.Go(func() {
			for time.Since(began) < during && !stop.Load() {
				at := time.Now()
				err := do(ctx, client)
				mu.Lock()
				took = append(took, time.Since(at))
				if err != nil {
					failed = err
					stop.Store(true)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return float64(len(took)) / time.Since(began).Seconds(), took, failed
}

// quantile returns a time of those in order, in milliseconds.
func quantile(took []time.Duration, p float64) float64 {
	return took[min(len(took)-1, int(p*float64(len(took))))].Seconds() * 1000
}

// described says how long things took.
func described(took []time.Duration) string {
	return fmt.Sprintf("p50 %.3g ms, p99 %.3g ms", quantile(took, 0.5), quantile(took, 0.99))
}

// Sandbox measures how many programs that do nothing the sandbox starts per
// second, in one box and in as many as there may be.
func Sandbox(ctx context.Context, agent *sandbox.Client, during time.Duration) (figures []Figure, err error) {
	for _, clients := range slices.Compact([]int{1, agent.Slots()}) {
		f, err := starts(ctx, agent, clients, during)
		if err != nil {
			return figures, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

func starts(ctx context.Context, agent *sandbox.Client, clients int, during time.Duration) (f Figure, err error) {
	var boxes []*sandbox.Box
	defer func() {
		for _, b := range boxes {
			err = errors.Join(err, b.Close())
		}
	}()
	for range clients {
		b, err := agent.Box(ctx)
		if err != nil {
			return f, err
		}
		boxes = append(boxes, b)
	}
	rate, took, err := each(ctx, clients, during, func(ctx context.Context, i int) error {
		r, err := boxes[i].Run(ctx, sandbox.Cmd{Program: "/usr/bin/true"})
		if err == nil && (r.Verdict != sandbox.OK || r.ExitCode != 0) {
			err = fmt.Errorf("/usr/bin/true ended with %s, status %d: %s", r.Verdict, r.ExitCode, r.Error)
		}
		return err
	})
	if err != nil {
		return f, err
	}
	return Figure{fmt.Sprintf("sandbox starts, %d at once", clients), rate, "1/s", described(took)}, nil
}

// Disk measures how many times per second 8 KiB can be written behind each other
// so that they are there after a power cut.
func Disk(ctx context.Context, dir string, during time.Duration) ([]Figure, error) {
	f, err := os.CreateTemp(dir, "disk-")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(filepath.Clean(f.Name()))
	}()
	page := make([]byte, 8<<10)
	rate, took, err := each(ctx, 1, during, func(context.Context, int) error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
	if err != nil {
		return nil, err
	}
	return []Figure{{"disk writes, 8 KiB with fsync", rate, "1/s", described(took)}}, nil
}
