package plugin

import "golang.org/x/sys/unix"

// swaps reports whether the system could have swapped something out.
func swaps() (bool, error) {
	var system unix.Sysinfo_t
	if err := unix.Sysinfo(&system); err != nil {
		return false, err
	}
	return system.Totalswap > 0, nil
}

// socketPair returns two ends that wait as goroutines do and that no child inherits.
func socketPair() ([2]int, error) {
	return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}

// closeReceived keeps what is received from children.
const closeReceived = unix.MSG_CMSG_CLOEXEC
