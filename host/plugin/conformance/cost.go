package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

const (
	costCalls   = 50
	costBytes   = 1 << 20  // of the larger output
	ampleBytes  = 64 << 20 // of an output that a checker should manage, and as much of answer
	fuelUnit    = 1_000_000
	bytesPerMeg = 1 << 20
)

// cost measures the smallest question and a large one.
func (s *suite) cost() (string, error) {
	c, err := s.any()
	if err != nil {
		return "", err
	}
	k := &judge.PluginCost{Calls: costCalls}
	var took []time.Duration
	for range costCalls {
		o, err := s.check(c, c.output)
		if f, err := fault(err); err != nil || f != nil {
			return "the checker does not answer the smallest question", err
		}
		took = append(took, o.CPU)
		k.Fuel = o.Fuel
		k.MemoryKiB = max(k.MemoryKiB, o.MemoryBytes>>10)
	}
	percentiles(k, took)
	s.report.Cost = k
	return "", s.costOfSize(c, k)
}

// percentiles takes the median and the slowest in a hundred.
func percentiles(k *judge.PluginCost, took []time.Duration) {
	slices.Sort(took)
	k.MicrosP50 = took[len(took)/2].Microseconds()
	k.MicrosP99 = took[(len(took)*99+99)/100-1].Microseconds()
}

// costOfSize measures an output of a megabyte that equals its answer: the
// sample's, over and over.
func (s *suite) costOfSize(c *sample, k *judge.PluginCost) error {
	piece := c.answer
	if len(bytes.TrimSpace(piece)) == 0 {
		piece = []byte("1 ")
	}
	large := bytes.Repeat(piece, costBytes/len(piece)+1)
	o, err := s.checkAnswer(c, large)
	f, err := fault(err)
	if f != nil && errors.Is(f, plugin.ErrFuel) {
		s.find("slow", fmt.Sprintf("%d bytes that equal the answer: %v", len(large), f.Err))
	}
	if err != nil || f != nil || o.Outcome != plugin.Accepted {
		return err // its answers have a form of their own
	}
	k.MemoryKiB = max(k.MemoryKiB, o.MemoryBytes>>10)
	megs := float64(len(large)) / bytesPerMeg
	more := float64(o.Fuel) - float64(k.Fuel)
	k.FuelPerMB = max(more, 0) / megs
	k.MillisPerMB = float64(o.CPU.Microseconds()) / 1000 / megs
	limit := float64(s.module.Manifest.Limits.FuelM) * fuelUnit
	if need := k.FuelPerMB * ampleBytes / bytesPerMeg; need > limit {
		s.find("slow", fmt.Sprintf("%.0f million units of fuel a megabyte: %d MB need %.0f, it has %d",
			k.FuelPerMB/fuelUnit, ampleBytes>>20, need/fuelUnit, s.module.Manifest.Limits.FuelM))
	}
	return nil
}

// planCost measures planning for the adapter's own example.
func (s *suite) planCost() (string, error) {
	k := &judge.PluginCost{Calls: costCalls}
	var took []time.Duration
	for range costCalls {
		_, u, err := s.rt.PlanUsage(s.ctx, s.module, s.request(s.module.Manifest.Language.Hello))
		if f, err := fault(err); err != nil || f != nil {
			return "the adapter does not plan for its own example", err
		}
		took = append(took, u.CPU)
		k.Fuel = u.Fuel
		k.MemoryKiB = max(k.MemoryKiB, u.MemoryBytes>>10)
	}
	percentiles(k, took)
	s.report.Cost = k
	return "", nil
}

// request is a question for a plan, with tools of some version.
func (s *suite) request(sources []abi.Source) abi.PlanRequest {
	q := abi.PlanRequest{
		Sources: sources, Limits: abi.RunLimits{CPUMillis: 1000, MemoryMiB: 256},
		Host: abi.Host{Tools: map[string]abi.ToolVersion{}},
	}
	for _, t := range s.module.Manifest.Language.Tools {
		q.Host.Tools[t.Name] = abi.ToolVersion{Version: "1.0.0"}
	}
	return q
}
