package judging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deepoj/host/judging/blame"
	"deepoj/host/judging/runner"
	"deepoj/sandbox"
)

// The values of FallbackConfig.Mode.
const (
	AgentAuto    = "auto"    // the agent while it is well, else the one-shot command
	AgentOff     = "off"     // the one-shot command always
	AgentRequire = "require" // the agent, or nothing
)

// FallbackConfig says how programs are run.
type FallbackConfig struct {
	// Mode is one of the Agent constants (JUDGE_AGENT). Defaults to AgentAuto.
	Mode string

	// Keeper bounds what is read of one-shot runs.
	Keeper sandbox.KeeperClientConfig

	// Changed is called when programs begin to be run in another way. Defaults to nothing.
	Changed func()

	// Log gets every change with its reason. Defaults to none.
	Log *slog.Logger

	// Registerer takes the metrics; nil keeps them private.
	Registerer prometheus.Registerer
}

// Fallback runs programs with the sandbox agent while that is well. While it is not, they are run by the one-shot
// command, a new process for each run, or not at all, as its configuration says. It may be used by several goroutines.
type Fallback struct {
	cfg      FallbackConfig
	keeper   *sandbox.KeeperClient
	uses     prometheus.Gauge
	refused  *prometheus.CounterVec
	replaced *prometheus.CounterVec

	looking sync.Mutex       // held while the agent is looked at
	counted map[string]int64 // how many replaced agents the metric has, by reason

	mu      sync.Mutex
	agent   *sandbox.Client         // nil while there is none that is well
	lost    context.Context         // ends when agent is given up
	lose    context.CancelCauseFunc // ends lost
	why     error                   // why there is none
	settled bool                    // it was said whether there is one
}

var _ runner.Sandbox = (*Fallback)(nil)

// lookTime is how long an agent may take to start, or for its self-test.
const lookTime = 2 * time.Minute

// NewFallback reaches the keeper at the other end of conn, and the agent that it
// keeps, and waits for the agent's answer.
func NewFallback(ctx context.Context, conn *os.File, cfg FallbackConfig) (*Fallback, error) {
	switch cfg.Mode {
	case "":
		cfg.Mode = AgentAuto
	case AgentAuto, AgentOff, AgentRequire:
	default:
		return nil, fmt.Errorf("sandbox: the mode %q is not one of auto, off and require", cfg.Mode)
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Registerer == nil {
		cfg.Registerer = prometheus.NewRegistry()
	}
	f := &Fallback{cfg: cfg, why: errors.New("it was not looked at yet")}
	f.uses = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "deepoj_sandbox_agent", Help: "Whether programs are run by the sandbox agent (1) or without it (0).",
	})
	f.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "judge_protocol_errors_total", Help: "Lines of the one-shot command that were refused, by reason.",
	}, []string{"reason"})
	for _, reason := range sandbox.Reasons {
		f.refused.WithLabelValues(reason)
	}
	f.replaced = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "deepoj_sandbox_agent_replaced_total", Help: "Sandbox agents that ended and were replaced, by reason.",
	}, []string{"reason"})
	for _, reason := range sandbox.ReplacedReasons {
		f.replaced.WithLabelValues(reason)
	}
	f.counted = map[string]int64{}
	if err := errors.Join(cfg.Registerer.Register(f.uses), cfg.Registerer.Register(f.refused), cfg.Registerer.Register(f.replaced)); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	cfg.Keeper.Refused = func(reason string) { f.refused.WithLabelValues(reason).Inc() }
	var err error
	if f.keeper, err = sandbox.DialKeeper(ctx, conn, cfg.Keeper); err != nil {
		return nil, err
	}
	if cfg.Mode == AgentOff {
		f.why = errors.New("JUDGE_AGENT is off")
		cfg.Log.InfoContext(ctx, "programs are run by the one-shot command", slog.Any("reason", f.why))
		return f, nil
	}
	f.look(ctx, lookTime)
	return f, nil
}

// The pace at which Run looks at the agent.
const (
	aliveEvery = time.Second
	testEvery  = 30 * time.Second
)

// Run notices when the agent is lost, and when it is back, until ctx ends.
func (f *Fallback) Run(ctx context.Context) error {
	if f.cfg.Mode == AgentOff {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	tested := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if agent, _, _ := f.current(); agent == nil || !agent.Alive() || time.Since(tested) > testEvery {
			f.look(ctx, lookTime)
			tested = time.Now()
		}
	}
}

// current returns the agent, with a context that ends when it is given up, or nil and why there is none.
func (f *Fallback) current() (*sandbox.Client, context.Context, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.agent, f.lost, f.why
}

// look finds out whether there is an agent that is well. Somebody who looks already is not waited for.
func (f *Fallback) look(ctx context.Context, patience time.Duration) {
	if !f.looking.TryLock() {
		return
	}
	defer f.looking.Unlock()
	test, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	before, _, _ := f.current()
	agent := before
	var err error
	if agent == nil {
		agent, err = f.keeper.Agent(test)
	}
	if err == nil {
		var s sandbox.Status
		if s, err = agent.Status(test); err == nil && s.SelfTest != "" {
			err = fmt.Errorf("its self-test failed: %s", s.SelfTest)
		}
	}
	if ctx.Err() != nil {
		return // what a stop interrupted says nothing
	}
	f.count(test)
	if err == nil {
		f.set(ctx, before, agent, nil)
		return
	}
	f.set(ctx, before, nil, err)
	if agent != nil {
		_ = agent.Close() // nothing was written to it
	}
}

// count brings the metric of replaced agents up to date.
func (f *Fallback) count(ctx context.Context) {
	replaced, err := f.keeper.Replaced(ctx)
	if err != nil {
		return // without the keeper there are no agents either, and that is said elsewhere
	}
	for _, reason := range sandbox.ReplacedReasons {
		f.replaced.WithLabelValues(reason).Add(float64(replaced[reason] - f.counted[reason]))
		f.counted[reason] = replaced[reason]
	}
}

// set says that not the agent before but now runs programs, or none because of
// why. It does nothing if somebody else was faster.
func (f *Fallback) set(ctx context.Context, before, now *sandbox.Client, why error) {
	f.mu.Lock()
	if f.agent != before {
		f.mu.Unlock()
		return
	}
	changed := before != now || !f.settled
	again := f.settled
	if changed && before != nil {
		f.lose(sandbox.ErrAgentGone)
	}
	if changed && now != nil {
		f.lost, f.lose = context.WithCancelCause(context.Background())
	}
	f.agent, f.why, f.settled = now, why, true
	f.mu.Unlock()
	if !changed {
		return
	}
	switch {
	case now != nil:
		f.uses.Set(1)
		if again { // in other words: lines that repeat are left out for a while
			f.cfg.Log.InfoContext(ctx, "programs are run by the sandbox agent again")
		} else {
			f.cfg.Log.InfoContext(ctx, "programs are run by the sandbox agent")
		}
	case f.cfg.Mode == AgentRequire:
		f.uses.Set(0)
		f.cfg.Log.ErrorContext(ctx, "programs are not run: the sandbox agent is required and not there", slog.Any("reason", why))
	default:
		f.uses.Set(0)
		f.cfg.Log.WarnContext(ctx, "programs are run by the one-shot command, without the sandbox agent", slog.Any("reason", why))
	}
	f.cfg.Changed()
}

// Box opens a box that programs cannot write to.
func (f *Fallback) Box(ctx context.Context) (*sandbox.Box, error) {
	return f.OpenBox(ctx, sandbox.BoxOptions{})
}

// OpenBox opens a box of the agent, or one without it. The error is an
// [*blame.UnavailableError] if the agent is required and not there.
func (f *Fallback) OpenBox(ctx context.Context, o sandbox.BoxOptions) (*sandbox.Box, error) {
	agent, lost, why := f.current()
	if agent != nil {
		box, err := openBox(ctx, lost, agent, o)
		if !errors.Is(err, sandbox.ErrAgentGone) {
			return box, err
		}
		f.set(ctx, agent, nil, err)
		why = err
	}
	if f.cfg.Mode == AgentRequire {
		return nil, f.unavailable(why)
	}
	return f.keeper.OpenBox(ctx, o)
}

// openBox opens a box of an agent, until ctx or lost ends.
func openBox(ctx, lost context.Context, agent *sandbox.Client, o sandbox.BoxOptions) (*sandbox.Box, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(lost, func() { cancel(context.Cause(lost)) })()
	return agent.OpenBox(ctx, o)
}

// Tool returns where the tool with a logical name is.
func (f *Fallback) Tool(ctx context.Context, name string) (sandbox.Tool, error) {
	if agent, _, why := f.current(); agent != nil {
		t, err := agent.Tool(ctx, name)
		if !errors.Is(err, sandbox.ErrAgentGone) {
			return t, err
		}
		f.set(ctx, agent, nil, err)
	} else if f.cfg.Mode == AgentRequire {
		return sandbox.Tool{}, f.unavailable(why)
	}
	return f.keeper.Tool(ctx, name)
}

// unavailable says that another machine may run programs.
func (f *Fallback) unavailable(why error) error {
	return &blame.UnavailableError{
		What: "the sandbox agent", Agent: true, Reason: why.Error(), Remedy: "see the log of the agent, or set JUDGE_AGENT to auto to do without it",
	}
}

// Slots returns how many programs run at once.
func (f *Fallback) Slots() int { return f.keeper.Slots() }

// Cores returns how many cores one program can use.
func (f *Fallback) Cores() int { return f.keeper.Cores() }

// Agent returns nil if programs are run by the agent, or else why not.
func (f *Fallback) Agent() error {
	_, _, why := f.current()
	return why
}

// Status tests how programs are run, and says it in a line for people. The error says why they cannot be run.
func (f *Fallback) Status(ctx context.Context) (string, error) {
	if f.cfg.Mode != AgentOff {
		f.look(ctx, lookTime)
	}
	agent, _, why := f.current()
	if agent != nil {
		s, err := agent.Status(ctx) // the self-test that look made is fresh
		if err == nil {
			return describe(s), nil
		}
		f.set(ctx, agent, nil, err)
		why = err
	}
	if f.cfg.Mode == AgentRequire {
		return "", f.unavailable(why)
	}
	s, err := f.keeper.Status(ctx)
	if err == nil && s.SelfTest != "" {
		err = errors.New(s.SelfTest)
	}
	if err != nil {
		return "", fmt.Errorf("neither the sandbox agent (%w) nor the one-shot command runs programs: %w", why, err)
	}
	return describe(s) + ", by the one-shot command: " + why.Error(), nil
}

// describe describes a sandbox for people.
func describe(s sandbox.Status) string {
	line := "cgroup driver " + s.Driver
	if len(s.Degraded) > 0 {
		line += ", degraded: " + strings.Join(s.Degraded, "; ")
	}
	return line
}
