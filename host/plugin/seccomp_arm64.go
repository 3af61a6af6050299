package plugin

import "golang.org/x/sys/unix"

// nativeArch is how the kernel names this processor.
const nativeArch = unix.AUDIT_ARCH_AARCH64
