package embedded

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settleTime is how long each step of ending a server may take that nobody needs
// any more.
const settleTime = 10 * time.Second

// Settle makes sure that nothing runs in the folders of a PostgreSQL and a Redis,
// so that they can be given to another account, and keeps both locked until
// release is called. Servers that a dead parent left over are ended: another
// account could not see them. The error is an [*InUseError] when a parent lives.
// Folders that are not there are nobody's.
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

// holdFolder locks the folder of a server as [lockFolder] does, but makes and
// changes nothing: what is in it is somebody else's. It returns nil if no server
// was ever there.
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
