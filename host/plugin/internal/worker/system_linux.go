package worker

import "golang.org/x/sys/unix"

// swaps reports whether the system could have swapped something out.
func swaps() (bool, error) {
	var system unix.Sysinfo_t
	if err := unix.Sysinfo(&system); err != nil {
		return false, err
	}
	return system.Totalswap > 0, nil
}
