package oneshot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"deepoj/sandbox/internal/selftest"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// The pauses between an agent's end and the start of the next one, which begins at once after an agent that was steady.
const (
	agentPause     = time.Second
	longAgentPause = 30 * time.Second

	// agentSteady is how long an agent runs that did not fail at its start.
	agentSteady = time.Minute
)

// keepAgent waits for the end of the agent p, which may have failed to start, and starts another one, until ctx ends.
func (k *Keeper) keepAgent(ctx context.Context, p *Process, err error) {
	var pause time.Duration
	for {
		began := time.Now()
		reason := wire.ReplacedEnded
		if err == nil {
			reason, err = k.await(ctx, p)
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > agentSteady {
			pause = 0
		}
		k.setAgent(nil, err, reason)
		k.log.ErrorContext(ctx, "there is no sandbox agent", slog.Any("err", err), slog.String("reason", reason), slog.Duration("again_in", pause))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(max(2*pause, agentPause), longAgentPause)
		p, err = k.spawn(ctx)
	}
}

// spawn starts an agent.
func (k *Keeper) spawn(ctx context.Context) (*Process, error) {
	p, err := Spawn(ctx, k.cfg.Agent[0], k.cfg.Agent[1:], k.cfg.Sandbox)
	k.setAgent(p, err, "")
	return p, err
}

// await waits for the end of an agent and returns why it ended. One that does not
// answer any more is killed. When ctx ends, so does the agent.
func (k *Keeper) await(ctx context.Context, p *Process) (reason string, err error) {
	asking, enough := context.WithCancel(ctx)
	defer enough()
	silent := make(chan error, 1)
	go func() {
		if err := p.listenFor(asking); err != nil {
			silent <- err
		}
	}()
	reason = wire.ReplacedEnded
	select {
	case <-ctx.Done():
		return reason, p.Close()
	case <-p.done:
		err = p.Close()
	case err := <-silent:
		k.log.ErrorContext(ctx, "the sandbox agent does not answer and is killed", slog.Any("err", err))
		p.hangUp()
		return wire.ReplacedSilent, fmt.Errorf("the sandbox agent did not answer: %w", errors.Join(err, p.kill()))
	}
	if p.cmd.ProcessState.ExitCode() == stuckStatus {
		reason = wire.ReplacedRoom
	}
	if err == nil {
		err = errors.New("it gave no reason")
	}
	return reason, fmt.Errorf("the sandbox agent ended by itself: %w", err)
}

// The pace at which an agent is asked whether it answers, and how long it may take. It
// does not answer for the first time before it has tried what it is able to do.
const (
	askEvery      = 10 * time.Second
	firstPatience = 4 * selftest.Patience
	askPatience   = 30 * time.Second
)

// listenFor asks the agent something now and then, until it or ctx has ended. The error says that it does not answer.
func (p *Process) listenFor(ctx context.Context) error {
	for patience := firstPatience; ; patience = askPatience {
		err := p.ask(ctx, patience)
		pause := askEvery
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was asked to stop
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("it said nothing for %s", patience)
		case errors.Is(err, wire.ErrAgentGone):
			pause = wait.AgentPatience
		}
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		if errors.Is(err, wire.ErrAgentGone) {
			return fmt.Errorf("it hung up and did not end within %s", wait.AgentPatience)
		}
	}
}

// ask asks the agent for a tool without a name, of which it says, without a room, that there is none.
func (p *Process) ask(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answered := make(chan error, 1)
	go func() { // which may have to wait until it can ask
		_, err := wire.Conn{File: p.conn}.FindTool(ctx, "")
		answered <- err
	}()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settle waits until the agent has said that it is ready, or has failed, but no longer
// than patience: what it says of its start then comes before what others say.
func (k *Keeper) Settle(patience time.Duration) {
	k.mu.Lock()
	p := k.agent
	k.mu.Unlock()
	if p != nil {
		_ = p.ask(context.Background(), patience) // whoever needs the agent hears what is wrong
	}
}

// setAgent says that p is the agent, or why there is none, and why it ended.
func (k *Keeper) setAgent(p *Process, why error, ended string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.agent, k.why = p, why
	if ended != "" {
		k.ended[ended]++
	}
}

// replaced returns how often an agent ended, by reason.
func (k *Keeper) replaced() map[string]int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.ended)
}
