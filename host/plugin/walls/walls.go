// Package walls confines processes that work on what strangers made: those that run plugins and those that read
// packages. Landlock denies files and TCP, seccomp denies system calls, resource limits bound memory and time. It needs
// Linux; elsewhere such processes end before they begin.
//
// Its files:
//
//	walls.go                the layers, and what they hold
//	confine.go              what a process keeps, and how it gives up the rest
//	walls_linux.go          Landlock, and what was inherited
//	walls_other.go          what other systems lack
//	seccomp_linux.go        system calls that no child makes
//	seccomp_linux_amd64.go  on this processor
//	seccomp_linux_arm64.go  on this one
//	data_race.go            memory that the race detector adds
//	data_norace.go          and without it
package walls

// Wall is a layer around the processes that run plugins.
type Wall struct {
	Name    string // such as "Landlock 6"
	Holds   string // what it keeps them from
	Missing string // why this machine or program has it not; "" = it stands
}
