//go:build !linux

package walls

import "deepoj/host/platform"

// build cannot be done here, and a child ends without walls.
func (Confinement) build() error { return platform.Missing("running plugins") }

// All returns the layers around the processes that run plugins: none, and none run.
func All() []Wall {
	return []Wall{{Name: "Landlock and seccomp", Holds: "files, sockets and other processes", Missing: platform.Missing("running plugins").Error()}}
}
