package launch

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// KeepDescriptors keeps what this process inherited, beyond the standard descriptors, from all that it starts. That is
// the door to the sandbox, and whatever else who started it left open.
func KeepDescriptors() error {
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Linux before 5.11.
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("keep descriptors from other programs: %w", err)
	}
	for _, d := range open {
		fd, err := strconv.Atoi(d.Name())
		if err != nil || fd < 3 {
			continue
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil && !errors.Is(err, unix.EBADF) { // that of the folder is gone
			return fmt.Errorf("keep descriptor %d from other programs: %w", fd, err)
		}
	}
	return nil
}

// openThrough holds a folder open that is named by way of /proc.
func openThrough(path string) (int, error) {
	return unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// Become gives up root for an account.
func Become(uid, gid int) error {
	return errors.Join(syscall.Setgroups(nil), syscall.Setresgid(gid, gid, gid), syscall.Setresuid(uid, uid, uid))
}

// programFD is the least number of the descriptor of a program in memory: a child
// begins with the files that it is given below, and must not lose the program.
const programFD = 100

// inMemory returns a descriptor of a copy of a program. Nobody can change the copy,
// and it stays for as long as this process.
func inMemory(path string) (int, error) {
	from, err := os.Open(filepath.Clean(path))
	if err != nil {
		return -1, err
	}
	defer from.Close()
	fd, err := unix.MemfdCreate(filepath.Base(path), unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("make a memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if _, err := io.Copy(f, from); err != nil {
		return -1, fmt.Errorf("copy %s into memory: %w", path, err)
	}
	seals := unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return -1, fmt.Errorf("seal a memory file: %w", err)
	}
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, programFD)
}

// bindShort gives the calling thread a private mount namespace in which data is bound at a short path.
func bindShort(data string) (short string, undo func(), err error) {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return "", nil, fmt.Errorf("private mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", nil, fmt.Errorf("private mount namespace: %w", err)
	}
	sweepMountPoints()
	short = fmt.Sprintf(mountPoint+"%d", os.Getpid())
	if err := os.Mkdir(short, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", nil, fmt.Errorf("mount point of the data folder: %w", err)
	}
	if err := unix.Mount(data, short, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return "", nil, fmt.Errorf("bind %s: %w", data, err)
	}
	return short, func() {
		_ = unix.Unmount(short, unix.MNT_DETACH)
		_ = os.Remove(short) // empty: the mount is gone
	}, nil
}
