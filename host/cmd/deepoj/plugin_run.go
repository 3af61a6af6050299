package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deepoj/host/command"
	"deepoj/host/judge"
	"deepoj/host/plugin"
	"deepoj/host/workbench"
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

// runPlugin asks a checker about files.
func runPlugin(f *command.Flags) command.Run {
	var m manifestFlags
	m.define(f)
	return func(ctx context.Context, c *command.Call) error {
		line, err := ask(ctx, c, m)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(c.Out).Encode(line); err != nil {
			return err
		}
		if line.Verdict == judge.JE {
			return command.Exit(1)
		}
		return accepted(line.Verdict)
	}
}

// ask puts the question to the checker.
func ask(ctx context.Context, c *command.Call, m manifestFlags) (line runLine, err error) {
	names := c.Args
	wasm, err := workbench.ReadModule(names[0])
	if err != nil {
		return line, err
	}
	given, err := m.given(names[0])
	if err != nil {
		return line, err
	}
	files := plugin.Check{Args: c.Behind}
	for i, into := range []**os.File{&files.Input, &files.Output, &files.Answer} {
		if *into, err = workbench.OpenRegular(names[i+1]); err != nil {
			return line, err
		}
		defer (*into).Close()
	}
	b, _, err := workbench.Open(ctx, benchConfig(c))
	if err != nil {
		return line, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	mod, err := b.Plugins.Load(ctx, wasm, given)
	if err != nil {
		return line, err
	}
	if k := mod.Manifest.Kind; k != abi.Checker {
		return line, fmt.Errorf("%s is of kind %s: only a checker can be asked about files; `deepoj plugin test` tries the others", names[0], k)
	}
	m.tellOrigin(c, mod.Origin, mod.Manifest.Kind, mod.Manifest.Protocol)
	o, err := b.Plugins.Check(ctx, mod, files)
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

// manifestFlags say what a module is that brings no manifest.
type manifestFlags struct{ file, protocol string }

func (m *manifestFlags) define(f *command.Flags) {
	f.StringVar(&m.file, "manifest", "", "JSON `file` with the manifest of a module that brings none")
	f.StringVar(&m.protocol, "protocol", "", "protocol of a checker that brings no manifest: testlib/1 (the default) or icpc/1")
}

// given returns the manifest for a module that brings none.
func (m *manifestFlags) given(wasm string) (*abi.Manifest, error) {
	if m.file != "" && m.protocol != "" {
		return nil, errors.New("--manifest and --protocol: give one of them")
	}
	if m.file != "" {
		data, err := os.ReadFile(filepath.Clean(m.file))
		if err != nil {
			return nil, err
		}
		return plugin.ParseManifest(data)
	}
	p := abi.Testlib1
	if m.protocol != "" {
		p = abi.Protocol(m.protocol)
	}
	name := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(filepath.Base(wasm), ".wasm"))
	return &abi.Manifest{Judge: abi.Version, Kind: abi.Checker, Name: "local." + name, Version: "0", Protocol: p}, nil
}

// tellOrigin says on stderr that a manifest was assumed.
func (m *manifestFlags) tellOrigin(c *command.Call, from plugin.Origin, kind abi.Kind, protocol abi.Protocol) {
	if from == plugin.FromUpload && m.file == "" {
		c.Warn("the module brings no manifest: taken for a %s of %s (see --protocol and --manifest)", kind, protocol)
	}
}
