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

// partners are programs that an interactor must get the better of: whatever it
// asks, they answer nothing that helps. They know no problem and are in C.
var partners = []abi.Source{
	{Name: "silent.c", Text: `#include <unistd.h>
int main(void)
{
	for (;;)
		pause();
}
`},
	{Name: "ends.c", Text: `int main(void) { return 0; }
`},
	{Name: "deaf.c", Text: `#include <unistd.h>
int main(void)
{
	close(0);
	close(1);
	for (;;)
		pause();
}
`},
	{Name: "flood.c", Text: `#include <string.h>
#include <unistd.h>
int main(void)
{
	static char text[1 << 16];
	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = "7 \n-1 x\n"[i % 9];
	while (write(1, text, sizeof text) > 0) {}
	return 0;
}
`},
	{Name: "endless-word.c", Text: `#include <string.h>
#include <unistd.h>
int main(void)
{
	static char text[1 << 16];
	memset(text, '9', sizeof text);
	while (write(1, text, sizeof text) > 0) {}
	return 0;
}
`},
	{Name: "noise.c", Text: `#include <unistd.h>
int main(void)
{
	char text[4096];
	for (unsigned i = 0, x = 1; i < sizeof text; i++, x = x * 1664525 + 1013904223)
		text[i] = (char)(x >> 24);
	return write(1, text, sizeof text) < 0;
}
`},
}

const noInteractiveProblem = "it needs the package of an interactive problem"

// conversation has an interactor talk with live programs: the submissions of a
// package, and partners that nobody should accept.
func (s *suite) conversation() (string, error) {
	switch {
	case s.Problem == nil || s.Problem.Interactor == nil:
		return noInteractiveProblem, nil
	case s.Runner == nil:
		return needsSandbox, nil
	}
	all, err := s.Runner.Submissions(s.whole, s.Problem, s.wasm, s.module.Manifest, partners)
	if err != nil {
		return "", err
	}
	kinds := map[string]int{}
	missing := ""
	for _, j := range all {
		if j.Missing != "" {
			missing = fmt.Sprintf("%s: %s", j.Path, j.Missing)
			continue
		}
		got := fmt.Sprintf("%s gets %s: %s", j.Path, j.Verdict, j.Message)
		switch {
		case j.Other:
			kinds["partner"]++
			if j.Verdict == "AC" || j.Verdict == "JE" {
				s.find("talk-partner", got)
			}
		case j.Right:
			kinds["accepted"]++
			if j.Verdict == "WA" || j.Verdict == "JE" {
				s.find("talk-accepted", got)
			}
		default:
			kinds["wrong"]++
			if j.Verdict == "AC" || j.Verdict == "JE" {
				s.find("talk-wrong", got)
			}
		}
	}
	switch {
	case missing != "":
		return missing, nil
	case kinds["accepted"] == 0 || kinds["wrong"] == 0:
		return "it needs a package with an accepted and a wrong submission", nil
	}
	return "", nil
}

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

// costOfSize measures an output of a megabyte that equals its answer: the sample's, over and over.
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
