package seccomp

import "golang.org/x/sys/unix"

// nativeArch is the architecture that the kernel reports for our programs; all others, such as int 0x80, are killed.
const nativeArch = unix.AUDIT_ARCH_X86_64

// foreignBit marks system calls of the x32 architecture, which are killed.
const foreignBit = 0x40000000

// archDenied are the denied system calls that only this architecture has.
var archDenied = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS,
	unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
}

// archAbsent are those among them that fail with ENOSYS.
var archAbsent = []uint32{unix.SYS_INOTIFY_INIT}

// archOpen is the older form of openat.
const archOpen = unix.SYS_OPEN
