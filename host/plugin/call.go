package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"deepoj/host/plugin/dialogue"
	"deepoj/host/plugin/internal/wire"
	"deepoj/plugins/abi"
)

// MessageMax is how much of a message is kept, in bytes.
const MessageMax = dialogue.TextMax

// question is one call of a guest, as a dialect asks it.
type question struct {
	call     string // its name in errors and metrics, such as "check"
	args     []string
	names    []string   // of the files, in the guest's world
	files    []*os.File // and behind them stdin's, if it is stdinFile
	stdin    wire.Stdin
	blob     []byte
	feedback bool
	kept     map[string][]byte // files that lie in the feedback folder; nil = they need not come back
	patience time.Duration     // 0 = the runtime's
	said     int64             // with StdinLive: what the program may say
	sent     func()            // called when a worker has the question, which then is not asked again; or nil
}

// answer is what a guest did.
type answer struct {
	exit   uint32
	fuel   uint64
	cpu    time.Duration
	memory int64
	parts  map[string][]byte

	heardLast, heardEnd, ended time.Duration // of an interactor: see Judgement
	flooded                    bool          // of an interactor: see reply
}

// tries is how often a call is put to a worker: a worker may die of what it did before, a fresh one may not.
const tries = 2

// ask puts a question to a guest. What the guest does wrong is an [*Error].
func (r *Runtime) ask(ctx context.Context, m *Module, q question) (answer, error) {
	limits := m.Manifest.Limits
	a, err := r.try(ctx, m.dir, limits, q)
	if err == nil {
		return a, nil
	}
	fault, ok := errors.AsType[*Error](err)
	if !ok {
		return a, fmt.Errorf("plugin %s: %s: %w", m.label(), q.call, err)
	}
	fault.Plugin, fault.Call = m.label(), q.call
	r.cfg.Log.WarnContext(ctx, "plugin failed", slog.String("plugin", fault.Plugin), slog.String("digest", m.Digest),
		slog.String("call", q.call), slog.Any("err", fault.Err), slog.String("said", cut(fault.Message, wire.MaxDetail)))
	return a, fault
}

// try puts a question to the guest in a folder of the cache, within the budget of ctx.
func (r *Runtime) try(ctx context.Context, dir string, limits abi.Limits, q question) (answer, error) {
	b := budgetOf(ctx)
	if b == nil {
		return r.put(ctx, dir, limits, q)
	}
	if b.Spent() {
		return answer{}, ErrBudget
	}
	a, err := r.put(ctx, dir, limits, q)
	if b.left.Add(-int64(a.cpu)); b.Spent() && err != nil {
		return a, ErrBudget // it may be why there is no answer
	}
	return a, err
}

// put puts a question to the guest in a folder of the cache.
func (r *Runtime) put(ctx context.Context, dir string, limits abi.Limits, q question) (answer, error) {
	const fuelUnit = 1_000_000
	req := wire.Request{
		Dir: dir, Args: q.args, Files: q.names, Stdin: q.stdin, Feedback: q.feedback, Keep: q.kept != nil,
		MemoryBytes: int64(limits.MemoryMiB) << 20,
		Fuel:        int64(limits.FuelM) * fuelUnit,
		OutputBytes: int64(limits.OutputKiB) << 10,
		SaidBytes:   q.said,
	}
	if b := budgetOf(ctx); b != nil {
		req.CPUNanos = max(b.left.Load(), 1)
	}
	for _, name := range slices.Sorted(maps.Keys(q.kept)) {
		req.Kept = append(req.Kept, wire.Part{Name: name, Bytes: len(q.kept[name])})
		q.blob = append(q.blob, q.kept[name]...)
	}
	from := time.Now()
	patience := r.cfg.Patience
	if q.patience > 0 {
		patience = q.patience
	}
	mended := false // machine code was made again
	for try := 1; ; try++ {
		a, blob, err := r.pool.ask(ctx, req, q, patience, try > 1)
		var died *diedError
		switch {
		case errors.As(err, &died):
			if !died.shared {
				r.metrics.deaths.Inc()
			}
			r.cfg.Log.WarnContext(ctx, "plugin worker died", slog.String("call", q.call), slog.String("how", died.how), slog.Int("try", try))
			if try < tries && q.sent == nil {
				continue
			}
			err = &Error{Err: fmt.Errorf("%w: %s", ErrDied, died.how)}
		case errors.Is(err, ErrPatience):
			r.metrics.observe(q.call, time.Since(from), 0, err)
			return answer{cpu: patience}, &Error{Err: fmt.Errorf("%w: more than %s", ErrPatience, patience)}
		case err == nil && a.Fault == wire.FaultModule && !mended:
			mended = true
			r.cfg.Log.WarnContext(ctx, "machine code is made again", slog.String("why", cut(a.Detail, wire.MaxDetail)))
			if err = r.compile(ctx, dir, true); err == nil && q.sent == nil {
				try--
				continue
			}
			if err == nil {
				err = errors.New("the cache was damaged and is mended")
			}
		case err == nil:
			var out answer
			out, err = newAnswer(&a, blob)
			r.metrics.observe(q.call, time.Since(from), a.Fuel, err)
			return out, err
		}
		r.metrics.observe(q.call, time.Since(from), 0, err)
		return answer{}, err
	}
}

// newAnswer makes an answer of a reply, and an [*Error] of its fault.
func newAnswer(a *wire.Reply, blob []byte) (answer, error) {
	out := answer{
		exit: a.Exit, fuel: a.Fuel, cpu: time.Duration(a.CPUNanos), memory: a.MemoryBytes,
		heardLast: time.Duration(a.LastNanos), heardEnd: time.Duration(a.HeardNanos), ended: time.Duration(a.EndedNanos), flooded: a.Flooded, parts: map[string][]byte{},
	}
	for _, p := range a.Parts {
		out.parts[p.Name] = blob[:p.Bytes:p.Bytes]
		blob = blob[p.Bytes:]
	}
	var err error
	switch a.Fault {
	case wire.FaultNone:
		return out, nil
	case wire.FaultFuel:
		err = fmt.Errorf("%w: %d units", ErrFuel, a.Fuel)
	case wire.FaultCPU:
		err = ErrBudget
	case wire.FaultOutput:
		err = ErrOutput
	case wire.FaultSaid:
		err = errSaid
	case wire.FaultMemory:
		err = fmt.Errorf("%w: its module begins with more than its limit", ErrMemory)
	case wire.FaultTrap:
		err = fmt.Errorf("%w: %s", ErrTrap, a.Detail)
		if a.GrowsDenied > 0 {
			err = fmt.Errorf("%w at %d MiB: %w", ErrMemory, a.MemoryBytes>>20, err)
		}
	case wire.FaultModule:
		return out, fmt.Errorf("the cache is damaged: %s", a.Detail)
	default:
		return out, fmt.Errorf("worker reports an unknown fault %q", a.Fault)
	}
	return out, &Error{Err: err, Fuel: out.fuel, Message: out.said()}
}

// broke is the error of a guest that does not keep to its dialect.
func (r *Runtime) broke(m *Module, q question, a answer, cause error) *Error {
	return &Error{Plugin: m.label(), Call: q.call, Err: cause, Fuel: a.fuel, Message: a.said()}
}

// said returns what a guest that failed said to staff: on stderr, and in the file that icpc/1 has for that.
func (a answer) said() string {
	said, note := dialogue.Text(a.parts[wire.PartStderr]), dialogue.Text(a.parts[wire.PartJudge])
	if said == "" || note == "" {
		return said + note
	}
	return dialogue.Text([]byte(said + "\n" + note))
}

// ErrBudget is what a call returns that used up the last of its [Budget], and each that
// follows. Who made the budget knows what it was for, so it is no [Error].
var ErrBudget = errors.New("the processor time of these calls is used up")

// Budget is processor time that calls share. Unlike time on the wall it is not used by what else the machine does.
type Budget struct{ left atomic.Int64 }

// NewBudget returns a budget. Time must be positive.
func NewBudget(time time.Duration) *Budget {
	b := &Budget{}
	b.left.Store(int64(time))
	return b
}

// Spent reports whether nothing is left.
func (b *Budget) Spent() bool { return b.left.Load() <= 0 }

type budgetKey struct{}

// Within returns a context whose calls of plugins share the budget. Calls that run at
// the same time may each use what is left.
func (b *Budget) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// budgetOf returns the budget of a context, nil if there is none.
func budgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}
