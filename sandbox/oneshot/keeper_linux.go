package oneshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deepoj/sandbox/internal/room"
	"deepoj/sandbox/internal/toolbox"
	"deepoj/sandbox/internal/wait"
	"deepoj/sandbox/internal/wire"
)

// KeeperConfig says what a [Keeper] starts.
type KeeperConfig struct {
	// Sandbox is the configuration of the agent and of one-shot runs.
	Sandbox wire.Config

	// Agent is the command of the agent, which calls [Inherited] and [Serve], or
	// none: then there are one-shot runs only.
	Agent []string

	// OneShot is the command of one-shot runs, which calls [Main] with what is added to it. Required.
	OneShot []string
}

// Keeper does what a worker without privilege may not do: it keeps a sandbox agent running, and starts one-shot runs.
// It opens no path that a client names: what a run reads and writes comes as descriptors of pipes and files, and never
// of folders.
type Keeper struct {
	cfg  KeeperConfig
	log  *slog.Logger
	size wire.Status // slots and cores
	conn *os.File

	tools *toolbox.Toolbox
	slots chan int
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu    sync.Mutex
	agent *Process // nil while there is none
	why   error    // why not
	ended map[string]int64
}

// Keep starts a keeper, with the privilege of this process.
func Keep(cfg KeeperConfig) (*Keeper, error) {
	if err := errors.Join(wire.Supported(), cfg.Sandbox.Validate()); err != nil {
		return nil, fmt.Errorf("keep a sandbox: %w", err)
	}
	if len(cfg.OneShot) == 0 {
		return nil, errors.New("keep a sandbox: the command of one-shot runs is missing")
	}
	cores, slots, err := room.Size(cfg.Sandbox)
	if err != nil {
		return nil, fmt.Errorf("keep a sandbox: %w", err)
	}
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		return nil, fmt.Errorf("keep a sandbox: %w", err)
	}
	near := os.NewFile(uintptr(ours), "sandbox keeper")
	conn, err := net.FileConn(near)
	if err := errors.Join(err, near.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("keep a sandbox: %w", err), unix.Close(theirs))
	}
	k := &Keeper{
		cfg: cfg, log: cfg.Sandbox.Log, conn: os.NewFile(uintptr(theirs), "sandbox keeper client"), tools: toolbox.New(cfg.Sandbox),
		size: wire.Status{Slots: slots, Cores: cores}, slots: make(chan int, slots), why: errors.New("there is no sandbox agent yet"),
		ended: map[string]int64{},
	}
	k.log = cmp.Or(k.log, slog.New(slog.DiscardHandler))
	for i := range slots {
		k.slots <- i
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	if len(cfg.Agent) > 0 {
		// The first client finds an agent, which answers when it is ready or has failed.
		p, err := k.spawn(ctx)
		k.work.Go(func() { k.keepAgent(ctx, p, err) })
	} else {
		k.why = errors.New("no sandbox agent is wanted")
	}
	k.work.Go(func() {
		defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the listening
		if err := wire.Listen(ctx, conn.(*net.UnixConn), k.log, func(q wire.Request, files []*os.File) {
			k.work.Go(func() { k.answer(ctx, q, files) })
		}); err != nil {
			k.log.ErrorContext(ctx, "nobody can reach the sandbox", slog.Any("err", err))
		}
	})
	return k, nil
}

// Conn returns the client's end of the connection, for [sandbox.DialKeeper] or for a child process to inherit.
func (k *Keeper) Conn() *os.File { return k.conn }

// Close ends the agent and the runs, waits for them, and closes Conn. What does not
// end is killed. It may be called more than once.
func (k *Keeper) Close() {
	k.stop()
	_ = k.conn.Close() // may be closed by a client
	k.work.Wait()
}

// answer answers one request on the socket that came first with it.
func (k *Keeper) answer(ctx context.Context, q wire.Request, files []*os.File) {
	defer wire.CloseAll(files)
	c, err := net.FileConn(files[0])
	if err != nil {
		k.log.WarnContext(ctx, "a client cannot be answered", slog.String("op", q.Op), slog.Any("err", err))
		return
	}
	defer c.Close()
	s := &wire.Session{Conn: c.(*net.UnixConn)}
	r, fds := k.reply(ctx, s, q, files[1:])
	_ = s.Conn.SetWriteDeadline(time.Now().Add(answerPatience)) // fails only when closed
	if err := s.Send(r, fds...); err != nil && !errors.Is(err, wire.ErrAgentGone) {
		k.log.WarnContext(ctx, "a client got no answer", slog.String("op", q.Op), slog.Any("err", err))
	}
}

// answerPatience is how long a client may take until it has room for an answer.
const answerPatience = 10 * time.Second

// reply does what q asks for.
func (k *Keeper) reply(ctx context.Context, s *wire.Session, q wire.Request, files []*os.File) (wire.Reply, []int) {
	switch q.Op {
	case wire.OpStatus:
		return wire.Reply{Status: &k.size, Replaced: k.replaced()}, nil
	case wire.OpTool:
		t, err := k.tools.Find(q.Tool)
		if err != nil {
			return wire.Failure(err), nil
		}
		return wire.Reply{Tool: &t}, nil
	case wire.OpAgent:
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.agent == nil {
			return wire.Failure(k.why), nil
		}
		fds, err := wire.Descriptors([]*os.File{k.agent.Conn()})
		if err != nil {
			return wire.Failure(err), nil
		}
		return wire.Reply{}, fds
	case wire.OpOneShot:
		ended, err := k.oneShot(ctx, s, q.OneShot, files)
		if err != nil {
			return wire.Failure(err), nil
		}
		return wire.Reply{Ended: ended}, nil
	default:
		return wire.Failure(fmt.Errorf("%q is no request of a keeper", q.Op)), nil
	}
}

// oneShot runs the one-shot command once, and returns how its process ended. It
// tells it to end when the client hangs up.
func (k *Keeper) oneShot(ctx context.Context, s *wire.Session, q *wire.OneShot, files []*os.File) (string, error) {
	if q == nil {
		return "", errors.New("a one-shot run without a command")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var hearing sync.WaitGroup
	defer hearing.Wait()
	defer func() { _ = s.Conn.CloseRead() }() // ends the hearing
	hearing.Go(func() {
		defer cancel()
		_, _ = s.Conn.Read(make([]byte, 1)) // returns when the client hangs up
	})
	var slot int
	select {
	case slot = <-k.slots:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { k.slots <- slot }()
	args, streams, inherited, err := command(q, slot, files)
	if err != nil {
		return "", err
	}
	cfg, err := json.Marshal(k.cfg.Sandbox)
	if err != nil {
		return "", fmt.Errorf("start a one-shot run: %w", err)
	}
	until, alive, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("start a one-shot run: %w", err)
	}
	defer until.Close()
	defer alive.Close()
	cmd := exec.CommandContext(ctx, k.cfg.OneShot[0], append(k.cfg.OneShot[1:len(k.cfg.OneShot):len(k.cfg.OneShot)], args...)...)
	cmd.Env = agentEnvironment(string(cfg))
	cmd.Stdout, cmd.Stderr = streams[0], streams[1]
	cmd.ExtraFiles = append([]*os.File{until}, inherited...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	// The pipe tells it to clean up and leave, also when this process dies; a kill would skip the cleaning.
	cmd.Cancel = alive.Close
	cmd.WaitDelay = wait.StopPatience
	defer time.AfterFunc(q.Run.Limits.Longest(), cancel).Stop()
	if err := startPrivileged(cmd, k.cfg.Sandbox); err != nil {
		return "", fmt.Errorf("start a one-shot run: %w", err)
	}
	wire.CloseAll(files) // who is at the other end of a pipe must see the program close it
	ended := make(chan string, 1)
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		ended <- cmd.ProcessState.String()
	}()
	select {
	case how := <-ended:
		return how, nil
	case <-ctx.Done():
	}
	select {
	case how := <-ended:
		return how, nil
	case <-time.After(wait.StopPatience + wait.KillPatience):
		return "", wait.Stuck("threads of a one-shot run")
	}
}
