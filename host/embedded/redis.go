package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// RedisConfig says where and how a private Redis runs. Only DataDir is required.
type RedisConfig struct {
	// DataDir is the folder of this server: socket, log and lock. It is made, given to User and closed for
	// everybody else. Redis stores nothing there: the queue is refilled from the database.
	DataDir string

	// SocketDir is the folder of the socket. Defaults to DataDir/run, or to a
	// folder below the temporary one if that path is too long for a socket.
	SocketDir string

	// Server is the path of redis-server. Defaults to what [FindRedis] finds.
	Server string

	// User is whom the server runs as when this process is root. Defaults to what [Unprivileged] finds.
	User *Account

	// MaxMemoryBytes is how much Redis may hold; writes beyond fail, and the
	// jobs stay in the database. Defaults to 256 MiB.
	MaxMemoryBytes int64

	// StartTimeout is how long the server may take until it answers. Defaults to 30 seconds.
	StartTimeout time.Duration

	// StopTimeout is how long the server may take to end in order. Defaults to 5 seconds.
	StopTimeout time.Duration

	// Log gets restarts and leftovers. Defaults to none.
	Log *slog.Logger
}

// Validate reports every field that is missing or out of range.
func (c RedisConfig) Validate() error {
	var errs []error
	if c.DataDir == "" {
		errs = append(errs, errors.New("DataDir is empty"))
	}
	if c.MaxMemoryBytes < 0 {
		errs = append(errs, fmt.Errorf("MaxMemoryBytes %d is negative", c.MaxMemoryBytes))
	}
	if c.StartTimeout < 0 {
		errs = append(errs, fmt.Errorf("StartTimeout %s is negative", c.StartTimeout))
	}
	if c.StopTimeout < 0 {
		errs = append(errs, fmt.Errorf("StopTimeout %s is negative", c.StopTimeout))
	}
	return errors.Join(errs...)
}

// Redis is a private Redis server. Its address stays the same when it is started again; its content does not survive.
type Redis struct {
	service
	Socket string // the path of its socket
	cfg    RedisConfig
}

// StartRedis starts a server in cfg.DataDir and returns when it answers. ctx bounds the start only; the server runs
// until Close, and no longer than this process.
//
// The error is [ErrNoRedis] when the program is missing, an [*InUseError] when another process runs this folder, and an
// [*UnreachableError] when the account cannot get there.
func StartRedis(ctx context.Context, cfg RedisConfig) (*Redis, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("embedded Redis: %w", err)
	}
	r, err := newRedis(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("embedded Redis: %w", err)
	}
	return r, nil
}

func newRedis(ctx context.Context, cfg RedisConfig) (_ *Redis, err error) {
	cfg.MaxMemoryBytes = cmp.Or(cfg.MaxMemoryBytes, 256<<20)
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, 30*time.Second)
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, 5*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return nil, err
	}
	if cfg.Server, err = FindRedis(cfg.Server); err != nil {
		return nil, err
	}
	if cfg.User == nil {
		if cfg.User, err = Unprivileged(""); err != nil {
			return nil, err
		}
	}
	if err := Reach(cfg.DataDir, cfg.User); err != nil {
		return nil, err
	}
	lock, err := lockFolder(cfg.DataDir, cfg.User)
	if err != nil {
		return nil, err
	}
	r := &Redis{cfg: cfg}
	r.service = service{
		name: "redis", log: cfg.Log, lock: lock, launch: r.launch,
		steps: []step{{syscall.SIGTERM, cfg.StopTimeout}},
	}
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return r, nil
}

func (r *Redis) start(ctx context.Context) error {
	const name = "redis.sock"
	want := r.cfg.SocketDir
	if want == "" {
		want = filepath.Join(r.cfg.DataDir, "run")
	}
	dir, err := socketFolder(r.cfg.DataDir, want, name, r.cfg.User)
	if err != nil {
		return fmt.Errorf("socket folder: %w", err)
	}
	r.Socket = filepath.Join(dir, name)
	r.cur, err = r.launch(ctx)
	return err
}

// URL returns the address of the server, such as unix:///data/redis/redis.sock.
func (r *Redis) URL() string {
	u := url.URL{Scheme: "unix", Path: r.Socket}
	return u.String()
}

// launch starts the server and waits until it answers.
func (r *Redis) launch(ctx context.Context) (*child, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.cfg.StartTimeout,
		fmt.Errorf("it did not answer after %s", r.cfg.StartTimeout))
	defer cancel()
	if err := r.clear(ctx); err != nil {
		return nil, err
	}
	logPath := filepath.Join(r.cfg.DataDir, "redis.log")
	output, from, err := openLog(logPath, r.cfg.User)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	c, err := spawn(program{
		path: r.cfg.Server, args: r.args(), dir: r.cfg.DataDir,
		account: r.cfg.User, output: output, death: syscall.SIGKILL,
	})
	if err != nil {
		return nil, err
	}
	err = writeNote(r.pidFile(), strconv.Itoa(c.pid)+"\n")
	if err == nil {
		err = c.until(ctx, func() bool { return answers(ctx, r.Socket) })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start: %w: %s", err, words(logPath, from)), c.end(r.steps))
	}
	return c, nil
}

func (r *Redis) args() []string {
	return []string{
		"--port", "0", "--unixsocket", r.Socket, "--unixsocketperm", "700", "--dir", r.cfg.DataDir,
		"--save", "", "--appendonly", "no", "--daemonize", "no",
		"--maxmemory", strconv.FormatInt(r.cfg.MaxMemoryBytes, 10), "--maxmemory-policy", "noeviction",
		"--loglevel", "warning",
	}
}

// redisPID is the file of the running server's process id.
const redisPID = "redis.pid"

func (r *Redis) pidFile() string { return filepath.Join(r.cfg.DataDir, redisPID) }

// clear ends the server that a dead parent left behind, and its socket.
func (r *Redis) clear(ctx context.Context) error {
	if err := endLeftover(ctx, pidIn(r.pidFile()), r.cfg.Server, r.cfg.DataDir, r.steps); err != nil {
		return err
	}
	if err := os.Remove(r.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// answers reports whether the Redis behind the socket takes commands.
func answers(ctx context.Context, socket string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	defer conn.Close()
	const pong = "+PONG\r\n"
	if deadline, ok := ctx.Deadline(); ok {
		if conn.SetDeadline(deadline) != nil {
			return false
		}
	}
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	reply := make([]byte, len(pong))
	_, err = io.ReadFull(conn, reply)
	return err == nil && string(reply) == pong
}
