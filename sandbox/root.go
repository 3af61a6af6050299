package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// The root of a room is a small tmpfs that holds read-only views of the tool
// chains, a few synthetic files and three private, writable tmpfs. Nothing of
// the host's /home, /root, /var, /run or /sys is in it.

// stage is where the root is put together. It exists on every machine, and only
// the room's mount namespace sees what is mounted there.
const stage = "/proc"

// visible are the host folders and files that every box may read, if they
// exist. Symbolic links are copied.
var visible = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
}

// devices are the device files of a box.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// masked are readable files of /proc that say too much about the machine.
var masked = []string{
	"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/kmsg", "/proc/timer_list",
	"/proc/sched_debug", "/proc/slabinfo", "/proc/sysrq-trigger", "/proc/config.gz", "/proc/modules",
	"/proc/vmallocinfo", "/proc/interrupts", "/proc/diskstats", "/proc/partitions", "/proc/cmdline",
}

// maskedFolders are folders of /proc that appear empty.
var maskedFolders = []string{"/proc/acpi", "/proc/scsi", "/proc/bus", "/proc/driver", "/proc/fs", "/proc/irq", "/proc/tty"}

// writable are the private tmpfs of a box besides /box.
var writable = []string{"/tmp", "/dev/shm"}

// rootMaker puts the root of a room together, on the room's thread.
type rootMaker struct {
	readOnly []string
	uid      int
}

// make enters a new root, on which the host's root still lies: /proc can be
// mounted in a user namespace only as long as another one can be seen. The thread
// must have its own mount, network, IPC and UTS namespaces.
func (m rootMaker) make() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	err := unix.Mount("deepoj", stage, "tmpfs", unix.MS_NOSUID, "mode=755,size=4m,nr_inodes=4096")
	if err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	for _, path := range append(visible, m.readOnly...) {
		if err := m.show(path); err != nil {
			return err
		}
	}
	for _, d := range devices {
		if err := bind("/dev/"+d, stage+"/dev/"+d, false, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	if err := m.write(); err != nil {
		return err
	}
	if err := unix.Chdir(stage); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	return nil
}

// leaveHost takes the host's root away, from above the working directory.
func leaveHost() error {
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	return unix.Sethostname([]byte("box"))
}

// show makes a host folder or file readable in the new root, if it exists.
func (m rootMaker) show(path string) error {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return bind(path, stage+path, st.Mode&unix.S_IFMT == unix.S_IFDIR, readOnly)
	}
	to, err := os.Readlink(path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	err = makeFolder(filepath.Dir(stage + path))
	if err == nil {
		err = unix.Symlink(to, stage+path)
	}
	if err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	return nil
}

// readOnly are the attributes of what is shown of the host.
const readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// bind shows the host's path, with what is mounted below it, at target with mount
// attributes.
func bind(path, target string, folder bool, attributes uint64) error {
	if err := mountPoint(target, folder); err != nil {
		return fmt.Errorf("make a mount point for %s: %w", path, err)
	}
	if err := unix.Mount(path, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	if err := restrict(unix.AT_FDCWD, target, attributes); err != nil {
		return fmt.Errorf("restrict %s: %w", path, err)
	}
	return nil
}

// restrict gives attributes to a mount and all below it.
func restrict(dir int, path string, attributes uint64) error {
	return unix.MountSetattr(dir, path, unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes})
}

// mountPoint makes target an empty folder or file.
func mountPoint(target string, folder bool) error {
	if folder {
		return makeFolder(target)
	}
	if err := makeFolder(filepath.Dir(target)); err != nil {
		return err
	}
	err := unix.Mknod(target, unix.S_IFREG|0o644, 0)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// makeFolder makes a folder and those above it that are missing. A root takes
// dozens of files, and package os asks four questions about each.
func makeFolder(path string) error {
	err := unix.Mkdir(path, 0o755)
	if errors.Is(err, unix.ENOENT) {
		if err := makeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		err = unix.Mkdir(path, 0o755)
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// makeFile makes a file with permissions.
func makeFile(path, text string, mode uint32) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	n, err := unix.Write(fd, []byte(text))
	if err == nil && n < len(text) {
		err = unix.ENOSPC
	}
	return errors.Join(err, unix.Close(fd))
}

// write makes the folders, links and synthetic files of the new root.
func (m rootMaker) write() error {
	for _, dir := range append([]string{"/box", "/proc", "/etc", emptyFolder}, writable...) {
		if err := makeFolder(stage + dir); err != nil {
			return fmt.Errorf("make a root: %w", err)
		}
	}
	for name, to := range map[string]string{
		"/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2",
	} {
		if err := unix.Symlink(to, stage+name); err != nil {
			return fmt.Errorf("make a root: %w", err)
		}
	}
	id := strconv.Itoa(m.uid)
	for name, text := range map[string]string{
		"/etc/passwd":        "root:x:0:0::/:/bin/false\nbox:x:" + id + ":" + id + "::/tmp:/bin/sh\n",
		"/etc/group":         "root:x:0:\nbox:x:" + id + ":\n",
		"/etc/hosts":         "127.0.0.1 localhost\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	} {
		if err := makeFile(stage+name, text, 0o555); err != nil {
			return fmt.Errorf("make a root: %w", err)
		}
	}
	// A program that cannot be read runs with memory that cannot be read.
	if err := makeFile(stage+reaperPath, string(reaperProgram()), 0o111); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	return nil
}

// emptyFolder is shown in place of masked folders.
const emptyFolder = "/.empty"

// restrictProc makes /proc read-only and masks parts of it.
func restrictProc() error {
	for _, path := range masked {
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	for _, path := range maskedFolders {
		if err := unix.Mount(emptyFolder, path, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err := unix.Mount("", "/proc", "", flags, ""); err != nil {
		return fmt.Errorf("restrict /proc: %w", err)
	}
	return nil
}

// sealRoot makes the root itself read-only, or writable again for the room's
// thread. It is busy while a child of another room, on its way to its program,
// holds a descriptor that we had open for writing.
func sealRoot(sealed bool) error {
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_NOSUID)
	if sealed {
		flags |= unix.MS_RDONLY
	}
	err := retryBusy(func() error { return unix.Mount("", "/", "", flags, "") })
	if err != nil {
		return fmt.Errorf("seal the root: %w", err)
	}
	return nil
}

// inodes bounds the number of files in each private tmpfs.
const inodes = 65536

// mountPrivate mounts a fresh private tmpfs.
func mountPrivate(path string, size int64, mode string, uid int) error {
	data := fmt.Sprintf("mode=%s,size=%d,nr_inodes=%d,uid=%d,gid=%d", mode, size, inodes, uid, uid)
	if err := unix.Mount("deepoj", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

// detachedBox returns a tmpfs like that of mountPrivate which is mounted nowhere yet.
// One thread may fill it while another makes the room that it is for.
func detachedBox(size int64) (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make /box: %w", err)
	}
	defer unix.Close(fs)
	for _, o := range [][2]string{
		{"source", "deepoj"}, {"mode", "755"}, {"size", strconv.FormatInt(size, 10)}, {"nr_inodes", strconv.Itoa(inodes)}, {"uid", "0"}, {"gid", "0"},
	} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, fmt.Errorf("make /box with %s=%s: %w", o[0], o[1], err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("make /box: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return -1, fmt.Errorf("make /box: %w", err)
	}
	return fd, nil
}

// empty reports whether nothing is in the tmpfs at path, also nothing unlinked
// and still open.
func empty(path string) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return false, fmt.Errorf("look at %s: %w", path, err)
	}
	return st.Files-st.Ffree <= 1, nil
}
