package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"deepoj/plugins/abi"
)

// MessageMax is how much of a message is kept, in bytes.
const MessageMax = 64 << 10

// question is one call of a guest, as a dialect asks it.
type question struct {
	call     string // its name in errors and metrics, such as "check"
	args     []string
	names    []string   // of the files, in the guest's world
	files    []*os.File // and behind them stdin's, if it is stdinFile
	stdin    stdin
	blob     []byte
	feedback bool
	kept     map[string][]byte // files that lie in the feedback folder; nil = they need not come back
	patience time.Duration     // 0 = the runtime's
	said     int64             // with stdinLive: what the program may say
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

// tries is how often a call is put to a worker: a worker may die of what it did
// before, a fresh one may not.
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
		slog.String("call", q.call), slog.Any("err", fault.Err), slog.String("said", cut(fault.Message, maxDetail)))
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
	req := request{
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
		req.Kept = append(req.Kept, part{name, len(q.kept[name])})
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
		case err == nil && a.Fault == faultModule && !mended:
			mended = true
			r.cfg.Log.WarnContext(ctx, "machine code is made again", slog.String("why", cut(a.Detail, maxDetail)))
			if err = r.compile(ctx, dir, true); err == nil && q.sent == nil {
				try--
				continue
			}
			if err == nil {
				err = errors.New("the cache was damaged and is mended")
			}
		case err == nil:
			var out answer
			out, err = a.answer(blob)
			r.metrics.observe(q.call, time.Since(from), a.Fuel, err)
			return out, err
		}
		r.metrics.observe(q.call, time.Since(from), 0, err)
		return answer{}, err
	}
}

// answer makes an answer of a reply, and an [*Error] of its fault.
func (a *reply) answer(blob []byte) (answer, error) {
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
	case faultNone:
		return out, nil
	case faultFuel:
		err = fmt.Errorf("%w: %d units", ErrFuel, a.Fuel)
	case faultCPU:
		err = ErrBudget
	case faultOutput:
		err = ErrOutput
	case faultSaid:
		err = errSaid
	case faultMemory:
		err = fmt.Errorf("%w: its module begins with more than its limit", ErrMemory)
	case faultTrap:
		err = fmt.Errorf("%w: %s", ErrTrap, a.Detail)
		if a.GrowsDenied > 0 {
			err = fmt.Errorf("%w at %d MiB: %w", ErrMemory, a.MemoryBytes>>20, err)
		}
	case faultModule:
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

// said returns what a guest that failed said to staff: on stderr, and in the
// file that icpc/1 has for that.
func (a answer) said() string {
	said, note := text(a.parts[partStderr]), text(a.parts[partJudge])
	if said == "" || note == "" {
		return said + note
	}
	return text([]byte(said + "\n" + note))
}

// text cleans what a guest wrote: valid UTF-8 of at most [MessageMax] bytes,
// without characters that terminals and databases take amiss and without the
// ends of the last lines.
func text(b []byte) string {
	out := make([]byte, 0, min(len(b), MessageMax))
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		b = b[n:]
		if c < ' ' && c != '\n' && c != '\t' {
			if c == '\r' {
				continue
			}
			c = utf8.RuneError
		}
		if len(out)+utf8.RuneLen(c) > MessageMax {
			break
		}
		out = utf8.AppendRune(out, c)
	}
	return strings.TrimRight(string(out), "\n")
}
