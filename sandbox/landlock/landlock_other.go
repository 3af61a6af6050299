//go:build !linux

package landlock

// Version returns 0: there is none.
func Version() int { return 0 }
