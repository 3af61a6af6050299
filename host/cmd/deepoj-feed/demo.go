package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deepoj/host/command"
	"deepoj/host/feed/verbs"
	"deepoj/host/launch"
	"deepoj/host/platform"
)

const (
	readyWord = "Deep-OJ is ready: " // what `deepoj up` says when a worker has told its languages
	readyWait = 5 * time.Minute      // how long that may take on a slow machine that compiles its plugins
	feedGrace = 30 * time.Second     // how long the feed may take to end
	upGrace   = 90 * time.Second     // how long a Deep-OJ may take to end
)

// demonstrate shows a feed to whoever has nothing but Deep-OJ: it starts one, unless one runs on --data, and the feed as
// another process, with a Kafka within. All of it ends with this process.
func demonstrate(ctx context.Context, c *command.Call, o verbs.Options) (err error) {
	runtime.LockOSThread() // the end of the thread would be the children's
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	data := o.Data
	running := false
	if data != "" {
		_, err := launch.FindInstance(data)
		running = err == nil
	}
	if !running {
		if err := launch.Contain(ctx, c.Err, c.Given[0], c.Given[1:]); err != nil {
			return err
		}
	}
	if data == "" {
		if data, err = os.MkdirTemp("", "deepoj-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	if !running {
		up, err := startDeepOJ(ctx, c, filepath.Join(filepath.Dir(self), "deepoj"), data, o.Listen, "http://"+metrics, ended)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, up.end(upGrace)) }()
	}
	args := []string{"--data", data, "--demo", "--demo-inner", metrics, "--kafka-port", strconv.Itoa(o.KafkaPort)}
	if o.ConfigGiven {
		args = append(args, "--config", o.Config)
	}
	feed, err := start(c, exec.Command(self, args...), c.Out, ended)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, feed.end(feedGrace)) }()
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// freeAddress is an address of this machine where nobody listens.
func freeAddress(ctx context.Context) (string, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// startDeepOJ starts `deepoj up` on a folder, and returns when it is ready.
func startDeepOJ(ctx context.Context, c *command.Call, program, data, listen, status string, ended chan<- error) (*child, error) {
	if listen == "" {
		var err error
		if listen, err = freeAddress(ctx); err != nil {
			return nil, err
		}
	}
	said, out := io.Pipe()
	cmd := exec.Command(program, "up", "--data", data, "--listen", listen)
	for _, e := range os.Environ() {
		switch name, _, _ := strings.Cut(e, "="); name { // it has services of its own
		case "DATABASE_URL", "DATABASE_URL_FILE", "REDIS_URL", "REDIS_URL_FILE", "CHANGE_FEED", "FEED_STATUS_URL":
		default:
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "CHANGE_FEED=true", "FEED_STATUS_URL="+status)
	up, err := start(c, cmd, out, ended)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: --demo starts a Deep-OJ, which lies beside %s; or name the folder of one that runs with --data", program, verbs.Program)
	} else if err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(said)
		for once := true; lines.Scan(); {
			fmt.Fprintln(c.Out, lines.Text())
			if once && strings.HasPrefix(lines.Text(), readyWord) {
				once = false
				close(ready)
			}
		}
		_, _ = io.Copy(io.Discard, said) // a line that is too long must not stop it
	}()
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	select {
	case <-ready:
		return up, nil
	case <-up.done:
		return nil, errors.New("`deepoj up` ended before it was ready")
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("`deepoj up` was not ready: %w", context.Cause(ctx)), up.end(upGrace))
	}
}

// child is a process that ends with this one.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start starts a process in a group of its own, so that a signal of the terminal reaches only this process, which ends
// the others in their order. What it ends with is sent to ended, unless nobody takes it.
func start(c *command.Call, cmd *exec.Cmd, out io.Writer, ended chan<- error) (*child, error) {
	cmd.Stdout, cmd.Stderr = out, c.Err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	platform.DieWithParent(cmd.SysProcAttr, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ch := &child{cmd, make(chan struct{})}
	go func() {
		err := cmd.Wait()
		close(ch.done)
		if status, ok := errors.AsType[*exec.ExitError](err); ok { // it has said why
			err = command.Exit(max(1, status.ExitCode()))
		} else if err == nil {
			err = command.Exit(1) // it was to go on
		}
		select {
		case ended <- err:
		default:
		}
	}()
	return ch, nil
}

// end asks the process to end, and kills it if it does not.
func (ch *child) end(grace time.Duration) error {
	if err := ch.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-ch.done:
		return nil
	case <-time.After(grace):
		return errors.Join(fmt.Errorf("%s did not end within %s; killed", filepath.Base(ch.cmd.Path), grace), ch.cmd.Process.Kill())
	}
}
