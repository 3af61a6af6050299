package sandbox

import (
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
)

// KeeperConfig says what a [Keeper] starts.
type KeeperConfig struct {
	// Sandbox is the configuration of the agent and of one-shot runs.
	Sandbox Config

	// Agent is the command of the agent, which calls [Inherited] and [Serve], or
	// none: then there are one-shot runs only.
	Agent []string

	// Judge is the command of one-shot runs, which calls [Judge] with what is
	// added to it. Required.
	Judge []string
}

// Keeper does what a worker without privilege may not do: it keeps a sandbox
// agent running, and starts one-shot runs. It opens no path that a client names:
// what a run reads and writes comes as descriptors of pipes and files, and never of
// folders.
type Keeper struct {
	cfg  KeeperConfig
	log  *slog.Logger
	size Status // slots and cores
	conn *os.File

	tools *toolbox
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
	if err := errors.Join(supported(), cfg.Sandbox.Validate()); err != nil {
		return nil, fmt.Errorf("keep a sandbox: %w", err)
	}
	if len(cfg.Judge) == 0 {
		return nil, errors.New("keep a sandbox: the command of one-shot runs is missing")
	}
	a := &agent{cfg: cfg.Sandbox}
	if err := a.chooseCores(); err != nil {
		return nil, fmt.Errorf("keep a sandbox: %w", err)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("keep a sandbox: %w", err)
	}
	near := os.NewFile(uintptr(ours), "sandbox keeper")
	conn, err := net.FileConn(near)
	if err := errors.Join(err, near.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("keep a sandbox: %w", err), unix.Close(theirs))
	}
	k := &Keeper{
		cfg: cfg, log: cfg.Sandbox.Log, conn: os.NewFile(uintptr(theirs), "sandbox door"), tools: newToolbox(cfg.Sandbox),
		size: Status{Slots: a.cfg.Slots, Cores: a.cores}, slots: make(chan int, a.cfg.Slots), why: errors.New("there is no sandbox agent yet"),
		ended: map[string]int64{},
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	for i := range a.cfg.Slots {
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
		if err := listen(ctx, conn.(*net.UnixConn), k.log, func(q request, files []*os.File) {
			k.work.Go(func() { k.answer(ctx, q, files) })
		}); err != nil {
			k.log.ErrorContext(ctx, "nobody can reach the sandbox", slog.Any("err", err))
		}
	})
	return k, nil
}

// Conn returns the client's end of the connection, for [OpenDoor] or for a child
// process to inherit.
func (k *Keeper) Conn() *os.File { return k.conn }

// Close ends the agent and the runs, waits for them, and closes Conn. What does not
// end is killed. It may be called more than once.
func (k *Keeper) Close() {
	k.stop()
	_ = k.conn.Close() // may be closed by a Door
	k.work.Wait()
}

// answer answers one request on the socket that came first with it.
func (k *Keeper) answer(ctx context.Context, q request, files []*os.File) {
	defer closeAll(files)
	c, err := net.FileConn(files[0])
	if err != nil {
		k.log.WarnContext(ctx, "a client cannot be answered", slog.String("op", q.Op), slog.Any("err", err))
		return
	}
	defer c.Close()
	s := &session{conn: c.(*net.UnixConn)}
	r, fds := k.reply(ctx, s, q, files[1:])
	_ = s.conn.SetWriteDeadline(time.Now().Add(answerPatience)) // fails only when closed
	if err := s.send(r, fds...); err != nil && !errors.Is(err, ErrAgentGone) {
		k.log.WarnContext(ctx, "a client got no answer", slog.String("op", q.Op), slog.Any("err", err))
	}
}

// answerPatience is how long a client may take until it has room for an answer.
const answerPatience = 10 * time.Second

// reply does what q asks for.
func (k *Keeper) reply(ctx context.Context, s *session, q request, files []*os.File) (reply, []int) {
	switch q.Op {
	case opStatus:
		return reply{Status: &k.size, Replaced: k.replaced()}, nil
	case opTool:
		t, err := k.tools.find(q.Tool)
		if err != nil {
			return failure(err), nil
		}
		return reply{Tool: &t}, nil
	case opAgent:
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.agent == nil {
			return failure(k.why), nil
		}
		fds, err := descriptors([]*os.File{k.agent.Conn()})
		if err != nil {
			return failure(err), nil
		}
		return reply{}, fds
	case opOneShot:
		ended, err := k.oneShot(ctx, s, q.OneShot, files)
		if err != nil {
			return failure(err), nil
		}
		return reply{Ended: ended}, nil
	default:
		return failure(fmt.Errorf("%q is no request of a keeper", q.Op)), nil
	}
}

// oneShot runs the one-shot command once, and returns how its process ended. It
// tells it to end when the client hangs up.
func (k *Keeper) oneShot(ctx context.Context, s *session, q *oneShot, files []*os.File) (string, error) {
	if q == nil {
		return "", errors.New("a one-shot run without a command")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var hearing sync.WaitGroup
	defer hearing.Wait()
	defer func() { _ = s.conn.CloseRead() }() // ends the hearing
	hearing.Go(func() {
		defer cancel()
		_, _ = s.conn.Read(make([]byte, 1)) // returns when the client hangs up
	})
	var slot int
	select {
	case slot = <-k.slots:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { k.slots <- slot }()
	args, streams, inherited, err := q.command(slot, files)
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
	cmd := exec.CommandContext(ctx, k.cfg.Judge[0], append(k.cfg.Judge[1:len(k.cfg.Judge):len(k.cfg.Judge)], args...)...)
	cmd.Env = agentEnvironment(string(cfg))
	cmd.Stdout, cmd.Stderr = streams[0], streams[1]
	cmd.ExtraFiles = append([]*os.File{until}, inherited...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	// The pipe tells it to clean up and leave, also when this process dies; a kill
	// would skip the cleaning.
	cmd.Cancel = alive.Close
	cmd.WaitDelay = stopPatience
	defer time.AfterFunc(q.Run.Limits.longest(), cancel).Stop()
	if err := startPrivileged(cmd, k.cfg.Sandbox); err != nil {
		return "", fmt.Errorf("start a one-shot run: %w", err)
	}
	closeAll(files) // who is at the other end of a pipe must see the program close it
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
	case <-time.After(stopPatience + killPatience):
		return "", stuck("threads of a one-shot run")
	}
}
