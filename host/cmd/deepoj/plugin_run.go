package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/plugins/abi"
)

// runLine is what `deepoj plugin run` prints, on one line.
type runLine struct {
	Verdict      judge.Verdict  `json:"verdict"`           // AC, WA, PE or JE
	Outcome      plugin.Outcome `json:"outcome,omitempty"` // accepted, wrong, presentation or partial; "" with JE
	Score        *float64       `json:"score,omitempty"`   // what the checker gives
	Message      string         `json:"message"`           // for the contestant
	JudgeMessage string         `json:"judge_message"`     // for staff
	Error        string         `json:"error,omitempty"`   // with JE: what went wrong
	Fuel         uint64         `json:"fuel"`              // units, the same on every machine
	CPUMicros    int64          `json:"cpu_us"`            // CPU time in microseconds, on this machine
	MemoryKiB    int64          `json:"memory_kib"`        // what the guest's memory grew to
	Plugin       string         `json:"plugin"`            // digest
}

// runPlugin is `deepoj plugin run`. Its status is 0 when the output is accepted,
// 3 for any other verdict, and 1 when there is none.
func runPlugin(ctx context.Context, e *env) int {
	f := bareFlags(e, "plugin run", "FILE.wasm INPUT OUTPUT ANSWER [-- ARGS]")
	var m manifestFlags
	m.define(f)
	flags, args := e.args, []string(nil)
	if at := slices.Index(flags, "--"); at >= 0 {
		flags, args = flags[:at], flags[at+1:]
	}
	names, status, ok := parseMixed(f, flags)
	if !ok {
		return status
	}
	if len(names) != 4 {
		f.Usage()
		return 2
	}
	line, err := ask(ctx, e, names, args, m)
	if err != nil {
		return e.fail(err)
	}
	if err := json.NewEncoder(e.stdout).Encode(line); err != nil {
		return e.fail(err)
	}
	if line.Verdict == judge.AC {
		return 0
	}
	if line.Verdict == judge.JE {
		return 1
	}
	return 3
}

// ask puts the question to the checker.
func ask(ctx context.Context, e *env, names, args []string, m manifestFlags) (line runLine, err error) {
	wasm, err := readModule(names[0])
	if err != nil {
		return line, err
	}
	given, err := m.given(names[0])
	if err != nil {
		return line, err
	}
	c := plugin.Check{Args: args}
	for i, into := range []**os.File{&c.Input, &c.Output, &c.Answer} {
		if *into, err = openRegular(names[i+1]); err != nil {
			return line, err
		}
		defer (*into).Close()
	}
	b, _, err := openBench(ctx, e, false)
	if err != nil {
		return line, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	mod, err := b.plugins.Load(ctx, wasm, given)
	if err != nil {
		return line, err
	}
	if k := mod.Manifest.Kind; k != abi.Checker {
		return line, fmt.Errorf("%s is of kind %s: only a checker can be asked about files; `deepoj plugin test` tries the others", names[0], k)
	}
	m.tellOrigin(e, mod.Origin, mod.Manifest.Kind, mod.Manifest.Protocol)
	o, err := b.plugins.Check(ctx, mod, c)
	line.Plugin = mod.Digest
	if fault, ok := errors.AsType[*plugin.Error](err); ok {
		line.Verdict, line.Error, line.JudgeMessage, line.Fuel = judge.JE, fault.Err.Error(), fault.Message, fault.Fuel
		return line, nil
	}
	if err != nil {
		return line, err
	}
	line.Verdict = map[plugin.Outcome]judge.Verdict{
		plugin.Accepted: judge.AC, plugin.Wrong: judge.WA, plugin.Presentation: judge.PE, plugin.Partial: judge.AC,
	}[o.Outcome]
	line.Outcome, line.Score, line.Message, line.JudgeMessage = o.Outcome, o.Score, o.Message, o.JudgeMessage
	line.Fuel, line.CPUMicros, line.MemoryKiB = o.Fuel, o.CPU.Microseconds(), o.MemoryBytes>>10
	return line, nil
}
