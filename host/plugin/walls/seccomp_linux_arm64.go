package walls

import "golang.org/x/sys/unix"

// nativeArch is how the kernel names this processor.
const nativeArch = unix.AUDIT_ARCH_AARCH64

// forbiddenHere and forbiddenToReadersHere are further system calls that other processors do not have.
var forbiddenHere, forbiddenToReadersHere []uint32
