package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins/abi"
)

// Plan asks an adapter how to compile and run a program. The Judge and Op fields of q are filled in. A plan whose Error
// is set is an answer: the contestant's program does not compile.
func (r *Runtime) Plan(ctx context.Context, m *Module, q abi.PlanRequest) (abi.Plan, error) {
	p, _, err := r.PlanUsage(ctx, m, q)
	return p, err
}

// Usage is what a call of a guest cost.
type Usage struct {
	Fuel        uint64        // the same each time
	CPU         time.Duration // on this machine, now
	MemoryBytes int64         // what the guest's memory grew to
}

// PlanUsage is [Runtime.Plan], and says what it cost.
func (r *Runtime) PlanUsage(ctx context.Context, m *Module, q abi.PlanRequest) (abi.Plan, Usage, error) {
	q.Judge, q.Op = abi.Version, abi.OpPlan
	var p abi.Plan
	u, err := r.operate(ctx, m, q.Op, q, &p, func() int { return p.Judge })
	if err != nil {
		return abi.Plan{}, u, err
	}
	return p, u, nil
}

// Diagnostics asks an adapter to read a compiler's words. The Judge and Op fields of q are filled in.
func (r *Runtime) Diagnostics(ctx context.Context, m *Module, q abi.DiagnosticsRequest) (abi.DiagnosticsReply, error) {
	q.Judge, q.Op = abi.Version, abi.OpDiagnostics
	var d abi.DiagnosticsReply
	if _, err := r.operate(ctx, m, q.Op, q, &d, func() int { return d.Judge }); err != nil {
		return abi.DiagnosticsReply{}, err
	}
	return d, nil
}

// operate puts JSON to an adapter and reads its JSON.
func (r *Runtime) operate(ctx context.Context, m *Module, op string, in, out any, judge func() int) (Usage, error) {
	if m.Manifest.Kind != abi.Toolchain {
		return Usage{}, fmt.Errorf("%s: %s is a %s", op, m.label(), m.Manifest.Kind)
	}
	data, err := json.Marshal(in)
	if err != nil {
		return Usage{}, fmt.Errorf("%s: %w", op, err)
	}
	q := question{call: op, args: []string{m.Manifest.Name, op}, stdin: wire.StdinBlob, blob: data}
	a, err := r.ask(ctx, m, q)
	u := Usage{Fuel: a.fuel, CPU: a.cpu, MemoryBytes: a.memory}
	if err != nil {
		return u, err
	}
	if a.exit != 0 {
		return u, r.broke(m, q, a, fmt.Errorf("%w: exit status %d", ErrContract, a.exit))
	}
	if err := json.Unmarshal(a.parts[wire.PartStdout], out); err != nil {
		return u, r.broke(m, q, a, fmt.Errorf("%w: its reply is not the JSON it should be: %w", ErrContract, err))
	}
	if judge() != abi.Version {
		return u, r.broke(m, q, a, fmt.Errorf("%w: its reply is of judge %d, not %d", ErrContract, judge(), abi.Version))
	}
	return u, nil
}

// describeLimits are those of a module that is not known yet.
var describeLimits = abi.Limits{MemoryMiB: 256, FuelM: 1_000, OutputKiB: 2 * abi.ManifestMax >> 10}

// Describe asks a module what it is, as at its admission, and returns what it says. It returns nil if the module does
// not answer, and a [*Refusal] if the answer is no manifest.
func (r *Runtime) Describe(ctx context.Context, m *Module) (*abi.Manifest, error) {
	return r.describe(ctx, m.dir, m.Manifest.Name, m.Manifest.Limits)
}

// describe asks the module in a folder of the cache what it is, in both ways that modules know. It returns nil if the
// module does not say: most programs take the question for a wrong command line. Name is what it is called.
func (r *Runtime) describe(ctx context.Context, dir, name string, limits abi.Limits) (*abi.Manifest, error) {
	for _, arg := range []string{"--describe", abi.OpDescribe} {
		a, err := r.try(ctx, dir, limits, question{call: abi.OpDescribe, args: []string{name, arg}})
		if _, ok := errors.AsType[*Error](err); ok {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("describe: %w", err)
		}
		said := a.parts[wire.PartStdout]
		var claim struct{ Judge *int }
		if a.exit != 0 || len(said) > abi.ManifestMax || json.Unmarshal(said, &claim) != nil || claim.Judge == nil {
			continue
		}
		m, refusal := parseManifest(said)
		if refusal != nil {
			return nil, refusal
		}
		return m, nil
	}
	return nil, nil
}
