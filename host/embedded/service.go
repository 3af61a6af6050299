package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Pace of starting a server again that died by itself.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// service keeps one child alive.
type service struct {
	name   string
	log    *slog.Logger
	launch func(context.Context) (*child, error) // starts it and waits until it is ready
	steps  []step                                // how it is stopped
	lock   *folderLock

	mu     sync.Mutex
	cur    *child
	closed bool
}

// PID returns the process id of the running server.
func (s *service) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur.pid
}

// Run starts the server again whenever it ends by itself, until ctx is done; then it stops the server and returns nil.
// An error says that the server did not stop in order.
func (s *service) Run(ctx context.Context) error {
	pause, began := firstPause, time.Now()
	for {
		s.mu.Lock()
		cur, closed := s.cur, s.closed
		s.mu.Unlock()
		if closed {
			return nil
		}
		select {
		case <-ctx.Done():
			return s.Close()
		case <-cur.done:
		}
		if time.Since(began) > longestPause {
			pause = firstPause // it was well for a while
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			continue
		case <-timer.C:
		}
		pause, began = min(2*pause, longestPause), time.Now()
		if err := s.again(ctx, cur); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "embedded server does not start", slog.String("server", s.name), slog.Any("err", err))
		}
	}
}

// again starts the server in place of the ended child old.
func (s *service) again(ctx context.Context, old *child) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.cur != old || ctx.Err() != nil {
		return nil
	}
	s.log.WarnContext(ctx, "embedded server ended by itself; starting it again",
		slog.String("server", s.name), slog.Int("pid", old.pid), slog.Any("err", old.err))
	c, err := s.launch(ctx)
	if err != nil {
		return err
	}
	s.cur = c
	return nil
}

// Close stops the server and gives its folder free. It may be called more than
// once. An error says that the server had to be killed; its data is safe.
func (s *service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.cur.end(s.steps)
	if err != nil {
		err = fmt.Errorf("stop %s: %w", s.name, err)
	}
	return errors.Join(err, s.lock.release())
}

// settleTime is how long each step of ending a server may take that nobody needs any more.
const settleTime = 10 * time.Second

// Settle makes sure that nothing runs in the folders of a PostgreSQL and a Redis, so that they can be given to another
// account, and keeps both locked until release is called. Servers that a dead parent left over are ended: another
// account could not see them. The error is an [*InUseError] when a parent lives. Folders that are not there are
// nobody's.
func Settle(ctx context.Context, postgres, redis string) (release func(), err error) {
	var locks []*folderLock
	release = func() {
		for _, l := range locks {
			_ = l.release() // it was only read
		}
	}
	for _, dir := range []string{postgres, redis} {
		l, err := holdFolder(dir)
		if err != nil {
			release()
			return nil, err
		}
		if l != nil {
			locks = append(locks, l)
		}
	}
	server, err := FindRedis("")
	if err != nil {
		server = redisName
	}
	cluster := filepath.Join(postgres, "cluster")
	err = errors.Join(
		endLeftover(ctx, pidIn(filepath.Join(cluster, "postmaster.pid")), postgresName, cluster, []step{{syscall.SIGINT, settleTime}, {syscall.SIGQUIT, settleTime}}),
		endLeftover(ctx, pidIn(filepath.Join(redis, redisPID)), server, redis, []step{{syscall.SIGTERM, settleTime}}))
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// holdFolder locks the folder of a server as [lockFolder] does, but makes and changes nothing: what is in it is
// somebody else's. It returns nil if no server was ever there.
func holdFolder(dir string) (*folderLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return (&folderLock{file: f}).take(dir)
}

// pidIn returns the process id in the first line of a file, or 0. PostgreSQL
// writes that of a server for one user with a minus.
func pidIn(path string) int {
	lines, err := readLines(path)
	if err != nil || len(lines) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(lines[0]), "-"))
	if err != nil {
		return 0
	}
	return pid
}
