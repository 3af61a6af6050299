package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"deepoj/host/platform"
)

// child is one running process.
type child struct {
	pid  int
	done chan struct{} // closed when the process has ended
	err  error         // how it ended; read after done
}

// program is what a child executes.
type program struct {
	path    string
	args    []string
	dir     string
	account *Account
	input   *os.File       // stdin; nil is empty
	output  *os.File       // stdout and stderr
	death   syscall.Signal // what it gets when this process dies
}

// spawn starts p. The process is started by, and dies with, a thread that is kept for it alone: PDEATHSIG fires when
// the thread that forked ends, and Go ends other threads at times of its own choosing.
func spawn(p program) (*child, error) {
	cmd := exec.Command(p.path, p.args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + p.dir, "LC_ALL=C", "TZ=UTC"}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if p.input != nil {
		cmd.Stdin = p.input
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true, // a Ctrl-C at the terminal is for us; we stop them in order
		Credential: p.account.credential(),
	}
	platform.DieWithParent(cmd.SysProcAttr, p.death)
	c := &child{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends after its child
		defer close(c.done)
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		c.pid = cmd.Process.Pid
		started <- nil
		c.err = cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.path, err)
	}
	return c, nil
}

// ended reports whether the process has ended.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// step is one degree of insistence.
type step struct {
	signal syscall.Signal
	wait   time.Duration
}

// end stops the process with one signal after the other, and returns when it
// has ended. The error names the signal if it was not the first that helped.
func (c *child) end(steps []step) error {
	for i, s := range append(steps, step{syscall.SIGKILL, time.Minute}) {
		if c.ended() {
			return nil
		}
		if err := syscall.Kill(c.pid, s.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal process %d: %w", c.pid, err)
		}
		timer := time.NewTimer(s.wait)
		select {
		case <-c.done:
			timer.Stop()
			if i > 0 {
				return fmt.Errorf("process %d ended only by %s", c.pid, s.signal)
			}
			return nil
		case <-timer.C:
		}
	}
	return fmt.Errorf("process %d does not end", c.pid)
}

// until calls ready every few milliseconds until it reports true, the child ends or ctx is done.
func (c *child) until(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if ready() {
			return nil
		}
		select {
		case <-c.done:
			return errEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// errEnded says that a child ended before it was ready.
var errEnded = errors.New("it ended before it was ready")
