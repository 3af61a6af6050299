package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// longestSocket is the longest path of a unix socket that Linux takes, in bytes.
const longestSocket = 107

// InUseError says that another process runs a server on the same folder.
type InUseError struct {
	Dir string
	PID int // of the other process; 0 when unknown
}

func (e *InUseError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s is in use by %s: stop it, or choose another data folder", e.Dir, who)
}

// folderLock is held as long as this process lives and not a moment longer: the
// kernel lets go of it when the process dies in whichever way.
type folderLock struct{ file *os.File }

// lockFolder makes dir, gives it to a, closes it for everybody else and locks
// it. The error is an [*InUseError] when another process has it.
func lockFolder(dir string, a *Account) (*folderLock, error) {
	if err := makeFolder(dir, a); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	l, err := (&folderLock{file: f}).take(dir)
	if err != nil {
		return nil, err
	}
	if err := l.sign(a); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

// lockName is the file in a folder that is locked.
const lockName = "lock"

// take locks the file, or closes it.
func (l *folderLock) take(dir string) (*folderLock, error) {
	if err := syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		pid := l.holder()
		l.file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &InUseError{Dir: dir, PID: pid}
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return l, nil
}

// sign writes who holds the lock into it, for the other side's error message.
func (l *folderLock) sign(a *Account) error {
	if a != nil {
		if err := l.file.Chown(int(a.UID), int(a.GID)); err != nil {
			return err
		}
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder returns the process that signed the lock, or 0.
func (l *folderLock) holder() int {
	b, err := io.ReadAll(io.LimitReader(l.file, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func (l *folderLock) release() error { return l.file.Close() }

// makeFolder makes dir with the folders above it, and gives what it made, and
// dir itself, to a. Nobody else may enter dir.
func makeFolder(dir string, a *Account) error {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, m := range missing {
		if err := a.own(m); err != nil {
			return err
		}
	}
	// By descriptor: whoever owns the folder above may put a link in its place.
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if a != nil {
		if err := f.Chown(int(a.UID), int(a.GID)); err != nil {
			return err
		}
	}
	return f.Chmod(0o700)
}

// writeNote puts text into a new file at path, in place of whatever was there;
// a symbolic link is replaced and not followed.
func writeNote(path, text string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// socketFolder returns the folder in which a socket called name has a path that is short enough: want if it is, else
// one below the temporary folder, which is remembered in dir so that a later start uses it again.
func socketFolder(dir, want, name string, a *Account) (string, error) {
	if len(filepath.Join(want, name)) <= longestSocket {
		return want, makeFolder(want, a)
	}
	note := filepath.Join(dir, "socket-folder")
	if b, err := os.ReadFile(note); err == nil {
		if old := strings.TrimSpace(string(b)); ownFolder(old, a) {
			return old, nil
		}
	}
	short, err := os.MkdirTemp("", "deepoj-") // mode 0700
	if err != nil {
		return "", err
	}
	if err := a.own(short); err != nil {
		return "", err
	}
	if len(filepath.Join(short, name)) > longestSocket {
		return "", fmt.Errorf("socket paths below %s and %s are longer than %d bytes: set TMPDIR to a shorter path", want, short, longestSocket)
	}
	return short, writeNote(note, short+"\n")
}

// ownFolder reports whether path is a folder of a's that nobody else may enter.
func ownFolder(path string, a *Account) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if a == nil {
		return ok && int(st.Uid) == os.Geteuid()
	}
	return ok && st.Uid == a.UID
}

// endLeftover ends the process pid if it executes program and works in dir, left over from a parent that is gone (the folder's lock is ours). It
// returns when the process has ended.
func endLeftover(ctx context.Context, pid int, program, dir string, steps []step) error {
	for _, s := range append(steps, step{syscall.SIGKILL, 10 * time.Second}) {
		if !runs(pid, program, dir) {
			return nil
		}
		if err := syscall.Kill(pid, s.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the server that was left over (process %d): %w", pid, err)
		}
		if err := gone(ctx, s.wait, func() bool { return !runs(pid, program, dir) }); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("the server that was left over (process %d) does not end", pid)
}

// gone waits until is reports true, for at most d.
func gone(ctx context.Context, d time.Duration, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// runs reports whether pid is a living process that executes program in the working folder dir. Both are asked, since a
// pid may by now belong to somebody else.
func runs(pid int, program, dir string) bool {
	if pid <= 1 {
		return false
	}
	// Debian's redis-server is a link: the kernel knows where it leads.
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	exe, err := os.Readlink(filepath.Join(proc, "exe"))
	if err != nil || filepath.Base(strings.TrimSuffix(exe, " (deleted)")) != filepath.Base(program) {
		return false
	}
	// By identity and not by name: the other side may see the folder under
	// another path, through a mount of its own.
	there, err := os.Stat(filepath.Join(proc, "cwd"))
	if err != nil {
		return false
	}
	here, err := os.Stat(dir)
	return err == nil && os.SameFile(there, here)
}

// openLog opens the file that a server's own words go to. A file above 8 MiB is begun anew.
func openLog(path string, a *Account) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, 0, err
	}
	if a != nil {
		if err := f.Chown(int(a.UID), int(a.GID)); err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size > 8<<20 {
		size, err = 0, f.Truncate(0)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// words returns the last lines that were written to the log at path since from, for an error message.
func words(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, from, 64<<10))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	if len(lines) > 8 {
		lines = lines[len(lines)-8:]
	}
	return string(bytes.Join(lines, []byte("; ")))
}
