package wire

import "golang.org/x/sys/unix"

// SocketPair returns two ends that wait as goroutines do and that no child inherits.
func SocketPair() ([2]int, error) {
	return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}

// closeReceived keeps what is received from children.
const closeReceived = unix.MSG_CMSG_CLOEXEC
