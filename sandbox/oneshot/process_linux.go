package oneshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/agent"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// configVariable hands the configuration to the agent's process.
const configVariable = "DEEPOJ_SANDBOX_AGENT"

// The descriptors that the agent's process inherits.
const (
	connFD     = 3 // the connection
	lifelineFD = 4 // reaches its end when the starter dies, however it dies
)

// Process is an agent that runs as a child.
type Process struct {
	cmd      *exec.Cmd
	conn     *os.File
	lifeline *os.File
	done     chan struct{}
	err      error
	closing  sync.Once
}

// Spawn starts the agent as a child: the program exe with args, which calls [Inherited] and [Serve]. It must be called
// as root, or as an ordinary user with a delegated control group (see [Rootless]). The child ends when ctx ends, when
// the process is closed, or when the caller's process dies. What the agent logs goes to the caller's standard error.
func Spawn(ctx context.Context, exe string, args []string, cfg wire.Config) (*Process, error) {
	if err := errors.Join(wire.Supported(), cfg.Validate()); err != nil {
		return nil, fmt.Errorf("start the sandbox agent: %w", err)
	}
	b, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("start the sandbox agent: %w", err)
	}
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		return nil, fmt.Errorf("start the sandbox agent: %w", err)
	}
	conn, far := os.NewFile(uintptr(ours), "sandbox agent"), os.NewFile(uintptr(theirs), "sandbox client")
	end, lifeline, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the sandbox agent: %w", err), conn.Close(), far.Close())
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = agentEnvironment(string(b))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	cmd.ExtraFiles = []*os.File{far, end}
	// The lifeline tells the agent to clean up and leave; a kill would skip the cleaning.
	cmd.Cancel = lifeline.Close
	cmd.WaitDelay = wait.StopPatience // then it is killed
	err = startPrivileged(cmd, cfg)
	err = errors.Join(err, far.Close(), end.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the sandbox agent: %w", err), conn.Close(), lifeline.Close())
	}
	p := &Process{cmd: cmd, conn: conn, lifeline: lifeline, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// agentEnvironment is the environment of an agent, or of a one-shot run, with its configuration: it needs to find
// tools, and nothing of what else its starter knows. GOTRACEBACK and GORACE are the Go run-time's own.
func agentEnvironment(config string) []string {
	env := []string{configVariable + "=" + config}
	for _, name := range []string{"PATH", "HOME", "RUSTUP_HOME", "TZ", "GOTRACEBACK", "GORACE"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Conn returns the client's end of the connection, for [sandbox.Dial] or for a child process to inherit.
func (p *Process) Conn() *os.File { return p.conn }

// PID returns the process id of the agent.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Wait waits until the agent ended and returns why, nil for a clean end.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Close tells the agent to end, waits for it, and closes Conn. One that does not end
// is killed. It may be called more than once.
func (p *Process) Close() error {
	p.hangUp()
	select {
	case <-p.done:
		return p.err
	case <-time.After(wait.StopPatience):
		return errors.Join(fmt.Errorf("the sandbox agent did not end within %s; killed", wait.StopPatience), p.kill())
	}
}

// hangUp tells the agent to end.
func (p *Process) hangUp() {
	p.closing.Do(func() {
		_ = p.lifeline.Close() // ends the agent; closed already when ctx ended
		_ = p.conn.Close()     // may be closed by a client
	})
}

// kill kills the agent, and with it everything that it runs.
func (p *Process) kill() error {
	_ = p.cmd.Process.Kill() // fails when it has ended
	select {
	case <-p.done:
		return p.err
	case <-time.After(wait.KillPatience):
		return wait.Stuck("threads of the sandbox agent")
	}
}

// Inherited returns what [Spawn] gave to the process of the agent: the connection and the configuration. The context
// ends when the starter dies; it is for [Serve].
func Inherited(ctx context.Context) (context.Context, *os.File, wire.Config, error) {
	var cfg wire.Config
	if err := awaitIDs(); err != nil {
		return ctx, nil, cfg, err
	}
	text, ok := os.LookupEnv(configVariable)
	if !ok {
		return ctx, nil, cfg, errors.New("this command is started by the other commands of this program")
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&cfg); err != nil {
		return ctx, nil, cfg, fmt.Errorf("read %s: %w", configVariable, err)
	}
	for _, fd := range []int{connFD, lifelineFD} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return ctx, nil, cfg, fmt.Errorf("descriptor %s is not inherited: %w", strconv.Itoa(fd), err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	lifeline := os.NewFile(lifelineFD, "lifeline")
	go func() {
		defer cancel()
		_, _ = lifeline.Read(make([]byte, 1)) // returns when the starter is gone
	}()
	return ctx, os.NewFile(connFD, "sandbox client"), cfg, nil
}

// stuckStatus is the exit status of an agent that gives up because of a room.
const stuckStatus = 70

// ExitStatus returns the exit status of an agent whose [Serve] returned err. A
// [Keeper] knows by it why the agent ended.
func ExitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, wait.ErrStuck):
		return stuckStatus
	default:
		return 1
	}
}

// Serve is the agent. It keeps rooms ready, answers the clients at the other end of conn, and returns nil when conn
// reaches its end or ctx ends, with nothing left behind. It sweeps what agents left that died otherwise. When something
// that was killed does not go, it returns an error at once, and the process must end with [ExitStatus]. It must run as
// root, if only of a user namespace (see [Spawn]), and should have a process to itself.
func Serve(ctx context.Context, conn *os.File, cfg wire.Config) error {
	return agent.Serve(ctx, conn, cfg)
}
