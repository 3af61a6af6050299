// Package launch starts Deep-OJ without root where root starts it, keeps root in the
// sandbox's keeper alone, and finds the Deep-OJ that runs.
package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deepoj/host/embedded"
	"deepoj/host/platform"
	"deepoj/sandbox/oneshot"
)

// Plan says how a command that was started as root goes on without it.
type Plan struct {
	Args     []string // the command and its flags for the unprivileged process
	Env      []string
	Data     string // the data folder, absolute; "" = none
	User     string // account to become; "" = [AccountName]
	Log      *slog.Logger
	Sandbox  *oneshot.KeeperConfig // nil = none
	Out, Err io.Writer             // of the unprivileged process

	Inherited     *os.File // handed to the unprivileged process, which may not open it itself; nil = nothing is
	InheritedFlag string   // tells it the descriptor
}

// Run keeps root only here and in what runs programs: it starts the sandbox
// agent and answers for the sandbox (see [oneshot.Keeper]), and runs this program again as an unprivileged account in a private mount namespace, in
// which the data folder is bound at a short path that needs no permission on the
// folder's parents. It returns the exit status when that process has ended.
//
// Signals of the terminal reach only this process; it asks the other to stop
// with SIGTERM. If this process is killed, the kernel does.
func Run(ctx context.Context, p Plan) (status int, err error) {
	who, err := ChooseAccount(ctx, p.User, p.Data, p.Log)
	if err != nil {
		return 0, err
	}
	err = runAs(ctx, p, who)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// agentPatience is how long the unprivileged process waits for the sandbox agent at most before it begins without.
const agentPatience = 3 * time.Second

// runAs runs the unprivileged process, with the sandbox beside it.
func runAs(ctx context.Context, p Plan, who *embedded.Account) error {
	cmd := exec.Command("/proc/self/exe", p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", p.Env, p.Out, p.Err
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: who.UID, Gid: who.GID},
		Setpgid:    true,
	}
	platform.DieWithParent(cmd.SysProcAttr, syscall.SIGTERM)
	if p.Sandbox != nil {
		// The sandbox outlives ctx, so that the worker can drain.
		keeper, err := oneshot.Keep(*p.Sandbox)
		if err != nil {
			return err
		}
		defer keeper.Close()
		keeper.Settle(agentPatience) // the last line is why the other process ends
		cmd.ExtraFiles = []*os.File{keeper.Conn()}
		cmd.Args = append(cmd.Args, "--sandbox-fd", "3")
	}
	if p.Inherited != nil {
		cmd.Args = append(cmd.Args, p.InheritedFlag, strconv.Itoa(3+len(cmd.ExtraFiles)))
		cmd.ExtraFiles = append(cmd.ExtraFiles, p.Inherited)
	}
	// The thread stays locked until the end: its mount namespace is private, and
	// the death signal is sent when the thread that forked goes away.
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- start(ctx, cmd, p.Data, who)
	}()
	return <-done
}

// start runs cmd from the calling thread, which must be locked, and waits for it.
func start(ctx context.Context, cmd *exec.Cmd, data string, who *embedded.Account) error {
	if data != "" {
		short, undo, err := bindShort(data)
		if err != nil {
			return err
		}
		defer undo()
		cmd.Args = append(cmd.Args, "--data", short)
	}
	// The thread's, and so those of all that it starts: no program gives it more rights than the account has.
	if err := platform.RenouncePrivileges(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run as %s: %w", who.Name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop: %w", err)
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		return errors.Join(errors.New("did not stop within a minute; killed"), cmd.Process.Kill(), <-ended)
	}
}

// mountPoint and the launcher's pid name the place where its data is bound.
const mountPoint = "/run/deepoj-"

// sweepMountPoints removes the empty folders of launchers that were killed and of
// which nothing is left. Those of the living are mount points in namespaces that
// cannot be seen here, and to remove one would take the data from under them.
func sweepMountPoints() {
	left, _ := filepath.Glob(mountPoint + "*") // the pattern is well formed
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(dir, mountPoint))
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !mountedSomewhere(dir) {
			_ = os.Remove(dir) // only an empty folder goes
		}
	}
}

// mountedSomewhere reports whether some process sees a mount at dir.
func mountedSomewhere(dir string) bool {
	tables, _ := filepath.Glob("/proc/[0-9]*/mountinfo") // the pattern is well formed
	for _, table := range tables {
		text, err := os.ReadFile(table) // one that has ended has none
		if err == nil && bytes.Contains(text, []byte(" "+dir+" ")) {
			return true
		}
	}
	return false
}

// JudgeProgram is the command of one-shot runs: deepoj-judge beside this program, which begins much faster because it
// holds nothing else, or this program. It is kept in memory, because its starter may be root, and who owns the file may
// not be.
func JudgeProgram() []string {
	exe, err := os.Executable()
	if err == nil {
		if fd, err := inMemory(filepath.Join(filepath.Dir(exe), "deepoj-judge")); err == nil {
			return []string{"/proc/self/fd/" + strconv.Itoa(fd)}
		}
	}
	return []string{"/proc/self/exe", "judge"}
}
