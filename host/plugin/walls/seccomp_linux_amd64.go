package walls

import "golang.org/x/sys/unix"

// nativeArch is how the kernel names this processor.
const nativeArch = unix.AUDIT_ARCH_X86_64

// forbiddenHere and forbiddenToReadersHere are further system calls that other
// processors do not have. Go makes their newer forms.
var (
	forbiddenHere = []uint32{
		unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES,
		unix.SYS_FUTIMESAT, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_MKNOD, unix.SYS_INOTIFY_INIT, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT,
		unix.SYS_KEXEC_FILE_LOAD, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS__SYSCTL,
	}
	forbiddenToReadersHere = []uint32{unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_RMDIR}
)
