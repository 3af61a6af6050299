//go:build !linux

package plugin

import "deepoj/host/platform"

// build cannot be done here, and a child ends without walls.
func (w walls) build() error { return platform.Missing("running plugins") }

// Walls returns the layers around the processes that run plugins: none, and none run.
func Walls() []Wall {
	return []Wall{{Name: "Landlock and seccomp", Holds: "files, sockets and other processes", Missing: platform.Missing("running plugins").Error()}}
}
