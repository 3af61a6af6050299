package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/selftest"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// selfTestFresh is for how long a self-test that passed is believed.
const selfTestFresh = 10 * time.Second

// health remembers the last self-test.
type health struct {
	mu     sync.Mutex
	passed time.Time
}

// check says what is wrong with the agent, "" if nothing is. It tests anew when the last test is not fresh.
func (a *agent) check(ctx context.Context) string {
	a.health.mu.Lock()
	defer a.health.mu.Unlock()
	if time.Since(a.health.passed) < selfTestFresh {
		return ""
	}
	if err := a.selfTest(ctx); err != nil {
		return err.Error()
	}
	a.health.passed = time.Now()
	return ""
}

// selfTest makes one room and runs the smallest programs in it, so that an agent that starts is one that works.
func (a *agent) selfTest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, selftest.Patience)
	defer cancel()
	s, leave, err := a.oneSession(ctx)
	if err != nil {
		return fmt.Errorf("test the sandbox: %w", err)
	}
	err = selftest.Run(func(program []byte, limits wire.Limits) (wire.Result, error) { return runIn(ctx, s, program, limits) })
	if err := errors.Join(err, leave()); err != nil {
		return fmt.Errorf("test the sandbox: %w", err)
	}
	return nil
}

// runIn runs a program in the box of a session.
func runIn(ctx context.Context, s *wire.Session, program []byte, limits wire.Limits) (wire.Result, error) {
	const name = "selftest"
	packed, err := wire.Pack([]wire.File{{Path: name, Mode: 0o755, Data: program}})
	if err != nil {
		return wire.Result{}, err
	}
	defer packed.Close()
	_, files, err := s.Call(ctx, wire.Request{Op: wire.OpPut}, nil, packed)
	wire.CloseAll(files)
	if err != nil {
		return wire.Result{}, fmt.Errorf("put a file into a box: %w", err)
	}
	r, files, err := s.Call(ctx, wire.Request{Op: wire.OpRun, Run: &wire.RunRequest{Program: "./" + name, Limits: limits}}, nil)
	wire.CloseAll(files)
	if err == nil && r.Result == nil {
		err = errors.New("there is no result")
	}
	if err != nil {
		return wire.Result{}, fmt.Errorf("run a command: %w", err)
	}
	return *r.Result, nil
}

// oneSession makes one room, besides those made in advance, and opens its box. What it
// returns gives the box back and waits until the room is gone.
func (a *agent) oneSession(ctx context.Context) (s *wire.Session, leave func() error, err error) {
	var uid int
	select {
	case uid = <-a.uids:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("wait for a free user id: %w", context.Cause(ctx))
	}
	giveBack := func(err error) {
		if errors.Is(err, wait.ErrStuck) {
			a.GiveUp(err)
		} else {
			a.uids <- uid
		}
	}
	defer func() {
		if err != nil {
			giveBack(err)
		}
	}()
	r, err := a.New(uid)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		r.Dismiss()
		return nil, nil, errors.Join(err, r.TearDown())
	}
	s, err = wire.NewSession(ours)
	if err != nil {
		r.Dismiss()
		return nil, nil, errors.Join(err, unix.Close(theirs), r.TearDown())
	}
	r.Begin(room.Handover{Sock: os.NewFile(uintptr(theirs), "room")})
	if _, _, err := s.Receive(ctx); err != nil {
		return nil, nil, errors.Join(err, s.Close(), r.TearDown())
	}
	return s, func() error {
		err := errors.Join(s.Close(), r.TearDown())
		giveBack(err)
		return err
	}, nil
}
